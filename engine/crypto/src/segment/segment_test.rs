//! A segment comes back as it was sealed, and in no other way: not cut, not grown, not changed, not with another key.

use proptest::prelude::*;

use super::{
    Codec, SEGMENT_HEADER_BYTES, SEGMENT_MAX_BYTES, SEGMENT_MAX_PLAIN_BYTES, SEGMENT_VERSION, Segment,
    SegmentHeader,
};
use crate::chain::ChainState;
use crate::derive::VaultKeys;
use crate::entropy::SeededEntropy;
use crate::error::{Error, ErrorClass};
use crate::fixture;
use crate::ids::{Digest, Head, Height, ProposalId};
use crate::manifest::{Anchor, Level};

fn header(codec: Codec) -> SegmentHeader {
    SegmentHeader {
        seal_id: fixture::seal_id(),
        generation: fixture::generation(3),
        epoch: 5,
        incarnation: 2,
        proposal: ProposalId::from_bytes([9; 16]),
        base: Anchor { height: Height::new(10), head: Head::from_bytes([1; 32]) },
        after: ChainState {
            height: Height::new(12),
            head: Head::from_bytes([2; 32]),
            digest: Digest::from_bytes([3; 32]),
        },
        codec,
    }
}

fn seal(header: SegmentHeader, records: &[&[u8]]) -> Result<Segment, Error> {
    Segment::seal(header, records, fixture::keys().segment(), &SeededEntropy::new(1))
}

fn sealed(codec: Codec, records: &[&[u8]]) -> Segment {
    seal(header(codec), records).unwrap()
}

fn opened(segment: &Segment) -> Result<Vec<u8>, Error> {
    segment.open(fixture::keys().segment())
}

proptest! {
    #[test]
    fn any_records_come_back_in_order(
        records in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..20),
        codec in prop::sample::select(Codec::ALL.to_vec()),
        epoch in any::<u64>(),
        rise in 1_u32..,
    ) {
        let pieces: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
        let mut header = header(codec);
        header.epoch = epoch;
        header.after.height = Height::new(10 + u64::from(rise));
        let segment = seal(header, &pieces).unwrap();
        let read = Segment::decode(segment.as_bytes().to_vec()).unwrap();
        prop_assert_eq!(read.header(), &header);
        prop_assert_eq!(read.header().records().unwrap(), rise);
        prop_assert_eq!(opened(&read).unwrap(), records.concat());
        prop_assert_eq!(&read.into_bytes(), segment.as_bytes());
    }

    #[test]
    fn any_bytes_are_a_segment_that_is_written_back_or_an_error(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        begun in any::<bool>(),
    ) {
        let mut bytes = bytes;
        if begun {
            let whole = sealed(Codec::None, &[b"changes"]);
            let at = bytes.len().min(40);
            bytes.splice(..at, whole.as_bytes()[..at].iter().copied());
        }
        if let Ok(segment) = Segment::decode(bytes.clone()) {
            prop_assert_eq!(segment.as_bytes(), bytes.as_slice());
            prop_assert!(opened(&segment).is_err());
        }
    }
}

#[test]
fn every_changed_bit_of_header_and_body_is_noticed() {
    for codec in Codec::ALL {
        let whole = sealed(codec, &[b"changes of one vault", b"and more"]);
        for at in 0..whole.as_bytes().len() {
            for bit in 0..8 {
                let mut bytes = whole.as_bytes().to_vec();
                bytes[at] ^= 1 << bit;
                let read = Segment::decode(bytes);
                assert!(read.is_err() || opened(&read.unwrap()).is_err(), "byte {at} bit {bit}");
            }
        }
    }
}

#[test]
fn a_cut_or_grown_segment_is_refused() {
    let whole = sealed(Codec::None, &[b"changes"]).into_bytes();
    for length in 0..whole.len() {
        assert!(matches!(Segment::decode(whole[..length].to_vec()), Err(Error::Segment { .. })), "{length}");
    }
    let mut longer = whole;
    longer.push(0);
    assert!(matches!(Segment::decode(longer), Err(Error::Segment { .. })));
}

#[test]
fn another_version_is_told_apart_from_damage() {
    let mut bytes = sealed(Codec::None, &[]).into_bytes();
    bytes[4] = SEGMENT_VERSION + 1;
    let error = Segment::decode(bytes).unwrap_err();
    assert!(matches!(error, Error::SegmentVersion { found: 2 }) && error.class() == ErrorClass::Invalid);
}

#[test]
fn a_chain_that_does_not_rise_or_rises_too_far_is_no_segment() {
    for after in [0, 9, 10, 10 + (1 << 32)] {
        let mut header = header(Codec::None);
        header.after.height = Height::new(after);
        assert!(matches!(seal(header, &[]), Err(Error::Segment { .. })), "{after}");
    }
    // A count that is not the rise.
    let mut bytes = sealed(Codec::None, &[]).into_bytes();
    bytes[SEGMENT_HEADER_BYTES - 8] ^= 1;
    assert!(matches!(Segment::decode(bytes), Err(Error::Segment { .. })));
}

#[test]
fn the_largest_changes_fit_and_one_byte_more_does_not() {
    let largest = vec![7; SEGMENT_MAX_PLAIN_BYTES];
    let segment = sealed(Codec::None, &[&largest]);
    assert_eq!(segment.as_bytes().len(), SEGMENT_MAX_BYTES);
    assert_eq!(opened(&Segment::decode(segment.into_bytes()).unwrap()).unwrap(), largest);
    let more = vec![7; SEGMENT_MAX_PLAIN_BYTES + 1];
    let error = seal(header(Codec::None), &[&more]).unwrap_err();
    assert!(matches!(error, Error::SegmentTooLarge { .. }) && error.class() == ErrorClass::Invalid);
    let long = vec![0; SEGMENT_MAX_BYTES + 1];
    assert!(matches!(Segment::decode(long), Err(Error::SegmentTooLarge { .. })));
}

#[test]
fn records_that_together_unpack_to_more_than_a_segment_are_refused() {
    let zeros = vec![0; SEGMENT_MAX_BYTES / 2];
    let two = sealed(Codec::Records, &[&zeros, &zeros]);
    assert!(two.as_bytes().len() < 10_000, "records are compressed");
    assert_eq!(opened(&two).unwrap().len(), SEGMENT_MAX_BYTES);
    let three = sealed(Codec::Records, &[&zeros, &zeros, b"x"]);
    assert!(matches!(opened(&three), Err(Error::FrameTooLarge { .. })));
}

#[test]
fn a_body_that_is_not_encoded_as_the_header_says_is_refused() {
    let inner: [&[u8]; 4] = [&[1], &[9, 0, 0, 0, 0], &[2, 0, 0, 0, 0x07, 1], &[0, 0, 0, 0]];
    for body in inner {
        // Sealed as it is, under a header that says it holds records.
        let header_bytes = header(Codec::Records).encode(u32::try_from(body.len() + 40).unwrap()).unwrap();
        let sealed = fixture::keys().segment().seal(&header_bytes, body, &SeededEntropy::new(1));
        let segment = Segment::decode([header_bytes, sealed].concat()).unwrap();
        assert!(opened(&segment).is_err(), "{body:?}");
    }
}

#[test]
fn no_other_vault_or_generation_opens_it() {
    let segment = sealed(Codec::None, &[b"changes"]);
    let (master, salt) = (fixture::master(), fixture::salt());
    let other = crate::ids::SealId::from_bytes([1; 16]);
    for keys in [
        VaultKeys::derive(&master, &other, fixture::generation(3), &salt),
        VaultKeys::derive(&master, &fixture::seal_id(), fixture::generation(4), &salt),
    ] {
        assert!(matches!(segment.open(keys.segment()), Err(Error::Open)));
    }
}

#[test]
fn the_codec_follows_from_the_level() {
    assert_eq!([Level::Sealed, Level::HmacOnly].map(Codec::from), [Codec::None, Codec::Records]);
}

#[test]
fn the_debug_form_shows_no_byte_of_the_body() {
    let shown = format!("{:?}", sealed(Codec::None, &[b"changes"]));
    assert!(shown.contains("bytes: ") && !shown.contains("99, 104"), "{shown}");
}

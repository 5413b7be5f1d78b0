//! Frames come back, and damaged or lying ones are refused before they cost anything.

use proptest::prelude::*;

use super::*;

const LIMIT: usize = 1 << 20;

fn text(len: usize) -> Vec<u8> {
    b"the quick brown fox ".iter().copied().cycle().take(len).collect()
}

/// The zstd frame of a text that compresses well, and the text.
fn compressed() -> (Vec<u8>, Vec<u8>) {
    let content = text(500);
    let frame = encode(&content);
    assert_eq!(frame[0], FRAME_ZSTD);
    (frame, content)
}

fn refused(frame: &[u8]) -> &'static str {
    match decode(frame, LIMIT) {
        Err(Error::Frame { defect }) => defect,
        other => panic!("not refused as damaged: {other:?}"),
    }
}

/// A zstd frame header by hand (RFC 8878, section 3.1.1): magic, descriptor, content size, then one last raw
/// block of `body`.
fn handmade(descriptor: u8, size: &[u8], body: &[u8]) -> Vec<u8> {
    let header = u32::try_from(body.len()).expect("short") << 3 | 1;
    let mut frame = vec![FRAME_ZSTD, 0x28, 0xB5, 0x2F, 0xFD, descriptor];
    frame.extend_from_slice(size);
    frame.extend_from_slice(&header.to_le_bytes()[..3]);
    frame.extend_from_slice(body);
    frame
}

#[test]
fn short_and_incompressible_contents_stay_raw() {
    let mut noise = vec![0; 300];
    crate::entropy::Entropy::fill(&crate::entropy::SeededEntropy::new(1), &mut noise);
    for content in [b"".as_slice(), b"x", &text(COMPRESS_MIN - 1), &noise] {
        let frame = encode(content);
        assert_eq!(frame[0], FRAME_RAW);
        assert_eq!(&frame[1..], content);
        assert_eq!(decode(&frame, LIMIT).expect("decodes"), content);
    }
}

#[test]
fn a_compressed_frame_is_shorter_and_carries_its_size() {
    let (frame, content) = compressed();
    assert!(frame.len() < content.len());
    assert_eq!(zstd_safe::get_frame_content_size(&frame[1..]).expect("a header"), Some(500));
    assert_eq!(decode(&frame, 500).expect("decodes"), content);
}

#[test]
fn a_refused_compression_leaves_the_context_usable() {
    let mut noise = vec![0; 5_000];
    crate::entropy::Entropy::fill(&crate::entropy::SeededEntropy::new(2), &mut noise);
    let before = encode(&text(500));
    assert_eq!(encode(&noise)[0], FRAME_RAW);
    assert_eq!(encode(&text(500)), before);
}

#[test]
fn the_limit_is_exact_for_both_kinds() {
    for content in [b"raw text".to_vec(), text(500)] {
        let frame = encode(&content);
        assert!(decode(&frame, content.len()).is_ok());
        let limit = content.len() - 1;
        let claimed = content.len() as u64;
        match decode(&frame, limit) {
            Err(Error::FrameTooLarge { claimed: c, limit: l }) => assert_eq!((c, l), (claimed, limit)),
            other => panic!("not refused: {other:?}"),
        }
    }
}

#[test]
fn a_header_that_claims_a_gibibyte_is_refused_before_allocation() {
    let bomb = handmade(0xA0, &(1_u32 << 30).to_le_bytes(), b"small");
    assert!(matches!(decode(&bomb, LIMIT), Err(Error::FrameTooLarge { claimed: 0x4000_0000, .. })));
    let huge = handmade(0xE0, &(u64::MAX - 2).to_le_bytes(), b"small");
    assert!(matches!(decode(&huge, usize::MAX - 3), Err(Error::FrameTooLarge { .. })));
}

#[test]
fn a_real_bomb_is_refused_by_its_header() {
    let frame = encode(&vec![0; 64 << 20]);
    assert!(frame.len() < 8_192);
    assert!(matches!(decode(&frame, LIMIT), Err(Error::FrameTooLarge { .. })));
}

#[test]
fn a_header_that_claims_less_or_more_than_the_frame_holds_is_refused() {
    let (frame, _) = compressed();
    // Magic, descriptor 0x60 (single segment, two-byte size counted from 256), size 500 - 256.
    assert_eq!(frame[5..8], [0x60, 244, 0]);
    for lie in [243_u8, 245, 100, 255] {
        let mut lying = frame.clone();
        lying[6] = lie;
        refused(&lying);
    }
}

#[test]
fn a_frame_without_a_size_is_refused() {
    // Descriptor 0x00: no size, a window descriptor instead.
    let frame = handmade(0x00, &[0x58], &text(200));
    assert_eq!(refused(&frame), "no size in the zstd header");
}

#[test]
fn every_truncation_is_refused() {
    let (frame, _) = compressed();
    for len in 0..frame.len() {
        refused(&frame[..len]);
    }
}

#[test]
fn trailing_bytes_and_a_second_frame_are_refused() {
    let (frame, _) = compressed();
    assert_eq!(refused(&[frame.as_slice(), b"x"].concat()), "bytes after the zstd frame");
    assert_eq!(refused(&[frame.as_slice(), &frame[1..]].concat()), "bytes after the zstd frame");
}

#[test]
fn a_skippable_frame_is_refused() {
    refused(&[FRAME_ZSTD, 0x50, 0x2A, 0x4D, 0x18, 1, 0, 0, 0, 7]);
}

#[test]
fn a_frame_that_compression_did_not_shorten_is_refused() {
    let frame = handmade(0x20, &[200], &text(200));
    assert_eq!(refused(&frame), "compressed where that does not pay");
}

#[test]
fn an_unknown_first_byte_is_refused() {
    for first in 2..=255_u8 {
        assert_eq!(refused(&[first, 1, 2, 3]), "unknown first byte");
    }
}

proptest! {
    #[test]
    fn every_content_comes_back(content in prop::collection::vec(any::<u8>(), 0..2_000)) {
        prop_assert_eq!(decode(&encode(&content), content.len()).expect("decodes"), content);
    }

    #[test]
    fn every_text_comes_back_and_never_grows(words in prop::collection::vec("[a-e]{1,6}", 0..400)) {
        let content = words.join(" ").into_bytes();
        let frame = encode(&content);
        prop_assert!(frame.len() <= content.len() + 1);
        prop_assert_eq!(decode(&frame, content.len()).expect("decodes"), content);
    }

    #[test]
    fn no_bytes_make_decoding_panic_or_pass_the_limit(frame in prop::collection::vec(any::<u8>(), 0..300)) {
        if let Ok(content) = decode(&frame, 100) {
            prop_assert!(content.len() <= 100);
        }
    }

    #[test]
    fn damaged_frames_never_panic_or_pass_the_limit(at in 0_usize..60, byte in any::<u8>()) {
        let (mut frame, _) = compressed();
        let at = at % frame.len();
        frame[at] = byte;
        if let Ok(content) = decode(&frame, 600) {
            prop_assert!(content.len() <= 600);
        }
    }
}

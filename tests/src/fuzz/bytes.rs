//! Bodies over what lies on disk: nothing that was not written by us is taken for ours, and no length is believed.

use std::sync::OnceLock;

use undercroft_crypto::{
    Anchor, ChainState, Codec, Digest, Head, Height, KeyGeneration, MasterKey, ProposalId, Salt, SealContext,
    SealDomain, SealId, SeededEntropy, Segment, SegmentHeader, UnverifiedManifest, VaultKeys, frame,
};
use undercroft_search::{Quantized, quantize};
use undercroft_vault::DrawerId;

/// Largest content that a frame may announce here.
const LIMIT: usize = 100_000;

fn seal_id() -> SealId {
    SealId::from_bytes([3; 16])
}

fn keys() -> &'static VaultKeys {
    static KEYS: OnceLock<VaultKeys> = OnceLock::new();
    KEYS.get_or_init(|| {
        let master = MasterKey::from_bytes(&[7; 32]).expect("32 bytes");
        VaultKeys::derive(&master, &seal_id(), KeyGeneration::first(), &Salt::from_bytes([5; 16]))
    })
}

/// A manifest that reads is bounded, and no bytes that we did not write verify.
pub fn manifest(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(read) = UnverifiedManifest::parse(&text) {
        assert!(text.len() <= undercroft_crypto::manifest::MANIFEST_MAX_BYTES);
        assert!(matches!(read.generations().len(), 1 | 2));
        assert!(read.verify(keys().manifest()).is_err(), "a foreign manifest verified");
    }
}

/// A frame that decodes is bounded and comes back when it is encoded; any content survives the way there and back.
pub fn content_frame(bytes: &[u8]) {
    if let Ok(content) = frame::decode(bytes, LIMIT) {
        assert!(content.len() <= LIMIT);
        assert_eq!(frame::decode(&frame::encode(&content), LIMIT).ok(), Some(content));
    }
    assert_eq!(frame::decode(&frame::encode(bytes), bytes.len()).ok().as_deref(), Some(bytes));
    if let Some(less) = bytes.len().checked_sub(1) {
        assert!(frame::decode(&frame::encode(bytes), less).is_err(), "a limit was not kept");
    }
}

/// Nothing opens but what was sealed, in its place, untouched.
pub fn sealed_blob(bytes: &[u8]) {
    let id = seal_id();
    let context = |record| SealContext {
        seal_id: &id,
        generation: KeyGeneration::first(),
        record,
        domain: SealDomain::DrawerContent,
    };
    let key = keys().enc();
    assert!(key.open(&context(b"a"), bytes).is_err(), "foreign bytes opened");
    let sealed = key.seal(&context(b"a"), bytes, &SeededEntropy::new(1));
    assert_eq!(key.open(&context(b"a"), &sealed).ok().as_deref(), Some(bytes));
    assert!(key.open(&context(b"b"), &sealed).is_err(), "a seal opened in another place");
    let at = bytes.first().map_or(0, |first| usize::from(*first) % sealed.len());
    let mut changed = sealed;
    changed[at] ^= 0x10;
    assert!(key.open(&context(b"a"), &changed).is_err(), "a changed byte went unseen");
}

/// Bytes are one segment, whole, or none; none that we did not seal opens, and one that is changed anywhere does not either.
pub fn segment(bytes: &[u8]) {
    if let Ok(read) = Segment::decode(bytes.to_vec()) {
        assert_eq!(read.as_bytes(), bytes);
        assert!(read.header().records().is_ok_and(|records| records > 0));
        // The seeds are sealed with these keys; nothing else is.
        let ours = read.open(keys().segment()).is_ok();
        assert!(!ours || *read.header() == header(), "a foreign segment opened");
    }
    let sealed = sealed_segment(bytes);
    let key = keys().segment();
    assert_eq!(sealed.open(key).ok().as_deref(), Some(bytes));
    let mut changed = sealed.into_bytes();
    let at = bytes.iter().map(|byte| usize::from(*byte)).sum::<usize>() % changed.len();
    changed[at] ^= 1 << (at % 8);
    let unseen = Segment::decode(changed).is_ok_and(|read| read.open(key).is_ok());
    assert!(!unseen, "a changed byte went unseen");
}

/// A segment that holds these bytes.
pub(super) fn sealed_segment(bytes: &[u8]) -> Segment {
    let halves = bytes.split_at(bytes.len() / 2);
    Segment::seal(header(), &[halves.0, halves.1], keys().segment(), &SeededEntropy::new(1))
        .expect("is small")
}

fn header() -> SegmentHeader {
    let head = Head::from_bytes([1; 32]);
    SegmentHeader {
        seal_id: seal_id(),
        generation: KeyGeneration::first(),
        epoch: 4,
        incarnation: 1,
        proposal: ProposalId::from_bytes([9; 16]),
        base: Anchor { height: Height::new(7), head },
        after: ChainState { height: Height::new(9), head, digest: Digest::from_bytes([2; 32]) },
        codec: Codec::Records,
    }
}

/// A vector that decodes is written back to the same bytes; any numbers have a bounded form.
pub fn vector_codec(bytes: &[u8]) {
    if let Ok(vector) = Quantized::from_bytes(bytes) {
        assert_eq!(vector.to_bytes(), bytes);
        assert!(vector.restore().iter().all(|number| !number.is_nan()));
    }
    let numbers: Vec<f32> =
        bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect();
    if !numbers.is_empty() && numbers.iter().all(|number| number.is_finite()) {
        let vector = quantize(&numbers);
        let read = Quantized::from_bytes(&vector.to_bytes());
        assert!(read.is_ok_and(|read| read == vector), "a vector does not come back");
    }
}

/// An id that reads is shown as it was typed.
pub fn drawer_id(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(id) = text.parse::<DrawerId>() {
        assert_eq!(id.to_string(), text);
    }
}

//! The sealed stream gives back what was written, whole and in order, or nothing.

use std::io::{Read as _, Write as _};

use proptest::prelude::*;
use tempfile::TempDir;
use undercroft_crypto::{Level, MasterKey, SeededEntropy};

use super::{Opening, Sealing};
use crate::limits::IMAGE_PIECE_BYTES;
use crate::vault::Vault;
use crate::{VaultOptions, keyring::Keyring};

const HEADER: usize = 8 + 16;
/// A full piece as it lies in the file: length, then plaintext with its marker, nonce and authenticator.
const PIECE: usize = 4 + IMAGE_PIECE_BYTES + 1 + 24 + 16;

struct Sealer {
    _folder: TempDir,
    vault: Vault,
}

impl Sealer {
    fn new() -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let master = MasterKey::generate(&SeededEntropy::new(7));
        let dir = folder.path().join("v");
        let vault =
            Vault::create(&dir, "v", Level::Sealed, &master, VaultOptions::default()).expect("creates");
        Self { _folder: folder, vault }
    }

    fn keyring(&self) -> &Keyring {
        self.vault.keyring()
    }

    fn seal(&self, plain: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut sealing = Sealing::start(&mut out, self.keyring()).expect("starts");
        sealing.write_all(plain).expect("writes");
        sealing.finish().expect("finishes");
        out
    }

    fn open(&self, sealed: &[u8]) -> std::io::Result<Vec<u8>> {
        let mut opening = Opening::start(sealed, self.keyring())?;
        let mut plain = Vec::new();
        opening.read_to_end(&mut plain)?;
        opening.expect_end()?;
        Ok(plain)
    }
}

fn plain(length: usize) -> Vec<u8> {
    (0..length).map(|i| u8::try_from(i * 7 % 251).expect("small")).collect()
}

#[test]
fn every_length_around_a_piece_comes_back() {
    let sealer = Sealer::new();
    for pieces in 0..3 {
        for off in [-1, 0, 1] {
            let Some(length) = (pieces * IMAGE_PIECE_BYTES).checked_add_signed(off) else { continue };
            assert_eq!(sealer.open(&sealer.seal(&plain(length))).expect("opens"), plain(length));
        }
    }
}

#[test]
fn pieces_that_are_missing_repeated_or_out_of_order_do_not_open() {
    let sealer = Sealer::new();
    let whole = sealer.seal(&plain(3 * IMAGE_PIECE_BYTES + 5));
    let (header, body) = whole.split_at(HEADER);
    let piece = |at: usize| &body[at * PIECE..(at + 1) * PIECE];
    let last = &body[3 * PIECE..];
    let build = |parts: &[&[u8]]| [&[header], parts].concat().concat();
    assert_eq!(build(&[piece(0), piece(1), piece(2), last]), whole, "the pieces are where this test says");
    for parts in [
        &[][..],
        &[piece(0)],
        &[piece(0), piece(1), piece(2)],
        &[piece(1), piece(0), piece(2), last],
        &[piece(0), piece(2), last],
        &[piece(0), piece(0), piece(1), piece(2), last],
        &[last],
    ] {
        sealer.open(&build(parts)).expect_err("does not open");
    }
}

#[test]
fn pieces_of_another_image_do_not_fit() {
    let sealer = Sealer::new();
    let (one, two) = (sealer.seal(&plain(2 * IMAGE_PIECE_BYTES)), sealer.seal(&plain(2 * IMAGE_PIECE_BYTES)));
    let mixed = [&one[..HEADER + PIECE], &two[HEADER + PIECE..]].concat();
    sealer.open(&mixed).expect_err("does not open");
    let foreign = Sealer::new();
    foreign.open(&one).expect_err("another vault's keys");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_changed_or_missing_byte_keeps_it_shut(at in any::<prop::sample::Index>(), bit in 0..8_u32, cut in any::<bool>()) {
        let sealer = Sealer::new();
        let mut sealed = sealer.seal(&plain(900));
        let at = at.index(sealed.len());
        if cut { sealed.truncate(at) } else { sealed[at] ^= 1_u8 << bit }
        prop_assert!(sealer.open(&sealed).is_err());
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), genuine in any::<bool>()) {
        let sealer = Sealer::new();
        let start: &[u8] = if genuine { b"UCIMG001" } else { b"" };
        prop_assert!(sealer.open(&[start, &bytes].concat()).is_err());
    }
}

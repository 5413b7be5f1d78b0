//! Owns the hash embedder: a text's words, word pairs and letter triples, each hashed to a signed bucket.
//! It needs no model, and equal texts give equal vectors on every machine.

use std::cell::RefCell;

use sha2::{Digest, Sha256};
use undercroft_text::{TokenKind, Tokenizer};

use super::Embedder;
use crate::error::EmbedError;
use crate::limits::FEATURE_CACHE_MAX;

/// Components of a vector.
const DIMENSION: usize = 384;
/// Semantic score that unrelated texts stay under.
pub const HASH_GATE: f32 = 0.56;
/// Bytes of a feature that is remembered: what fits one machine word of the table.
const CACHED: usize = size_of::<u128>();
/// Words shorter than this have no letter triples.
const TRIGRAM_WORD_MIN: usize = 4;

/// The built-in embedder, identity `undercroft-hash-v3`.
///
/// Features are `u:<word>`, `b:<word> <next word>` and, for words of more than three characters, `t:<abc>` for
/// each triple. SHA-256 of a feature names its bucket (the first four bytes, little-endian, modulo 384) and its
/// sign (plus when bit 0 of the fifth byte is 0). The sum is scaled to length 1; a text without a word gives zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HashEmbedder;

impl Embedder for HashEmbedder {
    fn name(&self) -> &str {
        "undercroft-hash-v3"
    }

    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn gate(&self) -> f32 {
        HASH_GATE
    }

    fn floor(&self) -> f32 {
        0.0
    }

    fn embed(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        Ok(SCRATCH.with_borrow_mut(|scratch| scratch.embed(text)))
    }
}

thread_local! {
    /// Buffers and remembered features of this thread. What it holds never changes a result, only its cost.
    static SCRATCH: RefCell<Scratch> = RefCell::new(Scratch::default());
}

#[derive(Default)]
struct Scratch {
    tokenizer: Tokenizer,
    sums: Sums,
}

/// The sum of a text's features so far.
#[derive(Default)]
struct Sums {
    buckets: Vec<i32>,
    feature: Vec<u8>,
    /// The last word, after `b:`; empty before the first.
    pair: Vec<u8>,
    cache: Cache,
}

impl Scratch {
    fn embed(&mut self, text: &str) -> Vec<f32> {
        let Self { tokenizer, sums } = self;
        sums.buckets.clear();
        sums.buckets.resize(DIMENSION, 0);
        sums.pair.clear();
        tokenizer.tokenize(text, |token| sums.word(token.text, token.kind));
        let squares: i64 = sums.buckets.iter().map(|sum| i64::from(*sum) * i64::from(*sum)).sum();
        let scale = if squares == 0 { 0.0 } else { 1.0 / (squares as f64).sqrt() };
        sums.buckets.iter().map(|sum| (f64::from(*sum) * scale) as f32).collect()
    }
}

impl Sums {
    fn word(&mut self, word: &str, kind: TokenKind) {
        self.add(&[b"u:", word.as_bytes()]);
        if kind == TokenKind::Gram {
            return;
        }
        let pair = std::mem::take(&mut self.pair);
        if !pair.is_empty() {
            self.add(&[b"b:", &pair, b" ", word.as_bytes()]);
        }
        self.pair = pair;
        self.pair.clear();
        self.pair.extend(word.as_bytes());
        self.triples(word);
    }

    fn triples(&mut self, word: &str) {
        let bytes = word.as_bytes();
        if word.is_ascii() {
            if bytes.len() >= TRIGRAM_WORD_MIN {
                bytes.windows(3).for_each(|triple| self.add(&[b"t:", triple]));
            }
            return;
        }
        let starts: Vec<usize> =
            word.char_indices().map(|(at, _)| at).chain(std::iter::once(word.len())).collect();
        if starts.len() > TRIGRAM_WORD_MIN {
            starts.windows(4).for_each(|at| self.add(&[b"t:", &bytes[at[0]..at[3]]]));
        }
    }

    fn add(&mut self, parts: &[&[u8]]) {
        self.feature.clear();
        parts.iter().for_each(|part| self.feature.extend_from_slice(part));
        let Place { bucket, negative } = self.cache.place(&self.feature);
        self.buckets[bucket as usize] += if negative { -1 } else { 1 };
    }
}

/// Where a feature counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Place {
    bucket: u16,
    negative: bool,
}

fn place(feature: &[u8]) -> Place {
    let digest = Sha256::digest(feature);
    let bucket = u32::from_le_bytes([digest[0], digest[1], digest[2], digest[3]]) % DIMENSION as u32;
    Place { bucket: bucket as u16, negative: digest[4] & 1 == 1 }
}

/// Remembers the places of short features: a table in which a newer feature takes the place of an older one.
#[derive(Default)]
struct Cache {
    /// The feature's bytes as a number; 0, which no feature is, marks an empty row.
    features: Vec<u128>,
    places: Vec<Place>,
}

impl Cache {
    fn place(&mut self, feature: &[u8]) -> Place {
        if feature.len() > CACHED {
            return place(feature);
        }
        if self.features.is_empty() {
            self.features.resize(FEATURE_CACHE_MAX, 0);
            self.places.resize(FEATURE_CACHE_MAX, Place::default());
        }
        let mut bytes = [0u8; CACHED];
        bytes[..feature.len()].copy_from_slice(feature);
        let number = u128::from_le_bytes(bytes);
        let mixed = (number as u64 ^ (number >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let row = (mixed >> 32) as usize % FEATURE_CACHE_MAX;
        if self.features[row] != number {
            self.features[row] = number;
            self.places[row] = place(feature);
        }
        self.places[row]
    }
}

#[cfg(test)]
#[path = "hash_test.rs"]
mod hash_test;

//! A small mutator for stable: seeds of the right form, changed at random. It knows no coverage; libFuzzer does.

use std::panic::{AssertUnwindSafe, catch_unwind};

use undercroft_crypto::frame;
use undercroft_search::quantize;

use super::Body;
use super::bytes::sealed_segment;
use super::search::image;
use crate::support::Random;

/// Pieces that decoders find interesting.
const PIECES: [&[u8]; 14] = [
    b"\n",
    b"\r\n",
    b"\n\n",
    b"{",
    b"}",
    b"\"",
    b"\\u0000",
    b"\xff",
    "é".as_bytes(),
    "e\u{301}".as_bytes(),
    "北".as_bytes(),
    "👩‍👧".as_bytes(),
    b"\x00\x00\x00\x00",
    b"\xff\xff\xff\xff",
];
const LONGEST: usize = 64 * 1024;

/// Inputs of the form that the body of this name expects.
#[must_use]
pub fn seeds_of(name: &str) -> Vec<Vec<u8>> {
    let texts = [
        "",
        "a",
        "Words. More words!\n\nA paragraph.\n",
        "東京へ行きました。北京",
        "שָׁלוֹם مُحَمَّد",
        "👩‍👩‍👧‍👦👩‍👩‍👧‍👦 e\u{301}\u{301}",
        "a\u{0}b\u{1b}[31m",
        "C++ don't pre-edit a/b NEAR( * \"",
        "2026-03-05",
        "2026-03-05T16:40:00Z",
        "0123456789abcdef0123456789abcdef",
        "wing name",
        "../..",
        ". ",
        "```\ncode\n```\n",
    ];
    let mut seeds: Vec<Vec<u8>> = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    seeds.push("A sentence that is repeated. ".repeat(200).into_bytes());
    match name {
        "chunker" => seeds.push(format!("start{}end", "\u{1}".repeat(5_000)).into_bytes()),
        "transcripts" => seeds.extend(transcript_seeds()),
        "manifest" => seeds.push(crate::tree::read("tests/golden/manifest.txt").into_bytes()),
        "content_frame" => seeds.extend(["", "short"].map(|t| frame::encode(t.as_bytes()))),
        "journal_record" => seeds.extend(super::journal::seeds()),
        "index_image" => seeds.push(image()),
        "segment" => seeds.extend(["", "changes"].map(|text| sealed_segment(text.as_bytes()).into_bytes())),
        "vector_codec" => seeds.push(quantize(&[0.5, -0.25, 0.0, 1.0]).to_bytes()),
        _ => {}
    }
    if name == "content_frame" {
        seeds.push(frame::encode("compressible ".repeat(300).as_bytes()));
    }
    seeds
}

fn transcript_seeds() -> Vec<Vec<u8>> {
    let tour = ["docs/tour/transcripts/agent-claude.jsonl", "docs/tour/transcripts/agent-codex.jsonl"]
        .map(|path| crate::tree::read(path).into_bytes());
    let wordless = [
        r#"{"type":"user","message":{"role":"user","content":null}}"#,
        r#"{"type":"user","message":{"content":[{"type":"text","text":42},7]}}"#,
        r#"{"type":"response_item","payload":{"type":"reasoning","summary":42,"content":null}}"#,
        r#"{"type":"event_msg","payload":{"type":"user_message"}}"#,
    ];
    tour.into_iter().chain([wordless.join("\n").into_bytes()]).collect()
}

/// Runs a body over its seeds and `rounds` mutations of them.
///
/// # Panics
/// When the body does, with the input in hexadecimal.
pub fn run(name: &str, body: Body, rounds: usize, seed: u64) {
    let seeds = seeds_of(name);
    let mut random = Random::new(seed);
    for input in &seeds {
        attempt(name, body, input);
    }
    for _ in 0..rounds {
        let input = mutated(&seeds, &mut random);
        attempt(name, body, &input);
    }
}

fn attempt(name: &str, body: Body, input: &[u8]) {
    if catch_unwind(AssertUnwindSafe(|| body(input))).is_err() {
        let shown: String = input.iter().take(2_000).map(|byte| format!("{byte:02x}")).collect();
        panic!("{name} failed on {} bytes: {shown}", input.len());
    }
}

fn mutated(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut bytes = random.pick(seeds).clone();
    for _ in 0..1 + random.below(6) {
        let at = random.below(bytes.len() + 1);
        match random.below(7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = random.next_u64().to_le_bytes()[0],
            2 => {
                let piece = *random.pick(&PIECES);
                bytes.splice(at..at, piece.iter().copied());
            }
            3 => bytes.truncate(at),
            4 => {
                let to = at + random.below(bytes.len() + 1 - at);
                bytes.drain(at..to);
            }
            5 => {
                let other = random.pick(seeds);
                let from = random.below(other.len() + 1);
                bytes.splice(at..at, other[from..].iter().copied());
            }
            _ => {
                let to = at + random.below(bytes.len() + 1 - at).min(64);
                let part = bytes[at..to].to_vec();
                bytes.splice(at..at, part);
            }
        }
        bytes.truncate(LONGEST);
    }
    bytes
}

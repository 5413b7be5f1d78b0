//! Fuzz bodies: for any bytes, what must hold. Plain functions, so that they run on stable over seeds and mutations
//! (`tests/tests/fuzz_bodies.rs`) and under libFuzzer (`fuzz/`). A body returns when all is well and panics when not.

mod bytes;
mod journal;
mod mutate;
mod search;
mod text;

pub use bytes::{content_frame, drawer_id, manifest, sealed_blob, segment, vector_codec};
pub use journal::journal_record;
pub use mutate::{run, seeds_of};
pub use search::{index_image, query};
pub use text::{chunker, dates, names, tokenizer, transcripts};

/// A fuzz body.
pub type Body = fn(&[u8]);

/// Every body with its name, which is also the name of its target in `fuzz/`.
pub const ALL: [(&str, Body); 14] = [
    ("chunker", chunker),
    ("tokenizer", tokenizer),
    ("transcripts", transcripts),
    ("names", names),
    ("dates", dates),
    ("manifest", manifest),
    ("content_frame", content_frame),
    ("sealed_blob", sealed_blob),
    ("segment", segment),
    ("journal_record", journal_record),
    ("vector_codec", vector_codec),
    ("drawer_id", drawer_id),
    ("index_image", index_image),
    ("query", query),
];

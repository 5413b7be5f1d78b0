//! Variables that tune how a search ranks and what it considers.

use super::{Reader, Variable};
use crate::env::parse;

const TIERS: &str = "approximate retrieval";
const TOKENS: &str = "late interaction";

/// An off-or-number threshold of the approximate tiers.
const fn tier<const MIN: u64>(name: &'static str, default: &'static str, meaning: &'static str) -> Variable {
    Variable::tunes(name, Reader::Engine, |v| parse::off_or_at_least::<MIN>(v).map(drop))
        .values(if MIN == 0 { "off, or a whole number" } else { "off, or a whole number of at least 1" })
        .default(default)
        .means(meaning)
        .unbuilt(TIERS)
}

/// A count of at least one that the approximate tiers use.
const fn size(name: &'static str, default: &'static str, meaning: &'static str) -> Variable {
    Variable::tunes(name, Reader::Engine, |v| parse::at_least::<1>(v).map(drop))
        .values("whole number of at least 1")
        .default(default)
        .means(meaning)
        .unbuilt(TIERS)
}

pub(super) const TABLE: &[Variable] = &[
    Variable::protects("UNDERCROFT_RETRIEVAL", Reader::Engine, parse::retrieval)
        .values("off (known, not in this version: pq, fde, hnsw)")
        .default("unset: an exact scan")
        .means("The tier that proposes candidates."),
    Variable::tunes("UNDERCROFT_FUSION", Reader::Engine, |v| parse::fusion(v).map(drop))
        .values("bm25, legacy")
        .default("bm25")
        .means("How word and meaning scores are joined."),
    Variable::tunes("UNDERCROFT_FUSION_WEIGHT", Reader::Engine, |v| parse::fusion_weight(v).map(drop))
        .values("number, clamped to 0.20–0.70")
        .default("0.55")
        .means("The share of meaning in the joined score."),
    Variable::protects("UNDERCROFT_SEMANTIC_GATE", Reader::Engine, |v| parse::semantic_gate(v).map(drop))
        .values("0.0–1.0, or off for word evidence only")
        .default("the embedder's calibration")
        .means("From which calibrated cosine meaning alone admits a hit."),
    Variable::tunes("UNDERCROFT_SEMANTIC_FLOOR", Reader::Engine, |v| parse::semantic_floor(v).map(drop))
        .values("0.0–0.98, or off (0)")
        .default("the embedder's calibration")
        .means("The cosine that counts as unrelated."),
    Variable::protects("UNDERCROFT_TRUST_FLOOR", Reader::Engine, |v| parse::trust_floor(v).map(drop))
        .values("quarantined, standard, off (known, not in this version: trusted)")
        .means("The lowest trust class that unscoped reads show."),
    Variable::tunes("UNDERCROFT_FTS_PREFILTER_MIN", Reader::Engine, |v| {
        parse::off_or_at_least::<0>(v).map(drop)
    })
    .values("off, or a whole number")
    .default("2048")
    .means("Records from which an `hmac-only` vault narrows by full-text search first.")
    .unbuilt("narrowing by full-text search (this version scans exactly)"),
    tier::<0>("UNDERCROFT_IVF_MIN", "8192", "Records from which inverted lists are used."),
    size("UNDERCROFT_IVF_NPROBE", "max(8, lists/4)", "Inverted lists that a query visits."),
    tier::<0>("UNDERCROFT_WING_PQ_MIN", "4096", "Records from which a wing has codes of its own."),
    tier::<1>("UNDERCROFT_POOL_DIV", "64", "The candidate pool holds at least live records divided by this."),
    tier::<0>("UNDERCROFT_PQ_PAGE_MIN", "off", "Records from which codes are kept in sealed pages."),
    tier::<0>("UNDERCROFT_TOK_PQ_MIN", "256", "Token vectors from which a codebook is trained.")
        .unbuilt(TOKENS),
    tier::<0>("UNDERCROFT_FDE_PQ_MIN", "256", "Records from which fixed encodings are quantised."),
    tier::<0>("UNDERCROFT_FDE_IVF_MIN", "off", "Records from which fixed encodings have inverted lists."),
    size("UNDERCROFT_FDE_NPROBE", "max(8, lists/4)", "Lists of fixed encodings that a query visits."),
    size("UNDERCROFT_FDE_REPS", "8", "Repetitions of a fixed encoding; first build only."),
    Variable::tunes("UNDERCROFT_FDE_KSIM", Reader::Engine, |v| parse::between::<1, 16>(v).map(drop))
        .values("1–16")
        .default("4")
        .means("Bits of a fixed encoding's partition; first build only.")
        .unbuilt(TIERS),
    size("UNDERCROFT_FDE_DPROJ", "16", "Dimensions of a fixed encoding's projection; first build only."),
    Variable::tunes("UNDERCROFT_FDE_SEED", Reader::Engine, |v| parse::seed(v).map(drop))
        .values("64-bit number, decimal or after `0x`")
        .default("0x6d75766572612e31")
        .means("The seed of fixed encodings; first build only.")
        .unbuilt(TIERS),
    Variable::tunes("UNDERCROFT_TRAIN_SOURCE_CAP", Reader::Engine, |v| {
        parse::off_or_at_least::<2>(v).map(drop)
    })
    .values("off, or a whole number of at least 2")
    .default("4")
    .means("No wing gives more than one in this many training rows.")
    .unbuilt(TIERS),
    Variable::opaque("UNDERCROFT_SEARCH_TRACE", Reader::Engine)
        .values("anything, even 0 or off")
        .means("Prints how long a search's phases took to standard error."),
];

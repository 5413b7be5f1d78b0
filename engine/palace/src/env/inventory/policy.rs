//! Variables that declare what may be written and read.

use super::{Reader, Variable};
use crate::env::parse;

const SCREEN: &str = "the admission screen";

pub(super) const TABLE: &[Variable] = &[
    Variable::protects("UNDERCROFT_ADMISSION", Reader::Engine, parse::admission)
        .values("off (known, not in this version: quarantine)")
        .default("off")
        .means("Screens what is written and holds what looks like an instruction.")
        .unbuilt(SCREEN),
    Variable::protects("UNDERCROFT_ADMISSION_RATE", Reader::Engine, |v| parse::admission_rate(v).map(drop))
        .values("`<count>/<seconds>`, both above 0, or off")
        .means("How fast one writer may save before the screen holds it; consulted only with the screen on.")
        .unbuilt(SCREEN),
    Variable::protects("UNDERCROFT_ADMISSION_LLM", Reader::Engine, parse::admission_advisor)
        .values("off (known, not in this version: advisory)")
        .means("Asks a language model for a second opinion.")
        .unbuilt(SCREEN),
    Variable::opaque("UNDERCROFT_ADMIT_TRUSTED_SOURCES", Reader::Engine)
        .protecting()
        .values("names, separated by commas")
        .default("none")
        .means("Writers that the screen lets through: cli, mcp, rest, miner, convo-miner, sweeper, import, distill.")
        .unbuilt(SCREEN),
    Variable::protects("UNDERCROFT_READ_AUDIT", Reader::Engine, parse::read_audit)
        .values("off (known, not in this version: chain)")
        .means("Puts one record in the audit chain for each text that is read.")
        .unbuilt("the audit of reads"),
    Variable::tunes("UNDERCROFT_AUDIT_CEILING", Reader::Engine, |v| parse::off_or_at_least::<0>(v).map(drop))
        .values("off, or a whole number")
        .default("off")
        .means("Audit records from which `stats` reports the chain as long; never deletes or refuses."),
];

//! `repair`: what can be rebuilt is rebuilt, and the vault verified.

use undercroft_palace::ErrorClass;

use super::verify;
use crate::args::RepairArgs;
use crate::context::{Context, close};
use crate::error::{Failure, Outcome};
use crate::progress::Progress;

pub(super) fn run(args: &RepairArgs, context: &mut Context) -> Outcome {
    if args.tokens {
        return Err(Failure::not_implemented("--tokens"));
    }
    let vault = context.open()?;
    let progress = Progress::start("Repairing");
    let report = vault.repair(&mut |looked_at| progress.show(format!("{looked_at} drawers")))?;
    close(vault);
    drop(progress);
    if context.out.is_json() {
        context.out.object(&report)?;
    } else {
        context.out.line(&format!("fingerprints backfilled: {}", report.fingerprints_backfilled))?;
        context.out.line(&format!("vectors made again:      {}", report.reembedded))?;
        for removed in &report.foreign_removed {
            context.out.stored_line(&format!("removed from the schema: {removed}"))?;
        }
        for table in &report.foreign_tables {
            context.out.stored_line(&format!(
                "left in the schema:      table {table}, which another program made; look at what it holds, and remove it \
                 with SQLite's shell (DROP TABLE) or restore a backup"
            ))?;
        }
        context.out.line(&format!("records checked:         {}", report.records_checked))?;
        if !report.ok {
            verify::print(&report.verify, context)?;
        }
        let verdict = if report.ok { "ok" } else { "FAILED — see verify" };
        context.out.line(&format!("integrity: {verdict}"))?;
    }
    if report.ok { Ok(()) } else { Err(Failure::Told(ErrorClass::Integrity)) }
}

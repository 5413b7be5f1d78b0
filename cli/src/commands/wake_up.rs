//! `wake-up`: who you are, and what was filed last.

use serde::Serialize;
use undercroft_node::reply::WakeUp;
use undercroft_palace::identity;
use undercroft_vault::limits::WAKE_UP_DRAWERS;

use crate::args::WakeUpArgs;
use crate::context::Context;
use crate::error::Outcome;
use crate::print::first_line;

/// What the HTTP surface answers, and whom the palace serves, which is told on this machine alone.
#[derive(Serialize)]
struct Reply {
    identity: Option<String>,
    #[serde(flatten)]
    filed: WakeUp,
}

/// Characters of a drawer's first line.
const LINE: usize = 120;

pub(super) fn run(args: &WakeUpArgs, context: &mut Context) -> Outcome {
    let vault = context.open_to_read()?;
    let drawers = vault.recent(args.wing.as_deref(), WAKE_UP_DRAWERS)?;
    let identity = identity::read(&context.home)?;
    if context.out.is_json() {
        return context.out.object(&Reply { identity, filed: drawers.as_slice().into() });
    }
    context.out.line("## L0 — IDENTITY")?;
    match identity {
        Some(text) => context.out.stored_line(&text)?,
        None => context.out.line(&format!(
            "No identity yet. Write a few lines about whom this palace serves into {}",
            context.home.identity_file().display()
        ))?,
    }
    context.out.line("")?;
    context.out.line(&format!("## L1 — ESSENTIAL STORY (vault '{}')", vault.name()))?;
    if drawers.is_empty() {
        let remember = context.command("remember \"…\"");
        return context.out.line(&match args.wing {
            Some(_) => "This wing is empty.".to_owned(),
            None => format!("Palace is empty. File a first text with: {remember}"),
        });
    }
    for drawer in &drawers {
        let line = first_line(&drawer.content, LINE);
        context.out.stored_line(&format!("- [{}/{}] {line}", drawer.meta.wing, drawer.meta.room))?;
    }
    Ok(())
}

//! `stats`: counts, sizes and state.

use undercroft_node::reply::VaultStats;
use undercroft_vault::Stats;

use crate::context::Context;
use crate::error::Outcome;

pub(super) fn run(context: &mut Context) -> Outcome {
    let ceiling = context.settings()?.audit_ceiling;
    let stats = context.open_to_read()?.stats()?;
    if context.out.is_json() {
        return context.out.object(&VaultStats::of(stats, ceiling));
    }
    print(&stats, ceiling, context)
}

fn is_over(stats: &Stats, ceiling: Option<u64>) -> bool {
    ceiling.is_some_and(|most| stats.chain_records > most)
}

fn print(stats: &Stats, ceiling: Option<u64>, context: &mut Context) -> Outcome {
    context.out.line(&format!("vault:   {} ({})", stats.id, stats.level))?;
    context.out.line(&format!("records: {}", stats.records))?;
    context.out.line(&format!("rooms:   {}", stats.rooms))?;
    context.out.line(&format!("tunnels: {}", stats.tunnels))?;
    context.out.line(&format!("kg:      {} triples ({} active)", stats.kg.triples, stats.kg.active))?;
    context.out.line(&format!("writes:  {}", stats.writes))?;
    context.out.line(&format!("chain:   {}", stats.chain_head))?;
    context.out.line(&format!("db size: {} bytes", stats.db_bytes))?;
    if stats.read_only {
        context.out.line("posture: read-only")?;
    }
    if let Some(most) = ceiling {
        let state = if is_over(stats, ceiling) { "exceeded" } else { "not reached" };
        context.out.line(&format!("audit ceiling: {most} ({state})"))?;
    }
    for note in &stats.unhealed {
        context.out.line(&format!("unhealed: {note}"))?;
    }
    context.out.line("wings:")?;
    for wing in &stats.wings {
        context.out.stored_line(&format!("  {} ({})", wing.wing, wing.count))?;
    }
    Ok(())
}

//! `vault create|list|status|anchor|delete`.

use undercroft_node::reply::{VaultCreated, VaultDeleted, VaultList, VaultStats};
use undercroft_palace::{Access, CreateKeys, Level, Palace, registry};
use undercroft_vault::Stats;

use crate::args::VaultCommand;
use crate::context::{Context, close, open_to_read};
use crate::error::{Failure, Outcome};
use crate::i18n::Template;

pub(super) fn run(command: &VaultCommand, context: &mut Context) -> Outcome {
    match command {
        VaultCommand::Create { name, level } => create(name, level, context),
        VaultCommand::List => list(context),
        VaultCommand::Status { name } => status(name, context),
        VaultCommand::Anchor { name } => anchor(name, context),
        VaultCommand::Delete { name, yes } => delete(name, *yes, context),
        VaultCommand::Rotate { .. } => Err(Failure::not_implemented("vault rotate")),
    }
}

/// The level that was typed.
pub(super) fn level(text: &str) -> Outcome<Level> {
    text.parse().map_err(|error| Failure::invalid(format!("invalid --level: {error}")))
}

fn create(name: &str, wanted: &str, context: &mut Context) -> Outcome {
    let level = level(wanted)?;
    let vault = context.palace(CreateKeys::IfEmpty)?.create_vault(name, level)?;
    let name = vault.name();
    close(vault);
    if context.out.is_json() {
        return context.out.object(&VaultCreated::of(name, level));
    }
    let line = context.say(Template::VaultCreated, &[("name", &name), ("level", level.as_str())]);
    context.out.line(&line)
}

/// One damaged vault never hides the others: its line says what is wrong, and the exit code too.
fn list(context: &mut Context) -> Outcome {
    let names = registry::names(&context.home)?;
    if context.out.is_json() {
        return context.out.object(&VaultList { vaults: names });
    }
    if names.is_empty() {
        let init = context.command_for_all("init");
        return context.out.line(&format!("No vaults. Run: {init}"));
    }
    let palace = context.palace(CreateKeys::Never)?;
    let mut worst: Option<Failure> = None;
    for name in names {
        match stats_of(&palace, &name) {
            Ok(stats) => {
                context.out.line(&format!("{name:<20} level={} records={}", stats.level, stats.records))?;
            }
            Err(failure) => {
                context.out.stored_line(&format!("{name:<20} cannot be opened: {failure}"))?;
                let is_worse = worst.as_ref().is_none_or(|known| failure.code() > known.code());
                if is_worse {
                    worst = Some(failure);
                }
            }
        }
    }
    worst.map_or(Ok(()), Err)
}

fn stats_of(palace: &Palace, name: &str) -> Outcome<Stats> {
    Ok(palace.open_vault(name, Access::ReadOnly)?.stats()?)
}

fn status(name: &str, context: &mut Context) -> Outcome {
    let ceiling = context.settings()?.audit_ceiling;
    let stats = open_to_read(&context.palace(CreateKeys::Never)?, name)?.stats()?;
    if context.out.is_json() {
        return context.out.object(&VaultStats::of(stats, ceiling));
    }
    context.out.line(&format!("vault:      {}", stats.id))?;
    context.out.line(&format!("level:      {}", stats.level))?;
    context.out.line(&format!("records:    {}", stats.records))?;
    context.out.line(&format!("writes:     {}", stats.writes))?;
    context.out.line(&format!("chain head: {}", stats.chain_head))?;
    context
        .out
        .line(&format!("db:         {}", context.home.vaults().join(&stats.id).join("vault.db").display()))
}

fn anchor(name: &str, context: &mut Context) -> Outcome {
    let vault = context.palace(CreateKeys::Never)?.open_vault(name, Access::Write)?;
    // Opening heals a lag by itself; both count as what this command was asked to do.
    let healed = match vault.recovery() {
        undercroft_vault::Recovery::Behind(records) => *records,
        undercroft_vault::Recovery::Current => 0,
    };
    let mut report = vault.anchor()?;
    report.behind_by = report.behind_by.max(healed);
    if context.out.is_json() {
        return context.out.object(&report);
    }
    context.out.line(&match (&report.chain_head, report.behind_by) {
        (None, _) => format!("Vault '{name}' has no committed chain head yet: nothing was written to it."),
        (Some(head), 0) => format!("The anchor of vault '{name}' already names the committed chain head {head}."),
        (Some(head), behind) => format!(
            "The anchor of vault '{name}' was {behind} record(s) behind and now names the committed chain head {head}."
        ),
    })
}

fn delete(name: &str, yes: bool, context: &mut Context) -> Outcome {
    // Told before the confirmation is asked for: nothing to confirm.
    registry::existing(&context.home, name)?;
    if !yes {
        return Err(Failure::invalid(format!(
            "deleting vault '{name}' destroys everything in it; run it again with --yes to confirm"
        )));
    }
    context.palace(CreateKeys::Never)?.delete_vault(name)?;
    if context.out.is_json() {
        return context.out.object(&VaultDeleted::of(name.to_owned()));
    }
    context.out.line(&format!("Deleted vault '{name}'."))
}

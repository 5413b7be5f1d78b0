//! `backup create|list|restore`.

use serde_json::json;
use undercroft_node::reply::{BackupList, Restored};
use undercroft_palace::{CreateKeys, backups};

use crate::args::{BackupCommand, RestoreArgs};
use crate::context::Context;
use crate::error::Outcome;
use crate::progress::Progress;

pub(super) fn run(command: &BackupCommand, context: &mut Context) -> Outcome {
    match command {
        BackupCommand::Create => create(context),
        BackupCommand::List => list(context),
        BackupCommand::Restore(args) => restore(args, context),
    }
}

fn create(context: &mut Context) -> Outcome {
    let palace = context.palace(CreateKeys::Never)?;
    let progress = Progress::start("Verifying");
    let made = palace
        .create_backup(context.vault_name(), &mut |checked| progress.show(format!("{checked} records")))?;
    drop(progress);
    if context.out.is_json() {
        return context.out.object(&json!({
            "path": made.path.display().to_string(),
            "records": made.info.records,
            "chain_records": made.info.chain_records,
            "dropped": made.dropped,
        }));
    }
    context.out.line(&format!("Backup created: {}", made.path.display()))?;
    for name in made.dropped {
        context.out.line(&format!("Dropped the oldest: {name}"))?;
    }
    Ok(())
}

/// Needs no key: names are in clear.
fn list(context: &mut Context) -> Outcome {
    let found = backups::list(&context.home)?;
    if context.out.is_json() {
        return context.out.object(&BackupList::from(found));
    }
    if found.is_empty() {
        let create = context.command("backup create");
        return context.out.line(&format!("No backups. Make one with: {create}"));
    }
    for backup in found {
        let damaged = if backup.vault.is_none() { "  (its manifest cannot be read)" } else { "" };
        context.out.stored_line(&format!("{}{damaged}", backup.name))?;
    }
    Ok(())
}

fn restore(args: &RestoreArgs, context: &mut Context) -> Outcome {
    let palace = context.palace(CreateKeys::Never)?;
    let progress = Progress::start("Verifying");
    let vault = palace
        .restore_backup(&args.name, args.force, &mut |checked| progress.show(format!("{checked} records")))?;
    drop(progress);
    if context.out.is_json() {
        return context.out.object(&Restored::of(args.name.clone(), vault));
    }
    context.out.line(&format!("Restored {} -> vault '{vault}'", args.name))
}

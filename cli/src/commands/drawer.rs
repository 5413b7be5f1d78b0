//! `drawer get|list|update|delete|delete-by-source|check-dup`.

use undercroft_node::reply::{Deleted, DrawerList, Duplicate, FoundDrawer, SourceDeleted, Updated};
use undercroft_vault::{Drawer, DrawerId};

use super::remember::SCREENING;
use crate::args::DrawerCommand;
use crate::context::{Context, close};
use crate::error::Outcome;

pub(super) fn run(command: &DrawerCommand, context: &mut Context) -> Outcome {
    match command {
        DrawerCommand::Get { id } => get(id.parse()?, context),
        DrawerCommand::List { wing, room, limit, offset } => {
            list(wing.as_deref(), room.as_deref(), *limit, *offset, context)
        }
        DrawerCommand::Update { id, text } => update(id.parse()?, text, context),
        DrawerCommand::Delete { id } => delete(id.parse()?, context),
        DrawerCommand::DeleteBySource { path } => delete_by_source(path, context),
        DrawerCommand::CheckDup { text } => check_dup(text, context),
    }
}

fn get(id: DrawerId, context: &mut Context) -> Outcome {
    let drawer = context.open_to_read()?.get(id)?;
    if context.out.is_json() {
        return context.out.object(&FoundDrawer { drawer });
    }
    print(&drawer, context)
}

fn print(drawer: &Drawer, context: &mut Context) -> Outcome {
    let meta = &drawer.meta;
    let mut fields = vec![
        ("id", drawer.id.to_string()),
        ("wing", format!("{}/{}", meta.wing, meta.room)),
        ("filed", meta.filed_at.clone()),
        ("source", meta.source_file.clone().unwrap_or_else(|| "(direct)".to_owned())),
    ];
    let optional = [
        ("kind", meta.kind.map(|kind| kind.to_string())),
        ("date", meta.content_date.clone()),
        ("updates", meta.supersedes.map(|id| id.to_string())),
        ("agent", meta.agent.clone()),
        ("channel", meta.channel.clone()),
        ("session", meta.session.clone()),
    ];
    fields.extend(optional.into_iter().filter_map(|(name, value)| Some((name, value?))));
    for (name, value) in fields {
        context.out.stored_line(&format!("{:<9}{value}", format!("{name}:")))?;
    }
    context.out.line("---")?;
    context.out.stored_line(&drawer.content)
}

fn list(
    wing: Option<&str>,
    room: Option<&str>,
    limit: usize,
    offset: usize,
    context: &mut Context,
) -> Outcome {
    let drawers = context.open_to_read()?.list(wing, room, limit, offset)?;
    if context.out.is_json() {
        return context.out.object(&DrawerList { drawers });
    }
    if drawers.is_empty() {
        return context.out.line("No drawers.");
    }
    for drawer in drawers {
        let place = format!("{}/{}", drawer.wing, drawer.room);
        context
            .out
            .stored_line(&format!("{}  {place}  {}  ({})", drawer.id, drawer.preview, drawer.filed_at))?;
    }
    Ok(())
}

fn update(id: DrawerId, text: &str, context: &mut Context) -> Outcome {
    let vault = context.open()?;
    vault.update(id, text, SCREENING)?;
    close(vault);
    if context.out.is_json() {
        return context.out.object(&Updated::of(id));
    }
    context.out.line(&format!("Updated drawer {id}"))
}

fn delete(id: DrawerId, context: &mut Context) -> Outcome {
    let vault = context.open()?;
    vault.delete(id)?;
    close(vault);
    if context.out.is_json() {
        return context.out.object(&Deleted::of(id));
    }
    context.out.line(&format!("Deleted drawer {id}"))
}

fn delete_by_source(source: &str, context: &mut Context) -> Outcome {
    let vault = context.open()?;
    let deleted = vault.delete_source(source)?;
    close(vault);
    if context.out.is_json() {
        return context.out.object(&SourceDeleted::of(source.to_owned(), deleted));
    }
    context.out.stored_line(&format!("Deleted {} drawer(s) from {source}", deleted.len()))
}

fn check_dup(text: &str, context: &mut Context) -> Outcome {
    let found = context.open_to_read()?.find_duplicate(text)?;
    if context.out.is_json() {
        return context.out.object(&Duplicate::from(found));
    }
    context.out.line(&found.map_or_else(|| "not filed".to_owned(), |id| format!("duplicate of {id}")))
}

//! `taxonomy`: wings and their rooms.

use crate::context::Context;
use crate::error::Outcome;

pub(super) fn run(context: &mut Context) -> Outcome {
    let taxonomy = context.open_to_read()?.taxonomy()?;
    if context.out.is_json() {
        return context.out.object(&taxonomy);
    }
    if taxonomy.wings.is_empty() {
        return context.out.line("No drawers.");
    }
    for wing in taxonomy.wings {
        context.out.stored_line(&format!("{}/", wing.wing))?;
        for room in wing.rooms {
            context.out.stored_line(&format!("  {} ({})", room.room, room.count))?;
        }
    }
    Ok(())
}

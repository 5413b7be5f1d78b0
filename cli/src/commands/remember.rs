//! `remember`: one text, word for word.

use undercroft_node::reply;
use undercroft_vault::{AddedBy, BypassReason, Claims, NewDrawer, Screening};

use crate::args::RememberArgs;
use crate::context::{Context, close};
use crate::error::Outcome;
use crate::i18n::Template;

/// This version has no screen; a declared one refuses the start.
pub(super) const SCREENING: Screening = Screening::Bypass(BypassReason::NotDeclared);

pub(super) fn run(args: RememberArgs, context: &mut Context) -> Outcome {
    // Everything that can be judged without the vault is judged before it is opened.
    let kind = args.kind.as_deref().map(str::parse).transpose()?;
    let supersedes = args.supersedes.as_deref().map(str::parse).transpose()?;
    let (wing, room) = (args.wing.trim().to_owned(), args.room.trim().to_owned());
    let drawer = NewDrawer {
        kind,
        supersedes,
        content_date: args.content_date,
        claims: Claims { agent: args.agent, channel: args.channel, session: args.session },
        ..NewDrawer::direct(&wing, &room, &args.text, AddedBy::Cli)
    };
    let vault = context.open()?;
    let name = vault.name();
    let saved = vault.save(drawer, SCREENING)?;
    close(vault);
    if context.out.is_json() {
        return context.out.object(&reply::Saved::from(saved));
    }
    let id = saved.id.to_string();
    let line = context
        .say(Template::DrawerFiled, &[("id", &id), ("wing", &wing), ("room", &room), ("vault", &name)]);
    context.out.line(&line)
}

//! `serve-mcp`: one vault to one agent, on standard input and output, until the input ends.
//!
//! Standard output carries replies and nothing else; whatever a person should know goes to standard error.

use std::io;

use undercroft_node::mcp::{Posture, Server, serve_stdio};
use undercroft_palace::{Access, CreateKeys};

use crate::args::ServeMcpArgs;
use crate::context::{Context, close};
use crate::error::Outcome;

pub(super) fn run(args: &ServeMcpArgs, context: &mut Context) -> Outcome {
    let ceiling = context.settings()?.audit_ceiling;
    let (access, posture) = match args.read_only {
        true => (Access::ReadOnly, Posture::ReadOnly),
        false => (Access::Write, Posture::Writable),
    };
    // Before the first message: a verdict on the vault is never a tool's answer.
    let vault = context.palace(CreateKeys::Never)?.open_vault(context.vault_name(), access)?;
    context.tell_unhealed(&vault);
    let server = Server::new(posture).with_audit_ceiling(ceiling);
    let mut log = |failure: &_| crate::print::aside(&format!("Error: {failure}"));
    let served = serve_stdio(server, &vault, io::stdin().lock(), context.out.sink(), &mut log);
    // Also when the agent went away in the middle of a reply.
    close(vault);
    Ok(served?)
}

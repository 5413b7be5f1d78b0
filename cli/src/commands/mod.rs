//! One file a command. A handler asks the engine, prints the answer, and decides nothing.

mod assert_header;
mod backup;
mod cluster;
mod completions;
mod config;
mod control_plane;
mod daemon;
mod dedup;
mod drawer;
mod fleet;
mod history;
mod hooks;
mod init;
mod keygen;
mod mine;
mod remember;
mod repair;
mod search;
mod serve_http;
mod serve_mcp;
mod stats;
mod supersessions;
mod sweep;
mod taxonomy;
mod transcript;
mod vault;
mod verify;
mod wake_up;

use crate::args::{Command, ConfigCommand};
use crate::context::Context;
use crate::error::{Failure, Outcome};

/// Runs what was typed.
///
/// # Errors
/// Whatever the command says.
pub(crate) fn run(command: Command, context: &mut Context) -> Outcome {
    match command {
        Command::Init(args) => init::run(&args, context),
        Command::Vault(command) => vault::run(&command, context),
        Command::Remember(args) => remember::run(args, context),
        Command::Mine(args) => mine::run(&args, context),
        Command::Sweep(args) => sweep::run(&args, context),
        Command::Search(args) => search::run(&args, context),
        Command::ServeHttp(args) => serve_http::run(&args, context),
        Command::ServeMcp(args) => serve_mcp::run(&args, context),
        Command::Hooks(args) => hooks::run(&args, context),
        Command::Daemon(command) => daemon::run(&command, context),
        Command::AssertHeader(args) => assert_header::run(&args, context),
        Command::WakeUp(args) => wake_up::run(&args, context),
        Command::Drawer(command) => drawer::run(&command, context),
        Command::Dedup(args) => dedup::run(&args, context),
        Command::Stats => stats::run(context),
        Command::Taxonomy => taxonomy::run(context),
        Command::History(args) => history::run(&args, context),
        Command::Supersessions => supersessions::run(context),
        Command::Verify => verify::run(context),
        Command::Repair(args) => repair::run(&args, context),
        Command::Backup(command) => backup::run(&command, context),
        Command::Config(ConfigCommand::Check(args)) | Command::ConfigCheck(args) => {
            config::check(&args, context)
        }
        Command::Transcript(command) => transcript::run(&command, context),
        Command::Cluster(command) => cluster::run(&command, context),
        Command::Node(args) => fleet::node(&args, context),
        Command::Shard(args) => fleet::shard(&args, context),
        Command::Tenant(args) => fleet::tenant(&args, context),
        Command::Job(args) => fleet::job(&args, context),
        Command::Keygen(args) => keygen::run(&args, context),
        Command::ControlPlane(args) => control_plane::run(&args, context),
        Command::Completions(args) => completions::run(&args, context),
        Command::Later(command) => Err(Failure::not_implemented(command.name())),
    }
}

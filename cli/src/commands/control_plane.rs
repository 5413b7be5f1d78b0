//! `control-plane`: a member of the control group, until told to stop.

use std::path::Path;
use std::sync::Arc;

use undercroft_certs::{Role, SystemTime, Tls};
use undercroft_control_plane::admin::AdminToken;
use undercroft_control_plane::keys::GroupKey;
use undercroft_control_plane::ports::Ports;
use undercroft_control_plane::process::{Admin, Keys, Options};
use undercroft_control_plane::raft::{Connect, Timing};
use undercroft_node::telemetry::{LogFormat, start_logs};
use undercroft_palace::env::resolve;
use undercroft_proto::JoinKey;

use crate::args::ControlPlaneArgs;
use crate::context::Context;
use crate::error::{Failure, Outcome};

/// Where the Admin API listens when nobody says.
const ADMIN: &str = "127.0.0.1:8900";

pub(super) fn run(args: &ControlPlaneArgs, context: &Context) -> Outcome {
    // Every declaration is read before anything is opened.
    let options = options(args, context)?;
    let format = if resolve::logs_are_json(&context.environment) { LogFormat::Json } else { LogFormat::Text };
    let _lines = start_logs(resolve::log_directives(&context.environment).as_deref(), format);
    undercroft_control_plane::process::run(options, |listening| {
        let scheme = if listening.secured { "https" } else { "http" };
        let admin =
            listening.admin.map_or(String::new(), |admin| format!(", operators on {scheme}://{admin}"));
        crate::print::aside(&format!("Control plane: members and nodes on {}{admin}", listening.address));
    })?;
    Ok(())
}

fn options(args: &ControlPlaneArgs, context: &Context) -> Outcome<Options> {
    let environment = &context.environment;
    let refused = undercroft_palace::Error::Declaration;
    let missing =
        |name: &str| Failure::invalid(format!("{name} is not set; draw one with: undercroft keygen"));
    let key = resolve::orchestrator_key(environment).accept().map_err(refused)?;
    let token = resolve::admin_token(environment).accept().map_err(refused)?;
    let declared = resolve::orchestrator_address(environment).accept().map_err(refused)?;
    let listen = args.admin_listen.clone().or(declared).unwrap_or_else(|| ADMIN.to_owned());
    let token = AdminToken::new(token.ok_or_else(|| missing("UNDERCROFT_ORCH_ADMIN_TOKEN"))?)?;
    Ok(Options {
        data: args.data.clone(),
        listen: args.listen.clone(),
        advertise: args.advertise.clone(),
        join: args.join.clone(),
        keys: Keys {
            group: GroupKey::new(key.ok_or_else(|| missing("UNDERCROFT_ORCH_KEY"))?),
            join: args.join_key_file.as_deref().map(join_key).transpose()?,
        },
        connect: match &args.cert_dir {
            Some(folder) => Connect::tls(Tls::open(folder, Role::Control, Arc::new(SystemTime))?),
            None => Connect::plain(),
        },
        admin: Some(Admin { listen, token }),
        timing: Timing::default(),
        ports: Ports::of_this_machine(),
    })
}

fn join_key(file: &Path) -> Outcome<JoinKey> {
    let unusable =
        |problem: String| Failure::invalid(format!("--join-key-file {}: {problem}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| unusable(error.to_string()))?;
    JoinKey::parse(text.trim()).map_err(|error| unusable(error.to_string()))
}

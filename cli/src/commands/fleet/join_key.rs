//! `cluster join-key`: what members of the control group know a fleet's nodes by, from this installation's master key.

use serde_json::json;
use undercroft_crypto::OsEntropy;
use undercroft_palace::{CreateKeys, KeySource, load_master_key};
use undercroft_proto::JoinKey;
use zeroize::Zeroizing;

use super::given;
use crate::args::JoinKeyArgs;
use crate::context::Context;
use crate::error::Outcome;

pub(in crate::commands) fn run(args: &JoinKeyArgs, context: &mut Context) -> Outcome {
    let declared =
        KeySource::declared(&context.environment).map_err(undercroft_palace::Error::Declaration)?;
    let (master, _) = load_master_key(&context.home, &declared, CreateKeys::Never, &OsEntropy)?;
    let key = JoinKey::derive(master.expose_to_key_file()).reveal();
    let Some(path) = &args.out else {
        if context.out.is_json() {
            return context.out.object(&json!({ "join_key": key.as_str() }));
        }
        return context.out.line(&key);
    };
    given::write_new(path, Zeroizing::new(format!("{}\n", key.as_str())).as_bytes())?;
    let path = path.display().to_string();
    if context.out.is_json() {
        return context.out.object(&json!({ "path": path }));
    }
    context.out.stored_line(&format!(
        "Join key written: {path} (0600). Give it to each member of the control group: --join-key-file FILE"
    ))
}

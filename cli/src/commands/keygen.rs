//! `keygen`: the secrets of a fleet's control group, drawn once.

use serde_json::json;
use undercroft_certs::Secrets;

use crate::args::KeygenArgs;
use crate::context::Context;
use crate::error::Outcome;

pub(super) fn run(args: &KeygenArgs, context: &mut Context) -> Outcome {
    let secrets = Secrets::draw()?;
    if let Some(path) = &args.out {
        secrets.write_new(path)?;
        let path = path.display().to_string();
        if context.out.is_json() {
            return context.out.object(&json!({ "path": path }));
        }
        return context.out.line(&format!("Secrets written: {path} (0600); keep a copy offline"));
    }
    if context.out.is_json() {
        let (key, admin_token) = (secrets.key.as_str(), secrets.admin_token.as_str());
        return context.out.object(&json!({ "key": key, "admin_token": admin_token }));
    }
    context.out.line(secrets.lines().trim_end())
}

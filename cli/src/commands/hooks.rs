//! `hooks`: settings that make an agent's program file its own conversations.

use serde_json::{Map, Value, json};

use crate::args::HooksArgs;
use crate::context::Context;
use crate::error::{Failure, Outcome};

/// What a hook runs; the shell of the agent's program knows where home is.
const COMMAND: &str = "undercroft sweep ~/.claude/projects --wing claude-code";
/// When a conversation pauses, and before it is shortened.
const EVENTS: [&str; 2] = ["Stop", "PreCompact"];

pub(super) fn run(args: &HooksArgs, context: &mut Context) -> Outcome {
    if args.agent != "claude-code" {
        return Err(Failure::invalid(format!(
            "no hooks are known for '{}'; 'claude-code' is the only one",
            args.agent
        )));
    }
    if context.out.is_json() {
        return context.out.object(&settings());
    }
    // `{:#}` of a JSON value is the indented form, for a settings file.
    context.out.line(&format!("{:#}", settings()))
}

fn settings() -> Value {
    let hook = json!([{ "hooks": [{ "type": "command", "command": COMMAND }] }]);
    json!({ "hooks": EVENTS.map(|event| (event.to_owned(), hook.clone())).into_iter().collect::<Map<_, _>>() })
}

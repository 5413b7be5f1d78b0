//! `completions SHELL`.

use crate::args::{CompletionArgs, help};
use crate::context::Context;
use crate::error::Outcome;

pub(super) fn run(args: &CompletionArgs, context: &mut Context) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut help::command(), "undercroft", &mut script);
    context.out.line(String::from_utf8_lossy(&script).trim_end())
}

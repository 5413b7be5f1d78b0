//! `completions SHELL`.

use crate::args::{CompletionArgs, help};
use crate::context::Context;
use crate::error::{Failure, Outcome};

pub(super) fn run(args: &CompletionArgs, context: &mut Context) -> Outcome {
    if context.out.is_json() {
        return Err(Failure::invalid(
            "--json does not apply to completions, which print a shell's script; remove it",
        ));
    }
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut help::command(), "undercroft", &mut script);
    context.out.line(String::from_utf8_lossy(&script).trim_end())
}

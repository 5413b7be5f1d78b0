//! `assert-header`: the value of `X-Vault-Assertion` for one vault, good for two minutes.

use serde_json::json;
use undercroft_node::http::{AssertionSecret, assertion};
use undercroft_palace::env::resolve;
use undercroft_palace::registry;
use undercroft_vault::{Clock, SystemClock};

use crate::args::AssertHeaderArgs;
use crate::context::Context;
use crate::error::{Failure, Outcome};

pub(super) fn run(args: &AssertHeaderArgs, context: &mut Context) -> Outcome {
    let vault = args.asserted.as_str();
    // The vault may be on another machine, so only its name is judged. Another spelling would be another assertion.
    let folder = registry::folder(&context.home, vault)?;
    if folder.file_name().and_then(|kept| kept.to_str()) != Some(vault) {
        return Err(Failure::invalid(
            "invalid vault name: spell it as it is kept, without white space at its ends",
        ));
    }
    let secret = resolve::assertion_secret(&context.environment)
        .accept()
        .map_err(undercroft_palace::Error::Declaration)?
        .ok_or_else(|| {
            Failure::invalid("UNDERCROFT_ASSERTION_SECRET is not declared; declare the server's")
        })?;
    let now = u64::try_from(SystemClock.now_micros() / 1_000_000)
        .map_err(|_| Failure::invalid("this machine's clock stands before 1970; set it"))?;
    let value = assertion(&AssertionSecret::new(secret), now, vault);
    if context.out.is_json() {
        return context.out.object(&json!({ "vault": vault, "header": "X-Vault-Assertion", "value": value }));
    }
    context.out.line(&value)
}

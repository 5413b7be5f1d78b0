//! `verify`: every record and the whole chain.

use undercroft_node::reply::Verified;
use undercroft_palace::{Access, CreateKeys, ErrorClass};
use undercroft_vault::{SupersessionCounts, VerifyReport};

use super::supersessions::summary;
use crate::context::Context;
use crate::error::{Failure, Outcome};
use crate::i18n::Template;
use crate::progress::Progress;

pub(super) fn run(context: &mut Context) -> Outcome {
    // Read-only, so that the anchor that is judged is the one that was found.
    let vault = context.palace(CreateKeys::Never)?.open_vault(context.vault_name(), Access::ReadOnly)?;
    context.tell_unhealed(&vault);
    let progress = Progress::start("Verifying");
    let report = vault.verify(&mut |checked| progress.show(format!("{checked} records")))?;
    drop(progress);
    let ok = report.ok;
    if context.out.is_json() {
        context.out.object(&Verified::from(report))?;
    } else {
        print(&report, context)?;
        let template = if ok { Template::VerifyOk } else { Template::VerifyFailed };
        let verdict = context.say(template, &[]);
        context.out.line(&verdict)?;
    }
    if ok { Ok(()) } else { Err(Failure::Told(ErrorClass::Integrity)) }
}

/// Every leg and its findings; also what `repair` shows when its verification fails.
pub(super) fn print(report: &VerifyReport, context: &mut Context) -> Outcome {
    leg(context, "records checked:", &report.records_checked.to_string(), "", &[])?;
    counted(context, "hmac failures:", "TAMPERED", &report.bad_records)?;
    leg(context, "audit chain:", if report.chain_ok { "ok" } else { "BROKEN" }, "", &[])?;
    counted(context, "orphan labels:", "ORPHANED", &report.orphan_labels)?;
    counted(context, "mirror drift:", "MIRROR", &report.mirror_drift)?;
    counted(context, "version replay:", "REPLAYED", &report.version_replay)?;
    counted(context, "label drift:", "LABEL", &report.label_drift)?;
    counted(context, "ledger drift:", "LEDGER", &report.ledger_drift)?;
    if report.supersessions != SupersessionCounts::default() {
        leg(
            context,
            "supersessions:",
            &summary(&report.supersessions),
            "TAMPERED LINK",
            &report.bad_supersessions,
        )?;
    }
    Ok(())
}

fn counted(context: &mut Context, name: &str, word: &str, findings: &[String]) -> Outcome {
    leg(context, name, &findings.len().to_string(), word, findings)
}

fn leg(context: &mut Context, name: &str, value: &str, word: &str, findings: &[String]) -> Outcome {
    context.out.line(&format!("{name:<17}{value}"))?;
    for finding in findings {
        let finding = context.named.complete(finding).into_owned();
        context.out.stored_line(&format!("  {word}: {finding}"))?;
    }
    Ok(())
}

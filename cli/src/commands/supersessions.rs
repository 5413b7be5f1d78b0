//! `supersessions`: which drawer updates which, and whether the receipts hold.

use undercroft_palace::ErrorClass;
use undercroft_vault::{LinkVerdict, SupersessionCounts};

use crate::context::Context;
use crate::error::{Failure, Outcome};

pub(super) fn run(context: &mut Context) -> Outcome {
    let found = context.open_to_read()?.supersessions()?;
    if context.out.is_json() {
        context.out.object(&found)?;
    } else {
        for link in &found.supersessions {
            context.out.line(&format!(
                "  [{}] {} updates {}",
                word(link.verdict),
                link.drawer_id,
                link.supersedes
            ))?;
        }
        context.out.line(&format!("supersessions: {}", summary(&found.summary)))?;
    }
    if found.ok { Ok(()) } else { Err(Failure::Told(ErrorClass::Integrity)) }
}

fn word(verdict: LinkVerdict) -> &'static str {
    match verdict {
        LinkVerdict::Verified => "verified",
        LinkVerdict::SourceChanged => "source-changed",
        LinkVerdict::Dangling => "dangling",
        LinkVerdict::Unreceipted => "unreceipted",
        LinkVerdict::Tampered => "TAMPERED",
    }
}

/// Counts by verdict, on one line.
pub(super) fn summary(counts: &SupersessionCounts) -> String {
    format!(
        "{} verified · {} source-changed · {} dangling · {} unreceipted · {} tampered",
        counts.verified, counts.source_changed, counts.dangling, counts.unreceipted, counts.tampered
    )
}

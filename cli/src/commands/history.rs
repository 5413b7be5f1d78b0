//! `history`: the audit chain, newest first.

use undercroft_node::reply::History;

use crate::args::HistoryArgs;
use crate::context::Context;
use crate::error::Outcome;

/// Digits of a tag that a line shows.
const SHOWN: usize = 16;

pub(super) fn run(args: &HistoryArgs, context: &mut Context) -> Outcome {
    let records = context.open_to_read()?.history(args.subject.as_deref(), args.limit, args.offset)?;
    if context.out.is_json() {
        return context.out.object(&History::from(records));
    }
    for record in &records {
        let tag = record.tag.get(..SHOWN).unwrap_or(&record.tag);
        context.out.stored_line(&format!("#{} {} {} {tag}…", record.seq, record.at, record.record_id))?;
    }
    context.out.line(&format!("{} record(s).", records.len()))
}

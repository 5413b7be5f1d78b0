//! `search`: hits, three lines each, best first.

use std::time::Instant;

use undercroft_text::morphology::Language;
use undercroft_text::snippet::snippet;
use undercroft_vault::{SearchHit, SearchReply, SearchRequest};

use crate::args::SearchArgs;
use crate::context::Context;
use crate::error::{Failure, Outcome};
use crate::i18n::Template;

/// Characters of a hit's text.
const SNIPPET: usize = 100;

pub(super) fn run(args: &SearchArgs, context: &mut Context) -> Outcome {
    if let Some(flag) = args.unbuilt_flag() {
        return Err(Failure::not_implemented(flag));
    }
    let request = SearchRequest {
        query: args.query.clone(),
        wing: args.wing.clone(),
        room: args.room.clone(),
        kind: args.kind.as_deref().map(str::parse).transpose()?,
        limit: args.limit,
        offset: args.offset,
        ranked_at: args.ranked_at.clone(),
        room_cap: args.room_cap,
        language: args.language.as_deref().map(language).transpose()?,
    };
    let traced = context.settings()?.search_trace;
    let started = Instant::now();
    let vault = context.open_to_read()?;
    let opened = Instant::now();
    let reply = vault.search(&request)?;
    if traced {
        crate::print::aside(&format!(
            "trace: open {:.3?}, search {:.3?}",
            opened - started,
            opened.elapsed()
        ));
    }
    if context.out.is_json() {
        return context.out.object(&reply);
    }
    print(args, &reply, context)
}

fn language(text: &str) -> Outcome<Language> {
    Language::parse(text).ok_or_else(|| {
        let known = Language::ALL.map(|(_, code, _)| code).join(", ");
        Failure::invalid(format!("invalid --language: '{text}' is not one of {known}"))
    })
}

fn print(args: &SearchArgs, reply: &SearchReply, context: &mut Context) -> Outcome {
    if reply.hits.is_empty() {
        let line = context.say(Template::NoMatches, &[]);
        context.out.line(&line)?;
    }
    for (rank, hit) in (args.offset + 1..).zip(&reply.hits) {
        print_hit(rank, hit, &args.query, context)?;
    }
    if let Some(count) = reply.unlabeled_excluded.filter(|count| *count > 0) {
        context
            .out
            .line(&format!("({count} in-scope drawers carry no declared kind and were not considered)"))?;
    }
    if !reply.hits.is_empty() && reply.hits.len() == args.limit {
        context
            .out
            .line(&format!("More: add --offset {} --ranked-at {}", reply.next_offset, reply.ranked_at))?;
    }
    Ok(())
}

fn print_hit(rank: usize, hit: &SearchHit, query: &str, context: &mut Context) -> Outcome {
    let text = snippet(&hit.content, query, SNIPPET);
    context.out.stored_line(&format!(
        "{rank}. [{:.3}] {}/{} — {text} ({})",
        hit.score, hit.wing, hit.room, hit.filed_at
    ))?;
    let get = context.command(&format!("drawer get {}", hit.id));
    context.out.stored_line(&format!("   id {} — {get}", hit.id))?;
    context.out.line(&format!(
        "   evidence: exact {:.3} · morph {:.3} · lexical {:.3} · semantic {:.3}",
        hit.lexical_exact, hit.lexical_morph, hit.lexical, hit.semantic
    ))
}

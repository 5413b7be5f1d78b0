//! Finding drawers, and waking up.

use serde_json::json;
use undercroft_text::morphology::Language;
use undercroft_vault::limits::{MAX_SEARCH_DEPTH, WAKE_UP_DRAWERS};
use undercroft_vault::{SearchReply, SearchRequest};

use super::call::{Call, Run};
use super::drawers::KINDS;
use super::tool::{Class, Tool};
use crate::mcp::arguments::{Argument, Holds, Otherwise};
use crate::mcp::failure::Failure;
use crate::mcp::fence::is_pending;
use crate::mcp::limits::{LINE_CHARS, MAX_HITS};
use crate::mcp::render;
use crate::mcp::reply::Reply;

pub(in crate::mcp) const LANGUAGES: &[&str] =
    &["en", "de", "nl", "it", "es", "fr", "pt", "tr", "ru", "el", "hi", "ka", "ko", "ar"];

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "undercroft_wake_up",
        title: "Wake up",
        description: "What was filed or changed last. Call it at the start of a conversation.",
        class: Class::Read,
        arguments: &[Argument::text("wing", "Only this person or project")],
        unbuilt: &[],
        is_long: false,
        run: Run::Reads(wake_up),
    },
    Tool {
        name: "undercroft_search",
        title: "Search memories",
        description: "Find what was said before, by meaning and by word, best first, with the words themselves. Search \
                      before you answer from memory or ask again.",
        class: Class::Read,
        arguments: &[
            Argument::text("query", "What to look for: a question or words").required(),
            Argument::text("wing", "Only this person or project"),
            Argument::text("room", "Only this topic"),
            Argument::new("kind", Holds::OneOf(KINDS), "Only drawers of this declared kind"),
            Argument::new("limit", Holds::Count { least: 1, most: MAX_HITS }, "Most hits")
                .or(Otherwise::Count(5)),
            Argument::new(
                "offset",
                Holds::Count { least: 0, most: MAX_SEARCH_DEPTH as u64 },
                "Ranks to skip",
            )
            .or(Otherwise::Count(0)),
            Argument::text(
                "ranked_at",
                "Measure recency from this moment (RFC 3339), as the page before says",
            ),
            Argument::new(
                "room_cap",
                Holds::Count { least: 1, most: MAX_HITS },
                "Hits that one room gives before every room has given some",
            ),
            Argument::new(
                "language",
                Holds::OneOf(LANGUAGES),
                "The language of the query, for its inflections",
            ),
        ],
        unbuilt: &[
            "min_trust",
            "as_of",
            "week_start",
            "date_order",
            "calendar",
            "when",
            "when_from_query",
            "slack",
        ],
        is_long: false,
        run: Run::Reads(search),
    },
];

fn search(call: &Call<'_>) -> Result<Reply, Failure> {
    let given = &call.arguments;
    let request = SearchRequest {
        query: given.need("query")?.to_owned(),
        wing: given.owned("wing"),
        room: given.owned("room"),
        kind: given.text("kind").map(str::parse).transpose()?,
        limit: given.count("limit").unwrap_or(1),
        offset: given.count("offset").unwrap_or(0),
        ranked_at: given.owned("ranked_at"),
        room_cap: given.count("room_cap"),
        language: given.text("language").and_then(Language::parse),
    };
    let reply = call.vault.search(&request)?;
    Reply::new(page(&request, &reply), &reply)
}

/// The hits, each with its words as they are, then what the caller should know about what is not there.
fn page(request: &SearchRequest, reply: &SearchReply) -> String {
    let ranks = request.offset + 1..;
    let hits: String = ranks.zip(&reply.hits).map(|(rank, hit)| render::hit(rank, hit)).collect();
    let mut notes = Vec::new();
    if reply.hits.is_empty() {
        notes.push(match request.offset {
            0 => "no memories matched".to_owned(),
            rank => format!("no more memories past rank {rank}"),
        });
    }
    if let Some(count) = reply.unlabeled_excluded.filter(|count| *count > 0) {
        notes.push(format!("({count} in-scope drawers carry no declared kind and were not considered)"));
    }
    if reply.hits.len() == request.limit {
        notes.push(format!(
            "more may follow: repeat with offset={} and ranked_at={}",
            reply.next_offset, reply.ranked_at
        ));
    }
    hits + &notes.join("\n")
}

fn wake_up(call: &Call<'_>) -> Result<Reply, Failure> {
    let wing = call.arguments.text("wing");
    let mut drawers = call.vault.recent(wing, WAKE_UP_DRAWERS)?;
    drawers.retain(|drawer| !is_pending(&drawer.meta.wing));
    let shown: Vec<_> = drawers
        .iter()
        .map(|drawer| {
            json!({
                "id": drawer.id,
                "wing": drawer.meta.wing,
                "room": drawer.meta.room,
                "preview": render::first_line(&drawer.content, LINE_CHARS),
                "filed_at": drawer.meta.filed_at,
            })
        })
        .collect();
    let text = if drawers.is_empty() {
        wing.map_or_else(
            || "palace is empty".to_owned(),
            |wing| format!("nothing is filed in wing {}", wing.trim()),
        )
    } else {
        let lines = drawers.iter().map(|drawer| {
            let line = render::first_line(&drawer.content, LINE_CHARS);
            format!("\n- [{}/{}] {line}", drawer.meta.wing, drawer.meta.room)
        });
        format!("## ESSENTIAL STORY (vault '{}')", call.vault.name()) + &lines.collect::<String>()
    };
    Reply::new(text, &json!({ "drawers": shown }))
}

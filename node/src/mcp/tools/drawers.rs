//! Keeping, reading, changing and removing single drawers.

use serde_json::json;
use undercroft_text::check_name;
use undercroft_vault::limits::MAX_LIST;
use undercroft_vault::{
    AddedBy, Change, Claims, DrawerId, Error, ListedDrawer, NewDrawer, Origin, Outcome, Saved, drawer_id,
};

use super::call::{Call, Plan, Run, unexpected};
use super::tool::{Class, Tool};
use crate::mcp::arguments::{Argument, Holds, Otherwise};
use crate::mcp::failure::Failure;
use crate::mcp::fence::is_pending;
use crate::mcp::limits::{MAX_OFFSET, PLACES};
use crate::mcp::reply::Reply;

pub(super) const KINDS: &[&str] = &["question", "preference", "decision", "event", "procedure", "statement"];

const CONTENT: Argument =
    Argument::text("content", "The words to keep, exactly as they were said").required();
const WING: Argument =
    Argument::text("wing", "The person or project that it is about").or(Otherwise::Text("general"));
const ROOM: Argument = Argument::text("room", "The topic within the wing").or(Otherwise::Text("inbox"));
const KIND: Argument = Argument::new("kind", Holds::OneOf(KINDS), "What kind of statement it is");
const CONTENT_DATE: Argument =
    Argument::text("content_date", "The day the words are about: YYYY-MM-DD or RFC 3339");
const SUPERSEDES: Argument =
    Argument::text("supersedes", "The id of the drawer that these words update; that drawer stays");
const AGENT: Argument = Argument::text("agent", "The agent that says this; a claim, shown as one");
const CHANNEL: Argument = Argument::text("channel", "The channel it came through; a claim");
const SESSION: Argument = Argument::text("session", "The conversation it belongs to; a claim");
const SOURCE: Argument = Argument::text("source_file", "The file or address that the words were taken from");
const ID: Argument = Argument::text("id", "The drawer's id, as searches and lists show it").required();

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "undercroft_save",
        title: "Save a memory",
        description: "Keep something worth remembering, word for word: a decision, a preference, a fact, an event. \
                      Always makes a new drawer.",
        class: Class::Add,
        arguments: &[CONTENT, WING, ROOM, KIND, CONTENT_DATE, SUPERSEDES, AGENT, CHANNEL, SESSION],
        unbuilt: &[],
        is_long: false,
        run: Run::Writes(save),
    },
    Tool {
        name: "undercroft_add_drawer",
        title: "File a drawer",
        description: "Keep a text word for word, with the source that it was taken from. The same words of the same \
                      source in the same room are kept once.",
        class: Class::Add,
        arguments: &[CONTENT, WING, ROOM, KIND, SOURCE, CONTENT_DATE, SUPERSEDES, AGENT, CHANNEL, SESSION],
        unbuilt: &[],
        is_long: false,
        run: Run::Writes(add),
    },
    Tool {
        name: "undercroft_get_drawer",
        title: "Read a drawer",
        description: "Read one drawer whole, with its metadata.",
        class: Class::Read,
        arguments: &[ID],
        unbuilt: &[],
        is_long: false,
        run: Run::Reads(get),
    },
    Tool {
        name: "undercroft_list_drawers",
        title: "List drawers",
        description: "List drawers of a wing, a room or all, newest first, with the beginning of their words.",
        class: Class::Read,
        arguments: &[
            Argument::text("wing", "Only this person or project"),
            Argument::text("room", "Only this topic"),
            Argument::new("limit", Holds::Count { least: 1, most: MAX_LIST as u64 }, "Most drawers")
                .or(Otherwise::Count(20)),
            Argument::new("offset", Holds::Count { least: 0, most: MAX_OFFSET }, "Drawers to skip")
                .or(Otherwise::Count(0)),
        ],
        unbuilt: &[],
        is_long: false,
        run: Run::Reads(list),
    },
    Tool {
        name: "undercroft_check_duplicate",
        title: "Look for the same words",
        description: "Say whether these very words are kept already, and where.",
        class: Class::Read,
        arguments: &[Argument::text("content", "The words").required()],
        unbuilt: &[],
        is_long: false,
        run: Run::Reads(check_duplicate),
    },
    Tool {
        name: "undercroft_update_drawer",
        title: "Replace a drawer's words",
        description: "Replace the words of a drawer; its id, place and origin stay. To keep what was said before, save \
                      a new drawer with 'supersedes' instead.",
        class: Class::Destroy,
        arguments: &[ID, Argument::text("content", "The new words").required()],
        unbuilt: &[],
        is_long: false,
        run: Run::Writes(update),
    },
    Tool {
        name: "undercroft_delete_drawer",
        title: "Delete a drawer",
        description: "Delete one drawer. There is no way back.",
        class: Class::Destroy,
        arguments: &[ID],
        unbuilt: &[],
        is_long: false,
        run: Run::Writes(delete),
    },
    Tool {
        name: "undercroft_delete_by_source",
        title: "Delete a source's drawers",
        description: "Delete every drawer that was taken from one source. There is no way back.",
        class: Class::Destroy,
        arguments: &[Argument::text("source_file", "The source as it was filed").required()],
        unbuilt: &[],
        is_long: false,
        run: Run::Writes(delete_by_source),
    },
    Tool {
        name: "undercroft_dedup",
        title: "Remove copies",
        description: "Count drawers of one wing that hold the same words, and with 'apply' remove all but the oldest, \
                      which keeps the days of the others. Pieces of longer texts stay.",
        class: Class::Destroy,
        arguments: &[Argument::new("apply", Holds::Flag, "Remove the copies instead of only counting them")
            .or(Otherwise::No)],
        unbuilt: &[],
        is_long: false,
        run: Run::Writes(dedup),
    },
];

fn save(call: &Call<'_>) -> Result<Plan, Failure> {
    Ok(keep("saved", new_drawer(call)?))
}

fn add(call: &Call<'_>) -> Result<Plan, Failure> {
    let mut new = new_drawer(call)?;
    if let Some(source) = call.arguments.text("source_file") {
        let chunk = place(call, &new, source)?;
        new.origin = Some(Origin { source: source.to_owned(), chunk, line_start: None, line_end: None });
    }
    Ok(keep("added", new))
}

fn new_drawer(call: &Call<'_>) -> Result<NewDrawer, Failure> {
    let given = &call.arguments;
    Ok(NewDrawer {
        text: given.need("content")?.to_owned(),
        wing: name("wing", given.need("wing")?)?,
        room: name("room", given.need("room")?)?,
        origin: None,
        added_by: AddedBy::Mcp,
        kind: given.text("kind").map(str::parse).transpose()?,
        content_date: given.owned("content_date"),
        supersedes: given.drawer("supersedes")?,
        claims: Claims {
            agent: given.owned("agent"),
            channel: given.owned("channel"),
            session: given.owned("session"),
        },
    })
}

/// A name in the form in which it is kept.
fn name(field: &'static str, value: &str) -> Result<String, Failure> {
    Ok(check_name(field, value).map_err(Error::from)?)
}

fn keep(done: &'static str, new: NewDrawer) -> Plan {
    let (wing, room, supersedes) = (new.wing.clone(), new.room.clone(), new.supersedes);
    Plan::write(Change::Save(new), move |outcome| {
        let Outcome::Saved(Saved { id, created, .. }) = outcome else { return Err(unexpected(&outcome)) };
        let mut text = format!("{done} drawer {id} in {wing}/{room}");
        if let Some(older) = supersedes {
            text.push_str(&format!(", superseding {older}"));
        }
        let object = json!({
            "id": id, "wing": wing, "room": room, "created": created, "supersedes": supersedes,
            "quarantined": false,
        });
        Reply::new(text, &object)
    })
}

/// The position of a text in a source that is told piece by piece. It follows from the words, so that a repeated call
/// files nothing twice, and lies above every position that a miner gives, so that neither ever takes the other's place.
/// Where other words stand there already, the next one is taken.
fn place(call: &Call<'_>, new: &NewDrawer, source: &str) -> Result<u32, Failure> {
    /// The upper half: lines and pieces of files are counted in the lower one.
    const TOLD: u32 = 1 << 31;
    let first = fnv1a(new.text.as_bytes());
    for step in 0..PLACES {
        let chunk = first.wrapping_add(step) | TOLD;
        match call.vault.get(drawer_id(&new.wing, &new.room, Some(source), chunk)) {
            Ok(there) if there.content != new.text => {}
            Ok(_) | Err(Error::NoDrawer(_)) => return Ok(chunk),
            Err(error) => return Err(error.into()),
        }
    }
    Err(Failure::argument("source_file", "too many texts of it share a place; add 'room' to tell them apart"))
}

/// FNV-1a, 32 bits (Fowler, Noll, Vo).
fn fnv1a(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

fn get(call: &Call<'_>) -> Result<Reply, Failure> {
    Reply::object(&call.vault.get(call.arguments.need_drawer("id")?)?)
}

fn list(call: &Call<'_>) -> Result<Reply, Failure> {
    let given = &call.arguments;
    let (limit, offset) = (given.count("limit").unwrap_or(MAX_LIST), given.count("offset").unwrap_or(0));
    let mut drawers = call.vault.list(given.text("wing"), given.text("room"), limit, offset)?;
    drawers.retain(|drawer: &ListedDrawer| !is_pending(&drawer.wing));
    Reply::list(&drawers, "drawers", &drawers)
}

fn check_duplicate(call: &Call<'_>) -> Result<Reply, Failure> {
    let found = visible(call, call.vault.find_duplicate(call.arguments.need("content")?)?)?;
    let text = found.map_or_else(|| "not filed".to_owned(), |id| format!("duplicate of {id}"));
    Reply::new(text, &json!({ "duplicate": found.is_some(), "id": found }))
}

/// A drawer under review is as good as not there.
fn visible(call: &Call<'_>, found: Option<DrawerId>) -> Result<Option<DrawerId>, Failure> {
    let Some(id) = found else { return Ok(None) };
    match call.vault.get(id) {
        Ok(drawer) => Ok((!is_pending(&drawer.meta.wing)).then_some(id)),
        // Deleted since it was found.
        Err(Error::NoDrawer(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn update(call: &Call<'_>) -> Result<Plan, Failure> {
    let id = call.arguments.need_drawer("id")?;
    let text = call.arguments.need("content")?.to_owned();
    Ok(Plan::write(Change::Update { id, text }, |outcome| {
        let Outcome::Updated(id) = outcome else { return Err(unexpected(&outcome)) };
        let object = json!({ "id": id, "updated": true, "quarantined": false });
        Reply::new(format!("updated drawer {id}"), &object)
    }))
}

fn delete(call: &Call<'_>) -> Result<Plan, Failure> {
    let id = call.arguments.need_drawer("id")?;
    Ok(Plan::write(Change::Delete(id), move |outcome| {
        let Outcome::Deleted(_) = outcome else { return Err(unexpected(&outcome)) };
        Reply::new(format!("deleted drawer {id}"), &json!({ "id": id, "deleted": true }))
    }))
}

fn delete_by_source(call: &Call<'_>) -> Result<Plan, Failure> {
    let source = call.arguments.need("source_file")?.to_owned();
    Ok(Plan::write(Change::DeleteSource(source.clone()), move |outcome| {
        let Outcome::Deleted(ids) = outcome else { return Err(unexpected(&outcome)) };
        let object = json!({ "source_file": source, "deleted": ids.len(), "ids": ids });
        Reply::new(format!("deleted {} drawer(s)", ids.len()), &object)
    }))
}

fn dedup(call: &Call<'_>) -> Result<Plan, Failure> {
    if !call.arguments.flag("apply") {
        return Ok(Plan::Answer(Reply::object(&call.vault.dedup(false)?)?));
    }
    Ok(Plan::write(Change::Dedup, |outcome| {
        let Outcome::Deduplicated(report) = outcome else { return Err(unexpected(&outcome)) };
        Reply::object(&report)
    }))
}

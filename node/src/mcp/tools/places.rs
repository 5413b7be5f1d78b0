//! Wings and rooms. The wing under review is not among them.

use undercroft_vault::Room;

use super::call::{Call, Run};
use super::tool::{Class, Tool};
use crate::mcp::arguments::Argument;
use crate::mcp::failure::Failure;
use crate::mcp::reply::Reply;

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "undercroft_list_wings",
        title: "List wings",
        description: "List every wing (person or project) and how many drawers it holds.",
        class: Class::Read,
        arguments: &[],
        unbuilt: &[],
        is_long: false,
        run: Run::Reads(wings),
    },
    Tool {
        name: "undercroft_list_rooms",
        title: "List rooms",
        description: "List the rooms (topics) of a wing and how many drawers each holds.",
        class: Class::Read,
        arguments: &[Argument::text("wing", "The person or project").required()],
        unbuilt: &[],
        is_long: false,
        run: Run::Reads(rooms),
    },
    Tool {
        name: "undercroft_get_taxonomy",
        title: "Show wings and rooms",
        description: "List every wing with its rooms and how many drawers each holds.",
        class: Class::Read,
        arguments: &[],
        unbuilt: &[],
        is_long: false,
        run: Run::Reads(taxonomy),
    },
];

fn wings(call: &Call<'_>) -> Result<Reply, Failure> {
    let wings = call.vault.stats()?.wings;
    let pairs: Vec<_> = wings.iter().map(|wing| (&wing.wing, wing.count)).collect();
    Reply::list(&pairs, "wings", &wings)
}

fn rooms(call: &Call<'_>) -> Result<Reply, Failure> {
    let wanted = call.arguments.need("wing")?.trim();
    let found = call.vault.taxonomy()?.wings.into_iter().find(|wing| wing.wing == wanted);
    let rooms = found.map(|wing| wing.rooms).unwrap_or_default();
    Reply::list(&pairs(&rooms), "rooms", &rooms)
}

fn taxonomy(call: &Call<'_>) -> Result<Reply, Failure> {
    let wings = call.vault.taxonomy()?.wings;
    let nested: Vec<_> = wings.iter().map(|wing| (&wing.wing, pairs(&wing.rooms))).collect();
    Reply::list(&nested, "wings", &wings)
}

fn pairs(rooms: &[Room]) -> Vec<(&str, u64)> {
    rooms.iter().map(|room| (room.room.as_str(), room.count)).collect()
}

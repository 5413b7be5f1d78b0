//! `shard list|show|transfer|learner`.

use serde_json::{Value, json};

use super::access::Fleet;
use super::shown::{items, moment, text};
use crate::args::{ShardArgs, ShardCommand};
use crate::context::Context;
use crate::error::{Failure, Outcome};
use crate::print::table;

const ROUTE: &str = "/admin/shards";

pub(in crate::commands) fn run(args: &ShardArgs, context: &mut Context) -> Outcome {
    let fleet = Fleet::of(&args.fleet, context, "shard list")?;
    let said = match &args.command {
        ShardCommand::List => fleet.get(ROUTE)?,
        ShardCommand::Show { id } => fleet.get(&format!("{ROUTE}/{id}"))?,
        ShardCommand::Transfer { id, node } => {
            let node = node.as_deref().map(|node| number(&fleet, node)).transpose()?;
            fleet.post(&format!("{ROUTE}/{id}/leader"), &json!({ "node": node }))?
        }
        ShardCommand::Learner { id, node, remove } => {
            let node = number(&fleet, node)?;
            fleet.post(&format!("{ROUTE}/{id}/learners"), &json!({ "node": node, "present": !remove }))?
        }
    };
    if context.out.is_json() {
        return context.out.line(&said.text);
    }
    let lines = match &args.command {
        ShardCommand::List if items(&said.value, "shards").is_empty() => {
            vec!["No shards. Found the cluster first: undercroft cluster init".to_owned()]
        }
        ShardCommand::List => lines(&said.value),
        _ => one(&said.value),
    };
    lines.iter().try_for_each(|line| context.out.stored_line(line))
}

/// The number of a node that is named by its name or its number. A name goes before a number that looks like it.
fn number(fleet: &Fleet, node: &str) -> Outcome<u64> {
    let answer = fleet.get("/admin/instances")?.value;
    let nodes = items(&answer, "instances");
    let ids =
        |named: &dyn Fn(&&Value) -> bool| nodes.iter().filter(named).filter_map(|n| n["id"].as_u64()).max();
    // A node that lost its journal came back under the same name and a higher number.
    let named = ids(&|known| known["name"] == node);
    let found = named.or_else(|| {
        let typed: u64 = node.parse().ok()?;
        ids(&|known| known["id"] == typed)
    });
    found.ok_or_else(|| {
        Failure::not_found(format!("there is no node '{node}'; see what there is: undercroft node list"))
    })
}

/// What changes in a shard, in few words.
fn change(change: &Value) -> String {
    if change.is_null() {
        return "-".to_owned();
    }
    let (add, remove) = (text(&change["add"]), text(&change["remove"]));
    format!("{} +{add} -{remove}", text(&change["phase"]))
}

fn lines(answer: &Value) -> Vec<String> {
    let rows = items(answer, "shards").iter().map(|shard| {
        let field = |name: &str| text(&shard[name]);
        vec![
            field("id"),
            field("leader"),
            field("preferred"),
            field("voters"),
            field("learners"),
            field("vaults"),
            change(&shard["change"]),
        ]
    });
    let heads = ["SHARD", "LEADER", "SHOULD LEAD", "VOTERS", "LEARNERS", "VAULTS", "CHANGE"];
    table(&heads, &rows.collect::<Vec<_>>())
}

fn one(shard: &Value) -> Vec<String> {
    let field = |name: &str| text(&shard[name]);
    let mut lines = vec![
        format!("shard:       {}", field("id")),
        format!("leader:      {}, term {}", field("leader"), field("term")),
        format!("should lead: {}", field("preferred")),
        format!("voters:      {}", field("voters")),
        format!("learners:    {}", field("learners")),
        format!("vaults:      {}", field("vaults")),
    ];
    if !shard["change"].is_null() {
        let since = moment(&shard["change"]["since"]);
        lines.push(format!("change:      {}, since {since}", change(&shard["change"])));
    }
    lines
}

//! `cluster init` and `cluster status`.

use serde_json::{Value, json};

use super::access::Fleet;
use super::shown::{items, text};
use crate::args::{FoundArgs, StatusArgs};
use crate::context::Context;
use crate::error::Outcome;
use crate::print::table;

const ROUTE: &str = "/admin/cluster";
const LIST: &str = "cluster status";

pub(in crate::commands) fn found(args: &FoundArgs, context: &mut Context) -> Outcome {
    let body = json!({ "shards": args.shards, "replicas": args.replicas, "witness_days": args.witness_days });
    let said = Fleet::of(&args.fleet, context, LIST)?.post(ROUTE, &body)?;
    if context.out.is_json() {
        return context.out.line(&said.text);
    }
    let cluster = &said.value;
    context.out.line(&format!(
        "Cluster founded: {}, {} shards with {} replicas each, witnesses kept for {} days.",
        text(&cluster["id"]),
        text(&cluster["shards"]),
        text(&cluster["replicas"]),
        text(&cluster["witness_days"])
    ))?;
    context
        .out
        .line("Keep what it knows, and again after changes: undercroft cluster recovery-kit --out FILE")
}

pub(in crate::commands) fn status(args: &StatusArgs, context: &mut Context) -> Outcome {
    let said = Fleet::of(&args.fleet, context, LIST)?.get(ROUTE)?;
    if context.out.is_json() {
        return context.out.line(&said.text);
    }
    for line in lines(&said.value) {
        context.out.stored_line(&line)?;
    }
    Ok(())
}

fn lines(cluster: &Value) -> Vec<String> {
    let field = |name: &str| text(&cluster[name]);
    let mut lines = Vec::new();
    if cluster["initialised"] == true {
        lines.push(format!("cluster:   {}", field("id")));
        lines.push(format!("shards:    {}, with {} replicas each", field("shards"), field("replicas")));
        lines.push(format!("nodes:     {}", field("nodes")));
        lines.push(format!("tenants:   {}", field("tenants")));
        lines.push(format!("witnesses: kept for {} days", field("witness_days")));
    } else {
        lines.push("cluster:   not founded yet; do it with: undercroft cluster init".to_owned());
    }
    lines.push(format!("map:       version {}, decided in format {}", field("map_version"), field("format")));
    if cluster["leader"].is_null() {
        lines.push("leader:    none; nothing is decided until a majority of the members is there".to_owned());
    }
    lines.push(String::new());
    lines.extend(members(cluster));
    lines
}

/// The members of the control group as a table.
pub(super) fn members(answer: &Value) -> Vec<String> {
    let rows = items(answer, "members").iter().map(|member| {
        let field = |name: &str| text(&member[name]);
        vec![field("id"), field("address"), field("votes"), field("leads"), field("speaks")]
    });
    table(&["MEMBER", "ADDRESS", "VOTES", "LEADS", "FORMAT"], &rows.collect::<Vec<_>>())
}

//! `node list|drain|remove`.

use serde_json::{Map, Value, json};

use super::access::{Fleet, Said, segment};
use super::shown::{items, short, size, text};
use crate::args::{FleetArgs, NodeArgs, NodeCommand, NodeDrainArgs};
use crate::context::Context;
use crate::error::{Failure, Outcome};
use crate::print::table;

const ROUTE: &str = "/admin/instances";

pub(in crate::commands) fn run(args: &NodeArgs, context: &mut Context) -> Outcome {
    match &args.command {
        None => Err(Failure::not_implemented("node")),
        Some(NodeCommand::List(args)) => {
            let said = fleet(&args.fleet, context)?.get(ROUTE)?;
            if context.out.is_json() {
                return context.out.line(&said.text);
            }
            if items(&said.value, "instances").is_empty() {
                return context.out.line(
                    "No nodes. A node joins by itself, with the fleet's master key and a certificate of the cluster.",
                );
            }
            lines(&said.value).iter().try_for_each(|line| context.out.stored_line(line))
        }
        Some(NodeCommand::Drain(args)) => drain(args, context),
        Some(NodeCommand::Remove(args)) => {
            let said = fleet(&args.fleet, context)?.delete(&format!("{ROUTE}/{}", segment(&args.name)))?;
            if context.out.is_json() {
                return context.out.line(&said.text);
            }
            context.out.stored_line(&format!("Node {} is removed.", args.name))
        }
    }
}

fn fleet(args: &FleetArgs, context: &Context) -> Outcome<Fleet> {
    Fleet::of(args, context, "node list")
}

fn drain(args: &NodeDrainArgs, context: &mut Context) -> Outcome {
    let mut body = Map::from_iter([("drained".to_owned(), json!(!args.undo))]);
    if let Some(reason) = &args.reason {
        body.insert("reason".into(), json!(reason));
    }
    let route = format!("{ROUTE}/{}/drain", segment(&args.name));
    let Said { text: answer, value } = fleet(&args.fleet, context)?.post(&route, &Value::Object(body))?;
    if context.out.is_json() {
        return context.out.line(&answer);
    }
    let name = &args.name;
    context.out.stored_line(&if args.undo {
        format!("Node {name} takes replicas again; it is {}.", text(&value["state"]))
    } else {
        format!(
            "Node {name} is drained: its replicas move to other nodes. Watch them go: undercroft shard list"
        )
    })
}

fn lines(answer: &Value) -> Vec<String> {
    let rows = items(answer, "instances").iter().map(|node| {
        let state = text(&node["state"]);
        vec![
            short(&node["name"]),
            text(&node["id"]),
            if node["retired"] == true { format!("{state}, retired") } else { state },
            short(&node["zone"]),
            short(&node["url"]),
            text(&node["tenants"]),
            size(&node["used_bytes"]),
            size(&node["capacity_bytes"]),
        ]
    });
    let heads = ["NODE", "NUMBER", "STATE", "ZONE", "ADDRESS", "TENANTS", "USED", "OF"];
    table(&heads, &rows.collect::<Vec<_>>())
}

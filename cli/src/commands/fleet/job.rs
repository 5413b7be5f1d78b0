//! `job list|show|withdraw`.

use serde_json::Value;

use super::access::{Fleet, segment};
use super::shown::{items, moment, short, text};
use crate::args::{JobArgs, JobCommand};
use crate::context::Context;
use crate::error::Outcome;
use crate::print::table;

const ROUTE: &str = "/admin/jobs";

pub(in crate::commands) fn run(args: &JobArgs, context: &mut Context) -> Outcome {
    let fleet = Fleet::of(&args.fleet, context, "job list")?;
    let said = match &args.command {
        JobCommand::List(page) => {
            let after = page.after.as_deref().map(|id| format!("&after={}", segment(id)));
            fleet.get(&format!("{ROUTE}?limit={}{}", page.limit, after.unwrap_or_default()))?
        }
        JobCommand::Show { id } => fleet.get(&format!("{ROUTE}/{id}"))?,
        JobCommand::Withdraw { id } => fleet.delete(&format!("{ROUTE}/{id}"))?,
    };
    if context.out.is_json() {
        return context.out.line(&said.text);
    }
    let JobCommand::List(page) = &args.command else {
        return one(&said.value).iter().try_for_each(|line| context.out.stored_line(line));
    };
    let jobs = items(&said.value, "jobs");
    if jobs.is_empty() {
        return context.out.line("No jobs.");
    }
    lines(jobs).iter().try_for_each(|line| context.out.stored_line(line))?;
    match jobs.last() {
        Some(last) if jobs.len() == usize::from(page.limit) => {
            let id = text(&last["id"]);
            context.out.line(&format!("Older ones: undercroft job list --limit {} --after {id}", page.limit))
        }
        _ => Ok(()),
    }
}

fn progress(job: &Value) -> String {
    let field = |name: &str| text(&job[name]);
    format!("step {} of {}, {} of {}", field("step"), field("steps"), field("done"), field("total"))
}

fn lines(jobs: &[Value]) -> Vec<String> {
    let rows = jobs.iter().map(|job| {
        let field = |name: &str| text(&job[name]);
        vec![
            field("id"),
            short(&job["kind"]),
            field("state"),
            field("node"),
            progress(job),
            moment(&job["updated_at"]),
        ]
    });
    table(&["JOB", "KIND", "STATE", "NODE", "PROGRESS", "LAST CHANGE"], &rows.collect::<Vec<_>>())
}

fn one(job: &Value) -> Vec<String> {
    let field = |name: &str| text(&job[name]);
    vec![
        format!("job:      {}", field("id")),
        format!("kind:     {}", field("kind")),
        format!("vault:    {}", field("vault")),
        format!("state:    {}", field("state")),
        format!("progress: {}", progress(job)),
        format!("node:     {}", field("node")),
        format!("created:  {}", moment(&job["created_at"])),
        format!("changed:  {}", moment(&job["updated_at"])),
        format!("message:  {}", field("message")),
    ]
}

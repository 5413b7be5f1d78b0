//! `cluster …`, and of it `cluster certs`: the cluster's CA and what it issues.

use serde_json::{Value, json};
use undercroft_certs::authority::{Done, Held, Request, Stage};
use undercroft_certs::{Authority, Identity};
use undercroft_vault::{Clock, SystemClock};

use super::fleet;
use crate::args::{CaStage, CertsArgs, ClusterCommand};
use crate::context::Context;
use crate::error::{Failure, Outcome};

pub(super) fn run(command: &ClusterCommand, context: &mut Context) -> Outcome {
    match command {
        ClusterCommand::Init(args) => fleet::found(args, context),
        ClusterCommand::Status(args) => fleet::status(args, context),
        ClusterCommand::Member(args) => fleet::member(args, context),
        ClusterCommand::RecoveryKit(args) => fleet::kit(args, context),
        ClusterCommand::JoinKey(args) => fleet::join_key(args, context),
        ClusterCommand::Certs(args) => certs(args, context),
    }
}

/// A certificate, and what was done about it; `None` when it was only looked at.
type Row = (Option<Done>, Held);

fn certs(args: &CertsArgs, context: &mut Context) -> Outcome {
    let now = u64::try_from(SystemClock.now_micros() / 1_000_000)
        .map_err(|_| Failure::invalid("this machine's clock stands before 1970; set it"))?;
    let request = request(args)?;
    let (mut authority, made) = match &request {
        Some(_) => Authority::open_or_make(&args.cert_dir, now)?,
        None => (Authority::open(&args.cert_dir, now)?, false),
    };
    let rows = act(args, request.as_ref(), &mut authority, now)?;
    if context.out.is_json() {
        let certificates: Vec<Value> = rows.iter().map(|row| object(row, now)).collect();
        return context.out.object(&json!({
            "cert_dir": args.cert_dir.display().to_string(),
            "ca": {
                "made": made,
                "stage": authority.stage().as_str(),
                "not_after": authority.not_after(),
                "due": authority.is_due(now),
            },
            "certificates": certificates,
        }));
    }
    if made {
        let folder = args.cert_dir.display();
        context.out.line(&format!("CA made: {folder}; its key, ca.key, stays there: keep a copy offline"))?;
    }
    for row in &rows {
        context.out.line(&line(row, now))?;
    }
    if rows.is_empty() {
        context.out.line("No certificates. Make one with: --role ROLE --name NAME --host HOST")?;
    }
    hint(args, &authority, &rows, now).map_or(Ok(()), |hint| context.out.line(&hint))
}

/// Reads what was typed before anything is made.
fn request(args: &CertsArgs) -> Outcome<Option<Request>> {
    let (Some(role), Some(name)) = (&args.role, &args.name) else { return Ok(None) };
    let identity = Identity::new(role.parse()?, name)?;
    Ok(Some(Request { identity, dns: args.host.clone(), ips: args.ip.clone(), days: args.days }.checked()?))
}

fn act(
    args: &CertsArgs,
    request: Option<&Request>,
    authority: &mut Authority,
    now: u64,
) -> Outcome<Vec<Row>> {
    let done = match (request, args.renew_ca) {
        (Some(request), _) => vec![authority.issue(request, args.renew, now)?],
        (None, Some(CaStage::Begin)) => authority.begin(now)?,
        (None, Some(CaStage::Switch)) => authority.switch(args.days, now)?,
        (None, Some(CaStage::Finish)) => authority.finish()?,
        (None, None) if args.renew => authority.renew(args.days, now)?,
        (None, None) => return Ok(authority.held()?.into_iter().map(|held| (None, held)).collect()),
    };
    Ok(done.into_iter().map(|(done, held)| (Some(done), held)).collect())
}

fn object((done, held): &Row, now: u64) -> Value {
    json!({
        "role": held.identity.role().as_str(),
        "name": held.identity.name(),
        "folder": held.folder.display().to_string(),
        "dns": held.dns,
        "ips": held.ips,
        "not_before": held.not_before,
        "not_after": held.not_after,
        "due": held.is_due(now),
        "done": done.map(Done::as_str),
    })
}

fn line((done, held): &Row, now: u64) -> String {
    let hosts: Vec<String> =
        held.dns.iter().cloned().chain(held.ips.iter().map(ToString::to_string)).collect();
    let at = if hosts.is_empty() { String::new() } else { format!(" at {}", hosts.join(", ")) };
    let done = done.map_or(String::new(), |done| format!("{}: ", done.as_str()));
    let due = if held.is_due(now) { "; renew it: --renew" } else { "" };
    format!("{done}{}{at}, until {}, in {}{due}", held.identity, held.last_day(), held.folder.display())
}

/// What to do next, if there is anything.
fn hint(args: &CertsArgs, authority: &Authority, rows: &[Row], now: u64) -> Option<String> {
    let changed =
        args.renew_ca.is_some() || rows.iter().any(|(done, _)| done.is_some_and(|d| d != Done::Kept));
    let copy = "Copy each folder to its process, which takes new files without a restart";
    Some(match authority.stage() {
        Stage::Begun => format!("The CA is being renewed. {copy}; when all have them: --renew-ca switch"),
        Stage::Switched => format!("The CA is being renewed. {copy}; when all have them: --renew-ca finish"),
        Stage::Steady if authority.is_due(now) => {
            format!("The CA ends on {}; renew it: --renew-ca begin", authority.last_day())
        }
        Stage::Steady if changed => copy.to_owned(),
        Stage::Steady => return None,
    })
}

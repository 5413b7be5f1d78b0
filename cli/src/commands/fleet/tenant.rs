//! `tenant create|list|show|rotate|revoke|delete|limits|read`.

use serde_json::{Map, Value, json};
use undercroft_proto::TenantId;

use super::access::{Fleet, Said, segment};
use super::shown::{items, moment, short, text};
use crate::args::{LimitArgs, TenantArgs, TenantCommand, TenantCreateArgs};
use crate::context::Context;
use crate::error::{Failure, Outcome};
use crate::print::table;

const ROUTE: &str = "/admin/tenants";
/// How many a page has when a name is looked for.
const PAGE: usize = 1000;

pub(in crate::commands) fn run(args: &TenantArgs, context: &mut Context) -> Outcome {
    if matches!(args.command, TenantCommand::Migrate { .. }) {
        return Err(Failure::not_implemented("tenant migrate"));
    }
    let fleet = Fleet::of(&args.fleet, context, "tenant list")?;
    let said = ask(&fleet, &args.command)?;
    if context.out.is_json() {
        return context.out.line(&said.text);
    }
    let answer = &said.value;
    let lines = match &args.command {
        TenantCommand::List(page) => listed(answer, page.limit),
        TenantCommand::Create(_) => with_token(answer, "made"),
        TenantCommand::Rotate(_) => with_token(answer, "given another token; the old one is dead"),
        TenantCommand::Revoke(_) => vec![format!(
            "Tenant {} has no token any more; give it another: undercroft tenant rotate {}",
            text(&answer["name"]),
            text(&answer["id"])
        )],
        TenantCommand::Delete { .. } => vec![format!("Tenant {} is deleted.", text(&answer["deleted"]))],
        _ => one(answer),
    };
    lines.iter().try_for_each(|line| context.out.stored_line(line))
}

fn ask(fleet: &Fleet, command: &TenantCommand) -> Outcome<Said> {
    match command {
        TenantCommand::Create(args) => fleet.post(ROUTE, &to_create(args)),
        TenantCommand::List(page) => {
            let after = page.after.as_deref().map(|id| format!("&after={}", segment(id)));
            fleet.get(&format!("{ROUTE}?limit={}{}", page.limit, after.unwrap_or_default()))
        }
        TenantCommand::Show(tenant) => fleet.get(&route(fleet, &tenant.tenant, "")?),
        TenantCommand::Rotate(tenant) => fleet.post(&route(fleet, &tenant.tenant, "/rotate")?, &json!({})),
        TenantCommand::Revoke(tenant) => fleet.post(&route(fleet, &tenant.tenant, "/revoke")?, &json!({})),
        TenantCommand::Delete { tenant, yes: true } => fleet.delete(&route(fleet, &tenant.tenant, "")?),
        TenantCommand::Delete { tenant, yes: false } => Err(Failure::invalid(format!(
            "deleting tenant '{}' destroys everything in its vault; run it again with --yes to confirm",
            tenant.tenant
        ))),
        TenantCommand::Limits { tenant, limits, none } => {
            let body = to_limit(limits);
            if body.is_empty() && !none {
                return Err(Failure::invalid(
                    "no limit is named; name each that is to hold, or take all away with --none",
                ));
            }
            fleet.post(&route(fleet, &tenant.tenant, "/limits")?, &Value::Object(body))
        }
        TenantCommand::Read { tenant, policy, lag_ms } => {
            let mut body = Map::from_iter([("read".to_owned(), json!(policy.as_str()))]);
            if let Some(lag) = lag_ms {
                body.insert("lag_ms".into(), json!(lag));
            }
            fleet.post(&route(fleet, &tenant.tenant, "/read")?, &Value::Object(body))
        }
        TenantCommand::Migrate { .. } => Err(Failure::not_implemented("tenant migrate")),
    }
}

fn to_create(args: &TenantCreateArgs) -> Value {
    let mut body = Map::from_iter([
        ("name".to_owned(), json!(args.name)),
        ("level".to_owned(), json!(args.level)),
        ("limits".to_owned(), Value::Object(to_limit(&args.limits))),
    ]);
    if let Some(instance) = &args.instance {
        body.insert("instance".into(), json!(instance));
    }
    if let Some(shard) = args.shard {
        body.insert("shard".into(), json!(shard));
    }
    Value::Object(body)
}

fn to_limit(args: &LimitArgs) -> Map<String, Value> {
    let named =
        [("requests_per_minute", args.requests_per_minute), ("bytes", args.bytes), ("drawers", args.drawers)];
    named.into_iter().filter_map(|(name, limit)| Some((name.to_owned(), json!(limit?)))).collect()
}

/// The route of a tenant that is named by its id or its name.
fn route(fleet: &Fleet, tenant: &str, rest: &str) -> Outcome<String> {
    let id = if tenant.parse::<TenantId>().is_ok() { tenant.to_owned() } else { id_of(fleet, tenant)? };
    Ok(format!("{ROUTE}/{}{rest}", segment(&id)))
}

/// The id of a name, page by page.
fn id_of(fleet: &Fleet, name: &str) -> Outcome<String> {
    let mut after = String::new();
    loop {
        let page = fleet.get(&format!("{ROUTE}?limit={PAGE}{after}"))?.value;
        let found = items(&page, "tenants").iter().find(|tenant| tenant["name"] == name);
        if let Some(id) = found.and_then(|tenant| tenant["id"].as_str()) {
            return Ok(id.to_owned());
        }
        let Some(next) = page["next"].as_str() else {
            let message = format!("there is no tenant '{name}'; see what there is: undercroft tenant list");
            return Err(Failure::not_found(message));
        };
        after = format!("&after={}", segment(next));
    }
}

fn listed(answer: &Value, limit: u16) -> Vec<String> {
    let tenants = items(answer, "tenants");
    if tenants.is_empty() {
        return vec!["No tenants. Make one with: undercroft tenant create NAME".to_owned()];
    }
    let rows = tenants.iter().map(|tenant| {
        let state = if tenant["revoked"] == true { "revoked" } else { "open" };
        vec![
            text(&tenant["id"]),
            short(&tenant["name"]),
            state.to_owned(),
            short(&tenant["instance"]),
            text(&tenant["shard"]),
            text(&tenant["level"]),
        ]
    });
    let heads = ["TENANT", "NAME", "TOKEN", "NODE", "SHARD", "LEVEL"];
    let mut lines = table(&heads, &rows.collect::<Vec<_>>());
    if let Some(next) = answer["next"].as_str() {
        lines.push(format!("More: undercroft tenant list --limit {limit} --after {next}"));
    }
    lines
}

fn with_token(answer: &Value, what: &str) -> Vec<String> {
    let tenant = &answer["tenant"];
    let mut lines = vec![format!("Tenant {} is {what}.", text(&tenant["name"]))];
    lines.push(format!("id:    {}", text(&tenant["id"])));
    lines.push(format!("vault: {}, in shard {}", text(&tenant["vault"]), text(&tenant["shard"])));
    match answer["token"].as_str() {
        Some(token) => {
            lines.extend([format!("token: {token}"), "It is shown this once; keep it now.".into()])
        }
        None => lines.push(text(&answer["note"])),
    }
    lines
}

fn one(tenant: &Value) -> Vec<String> {
    let field = |name: &str| text(&tenant[name]);
    let limit = |name: &str| match &tenant["limits"][name] {
        Value::Null => "no limit".to_owned(),
        limit => text(limit),
    };
    let lag = tenant["lag_ms"].as_u64().map(|lag| format!(", at most {lag} ms behind")).unwrap_or_default();
    vec![
        format!("tenant:   {}", field("id")),
        format!("name:     {}", field("name")),
        format!("vault:    {}, level {}", field("vault"), field("level")),
        format!("place:    shard {}, node {}", field("shard"), field("instance")),
        format!("created:  {}", moment(&tenant["created_at"])),
        format!("token:    {}", if tenant["revoked"] == true { "revoked" } else { "open" }),
        format!("requests: {} a minute", limit("requests_per_minute")),
        format!("bytes:    {}", limit("bytes")),
        format!("drawers:  {}", limit("drawers")),
        format!("reads:    {}{lag}", field("read")),
    ]
}

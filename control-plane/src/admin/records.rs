//! What is recorded: jobs, witnesses, decisions.

use std::convert::Infallible;

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::{Deserialize, Serialize};
use undercroft_proto::{JobId, NodeId, VaultId};

use super::app::App;
use super::asked::{Asked, Asking, Nothing, Page};
use super::errors::{Answer, Refused};
use crate::export::{Export, Line};
use crate::state::{self, Command, JobCommand, JobState, Subject, broken_at};

#[derive(Serialize)]
pub(super) struct Jobs {
    jobs: Vec<Job>,
}

#[derive(Serialize)]
pub(super) struct Job {
    id: JobId,
    kind: String,
    vault: Option<VaultId>,
    step: u32,
    steps: u32,
    node: Option<NodeId>,
    done: u64,
    total: u64,
    state: JobState,
    /// Seconds since 1970.
    created_at: u64,
    updated_at: u64,
    message: String,
}

#[derive(Serialize)]
pub(super) struct Witnesses {
    vault: VaultId,
    witnesses: Vec<Line>,
    /// Number of the first entry that does not follow from the one before it; null for a list that holds together.
    broken_at: Option<u64>,
}

/// Which part of the registry.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Exported {
    /// The last vault of the part before.
    after: Option<String>,
    /// Vaults at most; all of them by default.
    limit: Option<u64>,
}

#[derive(Serialize)]
pub(super) struct Decisions {
    decisions: Vec<Decision>,
    /// Give this as `after` for what follows; null at the end.
    next: Option<u64>,
}

#[derive(Serialize)]
struct Decision {
    number: u64,
    /// Seconds since 1970.
    at: u64,
    /// What it is about: `node 3`.
    subject: String,
    what: String,
    reason: String,
}

fn shown(job: &state::Job) -> Job {
    Job {
        id: job.id,
        kind: job.kind.clone(),
        vault: job.vault,
        step: job.step,
        steps: job.steps,
        node: job.node,
        done: job.progress.0,
        total: job.progress.1,
        state: job.state,
        created_at: job.created_at / 1000,
        updated_at: job.updated_at / 1000,
        message: job.message.clone(),
    }
}

/// The newest jobs, newest first.
pub(super) async fn jobs(State(app): State<App>, Asking(page): Asking<Page>) -> Answer<Json<Jobs>> {
    let before: Option<JobId> = page.after.as_deref().map(str::parse).transpose()?;
    let jobs = app.read(|state| {
        let jobs = state.jobs().iter().rev().filter(|job| before.is_none_or(|before| job.id < before));
        jobs.take(page.limit()).map(shown).collect()
    });
    Ok(Json(Jobs { jobs }))
}

pub(super) async fn job(State(app): State<App>, Path(id): Path<String>) -> Answer<Json<Job>> {
    let id: JobId = id.parse()?;
    app.read(|state| state.jobs().get(id).map(shown)).map(Json).ok_or_else(|| Refused::no_such("job", id))
}

/// Withdraws a job: who works on it is told to stop with its next report.
pub(super) async fn withdraw(
    State(app): State<App>,
    Path(id): Path<String>,
    Asked { body: Nothing {}, request }: Asked<Nothing>,
) -> Answer<Json<Job>> {
    app.decide(request, Command::Job(JobCommand::Withdraw { job: id.parse()? })).await?;
    job(State(app), Path(id)).await
}

pub(super) async fn witnesses(State(app): State<App>, Path(vault): Path<String>) -> Answer<Json<Witnesses>> {
    let vault: VaultId = vault.parse()?;
    let found = app.read(|state| {
        state.vaults().get(vault)?;
        let list = state.witnesses().of(vault);
        let witnesses = list.iter().map(|entry| Line::of(vault, entry, false)).collect();
        Some(Witnesses { vault, witnesses, broken_at: broken_at(vault, list) })
    });
    found.map(Json).ok_or_else(|| Refused::no_such("vault", vault))
}

/// The lists of all vaults, or of those behind one, as lines that can be checked without this member.
pub(super) async fn export(State(app): State<App>, Asking(asked): Asking<Exported>) -> Answer<Response> {
    let after: Option<VaultId> = asked.after.as_deref().map(str::parse).transpose()?;
    let export = Export::new(after, asked.limit.unwrap_or(u64::MAX).max(1));
    let map = app.desk.member.map().clone();
    // One piece is made when the one before it was taken.
    let pieces = stream::iter(std::iter::from_fn({
        let mut export = export;
        move || map.read(|state| export.next(state)).map(Ok::<_, Infallible>)
    }));
    let kind = [(header::CONTENT_TYPE, "application/x-ndjson")];
    Ok((kind, Body::from_stream(pieces)).into_response())
}

/// Decisions in order, behind the number `after`.
pub(super) async fn decisions(State(app): State<App>, Asking(page): Asking<Page>) -> Answer<Json<Decisions>> {
    let after: u64 = match page.after.as_deref() {
        None => 0,
        Some(text) => text
            .parse()
            .map_err(|_| Refused::invalid(format!("after '{text}' is no number of a decision")))?,
    };
    let (decisions, next) = app.read(|state| {
        let behind = state.decisions().iter().filter(|decision| decision.number > after);
        let found: Vec<_> = behind.take(page.limit()).map(decision).collect();
        let last = found.last().map_or(after, |decision| decision.number);
        (found, (last < state.decisions().count()).then_some(last))
    });
    Ok(Json(Decisions { decisions, next }))
}

fn decision(decision: &state::Decision) -> Decision {
    let subject = match decision.subject {
        Subject::Cluster => "cluster".to_owned(),
        Subject::Member(id) => format!("member {id}"),
        Subject::Node(id) => format!("node {id}"),
        Subject::Shard(id) => format!("shard {id}"),
        Subject::Vault(id) => format!("vault {id}"),
        Subject::Tenant(id) => format!("tenant {id}"),
    };
    let (what, reason) = (decision.what.clone(), decision.reason.clone());
    Decision { number: decision.number, at: decision.at / 1000, subject, what, reason }
}

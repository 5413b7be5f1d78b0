//! Steps of jobs: which node does which, and what it says of them.

use tonic::Status;
use undercroft_proto::wire::control as wire;
use undercroft_proto::wire::{VERSION, vault_bytes};
use undercroft_proto::{JobId, NodeId};

use super::caller::Caller;
use super::control::Inner;
use super::convert::{failed, job_state, malformed, refused};
use super::join::belongs;
use crate::limits;
use crate::state::{Command, Health, Job, JobCommand, JobState, Outcome, Refusal, State, Step};

/// Gives a node the steps that it is to do: those that it has, and those that nobody does. Only on the leader, one call at a
/// time, so that no step goes to two nodes that are there.
pub(super) async fn take(
    inner: &Inner,
    caller: &Caller,
    asked: &wire::JobStepsRequest,
) -> Result<wire::JobStepsReply, Status> {
    let _turn = inner.lead.turn().await;
    let (member, node) = (&inner.desk.member, NodeId::new(asked.node));
    member.catch_up().await.map_err(|error| failed(&error))?;
    let most = (asked.most as usize).min(limits::TAKEN_STEPS);
    let due: Vec<Job> = member.map().read(|state| {
        belongs(state, node, caller)?;
        let due = state.jobs().iter().filter(|job| is_for(state, job, node));
        Ok::<_, Status>(due.take(most).cloned().collect())
    })?;
    let claims: Vec<Step> =
        due.iter().filter(|job| job.node != Some(node)).map(|job| claim(job, node)).collect();
    if !claims.is_empty() {
        inner.desk.decide(claims).await.map_err(|error| failed(&error))?;
    }
    let steps = member.map().read(|state| {
        let jobs = due.iter().filter_map(|job| state.jobs().get(job.id));
        jobs.filter(|job| job.node == Some(node) && !job.state.ended()).map(told).collect()
    });
    Ok(wire::JobStepsReply { version: VERSION, steps })
}

/// Whether a node is to do the step of a job that is due. What is about a vault is done where its shard is led; a step of a
/// node that is gone is done by another.
fn is_for(state: &State, job: &Job, node: NodeId) -> bool {
    if job.state.ended() {
        return false;
    }
    let gone = |holder: NodeId| state.nodes().get(holder).is_none_or(|found| found.health == Health::Dead);
    let free = job.node.is_none_or(|holder| holder == node || gone(holder));
    let Some(vault) = job.vault else { return free };
    let leader = state.vaults().get(vault).and_then(|vault| state.shards().get(vault.shard)?.leader);
    free && leader.is_some_and(|leader| leader.node == node)
}

fn claim(job: &Job, node: NodeId) -> Step {
    let (progress, message) = (job.progress, String::new());
    let (step, state) = (job.step, JobState::Running);
    Step::from(Command::Job(JobCommand::Report { job: job.id, step, node, progress, state, message }))
}

fn told(job: &Job) -> wire::JobStep {
    let vault = job.vault.map_or(Vec::new(), vault_bytes);
    wire::JobStep { job: job.id.get(), step: job.step, kind: job.kind.clone(), vault, version: VERSION }
}

/// Keeps what a node says of a step. Who works on a step that is not due any more is told to stop.
pub(super) async fn report(
    inner: &Inner,
    said: wire::JobStepReport,
) -> Result<wire::JobStepReportReply, Status> {
    let state = job_state(said.state).map_err(|error| malformed(&error))?;
    let command = Command::Job(JobCommand::Report {
        job: JobId::new(said.job),
        step: said.step,
        node: NodeId::new(said.node),
        progress: (said.done, said.total),
        state,
        message: said.message,
    });
    // Under a request: a step that was done is reported again when the answer is lost, and is not stale then.
    match inner.desk.once(command).await.map_err(|error| failed(&error))? {
        Outcome::Job(_) => Ok(wire::JobStepReportReply { version: VERSION, stop: false }),
        Outcome::Refused(Refusal::Stale { .. } | Refusal::NoSuch { .. }) => {
            Ok(wire::JobStepReportReply { version: VERSION, stop: true })
        }
        Outcome::Refused(refusal) => Err(refused(&refusal)),
        other => Err(Status::internal(format!("a report of a step ended as {other:?}"))),
    }
}

//! Work that takes longer than a call: who asked for what, how far it is, what came of it.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use undercroft_proto::{JobId, NodeId, VaultId};

use super::context::Context;
use super::{Noun, Outcome, Refusal, State, check};
use crate::limits;

/// How a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// Nobody has begun.
    Waiting,
    /// Somebody works on it.
    Running,
    /// It was done.
    Done,
    /// It failed; the message says how.
    Failed,
    /// It was withdrawn.
    Withdrawn,
}

impl JobState {
    /// Whether nothing more happens to it.
    #[must_use]
    pub const fn ended(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Withdrawn)
    }
}

/// A job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Its id.
    pub id: JobId,
    /// What kind of work it is, for example `purge`.
    pub kind: String,
    /// The vault that it is about.
    pub vault: Option<VaultId>,
    /// The step that is due; a step that was done is never done again.
    pub step: u32,
    /// Number of steps.
    pub steps: u32,
    /// The node that works on the step.
    pub node: Option<NodeId>,
    /// How much of the step is done, of how much.
    pub progress: (u64, u64),
    /// How it stands.
    pub state: JobState,
    /// When it was asked for, by the cluster's time.
    pub created_at: u64,
    /// When it last changed.
    pub updated_at: u64,
    /// What was last said about it.
    pub message: String,
}

/// A decision about jobs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum JobCommand {
    /// Asks for a job.
    Create {
        /// What kind of work.
        kind: String,
        /// The vault that it is about.
        vault: Option<VaultId>,
        /// Number of steps, at least one.
        steps: u32,
    },
    /// What a node says of the step that it works on.
    Report {
        /// The job.
        job: JobId,
        /// The step. A report about any other step than the one due is stale.
        step: u32,
        /// The node.
        node: NodeId,
        /// How much of it is done, of how much.
        progress: (u64, u64),
        /// Running, done or failed: of the step.
        state: JobState,
        /// What to tell a person.
        message: String,
    },
    /// Withdraws a job.
    Withdraw {
        /// The job.
        job: JobId,
    },
}

/// The jobs, by id: those under way and the newest of those that ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Jobs {
    map: BTreeMap<JobId, Job>,
    ended: VecDeque<JobId>,
    pub(super) next: JobId,
}

impl Default for Jobs {
    fn default() -> Self {
        Self { map: BTreeMap::new(), ended: VecDeque::new(), next: JobId::FIRST }
    }
}

impl Jobs {
    /// The job of this id.
    #[must_use]
    pub fn get(&self, job: JobId) -> Option<&Job> {
        self.map.get(&job)
    }

    /// The jobs, by id.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Job> {
        self.map.values()
    }

    /// The job, if it is under way.
    fn open(&mut self, job: JobId) -> Result<&mut Job, Refusal> {
        let found = self.map.get_mut(&job).ok_or_else(|| Refusal::no_such(Noun::Job, job))?;
        if found.state.ended() {
            let now = format!("it is {:?}", found.state).to_lowercase();
            return Err(Refusal::Stale { what: Noun::Job, id: job.to_string(), now });
        }
        Ok(found)
    }

    /// Notes that a job ended, and forgets the oldest that did when there are too many.
    fn note_end(&mut self, job: JobId) {
        self.ended.push_back(job);
        if self.ended.len() > limits::FINISHED_JOBS
            && let Some(oldest) = self.ended.pop_front()
        {
            self.map.remove(&oldest);
        }
    }
}

pub(super) fn apply(state: &mut State, cx: &mut Context, command: &JobCommand) -> Result<Outcome, Refusal> {
    match command {
        JobCommand::Create { kind, vault, steps } => create(state, cx, kind, *vault, *steps),
        JobCommand::Report { .. } => report(state, cx, command),
        JobCommand::Withdraw { job } => {
            let found = state.jobs.open(*job)?;
            found.state = JobState::Withdrawn;
            found.updated_at = cx.now;
            state.jobs.note_end(*job);
            Ok(Outcome::Job(*job))
        }
    }
}

fn create(
    state: &mut State,
    cx: &mut Context,
    kind: &str,
    vault: Option<VaultId>,
    steps: u32,
) -> Result<Outcome, Refusal> {
    check::name("kind", kind)?;
    if steps == 0 {
        return Err(Refusal::field("steps", "must be at least 1"));
    }
    if let Some(vault) = vault {
        state.vaults.get(vault).ok_or_else(|| Refusal::no_such(Noun::Vault, vault))?;
    }
    let jobs = &mut state.jobs;
    if jobs.map.len() - jobs.ended.len() >= limits::OPEN_JOBS {
        return Err(Refusal::Full { what: Noun::Job, most: limits::OPEN_JOBS as u64 });
    }
    let id = jobs.next;
    jobs.next = id.next();
    let job = Job {
        id,
        kind: kind.to_owned(),
        vault,
        step: 0,
        steps,
        node: None,
        progress: (0, 0),
        state: JobState::Waiting,
        created_at: cx.now,
        updated_at: cx.now,
        message: String::new(),
    };
    jobs.map.insert(id, job);
    Ok(Outcome::Job(id))
}

fn report(state: &mut State, cx: &mut Context, command: &JobCommand) -> Result<Outcome, Refusal> {
    let JobCommand::Report { job, step, node, progress, state: stands, message } = command else {
        return Ok(Outcome::Done);
    };
    if matches!(stands, JobState::Waiting | JobState::Withdrawn) {
        return Err(Refusal::field("state", "must be running, done or failed"));
    }
    let found = state.jobs.open(*job)?;
    if found.step != *step {
        let now = format!("step {} is due", found.step);
        return Err(Refusal::Stale { what: Noun::Job, id: job.to_string(), now });
    }
    found.node = Some(*node);
    found.progress = *progress;
    found.message = check::reason(message);
    found.updated_at = cx.now;
    found.state = *stands;
    if *stands == JobState::Done && step + 1 < found.steps {
        found.step += 1;
        found.node = None;
        found.progress = (0, 0);
        found.state = JobState::Waiting;
    }
    if found.state.ended() {
        state.jobs.note_end(*job);
    }
    Ok(Outcome::Job(*job))
}

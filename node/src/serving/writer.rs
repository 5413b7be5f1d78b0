//! One writer a vault: writes that wait are carried out in one transaction, each with its own result, so that many
//! clients share one wait for the disk. The queue is bounded; what is in it is carried out.

use std::time::Instant;

use tokio::sync::{mpsc, oneshot};
use undercroft_vault::{Answers, BypassReason, Change, Done, Outcome, Screening, WriteRequest};

use super::crowd::Turn;
use super::handle::VaultHandle;
use super::lanes::blocking;
use super::shared::Shared;
use crate::error::{Error, Result};
use crate::limits;

/// One write that was accepted.
pub(super) struct Job {
    pub(super) request: WriteRequest,
    pub(super) reply: oneshot::Sender<Result<Outcome>>,
    /// Keeps the vault open until the write is done.
    pub(super) handle: VaultHandle,
}

/// Starts the writer of one vault; it ends when the vault is closed.
pub(super) fn start(waiting: usize) -> mpsc::Sender<Job> {
    let (sender, queue) = mpsc::channel(waiting);
    tokio::spawn(run(queue));
    sender
}

async fn run(mut queue: mpsc::Receiver<Job>) {
    let mut held_over = None;
    let mut last = 0;
    loop {
        let first = match held_over.take() {
            Some(job) => job,
            None => match queue.recv().await {
                Some(job) => job,
                None => return,
            },
        };
        let handle = first.handle.clone();
        // Those who were answered together ask again one by one: the first of them is not alone.
        let turn = handle.turn_to_write(last > 1 || !queue.is_empty());
        // While this waits for its turn, more writes arrive and join the group.
        handle.pause(turn).await;
        let place = handle.shared().lanes.commits.enter().await;
        let most = if turn.paced { limits::PACED_GROUP_WRITES } else { limits::GROUP_WRITES };
        let group = gather(first, most, &mut queue, &mut held_over);
        last = group.len();
        commit(handle, group, turn, place).await;
    }
}

/// Takes what is waiting, up to the bounds of one transaction.
fn gather(first: Job, most: usize, queue: &mut mpsc::Receiver<Job>, held_over: &mut Option<Job>) -> Vec<Job> {
    let mut bytes = weight(&first.request.change);
    let mut group = vec![first];
    while group.len() < most {
        let Ok(job) = queue.try_recv() else { break };
        bytes += weight(&job.request.change);
        if bytes > limits::GROUP_BYTES {
            *held_over = Some(job);
            break;
        }
        group.push(job);
    }
    group
}

async fn commit<P: Send + 'static>(handle: VaultHandle, group: Vec<Job>, turn: Turn, place: P) {
    let shared = handle.shared().clone();
    shared.counts.group(group.len());
    let (requests, replies): (Vec<_>, Vec<_>) =
        group.into_iter().map(|job| (job.request, (job.reply, job.handle))).unzip();
    let committed = blocking(move || {
        let began = Instant::now();
        let written = handle.vault().write_requests(requests, screening());
        handle.worked(turn, began.elapsed());
        handle.count_growth();
        drop(place);
        written.map_err(|error| handle.judged(error.into()))
    })
    .await;
    answer(&shared, committed, replies);
}

type Reply = (oneshot::Sender<Result<Outcome>>, VaultHandle);

/// Gives each writer its own result, or all of them the reason why the transaction did not happen.
fn answer(shared: &Shared, committed: Result<Answers>, replies: Vec<Reply>) {
    // A client that is gone is not told; its write happened.
    match committed {
        Ok(all) => {
            let mut all = all.into_iter();
            for (reply, handle) in replies {
                let done = all.next().map_or(Err(Error::Lost), |one| one.map_err(Error::from));
                if let Ok(Done { outcome, replayed: false }) = &done {
                    shared.counts.outcome(outcome);
                }
                let outcome = done.map(|done| done.outcome).map_err(|error| handle.judged(error));
                // Let go first: whoever is told may want the vault alone.
                drop(handle);
                let _ = reply.send(outcome);
            }
        }
        Err(error) => {
            for (reply, _) in replies {
                let _ = reply.send(Err(error.clone()));
            }
        }
    }
}

/// This version has no screen to declare.
fn screening() -> Screening {
    Screening::Bypass(BypassReason::NotDeclared)
}

/// Bytes of text that a change carries.
fn weight(change: &Change) -> usize {
    match change {
        Change::Save(new) => new.text.len(),
        Change::Source(batch) => batch.drawers.iter().map(|drawer| drawer.text.len()).sum(),
        Change::Update { text, .. } => text.len(),
        Change::Delete(_) | Change::DeleteSource(_) | Change::Dedup => 0,
    }
}

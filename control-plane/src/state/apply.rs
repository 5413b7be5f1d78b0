//! `apply`: the one way in which the state changes. Pure: no clock, no randomness, no disk; the same on every member.

use std::collections::BTreeSet;

use super::context::{Context, Key};
use super::{Batch, Command, Delta, Outcome, Refusal, State, Step};
use super::{cluster, invariants, jobs, keys, nodes, shards, tenants, vaults, witnesses};

/// What became of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// One outcome for each command, in their order.
    pub outcomes: Vec<Outcome>,
    /// What watchers are told; `None` when the map is as it was.
    pub delta: Option<Delta>,
}

impl State {
    /// Applies the commands of an entry one after another. A command that is refused changes nothing and stops none of the
    /// others.
    ///
    /// The cost of a command does not grow with the number of vaults or tenants, beyond that of finding one.
    ///
    /// # Panics
    /// In builds with debug assertions, when an invariant breaks: that is a defect of this program.
    pub fn apply(&mut self, batch: &Batch) -> Applied {
        self.now = self.now.max(batch.at);
        let mut touched = BTreeSet::new();
        let outcomes = batch.steps.iter().map(|step| self.step(step, &mut touched)).collect();
        let delta = self.delta(&touched);
        if cfg!(debug_assertions)
            && let Err(broken) = invariants::after(self, &touched)
        {
            panic!("{broken}, after {batch:?}");
        }
        Applied { outcomes, delta }
    }

    fn step(&mut self, step: &Step, touched: &mut BTreeSet<Key>) -> Outcome {
        self.requests.forget(self.now);
        if let Some(outcome) = step.request.as_ref().and_then(|request| self.requests.recall(request)) {
            return outcome;
        }
        let mut cx = Context::new(self.now);
        let outcome = self.decide(&mut cx, &step.command).unwrap_or_else(Outcome::Refused);
        if outcome.refusal().is_none() {
            let (keys, decided) = cx.into_parts();
            touched.extend(keys);
            for (subject, what, reason) in decided {
                self.decisions.record(self.now, subject, what, reason);
            }
        }
        if let Some(request) = &step.request {
            self.requests.keep(self.now, request, &outcome);
        }
        outcome
    }

    /// Every check of a command comes before its first change, so a refusal leaves the state as it was.
    fn decide(&mut self, cx: &mut Context, command: &Command) -> Result<Outcome, Refusal> {
        let (needs, format) = (command.needs(), self.cluster.format());
        if needs > format {
            return Err(Refusal::TooNew { needs, format });
        }
        match command {
            Command::Cluster(command) => cluster::apply(self, cx, command),
            Command::Node(command) => nodes::apply(self, cx, command),
            Command::Shard(command) => shards::apply(self, cx, command),
            Command::Vault(command) => vaults::apply(self, cx, command),
            Command::Tenant(command) => tenants::apply(self, cx, command),
            Command::Job(command) => jobs::apply(self, cx, command),
            Command::Witness(command) => witnesses::apply(self, cx, command),
            Command::Key(command) => keys::apply(self, cx, command),
        }
    }
}

#[cfg(test)]
#[path = "any_commands_test.rs"]
mod any_commands_test;
#[cfg(test)]
#[path = "apply_test.rs"]
mod apply_test;

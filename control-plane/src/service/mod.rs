//! What processes of the fleet ask of the control plane, over gRPC: joining, heartbeats, the map, witnesses, jobs.
//!
//! `desk` is where every decision is asked for, at any member; `control` is the service; `lead` is what the leader alone has.

mod caller;
mod challenges;
mod control;
mod convert;
mod desk;
mod enter;
mod join;
mod lead;
mod peers;
mod steps;
mod watch;

pub use control::ControlService;
pub use desk::Desk;
pub use lead::Lead;
pub use peers::Peers;

#[cfg(test)]
mod roles_test;

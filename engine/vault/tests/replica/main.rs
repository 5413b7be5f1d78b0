//! Copies of one vault that follow a log: what they hold, what they refuse, what survives.

mod cluster;
mod commands;
mod copying;
mod crashing;
mod following;
mod writing;

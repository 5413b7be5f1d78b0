//! Whatever is done to the files of a vault from outside is found, and no altered word ever leaves it.

mod cells;
mod files;
mod history;
mod missed;
mod scene;
mod schema;
#[path = "../support/mod.rs"]
mod support;

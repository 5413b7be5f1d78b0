//! A line that moves while long work goes on: on a terminal only, on standard error, gone when the work is done.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use undercroft_text::escape_controls;

/// Shows that something is going on. Silent where nobody watches.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Work of unknown length.
    #[must_use]
    pub(crate) fn start(label: &'static str) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} {msg}") {
            bar.set_style(style);
        }
        bar.set_prefix(label);
        bar.enable_steady_tick(Duration::from_millis(100));
        Self(bar)
    }

    /// What is being worked on now; a file's name cannot steer the terminal.
    pub(crate) fn show(&self, what: impl AsRef<str>) {
        self.0.set_message(escape_controls(what.as_ref()).into_owned());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

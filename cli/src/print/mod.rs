//! Where results go: lines for people or one object for programs, on standard output.

mod first_line;
mod quoted;
mod table;

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

use undercroft_text::escape_controls;

pub(crate) use first_line::first_line;
pub(crate) use quoted::quoted;
pub(crate) use table::table;

use crate::error::Outcome;

/// One line beside the result, on standard error, that cannot steer a terminal. Nobody is left to tell when it fails.
pub(crate) fn aside(text: &str) {
    let _ = writeln!(io::stderr(), "{}", escape_controls(text));
}

/// Standard output as one run sees it.
pub(crate) struct Output {
    json: bool,
    is_terminal: bool,
    sink: Box<dyn Write>,
}

impl Output {
    /// The process's standard output, buffered; [`flush`](Self::flush) it at the end.
    #[must_use]
    pub(crate) fn standard(json: bool) -> Self {
        let stdout = io::stdout();
        let is_terminal = stdout.is_terminal();
        Self { json, is_terminal, sink: Box::new(io::BufWriter::new(stdout.lock())) }
    }

    /// Whether results are wanted as JSON.
    #[must_use]
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Stored text as this output may show it: escaped on a terminal, raw in a pipe.
    #[must_use]
    pub(crate) fn shown<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.is_terminal { escape_controls(text) } else { Cow::Borrowed(text) }
    }

    /// One line of the program's own words.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub(crate) fn line(&mut self, text: &str) -> Outcome {
        writeln!(self.sink, "{text}")?;
        Ok(())
    }

    /// One line that contains stored text: control characters are escaped on a terminal and raw in a pipe.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub(crate) fn stored_line(&mut self, text: &str) -> Outcome {
        let shown = self.shown(text);
        self.line(&shown)
    }

    /// One reply object.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub(crate) fn object(&mut self, reply: &impl serde::Serialize) -> Outcome {
        serde_json::to_writer(&mut self.sink, reply).map_err(io::Error::from)?;
        writeln!(self.sink)?;
        Ok(())
    }

    /// Where a protocol writes by itself.
    pub(crate) fn sink(&mut self) -> &mut dyn Write {
        &mut self.sink
    }

    /// Hands everything over.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub(crate) fn flush(&mut self) -> Outcome {
        self.sink.flush()?;
        Ok(())
    }
}

//! Where results go: lines for people or one object for programs, on standard output.
//!
//! Here alone is decided what a terminal is shown of names, paths and texts that strangers wrote. What cannot be written
//! is told at the end of the run and never before: a verdict must not get lost because somebody closed the pipe.

mod first_line;
mod quoted;
mod table;

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

use undercroft_text::{escape_controls, escape_json};

pub(crate) use first_line::first_line;
pub(crate) use quoted::quoted;
pub(crate) use table::table;

use crate::error::Outcome;

/// One line beside the result, on standard error, that cannot steer a terminal. Nobody is left to tell when it fails.
pub(crate) fn aside(text: &str) {
    let _ = writeln!(io::stderr(), "{}", escape_controls(text));
}

/// One answer as a line of JSON that cannot steer a terminal either: equal in meaning, whoever reads it.
///
/// # Errors
/// When it is no JSON.
pub(crate) fn json_line(reply: &impl serde::Serialize) -> serde_json::Result<String> {
    Ok(escape_json(&serde_json::to_string(reply)?).into_owned())
}

/// Standard output as one run sees it.
pub(crate) struct Output {
    json: bool,
    is_terminal: bool,
    sink: Box<dyn Write>,
    /// The first thing that could not be written; nothing is after it.
    failed: Option<io::Error>,
}

impl Output {
    /// The process's standard output, buffered; [`flush`](Self::flush) it at the end.
    #[must_use]
    pub(crate) fn standard(json: bool) -> Self {
        let stdout = io::stdout();
        let is_terminal = stdout.is_terminal();
        Self::new(json, is_terminal, Box::new(io::BufWriter::new(stdout.lock())))
    }

    fn new(json: bool, is_terminal: bool, sink: Box<dyn Write>) -> Self {
        Self { json, is_terminal, sink, failed: None }
    }

    /// Whether results are wanted as JSON.
    #[must_use]
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// A text as this output may show it: escaped on a terminal, raw in a pipe.
    #[must_use]
    fn shown<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.is_terminal { escape_controls(text) } else { Cow::Borrowed(text) }
    }

    /// One line for people. What steers a terminal is escaped on one, and raw in a pipe.
    ///
    /// # Errors
    /// None: what cannot be written is told by [`flush`](Self::flush). It is a result so that commands may end with it.
    pub(crate) fn line(&mut self, text: &str) -> Outcome {
        let line = format!("{}\n", self.shown(text));
        self.write(&line);
        Ok(())
    }

    /// The same; it says where it is called that the line contains what was stored.
    ///
    /// # Errors
    /// As [`line`](Self::line).
    pub(crate) fn stored_line(&mut self, text: &str) -> Outcome {
        self.line(text)
    }

    /// One reply object.
    ///
    /// # Errors
    /// When it is no JSON; what cannot be written is told by [`flush`](Self::flush).
    pub(crate) fn object(&mut self, reply: &impl serde::Serialize) -> Outcome {
        let line = json_line(reply).map_err(io::Error::from)? + "\n";
        self.write(&line);
        Ok(())
    }

    fn write(&mut self, text: &str) {
        if self.failed.is_none() {
            self.failed = self.sink.write_all(text.as_bytes()).err();
        }
    }

    /// Where a protocol writes by itself.
    pub(crate) fn sink(&mut self) -> &mut dyn Write {
        &mut self.sink
    }

    /// Hands everything over.
    ///
    /// # Errors
    /// When something of it, now or before, could not be written.
    pub(crate) fn flush(&mut self) -> Outcome {
        match self.failed.take() {
            Some(failed) => Err(failed.into()),
            None => Ok(self.sink.flush()?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Failure;

    /// Takes nothing.
    struct Closed;

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_cannot_be_written_is_told_at_the_end_and_not_before() {
        let mut out = Output::new(false, false, Box::new(Closed));
        assert!(out.line("one").is_ok() && out.object(&1).is_ok());
        assert!(
            matches!(out.flush(), Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe)
        );
    }

    #[test]
    fn every_line_is_escaped_on_a_terminal_alone() {
        for (is_terminal, shown) in [(true, "a\\u{202e}b"), (false, "a\u{202e}b")] {
            let out = Output::new(false, is_terminal, Box::new(Closed));
            assert_eq!(out.shown("a\u{202e}b"), shown);
        }
        assert_eq!(
            json_line(&"a\u{202e}\u{9b}\u{7f}\u{1b}\tb").unwrap(),
            r#""a\u202e\u009b\u007f\u001b\tb""#
        );
    }
}

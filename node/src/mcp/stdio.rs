//! Messages as lines: one JSON object each, UTF-8, ended by a line feed.
//!
//! A line may end in CR LF, and the last one need not end at all. Blank lines mean nothing. Nothing but replies is ever
//! written to the output; no locale is asked, because bytes are never decoded as anything but UTF-8.

use std::io::{BufRead, Read, Result, Write};

use undercroft_vault::{BypassReason, Change, Outcome, Screening, Vault};

use super::failure::Failure;
use super::limits::MAX_LINE_BYTES;
use super::message::Message;
use super::protocol::{Answer, Server};
use crate::Error;

/// This version has no screen; a declared one refuses the start.
const SCREENING: Screening = Screening::Bypass(BypassReason::NotDeclared);

/// Answers lines over `vault` until the input ends, one after the other, each change in a transaction of its own. `log` is
/// told what an agent is not told in full.
///
/// # Errors
/// When the input cannot be read or the output cannot be written; what a client says is never an error here.
pub fn serve_stdio(
    server: Server,
    vault: &Vault,
    mut input: impl BufRead,
    mut output: impl Write,
    log: &mut dyn FnMut(&Failure),
) -> Result<()> {
    let mut line = Vec::new();
    loop {
        let reply = match next(&mut input, &mut line)? {
            Line::End => return Ok(()),
            Line::TooLong => Some(Server::too_long(MAX_LINE_BYTES)),
            Line::Blank => None,
            Line::Message(bytes) => reply(server, vault, bytes, log),
        };
        if let Some(reply) = reply {
            output.write_all(reply.as_bytes())?;
            output.write_all(b"\n")?;
            output.flush()?;
        }
    }
}

fn reply(server: Server, vault: &Vault, bytes: &[u8], log: &mut dyn FnMut(&Failure)) -> Option<String> {
    match server.begin(vault, &Message::read(bytes)).answer(|change| write(vault, change)) {
        Answer::Accepted => None,
        Answer::Reply { reply, failure } => {
            failure.iter().for_each(log);
            Some(reply)
        }
        Answer::Unreadable { reply, .. } | Answer::Invalid(reply) => Some(reply),
    }
}

/// One change, one transaction, one outcome; none would mean that nobody knows what became of it.
fn write(vault: &Vault, change: Change) -> crate::Result<Outcome> {
    Ok(vault.write(vec![change], SCREENING)?.pop().ok_or(Error::Lost)??)
}

/// One line of the input.
enum Line<'a> {
    /// Nothing more comes.
    End,
    /// White space.
    Blank,
    /// More than is taken; it was read past and not kept.
    TooLong,
    /// Something.
    Message(&'a [u8]),
}

/// Reads one line into `line`, never more than the bound.
fn next<'a>(input: &mut impl BufRead, line: &'a mut Vec<u8>) -> Result<Line<'a>> {
    line.clear();
    // One byte more than the bound tells a line that is too long from one that just fits; a CR may come on top.
    let most = MAX_LINE_BYTES as u64 + 2;
    let read = input.by_ref().take(most).read_until(b'\n', line)?;
    if read == 0 {
        return Ok(Line::End);
    }
    let ended = line.ends_with(b"\n");
    let message = line.trim_ascii();
    if message.len() > MAX_LINE_BYTES || (read as u64 == most && !ended) {
        if !ended {
            input.skip_until(b'\n')?;
        }
        return Ok(Line::TooLong);
    }
    Ok(if message.is_empty() { Line::Blank } else { Line::Message(message) })
}

//! Lines of the log on their way out: a bounded queue and one thread that writes. Whoever logs never waits; what does not fit
//! is dropped, counted, and told once there is room again.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread;

use tracing_subscriber::fmt::MakeWriter;

use crate::limits;

/// Lines that were dropped by this process; one process has one log.
static DROPPED: AtomicU64 = AtomicU64::new(0);

/// Lines that this process dropped because nobody read them in time.
pub(super) fn dropped() -> u64 {
    DROPPED.load(Ordering::Relaxed)
}

/// Where the lines of a process go. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Lines {
    queue: Arc<SyncSender<Vec<u8>>>,
}

/// Writes what is left when it is dropped, as far as somebody reads it.
#[derive(Debug)]
pub struct Flushing {
    queue: Arc<SyncSender<Vec<u8>>>,
    ended: Receiver<()>,
}

/// An empty line ends the thread: no line of a log is empty.
const END: Vec<u8> = Vec::new();

/// Starts the thread that writes to `output`, and what `tell` makes of a number of dropped lines in their place.
pub(super) fn start(
    output: impl Write + Send + 'static,
    tell: fn(u64) -> String,
) -> io::Result<(Lines, Flushing)> {
    let (queue, waiting) = sync_channel(limits::LOG_LINES);
    let (end, ended) = sync_channel(1);
    let queue = Arc::new(queue);
    thread::Builder::new().name(String::from("undercroft-log")).spawn(move || {
        write_out(&waiting, output, tell);
        // Nobody waits for the end of a log that is never flushed.
        let _ = end.try_send(());
    })?;
    Ok((Lines { queue: queue.clone() }, Flushing { queue, ended }))
}

fn write_out(waiting: &Receiver<Vec<u8>>, mut output: impl Write, tell: fn(u64) -> String) {
    let mut told = dropped();
    let mut batch = Vec::new();
    while let Ok(line) = waiting.recv() {
        let mut ends = line.is_empty();
        batch.clear();
        batch.extend_from_slice(&line);
        while !ends && batch.len() < limits::LOG_BATCH_BYTES {
            let Ok(line) = waiting.try_recv() else { break };
            ends = line.is_empty();
            batch.extend_from_slice(&line);
        }
        let lost = dropped();
        if lost > told {
            // Not through the log itself: it has no room.
            batch.extend_from_slice(tell(lost - told).as_bytes());
            told = lost;
        }
        // A reader that is gone is not told that it is gone.
        let _ = output.write_all(&batch).and_then(|()| output.flush());
        if ends {
            return;
        }
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = &'a Self;

    fn make_writer(&'a self) -> Self::Writer {
        self
    }
}

impl Write for &Lines {
    /// Takes one line whole: the formatter writes each event at once.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if !line.is_empty()
            && let Err(TrySendError::Full(_)) = self.queue.try_send(line.to_vec())
        {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Flushing {
    fn drop(&mut self) {
        if self.queue.try_send(END).is_ok() {
            // Either it is written, or nobody reads.
            let _: Result<(), RecvTimeoutError> = self.ended.recv_timeout(limits::LOG_LAST_WAIT);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// An output that tells when it was asked to write and waits until it may.
    struct Stalled {
        asked: mpsc::Sender<()>,
        may: Receiver<()>,
        written: mpsc::Sender<Vec<u8>>,
    }

    impl Write for Stalled {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.asked.send(()).unwrap();
            // An error is a test that lets it run.
            let _ = self.may.recv();
            self.written.send(bytes.to_vec()).unwrap();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_does_not_read_stops_nobody_and_is_told_what_it_missed() {
        let ((asked, is_asked), (may, allowed), (written, out)) =
            (mpsc::channel(), mpsc::channel(), mpsc::channel());
        let (lines, flushing) =
            start(Stalled { asked, may: allowed, written }, |n| format!("dropped {n}\n")).unwrap();
        let before = dropped();
        (&lines).write_all(b"first\n").unwrap();
        is_asked.recv().unwrap();
        // The thread stands still now: what fits is kept, and the rest does not wait.
        for n in 0..limits::LOG_LINES + 5 {
            (&lines).write_all(format!("{n}\n").as_bytes()).unwrap();
        }
        assert_eq!(dropped() - before, 5);
        drop(may);
        let last = format!("{}\n", limits::LOG_LINES - 1);
        let mut all = String::new();
        while !all.contains(&last) || !all.contains("dropped") {
            all.push_str(&String::from_utf8(out.recv().unwrap()).unwrap());
        }
        assert!(all.starts_with("first\n0\n1\n") && all.contains("dropped 5\n"), "{all}");
        drop(flushing);
    }

    #[test]
    fn what_was_logged_last_is_written_before_the_end() {
        let (written, out) = mpsc::channel();
        let (asked, _is_asked) = mpsc::channel();
        let (_, allowed) = mpsc::channel();
        let (lines, flushing) =
            start(Stalled { asked, may: allowed, written }, |n| format!("dropped {n}\n")).unwrap();
        (&lines).write_all(b"last\n").unwrap();
        drop(flushing);
        assert!(out.try_iter().any(|bytes| bytes == b"last\n"));
    }
}

//! What was filed from a transcript before, message by message. A reading that is not whole adds what is missing and
//! touches nothing of it.
//!
//! Messages are compared whole. Words that begin like a message, or that hold one as a quotation, are other words.

use std::collections::HashSet;
use std::ops::Range;

use undercroft_text::chunk::is_blank;
use undercroft_text::transcript::{BETWEEN, Message, pack};
use undercroft_vault::Drawer;

/// Which messages of one transcript are filed.
pub(super) struct Held {
    /// Of each message.
    pub(super) has: Vec<bool>,
    /// How many drawers hold them.
    pub(super) drawers: usize,
    /// The first position behind everything that was filed.
    pub(super) next: u32,
}

/// One drawer: some messages, or a part of one large message.
struct Text {
    first: u32,
    last: u32,
    words: String,
    is_used: bool,
}

impl Held {
    /// `drawers` in the order of their positions, and the messages that the transcript has now. Each place in a drawer
    /// stands for one message, so that words said twice are held only when they were filed twice.
    pub(super) fn new(drawers: Vec<Drawer>, messages: &[Message]) -> Self {
        let next = drawers.last().map_or(0, |last| last.meta.chunk_index.saturating_add(1));
        // Words that were updated by hand stand for no line of the log.
        let texts = drawers.into_iter().filter_map(|drawer| {
            let (first, last) = drawer.meta.line_start.zip(drawer.meta.line_end)?;
            Some(Text { first, last, words: drawer.content, is_used: false })
        });
        let mut texts: Vec<Text> = texts.collect();
        texts.sort_by_key(|text| text.first);
        let mut has = vec![false; messages.len()];
        let parts: Vec<Vec<String>> = messages.iter().map(parts_of).collect();
        for (at, message) in messages.iter().enumerate() {
            // What has nothing to read was refused before and is not missed.
            has[at] = parts[at].is_empty()
                || (parts[at].len() > 1 && use_run(&mut texts, message.line, &parts[at]));
        }
        let of_texts = texts.iter().filter_map(|text| Some(text.words.split_once(": ")?.0.to_owned()));
        let labels: HashSet<String> = messages.iter().map(Message::label).chain(of_texts).collect();
        for text in texts.iter_mut().filter(|text| !text.is_used) {
            let lines = messages.partition_point(|message| message.line < text.first)
                ..messages.partition_point(|message| message.line <= text.last);
            for at in text.messages(lines, &parts, &has, &labels) {
                has[at] = true;
                text.is_used = true;
            }
        }
        Self { has, drawers: texts.iter().filter(|text| text.is_used).count(), next }
    }
}

/// The drawers of a message on its own, without those that have nothing to read.
fn parts_of(message: &Message) -> Vec<String> {
    let parts = pack(std::slice::from_ref(message)).into_iter().map(|part| part.text);
    parts.filter(|part| !is_blank(part)).collect()
}

/// Uses the drawers in a row that are the parts of a large message at `line`, when they are there.
fn use_run(texts: &mut [Text], line: u32, parts: &[String]) -> bool {
    let first = texts.partition_point(|text| text.first < line);
    let at_line = (first..texts.len()).take_while(|&at| texts[at].first == line);
    let places: Vec<usize> = at_line.filter(|&at| texts[at].last == line && !texts[at].is_used).collect();
    let is_run = |run: &&[usize]| run.iter().zip(parts).all(|(&at, part)| texts[at].words == *part);
    let Some(run) = places.windows(parts.len()).find(is_run) else { return false };
    run.iter().for_each(|&at| texts[at].is_used = true);
    true
}

impl Text {
    /// Which of the messages at `lines` stand here, from the first word to the last: at each place the longest that fits,
    /// each behind those before it in the log. A place that fits none is passed over.
    fn messages(
        &self,
        lines: Range<usize>,
        parts: &[Vec<String>],
        has: &[bool],
        labels: &HashSet<String>,
    ) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        let mut rest = self.words.as_str();
        let mut from = lines.start;
        loop {
            let fitting = (from..lines.end).filter(|&at| !has[at] && parts[at].len() == 1).filter_map(|at| {
                let behind = rest.strip_prefix(parts[at][0].as_str())?;
                (behind.is_empty() || next_message(behind, labels) == Some(0)).then_some((at, behind))
            });
            // The least that is left behind it; of equal ones the first.
            let behind = match fitting.min_by_key(|(_, behind)| behind.len()) {
                Some((at, behind)) => {
                    found.push(at);
                    from = at + 1;
                    behind
                }
                None => rest,
            };
            // The first letter is skipped so that a place that fitted none is left.
            let skipped =
                behind.chars().next().filter(|_| behind.len() == rest.len()).map_or(0, char::len_utf8);
            match next_message(&behind[skipped..], labels) {
                Some(at) => rest = &behind[skipped + at + BETWEEN.len()..],
                None => return found,
            }
        }
    }
}

/// Where the next message is announced: by an empty line and somebody's name.
fn next_message(words: &str, labels: &HashSet<String>) -> Option<usize> {
    let is_label = |rest: &str| {
        labels
            .iter()
            .any(|label| rest.strip_prefix(label.as_str()).is_some_and(|rest| rest.starts_with(": ")))
    };
    words.match_indices(BETWEEN).map(|(at, _)| at).find(|&at| is_label(&words[at + BETWEEN.len()..]))
}

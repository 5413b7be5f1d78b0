//! What was filed from a transcript before, asked message by message. A reading that is not whole adds what is missing
//! and touches nothing of it.

use undercroft_text::chunk::is_blank;
use undercroft_text::transcript::{Message, pack};
use undercroft_vault::Drawer;

/// The texts that were filed from one transcript.
pub(super) struct Held {
    /// In the order of their first lines.
    texts: Vec<Text>,
    /// The largest last line of each text and all before it.
    reach: Vec<u32>,
    /// The first position behind them all.
    pub(super) next: u32,
}

/// The drawers of the same lines, joined: the parts of one large message, or one drawer.
struct Text {
    first: u32,
    last: u32,
    words: String,
    /// Where the messages that were found in it end.
    found: usize,
    drawers: usize,
}

impl Held {
    /// `drawers` in the order of their positions.
    pub(super) fn new(drawers: Vec<Drawer>) -> Self {
        let next = drawers.last().map_or(0, |last| last.meta.chunk_index.saturating_add(1));
        let mut texts: Vec<Text> = Vec::new();
        for drawer in drawers {
            // Words that were updated by hand stand for no line of the log.
            let Some((first, last)) = drawer.meta.line_start.zip(drawer.meta.line_end) else { continue };
            match texts.last_mut() {
                Some(text) if (text.first, text.last) == (first, last) => {
                    text.words.push_str(&drawer.content);
                    text.drawers += 1;
                }
                _ => texts.push(Text { first, last, words: drawer.content, found: 0, drawers: 1 }),
            }
        }
        texts.sort_by_key(|text| text.first);
        let reach = texts
            .iter()
            .scan(0, |reach, text| {
                *reach = text.last.max(*reach);
                Some(*reach)
            })
            .collect();
        Self { texts, reach, next }
    }

    /// Whether the words of `message` were filed from its line. Messages are asked for in the order of the log; each
    /// place in a text answers once, so that words said twice are held only when they were filed twice.
    pub(super) fn has(&mut self, message: &Message) -> bool {
        let parts = pack(std::slice::from_ref(message));
        let behind = self.texts.partition_point(|text| text.first <= message.line);
        for at in (0..behind).rev().take_while(|&at| self.reach[at] >= message.line) {
            let text = &mut self.texts[at];
            if text.last < message.line {
                continue;
            }
            // A part without anything to read was refused and is not missed.
            let end = parts.iter().filter(|part| !is_blank(&part.text)).try_fold(text.found, |from, part| {
                text.words[from..].find(&part.text).map(|start| from + start + part.text.len())
            });
            if let Some(end) = end {
                text.found = end;
                return true;
            }
        }
        false
    }

    /// How many drawers hold messages that were asked for.
    pub(super) fn met(&self) -> usize {
        self.texts.iter().filter(|text| text.found > 0).map(|text| text.drawers).sum()
    }
}

//! Which messages of a transcript are in the vault already, and where those go that are not.
//!
//! A message is known by its words together with when it was said, and by how often both stood in its transcript before.
//! Words alone never decide: whoever says the same thing twice has said two things. A position does not either: a log
//! may lose lines, and then its messages stand elsewhere in it. Only what somebody changed or destroyed by hand is known
//! by its place, which is all that is left of it.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};

use undercroft_text::duplicate_form;
use undercroft_vault::{AddedBy, Drawer, NewDrawer, Past, Vault, drawer_id};

use super::places::{self, storeys};
use super::source::Source;
use crate::error::Result;

/// Words in the form that copies share, and when they were said.
type Said = (String, Option<String>);

/// What was met in the transcripts of one run: a log that was continued under another name begins with a copy.
#[derive(Debug, Default)]
pub(super) struct Met(HashSet<(Said, usize)>);

/// One text of a transcript, and what is known of it.
pub(super) struct Text {
    pub(super) new: NewDrawer,
    /// How often the same was said before in this transcript.
    before: usize,
    pub(super) fate: Fate,
}

/// What is to be done about a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// File it: nothing was ever filed at its place.
    New,
    /// It is filed, from this transcript or as part of something else.
    Filed,
    /// It was filed, and somebody changed its words.
    Edited,
    /// It was filed, and was destroyed.
    Destroyed,
    /// Every place that it could have holds something else.
    NoPlace,
}

impl Text {
    fn said(&self) -> Said {
        said(&self.new.text, self.new.content_date.as_ref())
    }

    fn position(&self) -> u32 {
        self.new.origin.as_ref().map_or(0, |origin| origin.chunk)
    }
}

impl Met {
    /// Takes up what is in the vault now, or was. Only what has a time is known again in another transcript.
    pub(super) fn take(&mut self, text: &Text) {
        if text.new.content_date.is_some() {
            self.0.insert((text.said(), text.before));
        }
    }
}

fn said(text: &str, date: Option<&String>) -> Said {
    (duplicate_form(text).into_owned(), date.cloned())
}

/// Finds out what is to be done about the texts of a transcript, from which `filed` was filed before. Those that are new
/// get their place.
///
/// # Errors
/// An integrity error when a drawer that has to be compared fails its check.
pub(super) fn look(
    vault: &Vault,
    source: &Source,
    texts: Vec<NewDrawer>,
    filed: &[Drawer],
    met: &Met,
) -> Result<Vec<Text>> {
    let mut counts: HashMap<Said, usize> = HashMap::new();
    let mut texts: Vec<Text> = texts
        .into_iter()
        .map(|new| {
            let count = counts.entry(said(&new.text, new.content_date.as_ref())).or_default();
            *count += 1;
            Text { before: *count - 1, new, fate: Fate::New }
        })
        .collect();
    find_own(&mut texts, filed);
    let mut known = Known::default();
    for text in texts.iter_mut().filter(|text| text.fate == Fate::New) {
        if met.0.contains(&(text.said(), text.before)) || known.is_elsewhere(vault, source, text)? {
            text.fate = Fate::Filed;
        }
    }
    find_places(vault, source, &mut texts, filed)?;
    Ok(texts)
}

/// Whether the words of a swept drawer were changed by hand: they stand at no line of the log any more.
fn is_edited(drawer: &Drawer) -> bool {
    drawer.meta.line_start.is_none()
}

/// Matches the texts with what was swept from this transcript: each drawer stands for one of them, its own position first.
fn find_own(texts: &mut [Text], filed: &[Drawer]) {
    let mut held: HashMap<Said, BTreeSet<u32>> = HashMap::new();
    let swept = filed.iter().filter(|drawer| drawer.meta.added_by == AddedBy::Sweeper && !is_edited(drawer));
    for drawer in swept {
        let key = said(&drawer.content, drawer.meta.content_date.as_ref());
        held.entry(key).or_default().insert(drawer.meta.chunk_index);
    }
    for own_position in [true, false] {
        for text in texts.iter_mut().filter(|text| text.fate == Fate::New) {
            let Some(places) = held.get_mut(&text.said()) else { continue };
            let is_found =
                if own_position { places.remove(&text.position()) } else { places.pop_first().is_some() };
            if is_found {
                text.fate = Fate::Filed;
            }
        }
    }
}

/// Gives each text that was not found its place: that of its line, or, where other words were filed from the line before,
/// one above it. Nothing is ever put where something was filed once: if that was changed by hand or destroyed, it was this.
fn find_places(vault: &Vault, source: &Source, texts: &mut [Text], filed: &[Drawer]) -> Result<()> {
    let here =
        filed.iter().filter(|drawer| (&drawer.meta.wing, &drawer.meta.room) == (&source.wing, &source.room));
    let edited: HashMap<u32, bool> =
        here.map(|drawer| (drawer.meta.chunk_index, is_edited(drawer))).collect();
    let lost: Vec<usize> = (0..texts.len()).filter(|&at| texts[at].fate == Fate::New).collect();
    let id = |place| drawer_id(&source.wing, &source.room, Some(&source.name), place);
    // Of nearly all of them the first place decides, so those are asked for together.
    let first: Vec<_> = lost.iter().map(|&at| id(texts[at].position())).collect();
    let mut taken = HashSet::new();
    for (&at, past) in lost.iter().zip(vault.pasts(&first)?) {
        let text = &mut texts[at];
        let own = text.position();
        text.fate = Fate::NoPlace;
        for place in storeys(own) {
            let past = if place == own { past } else { vault.pasts(&[id(place)])?[0] };
            text.fate = match (edited.get(&place), past) {
                (Some(true), _) => Fate::Edited,
                (None, Past::Gone) => Fate::Destroyed,
                (None, Past::Never) if taken.insert(place) => Fate::New,
                _ => continue,
            };
            places::put(&mut text.new, place);
            break;
        }
    }
    Ok(())
}

/// What the vault holds of words that were asked about: short ones stand in transcripts often.
#[derive(Default)]
struct Known(HashMap<String, Elsewhere>);

/// Drawers of the same words.
#[derive(Default)]
struct Elsewhere {
    /// How many of other transcripts were said when.
    said: HashMap<String, usize>,
    /// When copies were said that a deduplication removed.
    days: HashSet<Option<String>>,
    /// The lines of this transcript from which another command filed them: first and last.
    lines: BTreeSet<(u32, u32)>,
}

impl Known {
    /// Whether a text was filed from elsewhere: by another command from the same line, from a copy of this transcript, or
    /// into a drawer that a deduplication kept for it.
    fn is_elsewhere(&mut self, vault: &Vault, source: &Source, text: &Text) -> Result<bool> {
        let (form, date) = text.said();
        let there = match self.0.entry(form) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(Elsewhere::of(vault, source, &text.new.text)?),
        };
        let line = text.new.origin.as_ref().and_then(|origin| origin.line_start);
        let copies = date.as_ref().and_then(|date| there.said.get(date)).copied().unwrap_or(0);
        let from_line =
            line.and_then(|line| there.lines.range(..=(line, u32::MAX)).next_back().zip(Some(line)));
        Ok(copies > text.before
            || there.days.contains(&date)
            || from_line.is_some_and(|((_, last), line)| line <= *last))
    }
}

impl Elsewhere {
    fn of(vault: &Vault, source: &Source, words: &str) -> Result<Self> {
        let mut there = Self::default();
        for meta in vault.of_same_words(words)?.into_iter().map(|drawer| drawer.meta) {
            there.days.extend(meta.occurrences.into_iter().map(|day| day.content_date));
            if meta.source_file.as_deref() != Some(source.name.as_str()) {
                if let Some(date) = meta.content_date {
                    *there.said.entry(date).or_default() += 1;
                }
            } else if meta.added_by != AddedBy::Sweeper {
                there.lines.extend(meta.line_start.zip(meta.line_end));
            }
        }
        Ok(there)
    }
}

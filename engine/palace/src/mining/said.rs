//! Which messages of a transcript are in the vault already.
//!
//! A message is known by its words together with when it was said, and by how often both stood in its transcript before.
//! Words alone never decide: whoever says the same thing twice has said two things. A position does not either: a log
//! may lose lines, and then its messages stand elsewhere in it.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use undercroft_text::duplicate_form;
use undercroft_vault::{AddedBy, Drawer, DrawerMeta, NewDrawer, Vault};

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
    /// Whether it is filed, and where, when it was filed from this transcript.
    filed: Filed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Filed {
    /// Nowhere.
    No,
    /// From this transcript, at this position.
    At(u32),
    /// As part of something else.
    Elsewhere,
}

impl Text {
    pub(super) fn is_filed(&self) -> bool {
        self.filed != Filed::No
    }

    fn said(&self) -> Said {
        said(&self.new.text, self.new.content_date.as_ref())
    }

    fn position(&self) -> u32 {
        self.new.origin.as_ref().map_or(0, |origin| origin.chunk)
    }
}

impl Met {
    /// Takes up what is in the vault now. Only what has a time is known again in another transcript.
    pub(super) fn take(&mut self, text: &Text) {
        if text.new.content_date.is_some() {
            self.0.insert((text.said(), text.before));
        }
    }
}

fn said(text: &str, date: Option<&String>) -> Said {
    (duplicate_form(text).into_owned(), date.cloned())
}

/// Finds out which texts of a transcript are filed.
///
/// # Errors
/// An integrity error when a drawer that has to be compared fails its check.
pub(super) fn look(vault: &Vault, source: &Source, texts: Vec<NewDrawer>, met: &Met) -> Result<Vec<Text>> {
    let mut counts: HashMap<Said, usize> = HashMap::new();
    let mut texts: Vec<Text> = texts
        .into_iter()
        .map(|new| {
            let count = counts.entry(said(&new.text, new.content_date.as_ref())).or_default();
            *count += 1;
            Text { before: *count - 1, new, filed: Filed::No }
        })
        .collect();
    find_own(&mut texts, vault.filed_from(&source.name)?);
    let mut known = Known::default();
    for text in texts.iter_mut().filter(|text| !text.is_filed()) {
        if met.0.contains(&(text.said(), text.before)) || known.is_elsewhere(vault, source, text)? {
            text.filed = Filed::Elsewhere;
        }
    }
    refile_displaced(&mut texts);
    Ok(texts)
}

/// Matches the texts with what was filed from this transcript: each drawer stands for one of them, its own position first.
fn find_own(texts: &mut [Text], drawers: Vec<Drawer>) {
    let mut held: HashMap<Said, Vec<u32>> = HashMap::new();
    for drawer in drawers.into_iter().filter(|drawer| drawer.meta.added_by == AddedBy::Sweeper) {
        let key = said(&drawer.content, drawer.meta.content_date.as_ref());
        held.entry(key).or_default().push(drawer.meta.chunk_index);
    }
    for own_position in [true, false] {
        for text in texts.iter_mut().filter(|text| !text.is_filed()) {
            let Some(places) = held.get_mut(&text.said()) else { continue };
            let place = if own_position {
                places.iter().position(|place| *place == text.position())
            } else {
                (!places.is_empty()).then_some(0)
            };
            if let Some(place) = place {
                text.filed = Filed::At(places.remove(place));
            }
        }
    }
}

/// What the vault holds of words that were asked about: short ones stand in a transcript often.
#[derive(Default)]
struct Known(HashMap<String, Vec<DrawerMeta>>);

impl Known {
    /// Whether a text was filed from elsewhere: by another command from the same line, from a copy of this transcript, or
    /// into a drawer that a deduplication kept for it.
    fn is_elsewhere(&mut self, vault: &Vault, source: &Source, text: &Text) -> Result<bool> {
        let (new, form) = (&text.new, text.said().0);
        let held = match self.0.entry(form) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let drawers = vault.of_same_words(&new.text)?;
                unknown.insert(drawers.into_iter().map(|drawer| drawer.meta).collect())
            }
        };
        let line = new.origin.as_ref().and_then(|origin| origin.line_start);
        let holds = |meta: &DrawerMeta| {
            line.is_some_and(|line| meta.line_start <= Some(line) && Some(line) <= meta.line_end)
        };
        let is_own = |meta: &DrawerMeta| meta.source_file.as_deref() == Some(source.name.as_str());
        let same_time = |meta: &&DrawerMeta| {
            new.content_date.is_some() && !is_own(meta) && meta.content_date == new.content_date
        };
        Ok(held.iter().filter(same_time).count() > text.before
            || held
                .iter()
                .any(|meta| meta.occurrences.iter().any(|day| day.content_date == new.content_date))
            || held.iter().any(|meta| is_own(meta) && meta.added_by != AddedBy::Sweeper && holds(meta)))
    }
}

/// A log that was rewritten files some texts where others were filed before: those are filed anew where they stand now.
fn refile_displaced(texts: &mut [Text]) {
    let mut taken: HashSet<u32> = texts.iter().filter(|text| !text.is_filed()).map(Text::position).collect();
    loop {
        let before = taken.len();
        for text in texts.iter_mut() {
            if matches!(text.filed, Filed::At(place) if taken.contains(&place)) {
                text.filed = Filed::No;
                taken.insert(text.position());
            }
        }
        if taken.len() == before {
            return;
        }
    }
}

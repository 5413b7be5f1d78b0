//! Owns finding, for a query word, the other words of the vocabulary that it stands for, and remembering them.
//! It knows no drawer and no frequency.
//!
//! What is remembered is a pure function of the word, the declared language, the languages present and the
//! vocabulary. The vocabulary only grows, so a remembered answer is brought up to date by looking at the terms that
//! came since.

use std::sync::Mutex;

use rustc_hash::FxHashMap;

use super::vocabulary::{TermId, Vocabulary};
use crate::document::TermClass;
use crate::forms::{self, Language, Rules};
use crate::limits::{EXPANSION_BYTES_MAX, EXPANSION_CACHE_MAX};

/// Least characters of a word that is contained in another.
const CONTAINED: usize = 8;
/// Characters at the start whose equality makes longer words near.
const SHARED: usize = 7;
/// Terms that came since; beyond this many, looking the word up again is quicker than looking at each.
const CATCH_UP_MAX: TermId = 256;

/// Another word of the vocabulary that a query word stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Other {
    pub(crate) term: TermId,
    /// Languages of drawers in which it is an inflected form, as bits.
    pub(crate) languages: u32,
    /// It is a near spelling, where it is not an inflected form.
    pub(crate) near: bool,
}

/// Remembered answers. Locked for a lookup and a copy only.
#[derive(Default)]
pub(crate) struct Expansions(Mutex<FxHashMap<Key, Answer>>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    word: Box<str>,
    language: Option<Language>,
    present: u32,
}

#[derive(Clone, Debug)]
struct Answer {
    others: Vec<Other>,
    /// Terms of the vocabulary that were looked at.
    seen: TermId,
}

impl Clone for Expansions {
    /// A copy remembers nothing.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Expansions {
    /// The other words that a word stands for, in the order of their numbers.
    pub(crate) fn of(
        &self,
        vocabulary: &Vocabulary,
        word: &str,
        language: Option<Language>,
        present: u32,
    ) -> Vec<Other> {
        if word.len() > EXPANSION_BYTES_MAX {
            return Vec::new();
        }
        let key = Key { word: word.into(), language, present };
        let length = vocabulary.len() as TermId;
        let known = self.lock(|answers| answers.get(&key).cloned());
        let rules = || Rules::choose(word, language, present);
        let answer = match known {
            Some(answer) if answer.seen == length => return answer.others,
            Some(mut answer) if length - answer.seen <= CATCH_UP_MAX => {
                let newer = (answer.seen..length).filter_map(|id| judge(vocabulary, &rules(), word, id));
                answer.others.extend(newer);
                Answer { seen: length, ..answer }
            }
            _ => Answer { others: find(vocabulary, &rules(), word), seen: length },
        };
        let others = answer.others.clone();
        self.lock(|answers| {
            if answers.len() >= EXPANSION_CACHE_MAX {
                answers.clear();
            }
            answers.insert(key, answer)
        });
        others
    }

    /// A poisoned lock is taken over: an answer is inserted whole or not at all.
    fn lock<T>(&self, act: impl FnOnce(&mut FxHashMap<Key, Answer>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }
}

/// What one vocabulary word is to a query word.
fn judge(vocabulary: &Vocabulary, rules: &Rules, word: &str, id: TermId) -> Option<Other> {
    let other = vocabulary.text(id);
    if vocabulary.class(id) != TermClass::Word || other == word {
        return None;
    }
    let languages = rules.related(word, other);
    let near = forms::near(word, other);
    (languages != 0 || near).then_some(Other { term: id, languages, near })
}

/// Searches the orders of the vocabulary.
fn find(vocabulary: &Vocabulary, rules: &Rules, word: &str) -> Vec<Other> {
    let mut found: Vec<TermId> = Vec::new();
    if let Some(shared) = rules.shared_prefix(word) {
        vocabulary.with_prefix(&word[..word.floor_char_boundary(shared)], |id| {
            if rules.related(word, vocabulary.text(id)) != 0 {
                found.push(id);
            }
        });
    }
    let lookup = |text: &str| vocabulary.find(text, TermClass::Word);
    found.extend(rules.irregular(word).filter_map(lookup));
    // One edit leaves the word's first or its second half as it was; other nearness leaves the first.
    let length = word.chars().count();
    let (first, second) = word.split_at(leading(word, (length / 2).min(SHARED)).len());
    let beginning = leading(word, SHARED).as_bytes();
    let mut consider = |id: TermId| {
        let other = vocabulary.bytes(id);
        if may_be_near(word.as_bytes(), other, beginning) && forms::near(word, vocabulary.text(id)) {
            found.push(id);
        }
    };
    if !first.is_empty() {
        vocabulary.with_prefix(first, &mut consider);
        vocabulary.with_suffix(second, &mut consider);
    }
    // A word that this one ends with may be shorter than its second half.
    let endings =
        word.char_indices().map(|(at, _)| &word[at..]).skip(1).take(length.saturating_sub(CONTAINED));
    endings.filter_map(lookup).for_each(consider);
    found.sort_unstable();
    found.dedup();
    found.into_iter().filter_map(|id| judge(vocabulary, rules, word, id)).collect()
}

/// A quick look that never rejects a near word: one edit changes the length by a character, and other near words
/// begin alike or end alike.
#[inline]
fn may_be_near(word: &[u8], other: &[u8], beginning: &[u8]) -> bool {
    let difference = word.len().abs_diff(other.len());
    difference <= 1
        || (difference <= 4 && !(word.is_ascii() && other.is_ascii()))
        || (other.len() >= SHARED && other.starts_with(beginning))
        || (word.len().min(other.len()) >= CONTAINED && (other.ends_with(word) || word.ends_with(other)))
}

fn leading(word: &str, chars: usize) -> &str {
    word.char_indices().nth(chars).map_or(word, |(at, _)| &word[..at])
}

#[cfg(test)]
#[path = "expand_test.rs"]
mod expand_test;

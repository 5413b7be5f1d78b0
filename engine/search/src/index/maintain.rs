//! Owns changing an index: inserting, removing, and reclaiming what removed drawers leave behind.

use super::Index;
use super::documents::{Documents, Slot};
use super::expand::Expansions;
use super::postings::{COUNT_MAX, Postings};
use super::streams::{Step, Streams};
use super::vectors::Vectors;
use super::vocabulary::{TermId, Vocabulary};
use crate::document::{Analysed, DocumentKey, DocumentMeta, TermClass};
use crate::error::InsertError;
use crate::forms;
use crate::limits::DOCUMENTS_MAX;
use crate::ranking::Ranking;
use crate::vector::Quantized;

/// Removed drawers that are tolerated in any case, and beyond that a quarter of all.
const DEAD_MIN: usize = 256;

impl Index {
    /// An empty index for vectors of one dimension.
    #[must_use]
    pub fn new(dimension: usize) -> Self {
        Self::with_ranking(dimension, Ranking::default())
    }

    /// An empty index that ranks by other numbers than the product's; for measuring.
    #[must_use]
    pub fn with_ranking(dimension: usize, ranking: Ranking) -> Self {
        Self {
            ranking,
            documents: Documents::default(),
            vocabulary: Vocabulary::default(),
            postings: Postings::default(),
            streams: Streams::default(),
            vectors: Vectors::new(dimension),
            expansions: Expansions::default(),
        }
    }

    /// Components of every vector.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.vectors.dimension
    }

    /// Drawers that can be found.
    #[must_use]
    pub fn len(&self) -> usize {
        self.documents.live_count
    }

    /// Whether no drawer can be found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a drawer is indexed.
    #[must_use]
    pub fn contains(&self, key: &DocumentKey) -> bool {
        self.documents.find(key).is_some()
    }

    /// Names of the wings with at least one drawer, sorted.
    #[must_use]
    pub fn wings(&self) -> Vec<&str> {
        let documents = &self.documents;
        let mut present = vec![false; documents.wings.len()];
        for slot in (0..documents.len()).filter(|slot| documents.live[*slot]) {
            present[documents.place_names[documents.places[slot] as usize].0 as usize] = true;
        }
        let named = documents.wings.iter().zip(present);
        let mut wings: Vec<&str> = named.filter_map(|(wing, present)| present.then_some(wing)).collect();
        wings.sort_unstable();
        wings
    }

    /// Bytes on the heap, by the capacities of all parts.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.documents.memory_bytes()
            + self.vocabulary.memory_bytes()
            + self.postings.memory_bytes()
            + self.streams.memory_bytes()
            + self.vectors.memory_bytes()
    }

    /// Adds a drawer; one with the same key is replaced.
    ///
    /// # Errors
    /// A vector of another dimension, or an index that is full.
    pub fn insert(
        &mut self,
        meta: DocumentMeta,
        text: Analysed,
        vector: Quantized,
    ) -> Result<(), InsertError> {
        self.check(&vector, 1)?;
        self.remove(&meta.key);
        self.file(&meta, &text);
        self.vectors.push(&vector);
        Ok(())
    }

    /// Files many drawers at once, which is faster where none of them is there yet: vectors lie by dimension, and
    /// many of them are written column by column.
    ///
    /// # Errors
    /// As [`Index::insert`]; the drawers before the one that is refused may be filed then.
    pub fn insert_all(&mut self, batch: Vec<(DocumentMeta, Analysed, Quantized)>) -> Result<(), InsertError> {
        let mut keys: Vec<&DocumentKey> = batch.iter().map(|(meta, ..)| &meta.key).collect();
        keys.sort_unstable();
        let fresh =
            keys.windows(2).all(|pair| pair[0] != pair[1]) && !keys.iter().any(|key| self.contains(key));
        if !fresh {
            return batch.into_iter().try_for_each(|(meta, text, vector)| self.insert(meta, text, vector));
        }
        batch.iter().try_for_each(|(_, _, vector)| self.check(vector, batch.len()))?;
        batch.iter().for_each(|(meta, text, _)| self.file(meta, text));
        let vectors: Vec<&Quantized> = batch.iter().map(|(.., vector)| vector).collect();
        self.vectors.push_all(&vectors);
        Ok(())
    }

    fn check(&self, vector: &Quantized, more: usize) -> Result<(), InsertError> {
        let (expected, found) = (self.dimension(), vector.codes.len());
        if expected != found {
            return Err(InsertError::Dimension { expected, found });
        }
        if self.documents.len() + more > DOCUMENTS_MAX {
            return Err(InsertError::Full { limit: DOCUMENTS_MAX });
        }
        Ok(())
    }

    /// Files everything of a new drawer but its vector, which the caller pushes next.
    fn file(&mut self, meta: &DocumentMeta, text: &Analysed) {
        let language = forms::code(text.language);
        let slot = self.documents.push(meta, text.length, language, text.scripts, text.lines());
        let numbers: Vec<TermId> =
            text.terms().map(|(term, class)| self.vocabulary.intern(term, class)).collect();
        let mut counts = vec![0u32; numbers.len()];
        let named = text.stream.iter().map(|number| number.checked_sub(1).map(|local| local as usize));
        named.clone().flatten().for_each(|local| counts[local] += 1);
        let pairs = numbers.iter().zip(&counts);
        pairs.for_each(|(term, count)| self.postings.push(*term, slot, (*count).min(COUNT_MAX)));
        self.streams.push(named.map(|local| local.map_or(Step::Break, |local| Step::Term(numbers[local]))));
    }

    /// Removes a drawer; `false` when there is none.
    pub fn remove(&mut self, key: &DocumentKey) -> bool {
        let Some(slot) = self.documents.remove(key) else { return false };
        for term in self.distinct_terms(slot) {
            self.postings.forget(term);
        }
        let dead = self.documents.len() - self.documents.live_count;
        if dead > DEAD_MIN.max(self.documents.len() / 4) {
            *self = self.compacted();
        }
        true
    }

    /// The distinct terms of a slot, sorted.
    pub(crate) fn distinct_terms(&self, slot: Slot) -> Vec<TermId> {
        let steps = self.streams.steps(slot);
        let mut terms: Vec<TermId> =
            steps.filter_map(|step| if let Step::Term(term) = step { Some(term) } else { None }).collect();
        terms.sort_unstable();
        terms.dedup();
        terms
    }

    /// Whether removed drawers still take room.
    pub(crate) fn has_removed(&self) -> bool {
        self.documents.len() > self.documents.live_count
    }

    /// The same index, every part built again from the live drawers alone.
    pub(crate) fn compacted(&self) -> Self {
        let old = self;
        let mut new = Self::with_ranking(old.dimension(), old.ranking);
        let mut numbers = vec![TermId::MAX; old.vocabulary.len()];
        let mut counts: Vec<(TermId, u32)> = Vec::new();
        for slot in (0..old.documents.len() as Slot).filter(|slot| old.documents.live[*slot as usize]) {
            let to = new.documents.copy_from(&old.documents, slot);
            let mut terms: Vec<TermId> = Vec::new();
            // A term that the vocabulary does not have can only come from a damaged image, and is dropped.
            let renumber = |step| match step {
                Step::Break => Some(Step::Break),
                Step::Term(term) => {
                    renumber(&mut new.vocabulary, &old.vocabulary, &mut numbers, term).map(Step::Term)
                }
            };
            let steps: Vec<Step> = old.streams.steps(slot).filter_map(renumber).collect();
            terms.extend(
                steps.iter().filter_map(|step| if let Step::Term(term) = step { Some(*term) } else { None }),
            );
            terms.sort_unstable();
            counts.clear();
            counts.extend(terms.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)));
            counts.iter().for_each(|(term, count)| new.postings.push(*term, to, (*count).min(COUNT_MAX)));
            new.streams.push(steps.into_iter());
            new.vectors.push(&Quantized { scale: 1.0, codes: old.vectors.codes(slot) });
        }
        new
    }
}

fn renumber(new: &mut Vocabulary, old: &Vocabulary, numbers: &mut [TermId], term: TermId) -> Option<TermId> {
    let number = numbers.get_mut(term as usize)?;
    if *number == TermId::MAX {
        let (text, class): (&str, TermClass) = (old.text(term), old.class(term));
        *number = new.intern(text, class);
    }
    Some(*number)
}

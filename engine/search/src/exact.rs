//! Owns the oracle: a search that looks at every word of every drawer and scores it by the definition, with no
//! postings, no blocks, no bounds and no memory of earlier searches. It is slow on purpose; tests hold the index
//! to it. The limits of [`crate::limits`] on forms of a word are the only thing it does not know.

use std::collections::BTreeMap;

use undercroft_text::{TokenKind, scripts, tokens};

use crate::document::{Analysed, DocumentKey, DocumentMeta, TermClass};
use crate::forms::{self, Rules};
use crate::fusion::Fusion;
use crate::index::parts::{
    COMPANIONS, LEADERS, MORPH, NEAR, PHRASE_BYTES, Probe, RARITY_MAX, age, age_factor, cap_rooms, count,
    inverse_frequency, is_stopword, may_accompany, okapi, order, recency, slice, squash,
};
use crate::query::{Filter, Hit, Page, Query, Ranked};
use crate::ranking::Ranking;
use crate::vector::Quantized;

/// Drawers, searched one by one.
#[derive(Clone, Debug, Default)]
pub struct Exact {
    ranking: Ranking,
    drawers: Vec<Drawer>,
}

#[derive(Clone, Debug)]
struct Drawer {
    meta: DocumentMeta,
    text: Analysed,
    vector: Quantized,
}

/// How often a query word occurs in a drawer, and which other forms of it do.
type Presence = (u8, u8);

/// A query word with its weight and, by drawer, its presence.
struct Word {
    text: String,
    class: TermClass,
    weight: f32,
    idf: f32,
    companion: bool,
    presence: Vec<Presence>,
}

impl Exact {
    /// No drawer yet.
    #[must_use]
    pub fn new(ranking: Ranking) -> Self {
        Self { ranking, drawers: Vec::new() }
    }

    /// Adds a drawer; one with the same key is replaced.
    pub fn insert(&mut self, meta: DocumentMeta, text: Analysed, vector: Quantized) {
        self.remove(&meta.key);
        self.drawers.push(Drawer { meta, text, vector });
    }

    /// Removes a drawer; `false` when there is none.
    pub fn remove(&mut self, key: &DocumentKey) -> bool {
        let before = self.drawers.len();
        self.drawers.retain(|drawer| drawer.meta.key != *key);
        self.drawers.len() < before
    }

    /// Ranks the drawers in scope against a query, as [`crate::Index::search`] does.
    #[must_use]
    pub fn search(&self, query: &Query<'_>, filter: &Filter<'_>, page: &Page) -> Ranked {
        let in_scope = |drawer: &&Drawer| competes(filter, &drawer.meta);
        let unlabeled =
            || self.drawers.iter().filter(in_scope).filter(|drawer| drawer.meta.kind.is_none()).count();
        let unlabeled_excluded = filter.kind.map(|_| unlabeled());
        let asked = distinct(query.text);
        if asked.is_empty() {
            return Ranked { unlabeled_excluded, exhausted: true, ..Ranked::default() };
        }
        let mut words: Vec<Word> = asked.iter().filter_map(|word| self.word(word, query)).collect();
        let half = self.ranking.saturation * words.iter().fold(0.0, |sum, word| sum + word.idf)
            / words.len().max(1) as f32;
        let first: Vec<f32> = (0..self.drawers.len()).map(|at| self.base(&words, at)).collect();
        let companions = self.companions(&words, &first, query);
        words.extend(companions);
        let bases: Vec<f32> = (0..self.drawers.len()).map(|at| self.base(&words, at)).collect();
        let fusion = Fusion::new(&query.fusion);
        let mut hits: Vec<(Hit, u32)> = Vec::new();
        for (at, drawer) in self.drawers.iter().enumerate() {
            let labelled = filter.kind.is_none() || drawer.meta.kind.as_deref() == filter.kind;
            if !competes(filter, &drawer.meta) || !labelled {
                continue;
            }
            let hit = self.judge(query, &fusion, &words, asked.len(), half, &bases, at);
            let by_word = words.iter().any(|word| {
                let (exact, roles) = word.presence[at];
                !word.companion && (exact > 0 || roles & MORPH != 0)
            });
            if by_word || fusion.admits(hit.semantic) {
                hits.push((hit, self.room(&drawer.meta)));
            }
        }
        let total_admitted = hits.len();
        hits.sort_by(|a, b| order(&a.0, &b.0));
        let hits = match page.room_cap {
            Some(cap) if cap > 0 => cap_rooms(hits, cap),
            _ => hits.into_iter().map(|(hit, _)| hit).collect(),
        };
        let exhausted = page.offset.saturating_add(page.limit) >= total_admitted;
        Ranked { hits: slice(hits, page), total_admitted, unlabeled_excluded, exhausted }
    }

    /// A query word, unless no drawer has it in any form.
    fn word(&self, (word, class): &(String, TermClass), query: &Query<'_>) -> Option<Word> {
        let presence: Vec<Presence> =
            self.drawers.iter().map(|drawer| presence(word, *class, drawer, query)).collect();
        let frequency = presence.iter().filter(|presence| **presence != (0, 0)).count();
        let idf = inverse_frequency(self.drawers.len(), frequency as u32);
        let weight = idf * if is_stopword(word) { self.ranking.stopword } else { 1.0 };
        (frequency > 0).then(|| Word {
            text: word.clone(),
            class: *class,
            weight,
            idf,
            companion: false,
            presence,
        })
    }

    fn norm(&self, at: usize) -> f32 {
        let total: u64 = self.drawers.iter().map(|drawer| u64::from(drawer.text.length)).sum();
        let mean = (total as f64 / self.drawers.len().max(1) as f64).max(1.0) as f32;
        let Ranking { k1, b, .. } = self.ranking;
        k1 * (1.0 - b) + k1 * b / mean * self.drawers[at].text.length as f32
    }

    /// Okapi's sum over all channels.
    fn base(&self, words: &[Word], at: usize) -> f32 {
        self.sum(words, at, |(exact, roles)| count(exact, roles, &self.ranking))
    }

    fn sum(&self, words: &[Word], at: usize, count: impl Fn(Presence) -> f32) -> f32 {
        let norm = self.norm(at);
        let add =
            |sum, word: &Word| sum + okapi(word.weight, count(word.presence[at]), norm, self.ranking.k1);
        words.iter().fold(0.0, add)
    }

    /// The words that the drawers with the most evidence share, beyond those asked for.
    fn companions(&self, words: &[Word], bases: &[f32], query: &Query<'_>) -> Vec<Word> {
        if self.ranking.feedback == 0.0 {
            return Vec::new();
        }
        let mut leaders: Vec<usize> = (0..bases.len()).filter(|at| bases[*at] > 0.0).collect();
        let rank = |at: &usize| (self.drawers[*at].meta.seq, self.drawers[*at].meta.key);
        leaders.sort_by(|a, b| bases[*b].total_cmp(&bases[*a]).then_with(|| rank(a).cmp(&rank(b))));
        leaders.truncate(LEADERS);
        let mut sums: BTreeMap<String, f32> = BTreeMap::new();
        for leader in leaders {
            let drawer = &self.drawers[leader];
            let asked =
                |term| words.iter().any(|word| role(&word.text, word.class, term, drawer, query).is_some());
            for term in drawer.text.terms().filter(|term| may_accompany(term.0, term.1) && !asked(*term)) {
                *sums.entry(term.0.to_owned()).or_default() += bases[leader];
            }
        }
        let mut ranked: Vec<(f32, Word)> =
            sums.into_iter().map(|(text, sum)| self.companion(text, sum)).collect();
        // Stable, so that equal ones stay in the order of their text.
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        ranked.truncate(COMPANIONS);
        let strongest = ranked.first().map_or(1.0, |(strength, _)| *strength);
        let weigh = |(strength, word): (f32, Word)| Word {
            weight: self.ranking.feedback * word.idf * (strength / strongest),
            ..word
        };
        ranked.into_iter().map(weigh).collect()
    }

    fn companion(&self, text: String, sum: f32) -> (f32, Word) {
        let occurs = |drawer: &Drawer| {
            let sequence = drawer.text.sequence();
            let count = sequence.iter().filter(|term| term.0 == text && term.1 == TermClass::Word).count();
            (count.min(255) as u8, 0)
        };
        let presence: Vec<Presence> = self.drawers.iter().map(occurs).collect();
        let frequency = presence.iter().filter(|presence| presence.0 > 0).count();
        let idf = inverse_frequency(self.drawers.len(), frequency as u32);
        let word = Word { text, class: TermClass::Word, weight: 0.0, idf, companion: true, presence };
        (sum * idf.min(RARITY_MAX), word)
    }

    #[expect(clippy::too_many_arguments, reason = "everything a score is made of, at one glance")]
    fn judge(
        &self,
        query: &Query<'_>,
        fusion: &Fusion,
        words: &[Word],
        asked: usize,
        half: f32,
        bases: &[f32],
        at: usize,
    ) -> Hit {
        let drawer = &self.drawers[at];
        let companions = words.iter().filter(|word| word.companion).count();
        let asked_for = &words[..words.len() - companions];
        let probe = query.vector.as_deref().and_then(|vector| Probe::new(vector, drawer.vector.codes.len()));
        let semantic = fusion.semantic(probe.map_or(0.0, |probe| probe.cosine_of(&drawer.vector)));
        let raw = bases[at] + self.context(bases, at) + self.ranking.line * self.best_line(words, at, query);
        let lexical =
            if fusion.is_legacy() { overlap(query, asked_for, asked, drawer, at) } else { squash(raw, half) };
        let weight = fusion.weight(scripts(query.text).is_disjoint(drawer.text.scripts));
        let recency = recency(age(drawer.meta.filed_at_micros), age_factor(query.now_micros));
        Hit {
            key: drawer.meta.key,
            seq: drawer.meta.seq,
            score: fusion.score(weight, semantic, lexical, recency),
            semantic,
            lexical,
            lexical_exact: squash(self.sum(asked_for, at, |(exact, _)| count(exact, 0, &self.ranking)), half),
            lexical_morph: squash(
                self.sum(asked_for, at, |(_, roles)| count(0, roles & MORPH, &self.ranking)),
                half,
            ),
        }
    }

    /// Evidence lent by the neighbours in the thread and by the room.
    fn context(&self, bases: &[f32], at: usize) -> f32 {
        let own = &self.drawers[at].meta;
        let same_room = |meta: &DocumentMeta| meta.wing == own.wing && meta.room == own.room;
        let place = |meta: &DocumentMeta| (meta.chunk, meta.seq, meta.key);
        let thread: Vec<usize> = (0..self.drawers.len())
            .filter(|other| {
                same_room(&self.drawers[*other].meta) && self.drawers[*other].meta.source == own.source
            })
            .collect();
        let key = |other: &usize| place(&self.drawers[*other].meta);
        let before = thread.iter().copied().filter(|other| key(other) < place(own)).max_by_key(key);
        let after = thread.iter().copied().filter(|other| key(other) > place(own)).min_by_key(key);
        let lent = |neighbour: Option<usize>| neighbour.map_or(0.0, |neighbour| bases[neighbour]);
        let in_room = self.drawers.iter().zip(bases).filter(|(drawer, _)| same_room(&drawer.meta));
        let best = in_room.map(|(_, base)| *base).fold(0.0, f32::max);
        let best = if self.ranking.room == 0.0 { 0.0 } else { best };
        self.ranking.neighbour * lent(before).max(lent(after)) + self.ranking.room * best
    }

    /// Summed weight of the query words in the best line.
    fn best_line(&self, words: &[Word], at: usize, query: &Query<'_>) -> f32 {
        let drawer = &self.drawers[at];
        let terms: Vec<(&str, TermClass)> = drawer.text.terms().collect();
        let mut best = 0.0f32;
        for line in drawer.text.stream.split(|step| *step == 0) {
            let mut strengths = vec![0.0f32; words.len()];
            for step in line {
                for (word, known) in words.iter().zip(&mut strengths) {
                    let term = terms[*step as usize - 1];
                    if word.companion && term != (&word.text, word.class) {
                        continue;
                    }
                    let strength = match role(&word.text, word.class, term, drawer, query) {
                        Some(0 | MORPH) => 1.0,
                        Some(_) => 0.5,
                        None => 0.0,
                    };
                    *known = known.max(strength);
                }
            }
            let covered =
                words.iter().zip(strengths).fold(0.0, |sum, (word, strength)| sum + strength * word.weight);
            best = best.max(covered);
        }
        best
    }

    /// A number for each room of each wing.
    fn room(&self, meta: &DocumentMeta) -> u32 {
        let same = |drawer: &Drawer| drawer.meta.wing == meta.wing && drawer.meta.room == meta.room;
        self.drawers.iter().position(same).map_or(0, |at| at as u32)
    }
}

/// Whether wing and room let a drawer compete.
fn competes(filter: &Filter<'_>, meta: &DocumentMeta) -> bool {
    let named = filter.wing == Some(&*meta.wing);
    let excluded = !named && filter.excluded_wings.contains(&&*meta.wing);
    filter.wing.is_none_or(|wing| wing == meta.wing)
        && filter.room.is_none_or(|room| room == meta.room)
        && filter.allowed_wings.is_none_or(|allowed| allowed.contains(&&*meta.wing))
        && !excluded
}

/// The distinct words of a query.
fn distinct(text: &str) -> Vec<(String, TermClass)> {
    let mut words: Vec<(String, TermClass)> = Vec::new();
    let all = tokens(text);
    let shortest = if all.iter().any(|token| token.text.len() > 1) { 2 } else { 1 };
    for token in all.into_iter().filter(|token| token.text.len() >= shortest) {
        let class = if token.kind == TokenKind::Gram { TermClass::Gram } else { TermClass::Word };
        let word = (token.text, class);
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

/// What a drawer's term is to a query word: 0 the word itself, [`MORPH`] or [`NEAR`].
fn role(
    word: &str,
    class: TermClass,
    term: (&str, TermClass),
    drawer: &Drawer,
    query: &Query<'_>,
) -> Option<u8> {
    let pieces = class == TermClass::Gram || term.1 == TermClass::Gram;
    if term.0 == word {
        return Some(if pieces { NEAR } else { 0 });
    }
    let rules = Rules::choose(word, query.language, 1 << forms::code(drawer.text.language));
    if pieces {
        None
    } else if rules.related(word, term.0) != 0 {
        Some(MORPH)
    } else {
        forms::near(word, term.0).then_some(NEAR)
    }
}

fn presence(word: &str, class: TermClass, drawer: &Drawer, query: &Query<'_>) -> Presence {
    let terms: Vec<(&str, TermClass)> = drawer.text.terms().collect();
    let (mut exact, mut roles) = (0u8, 0u8);
    for step in drawer.text.stream.iter().filter(|step| **step > 0) {
        match role(word, class, terms[*step as usize - 1], drawer, query) {
            Some(0) => exact = exact.saturating_add(1),
            Some(role) => roles |= role,
            None => {}
        }
    }
    (exact, roles)
}

/// The legacy formula's lexical part.
fn overlap(query: &Query<'_>, words: &[Word], asked: usize, drawer: &Drawer, at: usize) -> f32 {
    let worth = |word: &Word| match word.presence[at] {
        (0, 0) => 0.0,
        (0, _) => 0.5,
        _ => 1.0,
    };
    let share = words.iter().map(worth).sum::<f32>() / asked as f32;
    let phrase: Vec<(String, TermClass)> = crate::analyse(query.text).sequence();
    let own = drawer.text.sequence();
    let whole =
        query.text.trim().len() > PHRASE_BYTES && own.windows(phrase.len()).any(|window| window == phrase);
    if whole { (share + 0.5).min(1.0) } else { share }
}

#[cfg(test)]
#[path = "exact_test.rs"]
mod exact_test;

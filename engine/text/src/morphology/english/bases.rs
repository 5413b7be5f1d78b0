//! Owns what a word may be a regular form of. Two words are related when they may be forms of one base.
//!
//! Every form of a base begins with the base less its last letter, which is what [`shared_prefix`] rests on.

use super::spelling::{doubles, ends_hissing, has_vowel, is_word, may_double, undoubled};
use super::tables::{GRADABLE, NOT_A_FORM};

/// No base is shorter.
const MIN_BASE: usize = 3;
/// What is left of a verb before `-ion` and `-ation` is no shorter.
const MIN_DERIVED: usize = 6;
/// An adjective that takes `-ly` is no shorter.
const MIN_ADVERB: usize = 4;

/// A possible base: some first letters of the word, and a letter that the ending took away.
#[derive(Clone, Copy)]
struct Base<'a> {
    stem: &'a str,
    last: &'static str,
}

impl Base<'_> {
    fn len(&self) -> usize {
        self.stem.len() + self.last.len()
    }

    fn letters(&self) -> impl Iterator<Item = u8> + '_ {
        self.stem.bytes().chain(self.last.bytes())
    }

    fn is(&self, word: &str) -> bool {
        self.len() == word.len() && self.letters().eq(word.bytes())
    }

    fn equals(&self, other: &Base<'_>) -> bool {
        self.len() == other.len() && self.letters().eq(other.letters())
    }
}

/// The bases that one word may have; the word itself is the first.
struct Bases<'a> {
    found: [Base<'a>; Bases::MAX],
    count: usize,
}

impl<'a> Bases<'a> {
    /// More than any word gives: each of the endings gives at most three.
    const MAX: usize = 16;

    fn of(word: &'a str) -> Self {
        let whole = Base { stem: word, last: "" };
        let mut bases = Bases { found: [whole; Self::MAX], count: 1 };
        if NOT_A_FORM.binary_search(&word).is_err() {
            bases.plural_and_third_person(word);
            bases.past_and_gerund(word);
            bases.comparison(word);
            bases.adverb(word);
            bases.action(word);
            if let Some(singular) = word.strip_suffix('s') {
                bases.action(singular);
            }
        }
        bases
    }

    fn add(&mut self, stem: &'a str, last: &'static str) {
        let base = Base { stem, last };
        if base.len() >= MIN_BASE && self.count < Self::MAX {
            self.found[self.count] = base;
            self.count += 1;
        }
    }

    fn all(&self) -> &[Base<'a>] {
        &self.found[..self.count]
    }

    fn plural_and_third_person(&mut self, word: &'a str) {
        let Some(stem) = word.strip_suffix('s') else { return };
        if !stem.ends_with(['s', 'u', 'i']) {
            self.add(stem, "");
        }
        if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() >= 2) {
            self.add(stem, "y");
        } else if let Some(stem) =
            word.strip_suffix("es").filter(|stem| ends_hissing(stem) || stem.ends_with('o'))
        {
            self.add(stem, "");
        }
    }

    fn past_and_gerund(&mut self, word: &'a str) {
        if let Some(stem) = word.strip_suffix("ied").filter(|stem| stem.len() >= 2) {
            self.add(stem, "y");
        } else if let Some(stem) = word.strip_suffix("ed") {
            self.before_vowel(stem);
        }
        if let Some(stem) = word.strip_suffix("ing") {
            self.before_vowel(stem);
        }
    }

    /// Bases of a form whose ending begins with a vowel: the stem, with one of two final letters less, or with the
    /// `e` that the ending swallowed. A stem that would have doubled its last letter did not stand there alone.
    fn before_vowel(&mut self, stem: &'a str) {
        if stem.len() < MIN_BASE - 1 || !has_vowel(stem) {
            return;
        }
        if let Some(single) = undoubled(stem) {
            if doubles(single) || may_double(single) {
                self.add(single, "");
            }
            self.add(stem, "");
            return;
        }
        self.add(stem, "e");
        // agreeing, dyeing
        let keeps_e = ["ee", "oe", "ye"].iter().any(|ending| stem.ends_with(ending));
        if !doubles(stem) && (keeps_e || !stem.ends_with('e')) {
            self.add(stem, "");
        }
    }

    fn comparison(&mut self, word: &'a str) {
        for ending in ["er", "est"] {
            let Some(stem) = word.strip_suffix(ending) else { continue };
            if let Some(stem) = stem.strip_suffix('i').filter(|stem| stem.len() >= MIN_BASE) {
                self.add(stem, "y");
            }
            let plain = Base { stem, last: "" };
            let swallowed = Base { stem, last: "e" };
            let single = undoubled(stem).map(|stem| Base { stem, last: "" });
            for base in [Some(plain), Some(swallowed), single].into_iter().flatten() {
                if GRADABLE.iter().any(|adjective| base.is(adjective)) {
                    self.add(base.stem, base.last);
                }
            }
        }
    }

    fn adverb(&mut self, word: &'a str) {
        let Some(stem) = word.strip_suffix("ly") else { return };
        if stem.len() < MIN_ADVERB - 1 {
            return;
        }
        if let Some(stem) = stem.strip_suffix('i') {
            self.add(stem, "y");
            return;
        }
        if let Some(stem) = stem.strip_suffix("al").filter(|stem| stem.ends_with("ic")) {
            self.add(stem, "");
        }
        if stem.len() >= MIN_ADVERB {
            self.add(stem, "");
        }
        if !stem.ends_with(['a', 'e', 'i', 'o', 'u', 'l']) {
            // gently, possibly
            self.add(&word[..word.len() - 1], "e");
        }
        if stem == "ful" {
            // fully: no other adverb is its adjective less a letter and `y`.
            self.add(stem, "l");
        }
    }

    fn action(&mut self, word: &'a str) {
        for ending in ["ion", "ation"] {
            if let Some(stem) = word.strip_suffix(ending).filter(|stem| stem.len() >= MIN_DERIVED) {
                self.add(stem, "");
                self.add(stem, "e");
            }
        }
        if word.ends_with("ion") {
            self.add(word, "");
        }
    }
}

/// Whether two different words may be regular forms of one base.
pub(super) fn share_base(a: &str, b: &str) -> bool {
    let (a_bytes, b_bytes) = (a.as_bytes(), b.as_bytes());
    let near = a.len().min(b.len()) >= MIN_BASE && a_bytes[..2] == b_bytes[..2];
    if !near || !is_word(a) || !is_word(b) {
        return false;
    }
    let (a, b) = (Bases::of(a), Bases::of(b));
    a.all().iter().any(|base| b.all().iter().any(|other| base.equals(other)))
}

/// How many first bytes of `word` all its regular forms share.
pub(super) fn shared_prefix(word: &str) -> usize {
    if word.len() < MIN_BASE || !is_word(word) {
        return word.len();
    }
    let shortest = Bases::of(word).all().iter().map(Base::len).min().unwrap_or(word.len());
    shortest - 1
}

//! Synthetic drawers: words drawn from a Zipf distribution over a fixed vocabulary, from a seed. The same seed gives
//! the same drawers on every machine.

/// Words in the vocabulary.
pub const VOCABULARY: usize = 50_000;
/// Words in a drawer.
pub const DRAWER_WORDS: usize = 90;

/// SplitMix64 (Steele, Lea, Flood 2014): small, seeded, good enough to draw words with.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Starts at a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.bits() % bound as u64) as usize
    }

    fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A source of drawers.
#[derive(Debug, Clone)]
pub struct Corpus {
    words: Vec<String>,
    cumulative: Vec<f64>,
    random: Random,
}

impl Corpus {
    /// Starts at a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut total = 0.0;
        let cumulative = (1..=VOCABULARY)
            .map(|rank| {
                total += 1.0 / rank as f64;
                total
            })
            .collect();
        Self { words: (0..VOCABULARY).map(word).collect(), cumulative, random: Random::new(seed) }
    }

    fn draw(&mut self) -> &str {
        let total = self.cumulative[VOCABULARY - 1];
        let at = self.random.unit() * total;
        let rank = self.cumulative.partition_point(|sum| *sum < at);
        &self.words[rank.min(VOCABULARY - 1)]
    }

    /// A text of `words` words, a full stop after every twelfth.
    pub fn text(&mut self, words: usize) -> String {
        let mut text = String::with_capacity(words * 8);
        for i in 0..words {
            if i > 0 {
                text.push_str(if i % 12 == 0 { ". " } else { " " });
            }
            let word = self.draw();
            text.push_str(word);
        }
        text.push('.');
        text
    }

    /// The next drawer.
    pub fn drawer(&mut self) -> String {
        self.text(DRAWER_WORDS)
    }

    /// A question of `words` words that stand together in `text`.
    pub fn question(&mut self, text: &str, words: usize) -> String {
        let all: Vec<&str> = text.split([' ', '.']).filter(|word| !word.is_empty()).collect();
        let start = self.random.below(all.len().saturating_sub(words).max(1));
        all[start..(start + words).min(all.len())].join(" ")
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound)
    }
}

/// The word of a rank: syllables, so that words share prefixes and lengths as real ones do.
fn word(rank: usize) -> String {
    const HEADS: [&str; 16] =
        ["b", "c", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "st"];
    const TAILS: [&str; 12] = ["a", "e", "i", "o", "u", "an", "er", "il", "on", "us", "ar", "en"];
    let mut left = rank;
    let mut word = String::new();
    loop {
        word.push_str(HEADS[left % HEADS.len()]);
        left /= HEADS.len();
        word.push_str(TAILS[left % TAILS.len()]);
        left /= TAILS.len();
        if left == 0 {
            return word;
        }
    }
}

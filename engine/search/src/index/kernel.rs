//! Owns the inner loops over whole columns: the vector scan, the evidence of a frequent word, and fusion.
//! Each is one safe body, compiled once for every processor and again for the wider registers of those that have
//! them; which one runs is decided while running. All give the same numbers: whole numbers in the scan, and in the
//! others the same operations on each entry alone, which no register width changes.
//!
//! The only `unsafe` of this crate is the call of those compilations, each behind the check that its registers
//! exist.

use super::plan::{MORPH, NEAR};
use crate::fusion::Fusion;
use crate::ranking::Ranking;

/// Columns taken in one pass over the sums, so that these are read and written a quarter as often.
const PASS: usize = 4;

/// Defines a function that runs the widest compilation of `$body` that the processor has registers for.
macro_rules! widest {
    ($(#[$doc:meta])* $name:ident, $body:path, ($($argument:ident: $kind:ty),* $(,)?)) => {
        $(#[$doc])*
        pub(crate) fn $name($($argument: $kind),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
                fn wide512($($argument: $kind),*) {
                    $body($($argument),*);
                }

                #[target_feature(enable = "avx2")]
                fn wide256($($argument: $kind),*) {
                    $body($($argument),*);
                }

                if is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                {
                    #[expect(unsafe_code, reason = "the processor was just found to have the registers")]
                    // SAFETY: the callee is safe code whose only demand is that the processor has avx512f, avx512bw
                    // and avx512vl, and the condition above has just found all three.
                    return unsafe { wide512($($argument),*) };
                }
                if is_x86_feature_detected!("avx2") {
                    #[expect(unsafe_code, reason = "the processor was just found to have the registers")]
                    // SAFETY: the callee is safe code whose only demand is that the processor has avx2, which the
                    // condition above has just found.
                    return unsafe { wide256($($argument),*) };
                }
            }
            $body($($argument),*);
        }
    };
}

widest!(
    /// Adds `weight * column` to `sums` for every weighted column. `codes` is a sequence of columns of `capacity`
    /// codes each, and `sums` has `capacity` entries. The caller bounds the weights so that no sum overflows.
    accumulate, accumulate_body, (codes: &[i8], capacity: usize, weights: &[(u32, i16)], sums: &mut [i32])
);

widest!(
    /// Adds one word's evidence to every slot of a block.
    add_word, add_word_body, (word: &Word<'_>, sums: Sums<'_>)
);

widest!(
    /// Writes the least and the greatest possible score of every slot of a block.
    fuse, fuse_body, (fusing: &Fusing<'_>, scores: Scores<'_>)
);

/// The loop itself, written so that the compiler turns it into vector instructions.
#[inline(always)]
pub(crate) fn accumulate_body(codes: &[i8], capacity: usize, weights: &[(u32, i16)], sums: &mut [i32]) {
    let column = |dimension: u32| &codes[dimension as usize * capacity..][..capacity];
    let (passes, rest) = weights.as_chunks::<PASS>();
    for [(d0, w0), (d1, w1), (d2, w2), (d3, w3)] in passes {
        let (c0, c1, c2, c3) = (column(*d0), column(*d1), column(*d2), column(*d3));
        for ((((sum, c0), c1), c2), c3) in sums.iter_mut().zip(c0).zip(c1).zip(c2).zip(c3) {
            *sum += (product(*c0, *w0) + product(*c1, *w1)) + (product(*c2, *w2) + product(*c3, *w3));
        }
    }
    for (dimension, weight) in rest {
        for (sum, code) in sums.iter_mut().zip(column(*dimension)) {
            *sum += product(*code, *weight);
        }
    }
}

#[inline(always)]
fn product(code: i8, weight: i16) -> i32 {
    i32::from(code) * i32::from(weight)
}

/// How much of a word's weight a near spelling covers of a line.
pub(crate) const NEAR_STRENGTH: f32 = 0.5;

/// Lines that are counted; a drawer with more counts as having these, and its best line may cover next to nothing.
pub(crate) const LINES_MAX: u8 = u8::MAX;

/// One word in one block, an entry a slot.
pub(crate) struct Word<'a> {
    pub(crate) weight: f32,
    /// 1 when the word admits a drawer, 0 for a companion.
    pub(crate) admits: u8,
    pub(crate) ranking: &'a Ranking,
    /// How often it occurs as typed.
    pub(crate) counts: &'a [u8],
    /// Which other forms occur: [`MORPH`], [`NEAR`].
    pub(crate) roles: &'a [u8],
    /// Length normalisation.
    pub(crate) norms: &'a [f32],
}

/// Where the evidence of one block is summed.
pub(crate) struct Sums<'a> {
    pub(crate) base: &'a mut [f32],
    pub(crate) cover: &'a mut [f32],
    pub(crate) admits: &'a mut [u8],
}

/// Okapi's term: saturating in the count, normalised by length.
#[inline(always)]
pub(crate) fn okapi(weight: f32, count: f32, norm: f32, k1: f32) -> f32 {
    weight * (k1 + 1.0) * count / (count + norm)
}

/// The count that a query word scores with.
#[inline(always)]
pub(crate) fn count(exact: u8, roles: u8, ranking: &Ranking) -> f32 {
    let morph = if roles & MORPH == 0 { 0.0 } else { ranking.morph };
    let near = if roles & NEAR == 0 { 0.0 } else { ranking.near };
    f32::from(exact) + (morph + near)
}

/// Adds the evidence of one slot; a slot without the word gets nothing.
#[inline(always)]
pub(crate) fn add_slot(
    word: &Word<'_>,
    [exact, roles]: [u8; 2],
    norm: f32,
    sums: (&mut f32, &mut f32, &mut u8),
) {
    let (base, cover, admits) = sums;
    *base += okapi(word.weight, count(exact, roles, word.ranking), norm, word.ranking.k1);
    let strength = if exact | (roles & MORPH) != 0 { 1.0 } else { NEAR_STRENGTH };
    *cover += if exact | roles != 0 { strength * word.weight } else { 0.0 };
    *admits |= u8::from(exact | (roles & MORPH) != 0) & word.admits;
}

#[inline(always)]
pub(crate) fn add_word_body(word: &Word<'_>, sums: Sums<'_>) {
    let Sums { base, cover, admits } = sums;
    let rows = word.counts.iter().zip(word.roles).zip(word.norms);
    for (((exact, roles), norm), ((base, cover), admits)) in rows.zip(base.iter_mut().zip(cover).zip(admits))
    {
        add_slot(word, [*exact, *roles], *norm, (base, cover, admits));
    }
}

/// What the scores of one block are made of, an entry a slot.
pub(crate) struct Fusing<'a> {
    pub(crate) fusion: Fusion,
    /// Raw evidence that squashes to one half.
    pub(crate) half: f32,
    /// Weight of the best line, and the same with what rounding may add.
    pub(crate) line: f32,
    pub(crate) line_bound: f32,
    pub(crate) age_factor: f64,
    pub(crate) cosines: &'a [f32],
    /// Raw evidence without the best line.
    pub(crate) raws: &'a [f32],
    /// Summed weight of the words present.
    pub(crate) covers: &'a [f32],
    /// Lines of each drawer that have words, at least 1: the best of them covers its share of `covers` at least.
    pub(crate) lines: &'a [u8],
    pub(crate) ages: &'a [f64],
    /// Share of meaning.
    pub(crate) weights: &'a [f32],
}

/// Scores of one block.
pub(crate) struct Scores<'a> {
    pub(crate) semantics: &'a mut [f32],
    pub(crate) lowers: &'a mut [f32],
    pub(crate) uppers: &'a mut [f32],
}

#[inline(always)]
pub(crate) fn fuse_body(fusing: &Fusing<'_>, scores: Scores<'_>) {
    let Fusing { fusion, half, line, line_bound, age_factor, .. } = *fusing;
    let length = fusing.cosines.len();
    // Equal lengths, told to the compiler once, so that no entry is checked.
    let (cosines, raws, covers) = (fusing.cosines, &fusing.raws[..length], &fusing.covers[..length]);
    let (ages, weights) = (&fusing.ages[..length], &fusing.weights[..length]);
    let lines = &fusing.lines[..length];
    let Scores { semantics, lowers, uppers } = scores;
    let (semantics, lowers, uppers) =
        (&mut semantics[..length], &mut lowers[..length], &mut uppers[..length]);
    for at in 0..length {
        let semantic = fusion.semantic(cosines[at]);
        let recency = recency(ages[at], age_factor);
        let score = |raw: f32| fusion.score(weights[at], semantic, squash(raw, half), recency);
        semantics[at] = semantic;
        // Of several lines, rounding may make the best one seem to cover a little less than its share.
        let share = match lines[at] {
            1 => 1.0,
            LINES_MAX => 0.0,
            count => 0.999 / f32::from(count),
        };
        lowers[at] = score(raws[at] + line * (covers[at] * share));
        uppers[at] = score(raws[at] + line_bound * covers[at]);
    }
}

/// Brings raw evidence into 0..1, `half` to one half. Squared, so that it tells apart best where the best drawers
/// are; a plain quotient is nearly flat there and leaves the order to meaning alone.
///
/// More evidence never gives less, not even in the last bit: every step rounds in order. `raw / (raw + half)` does not, since
/// both of its terms round, and the bounds on a score would then cross.
#[inline(always)]
pub(crate) fn squash(raw: f32, half: f32) -> f32 {
    let (raw, half) = (raw * raw, half * half);
    if raw <= 0.0 { 0.0 } else { 1.0 - half / (raw + half) }
}

/// Recency, 0..=1, from a drawer's age and the factor of the ranking instant.
#[inline(always)]
pub(crate) fn recency(age: f64, factor: f64) -> f32 {
    (age * factor).min(1.0) as f32
}

#[cfg(test)]
#[path = "kernel_test.rs"]
mod kernel_test;

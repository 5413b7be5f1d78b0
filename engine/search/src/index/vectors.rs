//! Owns the codes of every slot's vector, laid out by dimension in blocks of slots, and scans them.
//! A question of the hash embedder has few dimensions that are not zero, and only those columns are read.

use super::documents::Slot;
use super::kernel;
use crate::vector::Quantized;

/// Slots of a full block.
pub(crate) const BLOCK: usize = 4_096;
/// Slots that a new block has room for; it doubles until it is full.
pub(crate) const BLOCK_MIN: usize = 64;
/// Vectors that are written together, by [`Vectors::push_all`]. Divides [`BLOCK`].
const TILE: usize = 64;

/// The vectors of all slots.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vectors {
    pub(crate) dimension: usize,
    pub(crate) blocks: Vec<Block>,
    /// One over the length of each code vector.
    pub(crate) inverse_norms: Vec<f32>,
}

/// The codes of up to [`BLOCK`] slots: for each dimension a column of `capacity` codes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    pub(crate) capacity: usize,
    pub(crate) codes: Vec<i8>,
}

/// A question's vector, as whole numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Probe {
    /// Dimensions that are not zero, and their value.
    weights: Vec<(u32, i16)>,
    /// What turns a dot product times a slot's inverse norm into a cosine.
    scale: f32,
}

impl Vectors {
    /// No vector yet.
    pub(crate) fn new(dimension: usize) -> Self {
        Self { dimension, ..Self::default() }
    }

    /// Appends the vector of the next slot, which has this index's dimension.
    pub(crate) fn push(&mut self, vector: &Quantized) {
        let slot = self.inverse_norms.len();
        let row = slot % BLOCK;
        if row == 0 {
            self.blocks.push(Block::default());
        }
        let Some(block) = self.blocks.last_mut() else { return };
        if row >= block.capacity {
            block.grow(self.dimension, (row * 2).clamp(BLOCK_MIN, BLOCK));
        }
        for (column, code) in block.codes.chunks_exact_mut(block.capacity).zip(&vector.codes) {
            column[row] = *code;
        }
        self.inverse_norms.push(vector.inverse_norm());
    }

    /// Appends many vectors: a cache line of each column at a time instead of a byte.
    pub(crate) fn push_all(&mut self, vectors: &[&Quantized]) {
        let mut left = vectors;
        while !left.is_empty() {
            let row = self.inverse_norms.len() % BLOCK;
            let (now, later) = left.split_at(left.len().min(TILE - row % TILE));
            left = later;
            if row == 0 {
                self.blocks.push(Block::default());
            }
            let Some(block) = self.blocks.last_mut() else { return };
            if row + now.len() > block.capacity {
                block.grow(self.dimension, (row * 2).max(row + now.len()).clamp(BLOCK_MIN, BLOCK));
            }
            for (dimension, column) in block.codes.chunks_exact_mut(block.capacity).enumerate() {
                for (place, vector) in column[row..].iter_mut().zip(now) {
                    *place = vector.codes[dimension];
                }
            }
            self.inverse_norms.extend(now.iter().map(|vector| vector.inverse_norm()));
        }
    }

    /// The codes of a slot.
    pub(crate) fn codes(&self, slot: Slot) -> Vec<i8> {
        let block = &self.blocks[slot as usize / BLOCK];
        let row = slot as usize % BLOCK;
        block.codes.chunks_exact(block.capacity).map(|column| column[row]).collect()
    }

    /// Prepares a question's vector; `None` when it is zero, absent or of another dimension.
    pub(crate) fn probe(&self, vector: &[f32]) -> Option<Probe> {
        Probe::new(vector, self.dimension)
    }

    /// Writes the cosines of one block's slots into `cosines`.
    pub(crate) fn scan(&self, block: usize, probe: &Probe, sums: &mut Vec<i32>, cosines: &mut Vec<f32>) {
        let first = block * BLOCK;
        let rows = (self.inverse_norms.len() - first).min(BLOCK);
        let Block { capacity, codes } = &self.blocks[block];
        sums.clear();
        sums.resize(*capacity, 0);
        kernel::accumulate(codes, *capacity, &probe.weights, sums);
        cosines.clear();
        let norms = &self.inverse_norms[first..first + rows];
        cosines.extend(sums.iter().zip(norms).map(|(sum, norm)| probe.cosine(*sum, *norm)));
    }

    /// Cosine of a single slot.
    pub(crate) fn cosine(&self, slot: Slot, probe: &Probe) -> f32 {
        let block = &self.blocks[slot as usize / BLOCK];
        let row = slot as usize % BLOCK;
        let term = |(dimension, weight): &(u32, i16)| {
            i32::from(block.codes[*dimension as usize * block.capacity + row]) * i32::from(*weight)
        };
        let sum: i32 = probe.weights.iter().map(term).sum();
        probe.cosine(sum, self.inverse_norms[slot as usize])
    }

    /// Bytes on the heap.
    pub(crate) fn memory_bytes(&self) -> usize {
        let codes: usize = self.blocks.iter().map(|block| block.codes.capacity()).sum();
        codes + self.inverse_norms.capacity() * 4
    }
}

impl Block {
    fn grow(&mut self, dimension: usize, capacity: usize) {
        let mut codes = vec![0i8; capacity * dimension];
        if self.capacity > 0 {
            let columns = self.codes.chunks_exact(self.capacity).zip(codes.chunks_exact_mut(capacity));
            columns.for_each(|(old, new)| new[..old.len()].copy_from_slice(old));
        }
        *self = Self { capacity, codes };
    }
}

impl Probe {
    /// Scales the largest component to the largest weight for which no sum of `dimension` products overflows.
    pub(crate) fn new(vector: &[f32], dimension: usize) -> Option<Self> {
        if vector.len() != dimension || vector.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let largest = vector.iter().map(|value| value.abs()).fold(0.0f32, f32::max);
        if !largest.is_normal() {
            return None;
        }
        let bound = (i32::MAX as usize / (128 * dimension)).min(i16::MAX as usize);
        let step = largest / bound as f32;
        let weight = |value: f32| (value / step).round().clamp(-(bound as f32), bound as f32) as i16;
        let all = vector.iter().enumerate().map(|(dimension, value)| (dimension as u32, weight(*value)));
        let weights: Vec<(u32, i16)> = all.filter(|(_, weight)| *weight != 0).collect();
        let squares: f64 = weights.iter().map(|(_, weight)| f64::from(*weight) * f64::from(*weight)).sum();
        Some(Self { weights, scale: (1.0 / squares.sqrt()) as f32 })
    }

    /// Cosine with a single vector, one product after another.
    pub(crate) fn cosine_of(&self, vector: &Quantized) -> f32 {
        let products = self.weights.iter().map(|(dimension, weight)| {
            i32::from(*weight) * vector.codes.get(*dimension as usize).map_or(0, |code| i32::from(*code))
        });
        self.cosine(products.sum(), vector.inverse_norm())
    }

    fn cosine(&self, sum: i32, inverse_norm: f32) -> f32 {
        sum as f32 * (inverse_norm * self.scale)
    }
}

#[cfg(test)]
#[path = "vectors_test.rs"]
mod vectors_test;

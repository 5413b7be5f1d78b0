//! Owns the quantised form of an embedding and its byte codec. It never embeds and never scores.
//!
//! Layout of the bytes: `0x02 'Q'`, the scale as `f32` little-endian, then one signed byte a dimension.
//! A component is `scale * code`; the scale is the largest magnitude divided by 127, so the largest error of
//! a component is half a scale.

use crate::error::VectorError;
use crate::limits::DIMENSION_MAX;

/// First byte of an encoded vector: the version of the codec.
const VERSION: u8 = 0x02;
/// Second byte of an encoded vector: the kind, scalar-quantised.
const KIND: u8 = b'Q';
/// Bytes before the codes.
const HEADER: usize = 6;

/// An embedding as one signed byte a dimension and a common scale.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantized {
    /// What one unit of a code is worth. Zero for the zero vector.
    pub scale: f32,
    /// One code a dimension, in -127..=127.
    pub codes: Vec<i8>,
}

impl Quantized {
    /// Encodes as header and codes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER + self.codes.len());
        bytes.extend([VERSION, KIND]);
        bytes.extend(self.scale.to_le_bytes());
        bytes.extend(self.codes.iter().map(|code| code.to_le_bytes()[0]));
        bytes
    }

    /// Decodes what [`Quantized::to_bytes`] wrote.
    ///
    /// # Errors
    /// A short header, a foreign version or kind, a scale that is negative or gives components that are not finite, a code of -128
    /// (no writer makes one), no dimension at all, or more than [`DIMENSION_MAX`] of them.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, VectorError> {
        let Some((header, body)) = bytes.split_first_chunk::<HEADER>() else {
            return Err(VectorError::Truncated { bytes: bytes.len() });
        };
        let [version, kind, scale @ ..] = *header;
        if version != VERSION || kind != KIND {
            return Err(VectorError::Format { version, kind });
        }
        let scale = f32::from_le_bytes(scale);
        // The largest component must be a number, too.
        if !(scale * f32::from(i8::MAX)).is_finite() || scale < 0.0 {
            return Err(VectorError::Scale);
        }
        if body.is_empty() || body.len() > DIMENSION_MAX {
            return Err(VectorError::Dimension { found: body.len() });
        }
        let codes: Vec<i8> = body.iter().map(|byte| i8::from_le_bytes([*byte])).collect();
        if codes.contains(&i8::MIN) {
            return Err(VectorError::Code);
        }
        Ok(Self { scale, codes })
    }

    /// The components as floats.
    #[must_use]
    pub fn restore(&self) -> Vec<f32> {
        self.codes.iter().map(|code| f32::from(*code) * self.scale).collect()
    }

    /// One over the length of the code vector, by which a dot product of codes becomes a cosine. Zero for the
    /// zero vector, so that it is similar to nothing.
    pub(crate) fn inverse_norm(&self) -> f32 {
        let squares: i64 = self.codes.iter().map(|code| i64::from(*code) * i64::from(*code)).sum();
        if squares == 0 { 0.0 } else { (1.0 / (squares as f64).sqrt()) as f32 }
    }
}

/// Quantises a vector. Components that are not finite count as zero; the zero vector keeps scale 0.
#[must_use]
pub fn quantize(vector: &[f32]) -> Quantized {
    let finite = |value: f32| if value.is_finite() { value } else { 0.0 };
    let largest = vector.iter().map(|value| finite(*value).abs()).fold(0.0f32, f32::max);
    // Below what would make the largest component overflow when it is restored.
    let scale = (largest / 127.0).min(f32::MAX / 128.0);
    if scale <= 0.0 || !scale.is_normal() {
        return Quantized { scale: 0.0, codes: vec![0; vector.len()] };
    }
    let code = |value: &f32| (finite(*value) / scale).round().clamp(-127.0, 127.0) as i8;
    Quantized { scale, codes: vector.iter().map(code).collect() }
}

#[cfg(test)]
#[path = "vector_test.rs"]
mod vector_test;

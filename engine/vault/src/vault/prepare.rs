//! The work on a text that needs no transaction: embedding, framing, fingerprinting, analysing. Runs on every core
//! for bulk work, before the writing connection is taken.

use rayon::prelude::*;
use undercroft_crypto::{Blind, BlindColumn, Level, frame};
use undercroft_search::{Analysed, Quantized, analyse, quantize};
use undercroft_text::normalize::duplicate_form;

use super::Vault;
use crate::error::{Error, Result};

/// A text ready to be sealed into a row.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    pub(crate) vector: Quantized,
    /// Content as it is sealed: framed, or the words themselves in an `hmac-only` vault.
    pub(crate) body: Vec<u8>,
    pub(crate) fp: Blind,
    pub(crate) analysed: Option<Analysed>,
}

impl Vault {
    /// Prepares one text.
    pub(crate) fn prepare(&self, text: &str) -> Result<Prepared> {
        Ok(Prepared {
            vector: quantize(&self.embed(text)?),
            body: self.body(text),
            fp: self.fingerprint(text),
            // Analysing costs as much as embedding; without a loaded index nobody would use it.
            analysed: self.index.is_loaded().then(|| analyse(text)),
        })
    }

    /// Embeds a text or a query. What an embedder hands over is checked: a vector of another length, or one with a
    /// number that is not finite, would be compared with every other and say nothing.
    pub(crate) fn embed(&self, text: &str) -> Result<Vec<f32>> {
        let embedder = &self.options.embedder;
        let vector = embedder.embed(text).map_err(|e| Error::Embedding(e.to_string()))?;
        let (found, wanted) = (vector.len(), embedder.dimension());
        if found != wanted {
            return Err(Error::Embedding(format!("the embedder gave {found} numbers instead of {wanted}")));
        }
        if let Some(at) = vector.iter().position(|value| !value.is_finite()) {
            return Err(Error::Embedding(format!("number {at} of the embedder's vector is not finite")));
        }
        Ok(vector)
    }

    /// Prepares many texts on all cores; each has its own result.
    pub(crate) fn prepare_all(&self, texts: &[&str]) -> Vec<Result<Prepared>> {
        if texts.len() < 4 {
            return texts.iter().map(|text| self.prepare(text)).collect();
        }
        texts.par_iter().map(|text| self.prepare(text)).collect()
    }

    pub(crate) fn body(&self, text: &str) -> Vec<u8> {
        match self.level() {
            Level::Sealed => frame::encode(text.as_bytes()),
            Level::HmacOnly => text.as_bytes().to_vec(),
        }
    }

    /// Keyed fingerprint under which texts that differ only in form are duplicates.
    pub(crate) fn fingerprint(&self, text: &str) -> Blind {
        self.keyring.blind(BlindColumn::Content, duplicate_form(text).as_bytes())
    }
}

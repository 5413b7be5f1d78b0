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
        let embedder = &self.options.embedder;
        let vector = embedder.embed(text).map_err(|e| Error::Embedding(e.to_string()))?;
        if vector.len() != embedder.dimension() {
            let found = vector.len();
            return Err(Error::Embedding(format!(
                "the embedder gave {found} numbers instead of {}",
                embedder.dimension()
            )));
        }
        Ok(Prepared {
            vector: quantize(&vector),
            body: self.body(text),
            fp: self.fingerprint(text),
            // Analysing costs as much as embedding; without a loaded index nobody would use it.
            analysed: self.index.is_loaded().then(|| analyse(text)),
        })
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

//! The search key of a text: the form in which two spellings of one word are equal.
//!
//! A key serves comparison only; it is never stored in place of a text and never shown.

mod cluster;
mod letters;

pub(crate) use cluster::{Folder, cluster_len, extends};
pub(crate) use letters::is_ignorable;

/// Folds a text to its search key.
///
/// The text is lower-cased, presentation forms, full and half width forms and CJK radicals become the letters they
/// stand for, marks that writers leave out are dropped (all of them on Latin and Greek, grave and acute on
/// Cyrillic, vowel points of Arabic, Hebrew and Syriac), and letters that writers interchange become one
/// (`ß` is `ss`, `ё` is `е`, every alef is alef, Arabic digits are ASCII digits). The result is in NFC, equal for
/// canonically equivalent texts, and folding it again changes nothing.
#[must_use]
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut out = String::with_capacity(text.len());
    Folder::default().fold_into(text, &mut out);
    out
}

#[cfg(test)]
mod fold_test;

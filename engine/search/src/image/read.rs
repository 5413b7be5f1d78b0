//! Owns reading an image. What it accepts can be searched and changed without a panic, whatever the bytes were:
//! numbers that index a part are checked here, and the postings and sequences, which are copied unread, are
//! bounded where they are walked.

use std::io::Read;

use undercroft_text::ScriptSet;

use super::codec::{ImageLimits, MAGIC, SectionReader, VERSION};
use crate::document::{DocumentKey, TermClass};
use crate::error::ImageError;
use crate::index::Index;
use crate::index::parts::{
    BLOCK, BLOCK_MIN, Block, Documents, LANGUAGES, List, NONE, Names, Vectors, Vocabulary,
};
use crate::limits::DIMENSION_MAX;

impl Index {
    /// Reads what [`Index::write_image`] wrote. The bytes may be anything; whether they are this vault's own is
    /// the caller's to prove before.
    ///
    /// # Errors
    /// A failing reader, a foreign version, a length beyond `limits`, or parts that contradict each other.
    pub fn read_image(input: &mut impl Read, limits: ImageLimits) -> Result<Self, ImageError> {
        let mut sections = SectionReader::new(input, limits.bytes);
        if sections.plain()? != MAGIC || u32::from_le_bytes(sections.plain()?) != VERSION {
            return Err(ImageError::Version);
        }
        let dimension = u32::from_le_bytes(sections.plain()?) as usize;
        if dimension == 0 || dimension > DIMENSION_MAX {
            return Err(ImageError::Corrupt { field: "dimension" });
        }
        let mut index = Self::new(dimension);
        index.documents = documents(&mut sections, limits.documents)?;
        index.vocabulary = vocabulary(&mut sections)?;
        let slots = index.documents.len();
        index.postings.lists = lists(&mut sections, index.vocabulary.len(), slots)?;
        index.streams.ends = sections.column("sequence ends", slots)?;
        index.streams.bytes = sections.bytes("sequences")?;
        let length = index.streams.bytes.len() as u64;
        require(
            rising(&index.streams.ends) && index.streams.ends.last().is_none_or(|end| *end == length),
            "sequence ends",
        )?;
        index.vectors = vectors(&mut sections, dimension, slots)?;
        Ok(index)
    }
}

fn require(holds: bool, field: &'static str) -> Result<(), ImageError> {
    if holds { Ok(()) } else { Err(ImageError::Corrupt { field }) }
}

fn rising<N: PartialOrd>(numbers: &[N]) -> bool {
    numbers.is_sorted()
}

fn names<R: Read>(sections: &mut SectionReader<'_, R>) -> Result<Names, ImageError> {
    let lengths: Vec<u32> = sections.numbers("name lengths")?;
    let bytes = sections.bytes("names")?;
    let text = str::from_utf8(&bytes).map_err(|_| ImageError::Corrupt { field: "names" })?;
    let mut names = Names::default();
    let mut rest = text;
    for (number, length) in lengths.into_iter().enumerate() {
        let Some((name, after)) = rest.split_at_checked(length as usize) else {
            return Err(ImageError::Corrupt { field: "names" });
        };
        require(names.intern(name) as usize == number, "names")?;
        rest = after;
    }
    require(rest.is_empty(), "names")?;
    Ok(names)
}

fn documents<R: Read>(sections: &mut SectionReader<'_, R>, most: usize) -> Result<Documents, ImageError> {
    let mut documents = Documents::default();
    for table in documents.tables() {
        *table = names(sections)?;
    }
    let wings: Vec<u32> = sections.numbers("places")?;
    let rooms: Vec<u32> = sections.column("places", wings.len())?;
    for (number, (wing, room)) in wings.into_iter().zip(rooms).enumerate() {
        let (wing, room) = (documents.wings.get(wing), documents.rooms.get(room));
        let (Some(wing), Some(room)) = (wing.map(str::to_owned), room.map(str::to_owned)) else {
            return Err(ImageError::Corrupt { field: "places" });
        };
        require(documents.intern_place(&wing, &room) as usize == number, "places")?;
    }
    let keys: Vec<u128> = sections.numbers("keys")?;
    let slots = keys.len();
    if slots > most {
        return Err(ImageError::TooLarge { field: "keys", claimed: slots as u64, allowed: most as u64 });
    }
    documents.keys = keys.into_iter().map(|key| DocumentKey::new(key.to_le_bytes())).collect();
    documents.seqs = sections.column("seqs", slots)?;
    documents.places = sections.column("places of drawers", slots)?;
    documents.sources = sections.column("sources", slots)?;
    documents.chunks = sections.column("chunks", slots)?;
    documents.kinds = sections.column("kinds", slots)?;
    documents.ages = sections.column("ages", slots)?;
    documents.days = sections.column("days", slots)?;
    documents.lengths = sections.column("lengths", slots)?;
    documents.languages = sections.column("languages", slots)?;
    documents.lines = sections.column("lines", slots)?;
    let scripts: Vec<u32> = sections.column("scripts", slots)?;
    documents.scripts = scripts.into_iter().map(ScriptSet::from_bits).collect();
    let within = |numbers: &[u32], names: &Names| {
        numbers.iter().all(|number| *number == NONE || (*number as usize) < names.len())
    };
    let places = documents.place_names.len();
    require(documents.places.iter().all(|place| (*place as usize) < places), "places of drawers")?;
    require(within(&documents.sources, &documents.source_names), "sources")?;
    require(within(&documents.kinds, &documents.kind_names), "kinds")?;
    require(documents.ages.iter().all(|age| age.is_finite() && *age >= 0.0), "ages")?;
    require(documents.languages.iter().all(|language| *language < LANGUAGES), "languages")?;
    require(!documents.lines.contains(&0), "lines")?;
    require(documents.register_all(), "keys")?;
    Ok(documents)
}

fn vocabulary<R: Read>(sections: &mut SectionReader<'_, R>) -> Result<Vocabulary, ImageError> {
    let text = sections.bytes("terms")?;
    let text = String::from_utf8(text).map_err(|_| ImageError::Corrupt { field: "terms" })?;
    let ends: Vec<u32> = sections.numbers("term ends")?;
    let bounded = rising(&ends) && ends.last().map_or(0, |end| *end as usize) == text.len();
    require(bounded && ends.iter().all(|end| text.is_char_boundary(*end as usize)), "term ends")?;
    let classes: Vec<u8> = sections.column("term classes", ends.len())?;
    let class = |class: u8| match class {
        0 => Ok(TermClass::Word),
        1 => Ok(TermClass::Gram),
        _ => Err(ImageError::Corrupt { field: "term classes" }),
    };
    let classes = classes.into_iter().map(class).collect::<Result<Vec<_>, _>>()?;
    let forward: Vec<u32> = sections.numbers("forward order")?;
    let backward: Vec<u32> = sections.column("backward order", forward.len())?;
    let orders = [forward, backward];
    let vocabulary = Vocabulary::restore(text, ends, classes, orders);
    vocabulary.ok_or(ImageError::Corrupt { field: "term orders" })
}

fn lists<R: Read>(
    sections: &mut SectionReader<'_, R>,
    terms: usize,
    slots: usize,
) -> Result<Vec<List>, ImageError> {
    let nexts: Vec<u32> = sections.column("posting ends", terms)?;
    let totals: Vec<u32> = sections.column("posting counts", terms)?;
    let dense: Vec<u8> = sections.column("posting kinds", terms)?;
    let lengths: Vec<u32> = sections.column("posting lengths", terms)?;
    let bytes = sections.bytes("postings")?;
    let mut rest = &*bytes;
    let mut lists = Vec::with_capacity(terms);
    for (((next, total), dense), length) in nexts.into_iter().zip(totals).zip(dense).zip(lengths) {
        let Some((own, after)) = rest.split_at_checked(length as usize) else {
            return Err(ImageError::Corrupt { field: "postings" });
        };
        rest = after;
        let dense = dense == 1;
        require(
            next as usize <= slots && total <= next && (!dense || own.len() == next as usize),
            "postings",
        )?;
        lists.push(List { bytes: own.to_vec(), next, total, live: total, dense });
    }
    require(rest.is_empty(), "postings")?;
    Ok(lists)
}

fn vectors<R: Read>(
    sections: &mut SectionReader<'_, R>,
    dimension: usize,
    slots: usize,
) -> Result<Vectors, ImageError> {
    let mut vectors = Vectors::new(dimension);
    vectors.inverse_norms = sections.column("vector lengths", slots)?;
    require(vectors.inverse_norms.iter().all(|norm| norm.is_finite() && *norm >= 0.0), "vector lengths")?;
    for first in (0..slots).step_by(BLOCK) {
        let codes: Vec<i8> = sections.numbers("vectors")?;
        let capacity = codes.len() / dimension;
        let rows = (slots - first).min(BLOCK);
        let sized = codes.len() == capacity * dimension && (BLOCK_MIN.max(rows)..=BLOCK).contains(&capacity);
        require(sized, "vectors")?;
        vectors.blocks.push(Block { capacity, codes });
    }
    Ok(vectors)
}

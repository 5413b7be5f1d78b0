//! Owns writing an image.

use std::io::{self, Write};

use super::codec::{MAGIC, Sections, VERSION};
use crate::index::Index;
use crate::index::parts::{Documents, Names, Postings, Streams, Vectors, Vocabulary};

impl Index {
    /// Writes everything that [`Index::read_image`] needs. Removed drawers leave no trace in it.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_image(&self, out: &mut impl Write) -> io::Result<()> {
        if self.has_removed() {
            return self.compacted().write_image(out);
        }
        let mut sections = Sections::new(out);
        sections.plain(&MAGIC)?;
        sections.plain(&VERSION.to_le_bytes())?;
        sections.plain(&(self.dimension() as u32).to_le_bytes())?;
        documents(&mut sections, &self.documents)?;
        vocabulary(&mut sections, &self.vocabulary)?;
        postings(&mut sections, &self.postings)?;
        streams(&mut sections, &self.streams)?;
        vectors(&mut sections, &self.vectors)
    }
}

fn names<W: Write>(sections: &mut Sections<'_, W>, names: &Names) -> io::Result<()> {
    let lengths: Vec<u32> = names.iter().map(|name| name.len() as u32).collect();
    sections.numbers(lengths.iter().copied())?;
    sections.bytes(names.iter().map(str::len).sum(), names.iter().map(str::as_bytes))
}

fn documents<W: Write>(sections: &mut Sections<'_, W>, documents: &Documents) -> io::Result<()> {
    for table in [&documents.wings, &documents.rooms, &documents.source_names, &documents.kind_names] {
        names(sections, table)?;
    }
    sections.numbers(documents.place_names.iter().map(|(wing, _)| *wing))?;
    sections.numbers(documents.place_names.iter().map(|(_, room)| *room))?;
    sections.numbers(documents.keys.iter().map(|key| u128::from_le_bytes(*key.as_bytes())))?;
    sections.numbers(documents.seqs.iter().copied())?;
    sections.numbers(documents.places.iter().copied())?;
    sections.numbers(documents.sources.iter().copied())?;
    sections.numbers(documents.chunks.iter().copied())?;
    sections.numbers(documents.kinds.iter().copied())?;
    sections.numbers(documents.ages.iter().copied())?;
    sections.numbers(documents.days.iter().copied())?;
    sections.numbers(documents.lengths.iter().copied())?;
    sections.numbers(documents.languages.iter().copied())?;
    sections.numbers(documents.lines.iter().copied())?;
    sections.numbers(documents.scripts.iter().map(|scripts| scripts.bits()))
}

fn vocabulary<W: Write>(sections: &mut Sections<'_, W>, vocabulary: &Vocabulary) -> io::Result<()> {
    sections.bytes(vocabulary.text.len(), std::iter::once(vocabulary.text.as_bytes()))?;
    sections.numbers(vocabulary.ends.iter().copied())?;
    sections.numbers(vocabulary.classes.iter().map(|class| *class as u8))?;
    let [forward, backward] = vocabulary.orders();
    sections.numbers(forward.into_iter())?;
    sections.numbers(backward.into_iter())
}

fn postings<W: Write>(sections: &mut Sections<'_, W>, postings: &Postings) -> io::Result<()> {
    let lists = &postings.lists;
    sections.numbers(lists.iter().map(|list| list.next))?;
    sections.numbers(lists.iter().map(|list| list.total))?;
    sections.numbers(lists.iter().map(|list| u8::from(list.dense)))?;
    sections.numbers(lists.iter().map(|list| list.bytes.len() as u32))?;
    sections.bytes(lists.iter().map(|list| list.bytes.len()).sum(), lists.iter().map(|list| &*list.bytes))
}

fn streams<W: Write>(sections: &mut Sections<'_, W>, streams: &Streams) -> io::Result<()> {
    sections.numbers(streams.ends.iter().copied())?;
    sections.bytes(streams.bytes.len(), std::iter::once(&*streams.bytes))
}

fn vectors<W: Write>(sections: &mut Sections<'_, W>, vectors: &Vectors) -> io::Result<()> {
    sections.numbers(vectors.inverse_norms.iter().copied())?;
    for block in &vectors.blocks {
        sections.numbers(block.codes.iter().copied())?;
    }
    Ok(())
}

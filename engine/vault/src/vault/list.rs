//! Listings: drawers of a place, the taxonomy of wings and rooms, the newest for waking up, the duplicate oracle.

use rusqlite::Connection;
use serde::Serialize;
use undercroft_crypto::BlindColumn;
use undercroft_text::snippet::snippet;

use super::{Opened, Vault, validate};
use crate::audit::{self, HistoryRecord};
use crate::drawers::table::{self, Newest};
use crate::drawers::{Drawer, DrawerId};
use crate::error::{Error, Result};
use crate::limits;

/// One line of a listing.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ListedDrawer {
    /// Drawer id.
    pub id: DrawerId,
    /// Its wing.
    pub wing: String,
    /// Its room.
    pub room: String,
    /// Start of the words, one line.
    pub preview: String,
    /// When it was filed.
    pub filed_at: String,
    /// Its source, where there is one.
    #[cfg_attr(feature = "schema", schema(required))]
    pub source_file: Option<String>,
}

/// A room and how many drawers it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Room {
    /// Its name.
    pub room: String,
    /// Drawers in it.
    pub count: u64,
}

/// A wing and its rooms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Wing {
    /// Its name.
    pub wing: String,
    /// Its rooms by name.
    pub rooms: Vec<Room>,
}

/// Wings by name; the review wing is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Taxonomy {
    /// The wings.
    pub wings: Vec<Wing>,
}

/// Characters of a preview.
const PREVIEW_CHARS: usize = 100;

impl Vault {
    /// A page of drawers of a wing and room (each optional), newest filed first.
    ///
    /// # Errors
    /// An invalid field; an integrity error when a drawer of the page fails its check.
    pub fn list(
        &self,
        wing: Option<&str>,
        room: Option<&str>,
        limit: usize,
        offset: usize,
    ) -> Result<Vec<ListedDrawer>> {
        let opened = self.newest(wing, room, Newest::Filed, limit, offset)?;
        Ok(opened.into_iter().map(listed).collect())
    }

    /// The most recently written drawers, for waking up.
    ///
    /// # Errors
    /// As [`Vault::list`].
    pub fn recent(&self, wing: Option<&str>, limit: usize) -> Result<Vec<Drawer>> {
        let opened = self.newest(wing, None, Newest::Written, limit, 0)?;
        Ok(opened.into_iter().map(Opened::into_drawer).collect())
    }

    fn newest(
        &self,
        wing: Option<&str>,
        room: Option<&str>,
        order: Newest,
        limit: usize,
        offset: usize,
    ) -> Result<Vec<Opened>> {
        if limit == 0 || limit > limits::MAX_LIST {
            return Err(Error::invalid("limit", format!("it must be 1 to {}", limits::MAX_LIST)));
        }
        let blind = |column, name: &str| self.keyring.blind(column, name.trim().as_bytes());
        let wing = wing.map(|name| blind(BlindColumn::Wing, name));
        let room = room.map(|name| blind(BlindColumn::Room, name));
        let snapshot = self.reading()?;
        snapshot.with(|conn| {
            let rows = table::newest(conn, wing.as_ref(), room.as_ref(), order, limit, offset)?;
            rows.into_iter().map(|row| self.open_row(conn, row)).collect()
        })
    }

    /// Wings, rooms and how many drawers each holds.
    ///
    /// # Errors
    /// An integrity error when a place's name cannot be read from its rows.
    pub fn taxonomy(&self) -> Result<Taxonomy> {
        let snapshot = self.reading()?;
        snapshot.with(|conn| self.taxonomy_of(conn))
    }

    pub(super) fn taxonomy_of(&self, conn: &Connection) -> Result<Taxonomy> {
        let mut places = Vec::new();
        for place in table::places(conn)? {
            let row = table::by_seq(conn, place.sample)?
                .ok_or_else(|| Error::record("drawer row", place.sample, "it vanished inside a snapshot"))?;
            let meta = self.open_row(conn, row)?.stored.meta;
            if meta.wing != validate::REVIEW_WING {
                places.push((meta.wing, Room { room: meta.room, count: place.count }));
            }
        }
        places.sort_by(|(a, x), (b, y)| (a, &x.room).cmp(&(b, &y.room)));
        let mut wings: Vec<Wing> = Vec::new();
        for (wing, room) in places {
            match wings.last_mut() {
                Some(last) if last.wing == wing => last.rooms.push(room),
                _ => wings.push(Wing { wing, rooms: vec![room] }),
            }
        }
        Ok(Taxonomy { wings })
    }

    /// The oldest drawer whose words are the same but for form (line ends, trailing space, composition), if any.
    ///
    /// # Errors
    /// An integrity error when that drawer fails its check.
    pub fn find_duplicate(&self, text: &str) -> Result<Option<DrawerId>> {
        let fp = self.fingerprint(text);
        let snapshot = self.reading()?;
        snapshot.with(|conn| match table::by_fingerprint(conn, &fp)? {
            Some(row) => Ok(Some(self.open_row(conn, row)?.stored.id)),
            None => Ok(None),
        })
    }

    /// Every drawer whose words are the same by that rule, oldest first.
    ///
    /// # Errors
    /// An integrity error when one of them fails its check.
    pub fn of_same_words(&self, text: &str) -> Result<Vec<Drawer>> {
        let fp = self.fingerprint(text);
        let snapshot = self.reading()?;
        snapshot.with(|conn| {
            let rows = table::all_by_fingerprint(conn, &fp)?.into_iter();
            rows.map(|row| self.open_row(conn, row).map(Opened::into_drawer)).collect()
        })
    }

    /// Which of `texts` are filed already, by the same rule; nothing is opened.
    ///
    /// # Errors
    /// When the database refuses.
    pub fn are_filed(&self, texts: &[&str]) -> Result<Vec<bool>> {
        let snapshot = self.reading()?;
        snapshot.with(|conn| {
            texts.iter().map(|text| table::has_fingerprint(conn, &self.fingerprint(text))).collect()
        })
    }

    /// Records of the audit chain, newest first, of one subject (a drawer id or a whole label) or of all.
    ///
    /// # Errors
    /// An invalid limit; an integrity error when a label is not the one that the chain covers.
    pub fn history(&self, subject: Option<&str>, limit: usize, offset: usize) -> Result<Vec<HistoryRecord>> {
        if limit == 0 || limit > limits::MAX_HISTORY {
            return Err(Error::invalid("limit", format!("it must be 1 to {}", limits::MAX_HISTORY)));
        }
        let snapshot = self.reading()?;
        snapshot.with(|conn| audit::page(conn, &self.keyring, subject, limit, offset))
    }
}

fn listed(opened: Opened) -> ListedDrawer {
    let meta = opened.stored.meta;
    ListedDrawer {
        id: opened.stored.id,
        preview: snippet(&opened.text, "", PREVIEW_CHARS),
        wing: meta.wing,
        room: meta.room,
        filed_at: meta.filed_at,
        source_file: meta.source_file,
    }
}

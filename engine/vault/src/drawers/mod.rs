//! Drawers: one verbatim piece of text each. Contents of this folder:
//! ids, the record as callers see it, the record as it is stored, and the table.

pub(crate) mod full_text;
mod id;
mod new;
mod provenance;
mod receipt;
mod record;
pub(crate) mod table;

pub use id::{DrawerId, drawer_id};
pub use new::{NewDrawer, Origin, SourceBatch, SourceState};
pub use provenance::{AddedBy, Claims, Kind};
pub use receipt::{LinkVerdict, SupersessionCounts, SupersessionLink};
pub use record::{Drawer, DrawerMeta, Occurrence};

pub(crate) use id::{ID_RECIPE, NORMALIZE_VERSION};
pub(crate) use receipt::Receipt;
pub(crate) use record::StoredMeta;

#[cfg(test)]
mod id_test;
#[cfg(test)]
mod record_test;

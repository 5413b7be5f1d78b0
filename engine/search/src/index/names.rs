//! Owns the distinct names (wings, rooms, sources, kinds) of an index and gives each a number.

use rustc_hash::FxHashMap;

/// Number of a name within one table.
pub(crate) type NameId = u32;
/// Stands for "no name".
pub(crate) const NONE: NameId = u32::MAX;

/// A table of distinct names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    names: Vec<Box<str>>,
    numbers: FxHashMap<Box<str>, NameId>,
}

impl Names {
    /// Names in the order of their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// The name behind a number.
    pub(crate) fn get(&self, id: NameId) -> Option<&str> {
        self.names.get(id as usize).map(|name| &**name)
    }

    /// The number of a known name.
    pub(crate) fn find(&self, name: &str) -> Option<NameId> {
        self.numbers.get(name).copied()
    }

    /// The number of a name, which becomes known.
    pub(crate) fn intern(&mut self, name: &str) -> NameId {
        if let Some(id) = self.find(name) {
            return id;
        }
        let id = self.names.len() as NameId;
        self.names.push(name.into());
        self.numbers.insert(name.into(), id);
        id
    }

    /// The number of an optional name; [`NONE`] without one.
    pub(crate) fn intern_optional(&mut self, name: Option<&str>) -> NameId {
        name.map_or(NONE, |name| self.intern(name))
    }

    /// Bytes on the heap.
    pub(crate) fn memory_bytes(&self) -> usize {
        let text: usize = self.names.iter().map(|name| 2 * name.len() + 32).sum();
        text + self.names.capacity() * 16 + self.numbers.capacity() * 25
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_number_and_absence_has_its_own() {
        let mut names = Names::default();
        assert_eq!(names.intern("kitchen"), 0);
        assert_eq!(names.intern("garden"), 1);
        assert_eq!(names.intern("kitchen"), 0);
        assert_eq!(names.intern_optional(None), NONE);
        assert_eq!(names.get(1), Some("garden"));
        assert_eq!(names.get(NONE), None);
        assert_eq!(names.find("cellar"), None);
        assert_eq!(names.iter().collect::<Vec<_>>(), ["kitchen", "garden"]);
    }
}

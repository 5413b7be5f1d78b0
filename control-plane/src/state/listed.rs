//! How things that are kept by their id are read: one by one, in order, from one on. Owns nothing.

/// Gives a type whose field `map` is a `BTreeMap` from ids to things the ways of reading it.
macro_rules! listed {
    ($owner:ident, $id:ty, $thing:ty, $one:literal, $many:literal) => {
        impl $owner {
            #[doc = concat!("The ", $one, " of this id.")]
            #[must_use]
            pub fn get(&self, id: $id) -> Option<&$thing> {
                self.map.get(&id)
            }

            #[doc = concat!("The ", $many, ", by id.")]
            pub fn iter(&self) -> impl Iterator<Item = &$thing> {
                self.map.values()
            }

            #[doc = concat!("The ", $many, " behind an id, by id; all of them behind none.")]
            pub fn after(&self, id: Option<$id>) -> impl Iterator<Item = &$thing> {
                let from = id.map_or(std::ops::Bound::Unbounded, std::ops::Bound::Excluded);
                self.map.range((from, std::ops::Bound::Unbounded)).map(|(_, thing)| thing)
            }

            /// How many there are.
            #[must_use]
            pub fn len(&self) -> usize {
                self.map.len()
            }

            /// Whether there is none.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.map.is_empty()
            }
        }
    };
}

pub(super) use listed;

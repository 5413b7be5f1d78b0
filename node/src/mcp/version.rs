//! Which versions of the protocol are spoken, and which one a client gets.

/// Every version that is spoken, oldest first. What a server with tools says is the same in all of them.
pub const VERSIONS: [&str; 4] = [OLDEST, "2025-03-26", "2025-06-18", NEWEST];

/// For a client that names no version: it can rely on nothing that came later.
const OLDEST: &str = "2024-11-05";
/// For a client that names a version which is not spoken: it decides whether it can go on.
const NEWEST: &str = "2025-11-25";

/// The version that answers a client's wish.
#[must_use]
pub(super) fn negotiate(wanted: Option<&str>) -> &'static str {
    let Some(wanted) = wanted else { return OLDEST };
    VERSIONS.into_iter().find(|known| *known == wanted).unwrap_or(NEWEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spoken_version_is_kept_an_unknown_one_gets_the_newest_and_none_the_oldest() {
        for version in VERSIONS {
            assert_eq!(negotiate(Some(version)), version);
        }
        for unknown in ["9999-01-01", "", "2025-11-25 ", "1.0"] {
            assert_eq!(negotiate(Some(unknown)), NEWEST, "{unknown:?}");
        }
        assert_eq!(negotiate(None), OLDEST);
        assert!(VERSIONS.is_sorted());
    }
}

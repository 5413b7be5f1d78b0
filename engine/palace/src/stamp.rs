//! Times as folder names: RFC 3339 in UTC with `:` and `.` replaced by `-`, always with six digits of a second, so that
//! the order of names is the order of times.

use jiff::Timestamp;

/// `2026-01-02T03-04-05-678901Z`.
const FORM: &[u8] = b"dddd-dd-ddTdd-dd-dd-ddddddZ";

/// The moment `micros` microseconds after 1970 began, as a folder name.
///
/// A moment outside of what calendars here can say is given as its number, which is as good a name.
#[must_use]
pub fn render(micros: i64) -> String {
    match Timestamp::from_microsecond(micros) {
        Ok(moment) => moment.strftime("%Y-%m-%dT%H-%M-%S-%6fZ").to_string(),
        Err(_) => micros.to_string(),
    }
}

/// Whether `text` has the form of [`render`].
#[must_use]
pub fn is_stamp(text: &str) -> bool {
    text.len() == FORM.len()
        && text
            .bytes()
            .zip(FORM)
            .all(|(byte, &form)| if form == b'd' { byte.is_ascii_digit() } else { byte == form })
}

/// What stands before the time at the end of a folder's name, and that time. A vault's own name may end in one: only the
/// last is taken off.
#[must_use]
pub fn split(name: &str) -> Option<(&str, &str)> {
    let at = name.len().checked_sub(FORM.len())?;
    let (before, stamp) = name.split_at_checked(at)?;
    let before = before.strip_suffix('-').filter(|before| !before.is_empty())?;
    is_stamp(stamp).then_some((before, stamp))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_stamp_reads_as_a_time_and_has_no_character_that_folders_dislike() {
        assert_eq!(render(1_767_323_045_678_901), "2026-01-02T03-04-05-678901Z");
        assert_eq!(render(0), "1970-01-01T00-00-00-000000Z");
        assert!(is_stamp(&render(5)));
        for other in
            ["", "2026-01-02T03-04-05Z", "2026-01-02T03:04:05.678901Z", "2026-01-02T03-04-05-67890xZ"]
        {
            assert!(!is_stamp(other), "{other}");
        }
    }

    #[test]
    fn the_last_time_of_a_name_is_taken_off() {
        let stamp = render(5);
        let twice = format!("é-{stamp}-{stamp}");
        assert_eq!(split(&twice), Some((format!("é-{stamp}").as_str(), stamp.as_str())));
        for other in ["", "work", &stamp, &format!("-{stamp}"), &format!("work{stamp}"), "ééééééééééééééééé"]
        {
            assert_eq!(split(other), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn the_order_of_names_is_the_order_of_times(a in 0_i64..4_000_000_000_000_000, b in 0_i64..4_000_000_000_000_000) {
            prop_assert!(is_stamp(&render(a)));
            prop_assert_eq!(a.cmp(&b), render(a).cmp(&render(b)));
        }
    }
}

//! Owns the two forms in which a date is declared. It reads no clock and no prose.

use jiff::Timestamp;
use jiff::civil::Date;
use thiserror::Error;

/// Why a declared date was refused.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum DateError {
    /// Neither of the two forms.
    #[error("invalid content_date: give YYYY-MM-DD or an RFC 3339 time such as 2026-01-31T09:30:00Z")]
    Form,
    /// One of the forms, but not on the calendar or the clock.
    #[error("invalid content_date: there is no such day or time; check month, day, hour, minute and offset")]
    NoSuchTime,
}

/// Checks a declared date: `YYYY-MM-DD` or RFC 3339, and one that exists.
///
/// # Errors
/// [`DateError`] when it is neither or does not exist.
pub fn check_content_date(value: &str) -> Result<(), DateError> {
    if is_day(value.as_bytes()) {
        return parse_day(value).map(|_| ()).ok_or(DateError::NoSuchTime);
    }
    if !is_time(value.as_bytes()) {
        return Err(DateError::Form);
    }
    value.parse::<Timestamp>().map(|_| ()).map_err(|_| DateError::NoSuchTime)
}

/// The day that a declared date writes, in days since 1970-01-01; `None` if [`check_content_date`] refuses it.
///
/// The day is the one written down: an offset moves the instant, not the day.
#[must_use]
pub fn day_of(value: &str) -> Option<i32> {
    check_content_date(value).ok()?;
    let date = parse_day(value.get(..10)?)?;
    let hours = date.duration_since(Date::constant(1970, 1, 1)).as_hours();
    i32::try_from(hours / 24).ok()
}

fn parse_day(value: &str) -> Option<Date> {
    let number = |from, to| value.get(from..to)?.parse::<i16>().ok();
    let part = |from, to| i8::try_from(number(from, to)?).ok();
    Date::new(number(0, 4)?, part(5, 7)?, part(8, 10)?).ok()
}

/// Whether the bytes have the form `NNNN-NN-NN`.
fn is_day(bytes: &[u8]) -> bool {
    matches_form(bytes, b"0000-00-00")
}

/// Whether the bytes have the form that RFC 3339 section 5.6 gives a time.
fn is_time(bytes: &[u8]) -> bool {
    let Some((day, rest)) = bytes.split_at_checked(10) else { return false };
    let Some((clock, rest)) = rest.split_at_checked(9) else { return false };
    if !is_day(day) || !matches!(clock[0], b'T' | b't' | b' ') || !matches_form(&clock[1..], b"00:00:00") {
        return false;
    }
    let offset = match rest {
        [b'.', fraction @ ..] => {
            let digits = fraction.iter().take_while(|b| b.is_ascii_digit()).count();
            // Nine digits are a nanosecond; nothing here tells more apart.
            if digits == 0 || digits > 9 {
                return false;
            }
            &fraction[digits..]
        }
        _ => rest,
    };
    match offset {
        [b'Z' | b'z'] => true,
        [b'+' | b'-', offset @ ..] => matches_form(offset, b"00:00"),
        _ => false,
    }
}

/// Whether `bytes` has a digit wherever `form` has one, and equals it elsewhere.
fn matches_form(bytes: &[u8], form: &[u8]) -> bool {
    bytes.len() == form.len()
        && bytes.iter().zip(form).all(|(b, f)| if f.is_ascii_digit() { b.is_ascii_digit() } else { b == f })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn real_days_and_times_pass() {
        for value in [
            "2026-01-31",
            "2024-02-29",
            "0001-01-01",
            "2026-01-31T09:30:00Z",
            "2026-01-31t09:30:00z",
            "2026-01-31T09:30:00.123456789+05:30",
            "2026-01-31T23:59:60Z",
            "2026-01-31 09:30:00-08:00",
        ] {
            assert_eq!(check_content_date(value), Ok(()), "{value}");
        }
    }

    #[test]
    fn days_and_times_that_do_not_exist_are_refused() {
        for value in [
            "2026-02-29",
            "2026-13-01",
            "2026-00-10",
            "2026-04-31",
            "2026-01-01T24:30:00Z",
            "2026-01-01T10:61:00Z",
        ] {
            assert_eq!(check_content_date(value), Err(DateError::NoSuchTime), "{value}");
            assert_eq!(day_of(value), None);
        }
    }

    #[test]
    fn other_forms_are_refused() {
        for value in [
            "",
            "yesterday",
            "2026",
            "2026-1-2",
            "31.01.2026",
            "2026-01-31T09:30",
            "2026-01-31T09:30:00",
            "2026-01-31T09:30:00.Z",
            "2026-01-31T09:30:00Z[UTC]",
            " 2026-01-31",
            "2026-01-31é",
            "２０２６-01-31",
            "2026-01-3\u{301}",
            "+002026-01-31",
        ] {
            assert_eq!(check_content_date(value), Err(DateError::Form), "{value}");
        }
    }

    #[test]
    fn a_day_is_counted_as_it_is_written() {
        assert_eq!(day_of("1970-01-01"), Some(0));
        assert_eq!(day_of("1969-12-31"), Some(-1));
        assert_eq!(day_of("2000-03-01"), Some(11_017));
        assert_eq!(day_of("1970-01-02T00:30:00+14:00"), Some(1));
    }

    proptest! {
        #[test]
        fn whatever_is_refused_has_no_day(value in "\\PC{0,30}|[0-9T:Z.+-]{0,30}") {
            prop_assert_eq!(day_of(&value).is_some(), check_content_date(&value).is_ok());
        }
    }
}

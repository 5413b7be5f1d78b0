//! From an error's class to the exit code, in one place.

use undercroft_palace::ErrorClass;

/// The run did what it was asked.
pub(crate) const DONE: u8 = 0;
/// The run failed, and the stored bytes are not in question.
pub(crate) const FAILED: u8 = 1;
/// Stored bytes contradict themselves or what was recorded about them.
pub(crate) const INTEGRITY: u8 = 2;

/// The exit code of a failure.
#[must_use]
pub(crate) fn code(class: ErrorClass) -> u8 {
    match class {
        ErrorClass::Integrity => INTEGRITY,
        ErrorClass::Invalid
        | ErrorClass::NotFound
        | ErrorClass::Conflict
        | ErrorClass::Denied
        | ErrorClass::Unavailable
        | ErrorClass::Internal => FAILED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_integrity_verdict_exits_with_two() {
        for class in ErrorClass::ALL {
            assert_eq!(code(class), if class == ErrorClass::Integrity { 2 } else { 1 }, "{class}");
        }
    }
}

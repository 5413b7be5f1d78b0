//! Every bound of certificates and connections, each with its reason.

use std::time::Duration;

/// Characters of a name in a certificate: it is a folder's name too, and stands in tables.
pub const NAME_CHARS: usize = 63;
/// Host names and addresses in one certificate.
pub const HOSTS: usize = 32;
/// Bytes of a file of certificates or keys: two CA certificates and a chain are below 8 KiB.
pub const FILE_BYTES: u64 = 256 << 10;
/// Seconds that a certificate is valid before it is made: clocks of a fleet differ.
pub const CLOCK_SKEW: u64 = 60 * 60;
/// Seconds of a day.
pub const DAY: u64 = 24 * 60 * 60;
/// Days for which a certificate is issued, unless others are asked for.
pub const DAYS: u32 = 365;
/// The most days that may be asked for: a stolen key works until its certificate ends.
pub const DAYS_MAX: u32 = 825;
/// Days for which the CA is valid.
pub const CA_DAYS: u32 = 3650;
/// Days before its end from which the CA should be renewed: every certificate that it issues must end before it.
pub const CA_RENEWAL_DAYS: u32 = 825;
/// How long a handshake may take. A peer that says nothing holds a place no longer than that.
pub const HANDSHAKE: Duration = Duration::from_secs(5);
/// Handshakes at one time. More connections wait in the system's queue.
pub const HANDSHAKES: usize = 128;
/// Finished handshakes that wait to be served.
pub const ACCEPTED: usize = 32;
/// Between two looks at the files.
pub const LOOK: Duration = Duration::from_secs(10);

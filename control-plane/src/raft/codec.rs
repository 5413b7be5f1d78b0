//! How what openraft gives is written: postcard. Failures are `io::Error`, as its traits want them.

use std::io;

use serde::Serialize;
use serde::de::Deserialize;

pub(super) fn encode<T: Serialize>(value: &T) -> io::Result<Vec<u8>> {
    postcard::to_allocvec(value).map_err(|error| invalid(error.to_string()))
}

/// Reads a value that fills `bytes` exactly.
pub(super) fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> io::Result<T> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        Ok((_, rest)) => Err(invalid(format!("{} bytes are left", rest.len()))),
        Err(error) => Err(invalid(error.to_string())),
    }
}

pub(super) fn invalid(problem: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem.into())
}

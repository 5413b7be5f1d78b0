//! The content frame: what a text looks like just before it is sealed.
//!
//! Raw, or one zstd frame when that is shorter. No dictionary is shared between records, so the size of one tells
//! nothing about another. Decoding trusts nothing: the size comes from the frame's header and is checked before
//! a byte is allocated for it.

use std::cell::RefCell;

use zstd::zstd_safe::{self, CCtx, CParameter, DCtx};

use crate::error::Error;

/// First byte of a frame whose content follows as it is.
pub const FRAME_RAW: u8 = 0x00;
/// First byte of a frame whose content follows as one zstd frame.
pub const FRAME_ZSTD: u8 = 0x01;
/// Shorter contents are never compressed, in bytes.
pub const COMPRESS_MIN: usize = 64;
/// The zstd level: the best ratio that costs less than the fsync beside it.
pub const COMPRESS_LEVEL: i32 = 3;

thread_local! {
    // A compression context is about 1 MiB and costs more to make than a small text costs to compress.
    static COMPRESSOR: RefCell<Option<CCtx<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
}

/// Frames a content: 0x00 ‖ content, or 0x01 ‖ zstd frame (level 3, content size in its header) when the content
/// has at least 64 bytes and the zstd frame is shorter.
#[must_use]
pub fn encode(content: &[u8]) -> Vec<u8> {
    if content.len() >= COMPRESS_MIN
        && let Some(frame) = compress(content)
    {
        return frame;
    }
    let mut frame = Vec::with_capacity(1 + content.len());
    frame.push(FRAME_RAW);
    frame.extend_from_slice(content);
    frame
}

/// Compresses into one byte less than the content, so "it does not fit" is "it does not pay". Any other failure
/// (no memory for the context) also falls back to the raw frame, which is always right.
fn compress(content: &[u8]) -> Option<Vec<u8>> {
    COMPRESSOR.with_borrow_mut(|slot| {
        if slot.is_none() {
            let mut fresh = CCtx::try_create()?;
            fresh.set_parameter(CParameter::CompressionLevel(COMPRESS_LEVEL)).ok()?;
            fresh.set_parameter(CParameter::ContentSizeFlag(true)).ok()?;
            *slot = Some(fresh);
        }
        let mut frame = vec![0; content.len()];
        frame[0] = FRAME_ZSTD;
        let written = slot.as_mut()?.compress2(&mut frame[1..], content).ok()?;
        frame.truncate(1 + written);
        Some(frame)
    })
}

/// Gives back the content of a frame, at most `limit` bytes of it.
///
/// # Errors
/// [`Error::FrameTooLarge`] when the frame announces more than `limit`, before anything is allocated.
/// [`Error::Frame`] for an empty frame, an unknown first byte, and a zstd frame that has no size in its header,
/// lies about it, is cut, is followed by anything, or is one that [`encode`] would not have written.
pub fn decode(frame: &[u8], limit: usize) -> Result<Vec<u8>, Error> {
    let mut content = Vec::new();
    decode_into(frame, limit, &mut content).map(|()| content)
}

/// As [`decode`], into a buffer that keeps its capacity. What the buffer held is replaced; after an error it is empty.
///
/// # Errors
/// Those of [`decode`].
pub fn decode_into(frame: &[u8], limit: usize, content: &mut Vec<u8>) -> Result<(), Error> {
    content.clear();
    match frame.split_first() {
        Some((&FRAME_RAW, raw)) => {
            within(raw.len() as u64, limit)?;
            content.extend_from_slice(raw);
            Ok(())
        }
        Some((&FRAME_ZSTD, compressed)) => decompress(compressed, limit, content),
        Some(_) => Err(damaged("unknown first byte")),
        None => Err(damaged("no bytes")),
    }
}

fn decompress(compressed: &[u8], limit: usize, content: &mut Vec<u8>) -> Result<(), Error> {
    let claimed = zstd_safe::get_frame_content_size(compressed)
        .map_err(|_| damaged("no zstd header"))?
        .ok_or(damaged("no size in the zstd header"))?;
    let size = within(claimed, limit)?;
    if size < COMPRESS_MIN || compressed.len() >= size {
        return Err(damaged("compressed where that does not pay"));
    }
    let whole = zstd_safe::find_frame_compressed_size(compressed).map_err(|_| damaged("cut zstd frame"))?;
    if whole != compressed.len() {
        return Err(damaged("bytes after the zstd frame"));
    }
    DECOMPRESSOR.with_borrow_mut(|slot| {
        // Like any allocation, this panics for want of memory: a text must never look damaged because of that.
        let context = slot.get_or_insert_with(DCtx::create);
        // Appends within the capacity, whose bytes need not be zeroed first.
        content.reserve_exact(size);
        match context.decompress(content, compressed) {
            Ok(written) if written == size => Ok(()),
            _ => {
                content.clear();
                Err(damaged("the zstd frame does not decompress to its size"))
            }
        }
    })
}

fn within(claimed: u64, limit: usize) -> Result<usize, Error> {
    match usize::try_from(claimed) {
        Ok(size) if size <= limit => Ok(size),
        _ => Err(Error::FrameTooLarge { claimed, limit }),
    }
}

const fn damaged(defect: &'static str) -> Error {
    Error::Frame { defect }
}

#[cfg(test)]
#[path = "frame_test.rs"]
mod frame_test;

//! Owns the inner loop of the vector scan: columns of signed bytes times small whole numbers, summed by slot.
//! It is one safe body, compiled once for every processor and again for the wider registers of those that have
//! them; which one runs is decided while running, and all give the same whole numbers.
//!
//! The only `unsafe` of this crate is the call of those compilations, each behind the check that its registers
//! exist.

/// Columns taken in one pass over the sums, so that these are read and written a quarter as often.
const PASS: usize = 4;

/// Adds `weight * column` to `sums` for every weighted column. `codes` is a sequence of columns of `capacity` codes
/// each, and `sums` has `capacity` entries. The caller bounds the weights so that no sum overflows.
pub(crate) fn accumulate(codes: &[i8], capacity: usize, weights: &[(u32, i16)], sums: &mut [i32]) {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vl") {
            #[expect(unsafe_code, reason = "the processor was just found to have the registers")]
            // SAFETY: `wide512` is safe code whose only demand is that the processor has avx512bw and avx512vl, and
            // the line above has just found both.
            return unsafe { wide512(codes, capacity, weights, sums) };
        }
        if is_x86_feature_detected!("avx2") {
            #[expect(unsafe_code, reason = "the processor was just found to have the registers")]
            // SAFETY: `wide256` is safe code whose only demand is that the processor has avx2, which the line above
            // has just found.
            return unsafe { wide256(codes, capacity, weights, sums) };
        }
    }
    body(codes, capacity, weights, sums);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn wide512(codes: &[i8], capacity: usize, weights: &[(u32, i16)], sums: &mut [i32]) {
    body(codes, capacity, weights, sums);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn wide256(codes: &[i8], capacity: usize, weights: &[(u32, i16)], sums: &mut [i32]) {
    body(codes, capacity, weights, sums);
}

/// The loop itself, written so that the compiler turns it into vector instructions.
#[inline(always)]
pub(crate) fn body(codes: &[i8], capacity: usize, weights: &[(u32, i16)], sums: &mut [i32]) {
    let column = |dimension: u32| &codes[dimension as usize * capacity..][..capacity];
    let (passes, rest) = weights.as_chunks::<PASS>();
    for [(d0, w0), (d1, w1), (d2, w2), (d3, w3)] in passes {
        let (c0, c1, c2, c3) = (column(*d0), column(*d1), column(*d2), column(*d3));
        for ((((sum, c0), c1), c2), c3) in sums.iter_mut().zip(c0).zip(c1).zip(c2).zip(c3) {
            *sum += (product(*c0, *w0) + product(*c1, *w1)) + (product(*c2, *w2) + product(*c3, *w3));
        }
    }
    for (dimension, weight) in rest {
        for (sum, code) in sums.iter_mut().zip(column(*dimension)) {
            *sum += product(*code, *weight);
        }
    }
}

#[inline(always)]
fn product(code: i8, weight: i16) -> i32 {
    i32::from(code) * i32::from(weight)
}

#[cfg(test)]
#[path = "kernel_test.rs"]
mod kernel_test;

//! What the figures were measured on: processor, cores, and what one fdatasync costs on the disk in question.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use crate::stopwatch::Timings;

/// Prints the machine and the disk below `dir`.
pub fn print(dir: &Path) {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let (p50, p99) = fsync_ms(dir).unwrap_or((f64::NAN, f64::NAN));
    println!("machine: {}, {cores} cores; fdatasync p50 {p50:.2} ms, p99 {p99:.2} ms", processor());
}

/// How many appends of 4 KiB are synced in a second, one after the other.
///
/// # Errors
/// When the folder cannot be written.
pub fn fsync_per_second(dir: &Path) -> std::io::Result<f64> {
    Ok(1e3 / fsync_timings(dir)?.mean_ms())
}

fn processor() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("unknown processor");
    name.trim_start_matches([' ', '\t', ':']).to_owned()
}

/// Median and 99th percentile of appending 4 KiB and syncing, in milliseconds.
fn fsync_ms(dir: &Path) -> std::io::Result<(f64, f64)> {
    let timings = fsync_timings(dir)?;
    Ok((timings.percentile_ms(50), timings.percentile_ms(99)))
}

fn fsync_timings(dir: &Path) -> std::io::Result<Timings> {
    let path = dir.join("fsync.probe");
    let mut file = File::create(&path)?;
    let mut timings = Timings::default();
    for _ in 0..200 {
        file.write_all(&[0; 4_096])?;
        timings.time(|| file.sync_data())?;
    }
    fs::remove_file(&path)?;
    Ok(timings)
}

/// Resident memory of this process in MiB, as the system counts it.
#[must_use]
pub fn resident_mib() -> f64 {
    resident_mib_of("self")
}

/// Resident memory of a process in MiB.
#[must_use]
pub fn resident_mib_of(process: &str) -> f64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let kib = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib: f64 = kib.and_then(|text| text.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(f64::NAN);
    kib / 1_024.0
}

/// Processor seconds that this process has used, over all threads: steadier than the clock on a busy machine.
#[must_use]
pub fn cpu_secs() -> f64 {
    cpu_secs_of("self")
}

/// Processor seconds that a process has used, over all threads.
#[must_use]
pub fn cpu_secs_of(process: &str) -> f64 {
    /// Ticks a second in `/proc`, on every Linux that this runs on.
    const TICKS: f64 = 100.0;
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The second field is a name in parentheses and may hold anything; user and system time are the 14th and 15th.
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let fields: Vec<f64> =
        after_name.split_whitespace().skip(11).take(2).filter_map(|field| field.parse().ok()).collect();
    fields.iter().sum::<f64>() / TICKS
}

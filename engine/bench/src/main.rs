//! `undercroft-bench`: one subcommand a measurement. The last line of each is machine-readable.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use undercroft_bench::{ingest, locomo_run, open, replica, scale, serve, verify};
use undercroft_crypto::Level;

/// Measures the Undercroft engine. Use a release build: cargo run --release -p undercroft-bench -- <command>
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Retrieval quality and speed on the LoCoMo conversations.
    Locomo {
        /// The file locomo10.json.
        path: PathBuf,
    },
    /// Search latency, memory and open time as one vault grows.
    Scale {
        /// Numbers of drawers to stop at, rising.
        #[arg(long, value_delimiter = ',', default_values_t = [2_000, 10_000, 100_000])]
        sizes: Vec<usize>,
    },
    /// Bulk and single saves.
    Ingest {
        /// Drawers of 90 words.
        #[arg(long, default_value_t = 50_000)]
        drawers: usize,
        /// sealed or hmac-only.
        #[arg(long, default_value = "sealed", value_parser = Level::parse)]
        level: Level,
    },
    /// Opening to first answer, from the rows and from the sealed image.
    Open {
        /// Drawers of 90 words.
        #[arg(long, default_value_t = 100_000)]
        drawers: usize,
    },
    /// Verification.
    Verify {
        /// Drawers of 90 words.
        #[arg(long, default_value_t = 100_000)]
        drawers: usize,
        /// Times that the vault is verified; the best one counts.
        #[arg(long, default_value_t = 3)]
        runs: u32,
    },
    /// One copy of a vault writes segments, others take them.
    Replica {
        /// Segments, each of one save of about 1 KiB.
        #[arg(long, default_value_t = 100_000)]
        segments: usize,
        /// sealed or hmac-only.
        #[arg(long, default_value = "sealed", value_parser = Level::parse)]
        level: Level,
    },
    /// The server under load: searches, saves, many vaults, and what one vault does to another.
    Serve(serve::ServeOptions),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Locomo { path } => locomo_run::run(&path),
        Command::Scale { sizes } => scale::run(&sizes).map_err(Into::into),
        Command::Ingest { drawers, level } => ingest::run(drawers, level).map_err(Into::into),
        Command::Open { drawers } => open::run(drawers).map_err(Into::into),
        Command::Verify { drawers, runs } => verify::run(drawers, runs).map_err(Into::into),
        Command::Replica { segments, level } => replica::run(segments, level).map_err(Into::into),
        Command::Serve(options) => serve::run(&options).map_err(Into::into),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("Error: {error}");
            ExitCode::FAILURE
        }
    }
}

//! The daemon while its sets change: every frame is held against the lists that were current.
//!
//! A short form runs with all tests. `LINERATE_SOAK_SECONDS` makes it longer, and
//! `LINERATE_SOAK_ENTRIES` its file list; `./soak.sh` sets both. `LINERATE_SOAK_SEED` runs one
//! again.
//! `LINERATE_SOAK_PROGRAM` is another program than the one built for the test.

mod bridge;
mod changes;
mod guards;
mod model;
mod replay;
mod run;
mod soak;

use std::time::{SystemTime, UNIX_EPOCH};

/// A number of the environment.
fn given(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().expect("a number"))
}

/// A seed from the clock, printed, or that of `LINERATE_SOAK_SEED`.
fn seed() -> u64 {
    let seed = given("LINERATE_SOAK_SEED").unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        now.map_or(1, |now| now.as_nanos() as u64)
    });
    println!("LINERATE_SOAK_SEED={seed} makes this run again");
    seed
}

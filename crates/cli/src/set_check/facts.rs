//! What one list holds and costs. The field names are a contract, as those of the run report are.

use std::time::Instant;

use list::Loaded;
use serde::Serialize;
use table::CompiledLists;

use super::source::ListSource;
use crate::args::SetFile;
use crate::error::Error;
use crate::load::{self, ReadChoices};
use crate::output::Output;
use crate::report::number::plural;

/// One list.
#[derive(Debug, Serialize)]
pub(super) struct FileFacts {
    /// The set's name, were it loaded.
    pub(super) name: String,
    pub(super) file: String,
    pub(super) format: String,
    pub(super) gzip: bool,
    /// Comments and empty ones included.
    pub(super) lines: u64,
    /// Of the file, compressed as it is.
    pub(super) bytes_read: u64,
    /// As given: addresses, networks and ranges.
    pub(super) entries: u64,
    pub(super) addresses: u64,
    pub(super) networks: u64,
    pub(super) ranges: u64,
    /// Entries that add nothing: given twice, or within others.
    pub(super) merged: u64,
    /// `ipv4`, `ipv6`.
    pub(super) families: Vec<&'static str>,
    /// IPv4 addresses that match.
    pub(super) covered_v4: u64,
    /// The same by all there are, 0 to 1.
    pub(super) covered_v4_share: f64,
    /// IPv6 addresses that match, in decimal digits: more than a JSON number holds.
    pub(super) covered_v6: String,
    #[serde(skip)]
    pub(super) covered_v6_count: u128,
    /// Memory once loaded, compiled alone.
    pub(super) bytes: u64,
    /// Time to read it.
    pub(super) read_seconds: f64,
    /// Time to compile it.
    pub(super) compile_seconds: f64,
    /// Reading alone.
    pub(super) lines_per_second: f64,
    /// Why a bridge would not load it, and what to do; none when it would.
    pub(super) refusal: Option<String>,
    pub(super) bad_lines: u64,
    /// The first bad lines, `FILE:LINE: what is wrong`.
    pub(super) bad: Vec<String>,
    pub(super) warning_count: u64,
    /// The first of each kind, `FILE:LINE: sentence`.
    pub(super) warnings: Vec<String>,
}

impl FileFacts {
    /// Reads and compiles the list.
    pub(super) fn read(
        file: &SetFile,
        source: &ListSource,
        choices: &ReadChoices,
        output: Output,
    ) -> Result<Self, Error> {
        let start = Instant::now();
        let loaded = load::read(&file.file, source.open()?, choices, output);
        let loaded = loaded.map_err(Error::refused)?;
        let read_seconds = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let compiled = CompiledLists::compile(&[&loaded.entries]).map_err(Error::refused)?;
        let compile_seconds = start.elapsed().as_secs_f64();
        let mut facts = Self::of(
            file,
            source,
            &loaded,
            &compiled,
            (read_seconds, compile_seconds),
        );
        facts.refusal = refusal(source.shown(), &loaded, choices);
        Ok(facts)
    }

    fn of(
        file: &SetFile,
        source: &ListSource,
        loaded: &Loaded,
        compiled: &CompiledLists,
        (read_seconds, compile_seconds): (f64, f64),
    ) -> Self {
        let facts = compiled.list(0);
        let entries = &loaded.entries;
        let families = [
            ("ipv4", entries.v4.is_empty()),
            ("ipv6", entries.v6.is_empty()),
        ];
        let families = families
            .into_iter()
            .filter(|&(_, empty)| !empty)
            .map(|(name, _)| name);
        Self {
            name: file.name_or_stem(),
            file: source.shown().to_owned(),
            format: loaded.format.to_string(),
            gzip: loaded.gzip,
            lines: loaded.lines,
            bytes_read: loaded.bytes_read,
            entries: loaded.entry_count,
            addresses: facts.addresses,
            networks: facts.networks,
            ranges: facts.ranges,
            merged: facts.duplicates_or_covered,
            families: families.collect(),
            covered_v4: facts.covered_v4,
            covered_v4_share: facts.covered_v4 as f64 / (1u64 << 32) as f64,
            covered_v6: facts.covered_v6.to_string(),
            covered_v6_count: facts.covered_v6,
            bytes: compiled.bytes() as u64,
            read_seconds,
            compile_seconds,
            lines_per_second: loaded.lines as f64 / read_seconds.max(1e-9),
            refusal: None,
            bad_lines: loaded.bad_count,
            bad: loaded.bad.iter().map(ToString::to_string).collect(),
            warning_count: loaded.warning_count,
            warnings: loaded.warnings.iter().map(ToString::to_string).collect(),
        }
    }
}

/// Why a bridge would not load the list as it is, and what to do.
fn refusal(file: &str, loaded: &Loaded, choices: &ReadChoices) -> Option<String> {
    if loaded.bad_count == 0 || loaded.entry_count == 0 {
        return choices.refusal(file, loaded);
    }
    let lines = plural(loaded.bad_count, "bad line", "bad lines");
    let remedy = list::remedy(&loaded.bad, loaded.bad_count, loaded.entry_count);
    // The check itself always reads the rest.
    let remedy = remedy.replace("--skip-bad-lines", "bridge --skip-bad-lines");
    Some(format!("{file} has {lines}: {remedy}"))
}

//! Reads texts for the tests, and shows what came of them as lines of text.

#![allow(dead_code, reason = "each test file uses some of it")]

use list::{Entry, JsonPath, ListError, Loaded, ReadOptions, Span, read};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Reads `text` as the list `L`.
pub(crate) fn load_with(
    text: impl AsRef<[u8]>,
    options: &ReadOptions,
) -> Result<Loaded, ListError> {
    read("L", text.as_ref(), options, &mut |_| {})
}

/// Reads `text` as the list `L`, which must be without fault.
#[track_caller]
pub(crate) fn load(text: impl AsRef<[u8]>) -> Loaded {
    load_with(text, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// Reads what is right of `text`.
#[track_caller]
pub(crate) fn load_rest(text: impl AsRef<[u8]>) -> Loaded {
    load_with(text, &skipping()).unwrap_or_else(|error| panic!("{error}"))
}

/// Options that leave bad lines out.
pub(crate) fn skipping() -> ReadOptions {
    ReadOptions {
        skip_bad_lines: true,
        ..ReadOptions::default()
    }
}

/// Options that read these columns, as `--column` and `--columns` name them.
pub(crate) fn columns(text: &str) -> ReadOptions {
    let columns = text.parse().unwrap_or_else(|why| panic!("{why}"));
    ReadOptions {
        columns: Some(columns),
        ..skipping()
    }
}

/// Options that read JSON at these paths.
pub(crate) fn asking(paths: &str) -> ReadOptions {
    ReadOptions {
        json_paths: JsonPath::parse_all(paths).unwrap_or_else(|why| panic!("{why}")),
        ..ReadOptions::default()
    }
}

/// The entries: IPv4 before IPv6, addresses before networks before ranges.
pub(crate) fn entries(loaded: &Loaded) -> Vec<String> {
    let (v4, v6) = (&loaded.entries.v4, &loaded.entries.v6);
    let mut all: Vec<Entry> = Vec::new();
    all.extend(v4.addresses.iter().map(|&a| Entry::V4(Span::Address(a))));
    all.extend(v4.networks.iter().map(|&n| Entry::V4(Span::Network(n))));
    all.extend(v4.ranges.iter().map(|&r| Entry::V4(Span::Range(r))));
    all.extend(v6.addresses.iter().map(|&a| Entry::V6(Span::Address(a))));
    all.extend(v6.networks.iter().map(|&n| Entry::V6(Span::Network(n))));
    all.extend(v6.ranges.iter().map(|&r| Entry::V6(Span::Range(r))));
    assert_eq!(loaded.entry_count, all.len() as u64);
    all.iter().map(Entry::to_string).collect()
}

/// The bad lines as they are printed.
pub(crate) fn bad(loaded: &Loaded) -> Vec<String> {
    loaded.bad.iter().map(ToString::to_string).collect()
}

/// The warnings as they are printed.
pub(crate) fn warnings(loaded: &Loaded) -> Vec<String> {
    loaded.warnings.iter().map(ToString::to_string).collect()
}

/// Why `text` is not loaded.
#[track_caller]
pub(crate) fn refusal(text: impl AsRef<[u8]>, options: &ReadOptions) -> String {
    match load_with(text, options) {
        Ok(loaded) => panic!("loaded: {:?}", entries(&loaded)),
        Err(error) => error.to_string(),
    }
}

/// A sample that a real program printed.
pub(crate) fn sample(name: &str) -> Vec<u8> {
    let path = crate_dir().join("tests/data").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The folder of this crate.
pub(crate) fn crate_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// One gzip member.
pub(crate) fn gzip(text: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_ref()).unwrap();
    encoder.finish().unwrap()
}

/// Hands out its bytes in pieces of these lengths, in turn, with interruptions between.
pub(crate) struct Pieces<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) lengths: &'a [usize],
    pub(crate) calls: usize,
}

impl<'a> Pieces<'a> {
    pub(crate) fn new(bytes: &'a [u8], lengths: &'a [usize]) -> Self {
        Self {
            bytes,
            lengths,
            calls: 0,
        }
    }
}

impl Read for Pieces<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.calls += 1;
        if self.calls.is_multiple_of(3) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let length = self.lengths.get(self.calls % self.lengths.len().max(1));
        let wanted = length.copied().unwrap_or(1).max(1).min(room.len());
        self.bytes.read(&mut room[..wanted])
    }
}

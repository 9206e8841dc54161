//! The fuzz targets as functions: each takes any bytes and panics when a promise is broken.
//!
//! `cargo fuzz run NAME` explores (nightly); `cargo test` here replays the corpora, the committed
//! regressions and a seeded stream of mutations of both.
#![forbid(unsafe_code)]

mod config;
mod control;
mod decisions;
mod fragments;
mod journal;
mod nat;
mod requests;
mod routes;
mod rules;
mod socket;
mod stack;
mod switch;
mod tcp;
mod traffic;
mod tunnel;

use std::io::Cursor;

use port::PortSpec;
use port::pcap::{CaptureReader, Step};

pub use crate::config::config;
pub use crate::control::control;
pub use crate::decisions::decisions;
pub use crate::fragments::fragments;
pub use crate::journal::journal;
pub use crate::nat::nat;
pub use crate::requests::requests;
pub use crate::routes::routes;
pub use crate::rules::{nft_rules, rules};
pub use crate::socket::{sample, scrape};
pub use crate::stack::stack;
pub use crate::switch::switch;
pub use crate::tcp::tcp;
pub use crate::traffic::{recipe, sink};
pub use crate::tunnel::tunnel;

/// A frame and the length it had before a capture cut it: the first two bytes say how much was
/// cut. Whatever is in it, the offsets lie inside, and cutting more never changes an address.
pub fn parse(bytes: &[u8]) {
    let Some((&[high, low], frame)) = bytes.split_first_chunk::<2>() else {
        return;
    };
    let original_len = frame.len() + usize::from(u16::from_be_bytes([high, low]));
    let whole = wire::parse(frame, original_len);
    assert!(usize::from(whole.l3_offset) <= frame.len());
    assert!(usize::from(whole.l4_offset) <= frame.len());
    let half = wire::parse(&frame[..frame.len() / 2], original_len);
    assert!(
        !half.readable.src() || half.src == whole.src,
        "a cut changed the source"
    );
    assert!(
        !half.readable.dst() || half.dst == whole.dst,
        "a cut changed the destination"
    );
}

/// A list of addresses, in whatever format the first byte's options and the bytes make it.
pub fn list(bytes: &[u8]) {
    let Some((&options, text)) = bytes.split_first() else {
        return;
    };
    let options = list::ReadOptions {
        columns: columns(options),
        skip_bad_lines: options & 4 != 0,
        force: options & 8 != 0,
        json_paths: if options & 16 != 0 {
            list::JsonPath::parse_all("prefixes[].ip_prefix, *[], [].ip, cidr").unwrap_or_default()
        } else {
            Vec::new()
        },
        ..list::ReadOptions::default()
    };
    if let Ok(loaded) = list::read("fuzz", text, &options, &mut |_| {}) {
        let held = loaded.entries.v4.count() + loaded.entries.v6.count();
        assert_eq!(held as u64, loaded.entry_count);
    }
}

/// The first two bits are a column, as inputs of old have them; the high bits are other columns.
fn columns(options: u8) -> Option<list::Columns> {
    match (options & 3, options >> 4) {
        (0, 0) => None,
        (number @ 1..=3, 0) => number.to_string().parse().ok(),
        (_, 1) => "1-2".parse().ok(),
        (_, 2) => "1/2".parse().ok(),
        (_, 3) => "all".parse().ok(),
        _ => "ip".parse().ok(),
    }
}

/// A capture file.
pub fn capture(bytes: &[u8]) {
    let Ok(mut reader) = CaptureReader::from_read("fuzz", Box::new(Cursor::new(bytes.to_vec())))
    else {
        return;
    };
    // Each record takes at least eight bytes of the file, a simple packet block with none of its
    // frame captured; gzip makes a file a thousand times longer.
    let steps_max = bytes.len() * 1100 + 16;
    for _ in 0..steps_max {
        match reader.next() {
            // A file may claim an original length below the captured one; what it cannot do is hold
            // a frame longer than itself.
            Step::Record(record) => assert!(record.bytes.len() <= steps_max),
            Step::LeftOut(_) => {}
            Step::Waiting | Step::Ended => return,
        }
    }
    panic!("more records than the file can hold");
}

/// A port as a user writes it: a spec that is understood is understood again when it is shown.
pub fn spec(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok(spec) = PortSpec::parse(text) {
        let shown = spec.to_string();
        let again = PortSpec::parse(&shown).expect("what is shown can be read");
        assert_eq!(again.to_string(), shown);
    }
}

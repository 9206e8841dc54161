//! Samples as lines of JSON, for programs that read logs.

use std::net::IpAddr;

use daemon::capture::CapturedFrame;
use serde::Serialize;
use wire::Readable;

use super::entries::Entries;
use super::writer::Format;
use crate::laboratory::date;

/// Writes one object a line.
pub(super) struct JsonLines {
    entries: Entries,
}

impl JsonLines {
    pub(super) fn new(entries: Entries) -> Self {
        Self { entries }
    }
}

/// A sample as programs read it. What the frame does not say is left out.
#[derive(Debug, Serialize)]
struct Line<'a> {
    /// `2026-11-20T23:53:55.000000001Z`.
    time: String,
    port: &'a str,
    /// `drop` or `forward`.
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    src: Option<IpAddr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dst: Option<IpAddr>,
    /// Its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    protocol: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    src_port: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dst_port: Option<u16>,
    /// Of the outermost tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    vlan: Option<u16>,
    /// Without FCS.
    length: u32,
    sets: Vec<LineSet<'a>>,
    stands_for: u64,
}

#[derive(Debug, Serialize)]
struct LineSet<'a> {
    set: &'a str,
    side: &'a str,
    action: &'a str,
    /// The narrowest entry that holds the address now; left out where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<String>,
}

impl Format for JsonLines {
    fn name(&self) -> &'static str {
        "JSON"
    }

    fn begin(&mut self, _out: &mut Vec<u8>) {}

    fn sample(&mut self, frame: &CapturedFrame, out: &mut Vec<u8>) {
        let parsed = wire::parse(&frame.bytes.0, frame.original_len as usize);
        let (src, dst) = (parsed.src_ip(), parsed.dst_ip());
        let sets = frame.sets.iter().map(|set| {
            let address = if set.side == "dst" { dst } else { src };
            LineSet {
                set: &set.set,
                side: &set.side,
                action: &set.action,
                entry: address.and_then(|address| self.entries.of(address, &set.set)),
            }
        });
        let sets = sets.collect();
        let ports = parsed.readable.has(Readable::PORTS);
        let line = Line {
            time: date::nanoseconds(frame.time_ns),
            port: &frame.port,
            verdict: if frame.reason.is_some() {
                "drop"
            } else {
                "forward"
            },
            reason: frame.reason.as_deref(),
            src,
            dst,
            protocol: parsed.is_ip().then_some(parsed.protocol),
            src_port: ports.then_some(parsed.src_port),
            dst_port: ports.then_some(parsed.dst_port),
            vlan: (parsed.vlan_tags > 0).then_some(parsed.vlan_tci & 0x0fff),
            length: frame.original_len,
            sets,
            stands_for: frame.stands_for,
        };
        // Strings and numbers: there is nothing that JSON could not hold.
        if serde_json::to_writer(&mut *out, &line).is_ok() {
            out.push(b'\n');
        }
    }
}

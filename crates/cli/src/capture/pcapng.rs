//! Samples as pcapng: an interface a port, and in each packet's comment why it is there.

use std::collections::HashMap;

use daemon::capture::CapturedFrame;
use wire::capture::pcapng::{
    InterfaceDescription, PacketRecord, SectionHeader, TEXT_BYTES_MAX, TimeResolution,
    emit_commented, emit_named_interface,
};
use wire::capture::{ByteOrder, LinkType};

use super::comment::comment;
use super::writer::Format;

/// Ports that get an interface of their own; a daemon has two. More would be a daemon's lie.
const PORTS_MAX: usize = 1_000;
/// Bytes of a block that are neither frame nor text: heads of block and options, paddings.
const BLOCK_BYTES: usize = 64;

const ORDER: ByteOrder = ByteOrder::NATIVE;

/// Writes pcapng.
pub(super) struct Pcapng {
    snap_bytes: u32,
    /// Interfaces by the names of their ports.
    ports: HashMap<String, u32>,
}

impl Pcapng {
    pub(super) fn new(snap_bytes: u32) -> Self {
        Self {
            snap_bytes,
            ports: HashMap::new(),
        }
    }

    /// The interface of a port, which is described before its first packet.
    fn interface(&mut self, port: &str, out: &mut Vec<u8>) -> u32 {
        if let Some(&number) = self.ports.get(port) {
            return number;
        }
        let number = self.ports.len().min(PORTS_MAX) as u32;
        if self.ports.len() <= PORTS_MAX {
            self.ports.insert(port.to_owned(), number);
            let interface = InterfaceDescription {
                link_type: LinkType::ETHERNET,
                snaplen: self.snap_bytes,
                resolution: TimeResolution::NANO,
                offset_s: 0,
                fcs_bytes: None,
            };
            append(out, 0, |place| {
                emit_named_interface(place, ORDER, &interface, port)
            });
        }
        number
    }
}

impl Format for Pcapng {
    fn name(&self) -> &'static str {
        "pcapng"
    }

    fn begin(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(&SectionHeader { order: ORDER }.to_bytes());
    }

    fn sample(&mut self, frame: &CapturedFrame, out: &mut Vec<u8>) {
        let interface = self.interface(&frame.port, out);
        let bytes = &frame.bytes.0[..];
        let record = PacketRecord {
            interface,
            ticks: Some(frame.time_ns),
            original_len: frame.original_len.max(bytes.len() as u32),
            bytes,
        };
        let comment = comment(frame);
        append(out, bytes.len(), |place| {
            emit_commented(place, ORDER, &record, &comment)
        });
    }
}

/// Appends a block with `frame_bytes` of a frame in it. One that is longer than a record may be,
/// which no daemon sends, is left out.
fn append<E>(
    out: &mut Vec<u8>,
    frame_bytes: usize,
    emit: impl FnOnce(&mut [u8]) -> Result<usize, E>,
) {
    let start = out.len();
    out.resize(start + frame_bytes + TEXT_BYTES_MAX + BLOCK_BYTES, 0);
    let written = emit(&mut out[start..]).unwrap_or(0);
    out.truncate(start + written);
}

//! Captures made by hand, and ways to read and write them.

use std::io::{Cursor, Read, Write};
use std::sync::{Arc, Mutex};

use wire::capture::pcap::{FileHeader, RecordHeader, Resolution};
use wire::capture::pcapng::{
    self, InterfaceDescription, PacketRecord, SectionHeader, TimeResolution,
};
use wire::capture::{ByteOrder, LinkType};

use crate::PortError;
use crate::pcap::{CaptureReader, CaptureWriter, Format, Step};

/// A frame as a test wants it: time, original length, bytes.
pub(super) type Owned = (u64, u32, Vec<u8>);

pub(super) const ORDERS: [ByteOrder; 2] = [ByteOrder::Little, ByteOrder::Big];

/// Five frames whose lengths need every padding, one of them snapped, with odd nanoseconds.
pub(super) fn frames() -> Vec<Owned> {
    (0..5_u64)
        .map(|number| {
            let bytes = vec![number as u8 + 1; 60 + number as usize];
            let original_len = if number == 3 {
                1514
            } else {
                bytes.len() as u32
            };
            (
                1_700_000_000_123_456_789 + number * 1_000_000_007,
                original_len,
                bytes,
            )
        })
        .collect()
}

pub(super) fn micro(frames: &[Owned]) -> Vec<Owned> {
    let cut = |frame: &Owned| (frame.0 / 1000 * 1000, frame.1, frame.2.clone());
    frames.iter().map(cut).collect()
}

pub(super) fn reader(bytes: &[u8]) -> Result<CaptureReader, PortError> {
    CaptureReader::from_read("test.pcap", Box::new(Cursor::new(bytes.to_vec())))
}

pub(super) fn read_on(reader: &mut CaptureReader) -> Vec<Owned> {
    let mut frames = Vec::new();
    loop {
        match reader.next() {
            Step::Record(record) => {
                frames.push((record.time_ns, record.original_len, record.bytes.to_vec()));
            }
            Step::LeftOut(_) => {}
            Step::Waiting | Step::Ended => break,
        }
    }
    assert_eq!(reader.next(), Step::Ended, "an end is an end");
    frames
}

pub(super) fn read_all(bytes: &[u8]) -> (Vec<Owned>, Vec<String>) {
    let mut reader = reader(bytes).unwrap();
    let frames = read_on(&mut reader);
    (frames, reader.warnings())
}

/// A pcap by hand, and where each frame ends in it.
pub(super) fn pcap_bytes(
    order: ByteOrder,
    resolution: Resolution,
    frames: &[Owned],
) -> (Vec<u8>, Vec<usize>) {
    let link_type = LinkType::ETHERNET;
    let header = FileHeader {
        order,
        resolution,
        snaplen: 0,
        link_type,
        fcs_bytes: None,
    };
    let mut bytes = header.to_bytes().to_vec();
    let mut ends = vec![];
    for (time_ns, original_len, frame) in frames {
        let captured_len = frame.len() as u32;
        let record = RecordHeader {
            time_ns: *time_ns,
            captured_len,
            original_len: *original_len,
        };
        bytes.extend_from_slice(&record.to_bytes(order, resolution));
        bytes.extend_from_slice(frame);
        ends.push(bytes.len());
    }
    (bytes, ends)
}

pub(super) fn interface(link_type: u16, resolution: u8) -> InterfaceDescription {
    InterfaceDescription {
        link_type: LinkType(link_type),
        snaplen: 0,
        resolution: TimeResolution::from_byte(resolution),
        offset_s: 0,
        fcs_bytes: None,
    }
}

pub(super) fn block(kind: u32, order: ByteOrder, body: &[u8]) -> Vec<u8> {
    let mut body = body.to_vec();
    body.resize(body.len().next_multiple_of(4), 0);
    let len = order.bytes_u32(body.len() as u32 + 12);
    [&order.bytes_u32(kind)[..], &len, &body, &len].concat()
}

pub(super) fn enhanced(
    order: ByteOrder,
    interface: u32,
    ticks: u64,
    original_len: u32,
    b: &[u8],
) -> Vec<u8> {
    let packet = PacketRecord {
        interface,
        ticks: Some(ticks),
        original_len,
        bytes: b,
    };
    let mut place = vec![0; b.len() + 64];
    let len = pcapng::emit_enhanced(&mut place, order, &packet).unwrap();
    place.truncate(len);
    place
}

/// A pcapng with unknown blocks between the frames, and where each frame ends in it.
pub(super) fn pcapng_bytes(order: ByteOrder, frames: &[Owned]) -> (Vec<u8>, Vec<usize>) {
    let mut bytes = SectionHeader { order }.to_bytes().to_vec();
    bytes.extend(interface(1, 9).to_bytes(order));
    let mut ends = vec![];
    for (time_ns, original_len, frame) in frames {
        bytes.extend(block(0x0bad_0bad, order, &[9; 40]));
        bytes.extend(enhanced(order, 0, *time_ns, *original_len, frame));
        ends.push(bytes.len());
    }
    (bytes, ends)
}

pub(in crate::pcap) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A pipe that gives a byte, then nothing for a while, then a byte.
pub(super) struct Dripping(pub(super) Vec<u8>, pub(super) usize, pub(super) bool);

impl Read for Dripping {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        self.2 = !self.2;
        if self.2 {
            return Err(std::io::ErrorKind::WouldBlock.into());
        }
        let Some(byte) = self.0.get(self.1) else {
            return Ok(0);
        };
        into[0] = *byte;
        self.1 += 1;
        Ok(1)
    }
}

/// A place to write to that can be looked at afterwards.
#[derive(Clone, Default)]
pub(super) struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

pub(super) fn write_all(format: Format, frames: &[Owned]) -> (Vec<u8>, Vec<String>) {
    let sink = Shared::default();
    let mut writer = CaptureWriter::new("out", Box::new(sink.clone()), format);
    for (time_ns, original_len, bytes) in frames {
        assert!(writer.write(*time_ns, *original_len, bytes));
    }
    let warnings = writer.finish().unwrap();
    let bytes = sink.0.lock().unwrap().clone();
    (bytes, warnings)
}

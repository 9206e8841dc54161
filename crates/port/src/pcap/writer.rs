//! Writes a capture, pcap or pcapng.
//!
//! Records gather in memory and leave in pieces of [`FLUSH_BYTES`]. The first error ends the
//! writing for good and is kept for [`CaptureWriter::finish`].

use std::io::{self, ErrorKind, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use wire::capture::pcap::{FileHeader, RecordHeader, Resolution};
use wire::capture::pcapng::{self, InterfaceDescription, SectionHeader, TimeResolution};
use wire::capture::{ByteOrder, CAPTURED_BYTES_MAX, LinkType};

use super::Format;
use crate::{PortError, PortErrorKind};

/// Bytes gathered before they are written.
const FLUSH_BYTES: usize = 256 * 1024;
/// The last nanosecond pcap has a place for, in the year 2106.
const PCAP_TIME_NS_MAX: u64 = u32::MAX as u64 * 1_000_000_000 + 999_999_999;

/// Where the pieces go.
enum Packing {
    Plain(Box<dyn Write + Send>),
    /// Gone once its end is written.
    Gzip(Option<GzEncoder<Box<dyn Write + Send>>>),
}

impl Packing {
    fn write(&mut self, piece: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(sink) => sink.write_all(piece).and_then(|()| sink.flush()),
            Self::Gzip(Some(encoder)) => encoder.write_all(piece).and_then(|()| encoder.flush()),
            Self::Gzip(None) if piece.is_empty() => Ok(()),
            Self::Gzip(None) => Err(ErrorKind::BrokenPipe.into()),
        }
    }

    /// Writes what a packed file ends with.
    fn finish(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Gzip(encoder) => match encoder.take() {
                Some(encoder) => encoder.finish()?.flush(),
                None => Ok(()),
            },
        }
    }
}

/// Writes frames into a capture.
pub struct CaptureWriter {
    name: String,
    sink: Packing,
    format: Format,
    buffer: Vec<u8>,
    frames: u64,
    /// Frames whose time is beyond the format's end.
    clamped: u64,
    failure: Option<io::Error>,
}

impl CaptureWriter {
    /// Begins a capture of Ethernet frames; `name` is what messages call it. Nothing is written
    /// before the first flush.
    #[must_use]
    pub fn new(name: &str, sink: Box<dyn Write + Send>, format: Format) -> Self {
        Self::packed(name, Packing::Plain(sink), format)
    }

    /// As [`Self::new`], packed with gzip.
    #[must_use]
    pub fn gzip(name: &str, sink: Box<dyn Write + Send>, format: Format) -> Self {
        let encoder = GzEncoder::new(sink, Compression::fast());
        Self::packed(name, Packing::Gzip(Some(encoder)), format)
    }

    fn packed(name: &str, sink: Packing, format: Format) -> Self {
        // Room for a piece and the largest record that may come on top.
        let buffer = Vec::with_capacity(FLUSH_BYTES + CAPTURED_BYTES_MAX as usize);
        let name = name.to_owned();
        let mut writer = Self {
            name,
            sink,
            format,
            buffer,
            frames: 0,
            clamped: 0,
            failure: None,
        };
        writer.begin();
        writer
    }

    fn begin(&mut self) {
        let (order, link_type, snaplen) =
            (ByteOrder::NATIVE, LinkType::ETHERNET, CAPTURED_BYTES_MAX);
        let resolution = match self.format {
            Format::Pcap => Resolution::Nano,
            Format::PcapMicro => Resolution::Micro,
            Format::Pcapng => {
                self.buffer
                    .extend_from_slice(&SectionHeader { order }.to_bytes());
                let interface = InterfaceDescription {
                    link_type,
                    snaplen,
                    resolution: TimeResolution::NANO,
                    offset_s: 0,
                    fcs_bytes: None,
                };
                self.buffer.extend_from_slice(&interface.to_bytes(order));
                return;
            }
        };
        let header = FileHeader {
            order,
            resolution,
            snaplen,
            link_type,
            fcs_bytes: None,
        };
        self.buffer.extend_from_slice(&header.to_bytes());
    }

    /// Adds a frame of at most [`CAPTURED_BYTES_MAX`] bytes; longer ones are cut there. Returns
    /// whether it was taken: after an error none is.
    #[inline]
    pub fn write(&mut self, time_ns: u64, original_len: u32, bytes: &[u8]) -> bool {
        if self.failure.is_some() {
            return false;
        }
        self.append(time_ns, original_len, bytes);
        self.frames += 1;
        if self.buffer.len() >= FLUSH_BYTES {
            self.flush();
        }
        true
    }

    /// Adds a record to the buffer without writing anything out.
    #[inline]
    fn append(&mut self, time_ns: u64, original_len: u32, bytes: &[u8]) {
        let order = ByteOrder::NATIVE;
        let bytes = &bytes[..bytes.len().min(CAPTURED_BYTES_MAX as usize)];
        let captured_len = bytes.len() as u32;
        let resolution = match self.format {
            Format::Pcap => Resolution::Nano,
            Format::PcapMicro => Resolution::Micro,
            Format::Pcapng => {
                let head = pcapng::enhanced_head(order, 0, time_ns, captured_len, original_len);
                let (tail, tail_len) = pcapng::enhanced_tail(order, captured_len);
                self.buffer.extend_from_slice(&head);
                self.buffer.extend_from_slice(bytes);
                self.buffer.extend_from_slice(&tail[..tail_len]);
                return;
            }
        };
        self.clamped += u64::from(time_ns > PCAP_TIME_NS_MAX);
        let header = RecordHeader {
            time_ns,
            captured_len,
            original_len,
        };
        self.buffer
            .extend_from_slice(&header.to_bytes(order, resolution));
        self.buffer.extend_from_slice(bytes);
    }

    /// How much has gathered: a place to come back to with [`Self::keep`].
    pub(crate) fn mark(&self) -> usize {
        self.buffer.len()
    }

    /// Adds a frame provisionally: nothing is written out until [`Self::keep`] says up to where.
    pub(crate) fn add(&mut self, time_ns: u64, original_len: u32, bytes: &[u8]) {
        if self.failure.is_none() {
            self.append(time_ns, original_len, bytes);
        }
    }

    /// Keeps what was added up to a mark, `frames` frames, and forgets what was added after it.
    pub(crate) fn keep(&mut self, mark: usize, frames: usize) {
        self.buffer.truncate(mark);
        self.frames += frames as u64;
        if self.buffer.len() >= FLUSH_BYTES {
            self.flush();
        }
    }

    /// Writes out what has gathered.
    pub fn flush(&mut self) {
        if self.failure.is_some() || self.buffer.is_empty() {
            return;
        }
        self.failure = self.sink.write(&self.buffer).err();
        self.buffer.clear();
    }

    /// Whether an error has ended the writing.
    #[must_use]
    pub const fn failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Frames taken so far.
    #[must_use]
    pub const fn frames(&self) -> u64 {
        self.frames
    }

    /// Writes out the rest. Returns what the user should know.
    ///
    /// # Errors
    /// The error that ended the writing, now or before.
    pub fn finish(&mut self) -> Result<Vec<String>, PortError> {
        self.flush();
        if self.failure.is_none() {
            self.failure = self.sink.finish().err();
        }
        if let Some(failure) = &self.failure {
            return Err(self.write_error(failure));
        }
        if self.clamped == 0 {
            return Ok(Vec::new());
        }
        let (name, clamped) = (&self.name, self.clamped);
        Ok(vec![format!(
            "{clamped} frames of {name} are later than the year 2106, where pcap ends, and were \
             given its last second; format=pcapng keeps them"
        )])
    }

    fn write_error(&self, failure: &io::Error) -> PortError {
        let kind = match failure.kind() {
            ErrorKind::BrokenPipe => PortErrorKind::BrokenPipe,
            _ => PortErrorKind::Write,
        };
        let remedy = match failure.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                "; make room or write to another disk"
            }
            _ => "",
        };
        let (name, frames) = (&self.name, self.frames);
        let sentence =
            format!("writing {name} failed within its first {frames} frames: {failure}{remedy}");
        PortError::new(kind, sentence)
    }
}

impl std::fmt::Debug for CaptureWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CaptureWriter")
            .field("name", &self.name)
            .field("format", &self.format)
            .field("frames", &self.frames)
            .finish_non_exhaustive()
    }
}

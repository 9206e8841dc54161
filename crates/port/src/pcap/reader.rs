//! Reads the records of a capture, pcap or pcapng, one after the other.
//!
//! A capture is input from strangers: every length is bounded before anything is kept for it (the
//! window grows to at most [`BLOCK_BYTES_MAX`]), a record is given out only when all of it is
//! there, and what cannot be trusted ends the capture with a note instead of a guess. In pcapng a
//! bad packet block is passed over, since the block's own length says where the next begins.

mod outcome;

use std::io::Read;

use wire::capture::pcap::{self, FileHeader, RecordHeader, Resolution};
use wire::capture::pcapng::{self, BlockHead, InterfaceDescription, SectionHeader};
use wire::capture::{ByteOrder, CAPTURED_BYTES_MAX, CaptureFault, LinkType};

use super::blocks::{is_numbered, is_packet, matters, parse_packet};
use super::findings::Findings;
use super::head::{Kind, read_head};
use super::link::{Linked, link_type_remedy, link_word};
use super::record::{LeftOut, Record, Step};
use super::source::Source;
use super::window::{Fill, Window};
use super::{CapturePath, OpenFiles};
use crate::{PortError, PortErrorKind};

/// Most bytes of a block that is read as a whole: the largest frame, and options four times as
/// many. Blocks that are passed over may have any length.
const BLOCK_BYTES_MAX: u32 = 5 * CAPTURED_BYTES_MAX;

/// A frame of a packet block that is still in the window.
struct FoundFrame {
    time_ns: u64,
    original_len: u32,
    captured_len: usize,
    /// It was made Ethernet.
    linked: bool,
}

/// Reads a capture.
pub struct CaptureReader {
    window: Window,
    kind: Kind,
    findings: Findings,
    /// Where frames that are not Ethernet are made so.
    linked: Linked,
    frames: u64,
    /// Records met, frames or not.
    records: u64,
    ended: bool,
}

impl CaptureReader {
    /// Opens a capture and reads as far as to know what it holds. Waits for the head of a pipe.
    ///
    /// # Errors
    /// What cannot be opened, is no capture, or begins with frames that cannot be made Ethernet.
    pub fn open(path: &CapturePath) -> Result<Self, PortError> {
        Self::new(Source::open(path, None)?)
    }

    /// The same, with the file entered in the register of the run.
    pub(super) fn open_in(path: &CapturePath, files: &OpenFiles) -> Result<Self, PortError> {
        Self::new(Source::open(path, Some(files))?)
    }

    /// Reads a capture from anything that can be read; `name` is what messages call it.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn from_read(name: &str, read: Box<dyn Read + Send>) -> Result<Self, PortError> {
        Self::new(Source::from_read(name, read)?)
    }

    fn new(source: Source) -> Result<Self, PortError> {
        let mut window = Window::new(source);
        let (kind, findings) = (read_head(&mut window)?, Findings::default());
        let mut reader = Self {
            window,
            kind,
            findings,
            linked: Linked::default(),
            frames: 0,
            records: 0,
            ended: false,
        };
        reader.expect_known_link()?;
        Ok(reader)
    }

    /// The same file from its start; what was noted stays.
    pub(super) fn rewound(self) -> Result<Self, PortError> {
        let again = Self::new(self.window.into_source().rewound()?)?;
        Ok(Self {
            findings: self.findings,
            ..again
        })
    }

    /// Whether [`Self::rewound`] can work.
    pub(super) const fn can_rewind(&self) -> bool {
        self.window.source().can_rewind()
    }

    /// What messages call the capture.
    #[must_use]
    pub fn name(&self) -> &str {
        self.window.source().name()
    }

    /// Format, resolution and link type: "pcap (nanosecond, Ethernet)".
    #[must_use]
    pub fn mode(&self) -> String {
        let gzip = if self.window.source().is_gzip() {
            ", gzip"
        } else {
            ""
        };
        match &self.kind {
            Kind::Pcap(header) => {
                let resolution = match header.resolution {
                    Resolution::Micro => "microsecond",
                    Resolution::Nano => "nanosecond",
                };
                let link = link_word(Some(header.link_type));
                format!("pcap ({resolution}, {link}{gzip})")
            }
            Kind::Pcapng { interfaces, .. } => {
                let link = link_word(interfaces.first().map(|first| first.link_type));
                format!("pcapng ({link}{gzip})")
            }
        }
    }

    /// The snap length the capture states first; 0 for none. Nothing may rely on it.
    #[must_use]
    pub fn snaplen(&self) -> u32 {
        match &self.kind {
            Kind::Pcap(header) => header.snaplen,
            Kind::Pcapng { interfaces, .. } => interfaces.first().map_or(0, |first| first.snaplen),
        }
    }

    /// Bytes of FCS at the end of each frame, where the capture says first that there are any.
    fn fcs_bytes(&self) -> Option<u8> {
        match &self.kind {
            Kind::Pcap(header) => header.fcs_bytes,
            Kind::Pcapng { interfaces, .. } => interfaces.first()?.fcs_bytes,
        }
    }

    /// Frames given out since the capture began.
    #[must_use]
    pub const fn frames(&self) -> u64 {
        self.frames
    }

    /// The number of the record that [`Self::next`] came to last, the first being 1: records are
    /// numbered as Wireshark numbers them, those that cannot be read among them.
    #[must_use]
    pub const fn number(&self) -> u64 {
        self.records
    }

    /// Bytes of the capture consumed so far.
    #[must_use]
    pub const fn bytes_consumed(&self) -> u64 {
        self.window.offset()
    }

    /// Frames that were there and could not be given out.
    #[must_use]
    pub const fn missed(&self) -> u64 {
        self.findings.missed()
    }

    /// Notes a frame that did not fit where it should go.
    pub(super) fn oversized(&mut self, len: usize, room: usize) {
        self.findings.oversized(len, room);
    }

    /// Notes a frame that was cut within its addresses.
    pub(super) fn addresses_cut(&mut self) {
        self.findings.addresses_cut();
    }

    /// The next record. Never waits where the capture is a pipe.
    #[inline]
    #[allow(clippy::should_implement_trait)] // What it returns borrows from the reader.
    pub fn next(&mut self) -> Step<'_> {
        if self.ended {
            return Step::Ended;
        }
        match self.kind {
            Kind::Pcap(header) if header.link_type == LinkType::ETHERNET => {
                self.next_pcap(header.order, header.resolution)
            }
            Kind::Pcap(header) => self.next_linked(header),
            Kind::Pcapng { .. } => self.next_pcapng(),
        }
    }

    #[inline]
    fn next_pcap(&mut self, order: ByteOrder, resolution: Resolution) -> Step<'_> {
        match self.window.fill(pcap::RECORD_HEADER_BYTES) {
            Fill::Ready => {}
            Fill::Waiting => return Step::Waiting,
            Fill::Ended => return self.end(CaptureFault::TooShort),
        }
        let header = match RecordHeader::parse(self.window.bytes(), order, resolution) {
            Ok(header) => header,
            Err(fault) => return self.end(fault),
        };
        let captured_len = header.captured_len as usize;
        match self.window.fill(pcap::RECORD_HEADER_BYTES + captured_len) {
            Fill::Ready => {}
            Fill::Waiting => return Step::Waiting,
            Fill::Ended => return self.end(CaptureFault::TooShort),
        }
        self.frames += 1;
        self.records += 1;
        let record = self.window.take(pcap::RECORD_HEADER_BYTES + captured_len);
        Step::Record(Record {
            time_ns: header.time_ns,
            original_len: header.original_len,
            bytes: &record[pcap::RECORD_HEADER_BYTES..],
        })
    }

    /// The next frame of a pcap of another link type.
    fn next_linked(&mut self, header: FileHeader) -> Step<'_> {
        let mut linked = std::mem::take(&mut self.linked);
        let made = match self.next_pcap(header.order, header.resolution) {
            Step::Record(record) => Ok(linked.make(header.link_type, &record)),
            Step::Waiting => Err(Step::Waiting),
            Step::LeftOut(_) | Step::Ended => Err(Step::Ended),
        };
        self.linked = linked;
        match made {
            Ok(true) => Step::Record(self.linked.record()),
            Ok(false) => {
                self.frames -= 1;
                self.leave_out(LeftOut::Link(header.link_type))
            }
            Err(step) => step,
        }
    }

    #[cold]
    fn leave_out(&mut self, why: LeftOut) -> Step<'static> {
        self.findings.left_out(why);
        Step::LeftOut(why)
    }

    fn next_pcapng(&mut self) -> Step<'_> {
        loop {
            let head = match self.next_block() {
                Ok(Ok(head)) => head,
                Ok(Err(Fill::Waiting)) => return Step::Waiting,
                Ok(Err(_)) => return self.end(CaptureFault::TooShort),
                Err(fault) => return self.end(fault),
            };
            if is_numbered(head.kind) {
                self.window.skip(head.total_len.into());
                self.records += 1;
                return Step::LeftOut(LeftOut::NoFrame(head.kind));
            }
            if !is_packet(head.kind) {
                match self.take_description(head) {
                    Ok(()) => continue,
                    Err(fault) => return self.end(fault),
                }
            }
            return match self.find_frame(head) {
                Ok(Ok(found)) => Step::Record(self.take_frame(head, &found)),
                Ok(Err(why)) => self.pass_over(head, why),
                Err(fault) => self.end(fault),
            };
        }
    }

    /// Brings the next block that matters into the window; the others are passed over.
    fn next_block(&mut self) -> Result<Result<BlockHead, Fill>, CaptureFault> {
        loop {
            match self.window.fill(pcapng::BLOCK_HEAD_BYTES) {
                Fill::Ready => {}
                other => return Ok(Err(other)),
            }
            let head = BlockHead::parse(self.window.bytes(), self.order())?;
            if is_numbered(head.kind) {
                return Ok(Ok(head));
            }
            if !matters(head.kind) {
                self.window.skip(head.total_len.into());
                continue;
            }
            if head.total_len > BLOCK_BYTES_MAX {
                return Err(CaptureFault::BlockLength);
            }
            match self.window.fill(head.total_len as usize) {
                Fill::Ready => return Ok(Ok(head)),
                other => return Ok(Err(other)),
            }
        }
    }

    const fn order(&self) -> ByteOrder {
        match &self.kind {
            Kind::Pcap(header) => header.order,
            Kind::Pcapng { order, .. } => *order,
        }
    }

    /// Reads a section header or an interface description.
    fn take_description(&mut self, head: BlockHead) -> Result<(), CaptureFault> {
        let Kind::Pcapng { order, interfaces } = &mut self.kind else {
            return Ok(());
        };
        let body = pcapng::body(self.window.bytes(), head)?;
        if head.kind == pcapng::SECTION_HEADER {
            *order = SectionHeader::parse(body, head.order)?.order;
            interfaces.begin_section();
        } else {
            interfaces.add(InterfaceDescription::parse(body, head.order)?)?;
        }
        self.window.take(head.total_len as usize);
        Ok(())
    }

    /// Finds the frame in the packet block in the window.
    #[inline]
    fn find_frame(&mut self, head: BlockHead) -> Result<Result<FoundFrame, LeftOut>, CaptureFault> {
        let Kind::Pcapng { interfaces, .. } = &self.kind else {
            return Err(CaptureFault::UnknownMagic);
        };
        let body = pcapng::body(self.window.bytes(), head)?;
        let (packet, interface) = match parse_packet(body, head, interfaces) {
            Ok(parsed) => parsed,
            Err(fault) => return Ok(Err(LeftOut::Fault(fault))),
        };
        let time_ns = |ticks| interface.resolution.time_ns(ticks, interface.offset_s);
        let record = Record {
            time_ns: packet.ticks.map_or(0, time_ns),
            original_len: packet.original_len,
            bytes: packet.bytes,
        };
        let linked = interface.link_type != LinkType::ETHERNET;
        if linked && !self.linked.make(interface.link_type, &record) {
            return Ok(Err(LeftOut::Link(interface.link_type)));
        }
        if !interface.resolution.is_exact() {
            self.findings.rounded();
        }
        let is_time = |ticks| interface.resolution.has_time(ticks, interface.offset_s);
        if matches!(record.time_ns, 0 | u64::MAX) && !packet.ticks.is_none_or(is_time) {
            self.findings.untimely();
        }
        Ok(Ok(FoundFrame {
            time_ns: record.time_ns,
            original_len: record.original_len,
            captured_len: record.bytes.len(),
            linked,
        }))
    }

    /// Consumes a packet block without a frame that could be given out.
    #[cold]
    fn pass_over(&mut self, head: BlockHead, why: LeftOut) -> Step<'static> {
        self.window.take(head.total_len as usize);
        self.records += 1;
        self.leave_out(why)
    }

    /// Gives out the frame that [`Self::find_frame`] found, and consumes its block.
    #[inline]
    fn take_frame(&mut self, head: BlockHead, found: &FoundFrame) -> Record<'_> {
        self.frames += 1;
        self.records += 1;
        let block = self.window.take(head.total_len as usize);
        if found.linked {
            return self.linked.record();
        }
        let at = match head.kind {
            pcapng::SIMPLE_PACKET => pcapng::SIMPLE_HEAD_BYTES,
            _ => pcapng::ENHANCED_HEAD_BYTES,
        };
        Record {
            time_ns: found.time_ns,
            original_len: found.original_len,
            bytes: &block[at..at + found.captured_len],
        }
    }

    /// Ends the capture for good. Nothing left in the window is a clean end; else it is noted.
    #[cold]
    fn end(&mut self, fault: CaptureFault) -> Step<'_> {
        self.ended = true;
        let clean = fault == CaptureFault::TooShort && self.window.is_empty();
        if !clean && self.window.failure().is_none() {
            self.findings.cut(self.window.offset(), self.frames, fault);
        }
        Step::Ended
    }

    /// Refuses a pcap of frames that cannot be made Ethernet. A pcapng may have others further on:
    /// its first interface is looked for, and at its end it is told if no frame could be read.
    fn expect_known_link(&mut self) -> Result<(), PortError> {
        let Kind::Pcap(FileHeader { link_type, .. }) = self.kind else {
            self.find_first_interface();
            return Ok(());
        };
        match link_type == LinkType::ETHERNET || link_type.is_known() {
            true => Ok(()),
            false => Err(self.foreign_error(link_type)),
        }
    }

    fn foreign_error(&self, link_type: LinkType) -> PortError {
        let (name, remedy) = (self.name(), link_type_remedy(link_type));
        let sentence =
            format!("{name} does not hold Ethernet frames but {link_type}, not read yet; {remedy}");
        PortError::new(PortErrorKind::LinkType, sentence)
    }

    /// Reads on to the first interface description of a pcapng.
    fn find_first_interface(&mut self) {
        loop {
            if let Kind::Pcapng { interfaces, .. } = &self.kind
                && interfaces.first().is_some()
            {
                return;
            }
            match self.next_block() {
                Ok(Err(Fill::Waiting)) => std::thread::sleep(std::time::Duration::from_millis(1)),
                // A frame before any interface, an end, a fault: `next` will come to it and say so.
                Ok(Ok(head)) if !is_packet(head.kind) && self.take_description(head).is_ok() => {}
                _ => return,
            }
        }
    }
}

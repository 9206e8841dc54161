//! What a reader met that its user should know: counted while reading, told at the end.

use wire::capture::{CaptureFault, LinkType};

use super::link::link_type_remedy;
use super::record::LeftOut;

/// Notes on one capture.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// Reading ended before the capture said so: (byte offset, frames before, why).
    cut: Option<(u64, u64, CaptureFault)>,
    /// Frames that cannot be made Ethernet, and the link type of the first.
    foreign: (u64, Option<LinkType>),
    /// Frames whose records were wrong in themselves, and the first fault.
    bad: (u64, Option<CaptureFault>),
    /// Frames longer than a chunk: how many, the longest, the room there was.
    oversized: (u64, usize, usize),
    /// Why the first record was left out that was.
    first: Option<LeftOut>,
    /// Frames that were cut within their addresses.
    addresses_cut: u64,
    /// Frames whose times were finer than a nanosecond.
    rounded: u64,
    /// Frames whose times were before 1970 or later than nanoseconds in 64 bits.
    untimely: u64,
}

impl Findings {
    pub(super) fn cut(&mut self, offset: u64, frames: u64, fault: CaptureFault) {
        self.cut.get_or_insert((offset, frames, fault));
    }

    pub(super) fn left_out(&mut self, why: LeftOut) {
        self.first.get_or_insert(why);
        match why {
            LeftOut::Link(link_type) => {
                self.foreign.0 += 1;
                self.foreign.1.get_or_insert(link_type);
            }
            LeftOut::Fault(fault) => {
                self.bad.0 += 1;
                self.bad.1.get_or_insert(fault);
            }
            LeftOut::NoFrame(_) => {}
        }
    }

    /// Why the first record was left out that was.
    pub(super) const fn first_left_out(&self) -> Option<LeftOut> {
        self.first
    }

    pub(super) fn addresses_cut(&mut self) {
        self.addresses_cut += 1;
    }

    pub(super) fn oversized(&mut self, len: usize, room: usize) {
        let (count, longest, _) = self.oversized;
        self.oversized = (count + 1, longest.max(len), room);
    }

    pub(super) fn rounded(&mut self) {
        self.rounded += 1;
    }

    pub(super) fn untimely(&mut self) {
        self.untimely += 1;
    }

    /// That reading ended before the capture did.
    pub(super) fn breakage(&self, name: &str) -> Option<String> {
        let (offset, frames, fault) = self.cut?;
        let what = fault.sentence();
        let how = match fault {
            CaptureFault::TooShort => format!("is cut off: it {what} at byte {offset}"),
            _ => format!("is damaged at byte {offset}: it {what}"),
        };
        Some(match frames {
            0 => format!("{name} {how}; no frame before it was read"),
            1 => format!("{name} {how}; the frame before was read"),
            _ => format!("{name} {how}; the {frames} frames before were read"),
        })
    }

    /// The link type of frames that cannot be read, where there were some.
    pub(super) const fn foreign_link(&self) -> Option<LinkType> {
        self.foreign.1
    }

    /// Frames that were in the capture and were not given to the worker.
    pub(super) const fn missed(&self) -> u64 {
        self.foreign.0 + self.bad.0 + self.oversized.0
    }

    /// A sentence for each kind of thing met.
    pub(super) fn sentences(&self, name: &str) -> Vec<String> {
        let mut sentences = Vec::new();
        sentences.extend(self.breakage(name));
        if let (count, Some(link_type)) = self.foreign {
            let remedy = link_type_remedy(link_type);
            sentences.push(format!(
                "{count} frames of {name} were left out, for they cannot be read as Ethernet \
                 ({link_type}); {remedy}"
            ));
        }
        if let (count, Some(fault)) = self.bad {
            let what = fault.sentence();
            sentences.push(format!("{count} frames of {name} were left out: it {what}"));
        }
        if let (count @ 1.., longest, room) = self.oversized {
            sentences.push(format!(
                "{count} frames of {name} were left out, for they are longer than the {room} \
                 bytes a chunk has room for (the longest {longest}); ask for a larger stride"
            ));
        }
        if self.addresses_cut > 0 {
            let count = self.addresses_cut;
            sentences.push(format!(
                "{count} frames of {name} were cut within their addresses when they were recorded: \
                 whether a list holds these is not known; record with a snap length of 0 (tcpdump \
                 -s 0)"
            ));
        }
        if self.untimely > 0 {
            let count = self.untimely;
            sentences.push(format!(
                "{count} frames of {name} have times before 1970 or after July 2554, which were \
                 replaced by the first or last time that can be kept; editcap -t shifts times"
            ));
        }
        if self.rounded > 0 {
            let count = self.rounded;
            sentences.push(format!(
                "{count} frames of {name} have times finer than a nanosecond, \
                 which were rounded down"
            ));
        }
        sentences
    }
}

//! A capture as frames: read into the frames of a pool, perhaps several times.

use std::ops::ControlFlow;

use frame::{Frame, FrameMeta};
use wire::TunnelPorts;

use super::{CaptureReader, Loops, Step};
use crate::PortError;

/// A capture that is read, perhaps several times.
pub(super) struct Input {
    /// Taken only while it is rewound; gone when that failed.
    reader: Option<CaptureReader>,
    loops: Loops,
    failure: Option<PortError>,
    warnings: Vec<String>,
    missed: u64,
    pub(super) ended: bool,
    /// How often it was begun again.
    rounds: u64,
    /// Whether frames that were cut within their addresses are counted.
    looks_up: bool,
    times: Times,
}

/// What reading a record into a frame came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filled {
    /// The frame has it.
    Frame,
    /// It is no frame, or none that fits.
    LeftOut,
    /// A pipe has no more for now.
    Waiting,
    /// No more will come in this round.
    Ended,
}

/// The times of a capture that is read again: a round begins where the one before had come to.
#[derive(Default)]
struct Times {
    /// The first time of the capture.
    first_ns: Option<u64>,
    latest_ns: u64,
    /// What is added to the times of this round.
    ahead_ns: u64,
}

impl Times {
    /// The time of a record of this round. One without a time has none in any round.
    #[inline]
    fn of(&mut self, time_ns: u64) -> u64 {
        let first_ns = *self.first_ns.get_or_insert(time_ns);
        if time_ns == 0 && first_ns != 0 {
            return 0;
        }
        let time_ns = time_ns.saturating_add(self.ahead_ns);
        self.latest_ns = self.latest_ns.max(time_ns);
        time_ns
    }

    fn again(&mut self) {
        self.ahead_ns = self.latest_ns.saturating_sub(self.first_ns.unwrap_or(0));
    }
}

impl Input {
    pub(super) fn new(reader: CaptureReader, loops: Loops, looks_up: bool) -> Self {
        let (failure, warnings) = (None, Vec::new());
        Self {
            reader: Some(reader),
            loops,
            failure,
            warnings,
            missed: 0,
            ended: false,
            rounds: 0,
            looks_up,
            times: Times::default(),
        }
    }

    /// Begins the capture again if it should be; whether it did.
    pub(super) fn again(&mut self) -> bool {
        let more = match &mut self.loops {
            Loops::Forever => true,
            Loops::Times(times) => {
                *times = times.saturating_sub(1);
                *times > 0
            }
        };
        let Some(reader) = self.reader.take() else {
            return false;
        };
        self.failure = reader.failure();
        self.missed = reader.missed();
        // A capture without frames would be read for ever without giving one.
        if !more || self.failure.is_some() || reader.frames() == 0 {
            self.warnings = reader.warnings();
            self.warnings.extend(reader.emptiness());
            self.failure = self.failure.take().or_else(|| reader.breakage());
            return false;
        }
        match reader.rewound() {
            Ok(reader) => {
                (self.reader, self.rounds) = (Some(reader), self.rounds + 1);
                self.times.again();
            }
            Err(error) => self.failure = Some(error),
        }
        self.reader.is_some()
    }

    /// Reads the next record into a frame.
    #[inline]
    pub(super) fn fill(&mut self, frame: &mut Frame) -> Filled {
        let Some(reader) = &mut self.reader else {
            return Filled::Ended;
        };
        let capacity = frame.capacity();
        let record = match reader.next() {
            Step::Record(record) => record,
            Step::LeftOut(_) => return Filled::LeftOut,
            Step::Waiting => return Filled::Waiting,
            Step::Ended => return Filled::Ended,
        };
        let (len, original_len) = (record.bytes.len(), record.original_len);
        if frame.copy_from(record.bytes).is_err() {
            reader.oversized(len, capacity);
            return Filled::LeftOut;
        }
        *frame.meta_mut() = FrameMeta {
            time_ns: self.times.of(record.time_ns),
            original_len,
            ..FrameMeta::default()
        };
        if self.looks_up && addresses_cut(frame.bytes(), original_len) {
            reader.addresses_cut();
        }
        Filled::Frame
    }

    /// How often the capture was begun again.
    pub(super) const fn rounds(&self) -> u64 {
        self.rounds
    }

    /// At the end: what the user should know, or the error that ended the reading.
    pub(super) fn finish(&mut self) -> Result<Vec<String>, PortError> {
        match (self.failure.take(), &self.reader) {
            (Some(failure), _) => Err(failure.with_notes(&self.warnings)),
            (None, Some(reader)) => Ok(reader.warnings()),
            (None, None) => Ok(std::mem::take(&mut self.warnings)),
        }
    }

    pub(super) fn missed(&self) -> u64 {
        self.reader
            .as_ref()
            .map_or(self.missed, CaptureReader::missed)
    }
}

/// Whether a frame was cut before the end of the addresses of its packet, or of one inside that.
fn addresses_cut(bytes: &[u8], original_len: u32) -> bool {
    if bytes.len() >= original_len as usize {
        return false;
    }
    let outer = wire::parse(bytes, original_len as usize);
    let mut cut = outer.addresses_cut();
    TunnelPorts::default().each(bytes, &outer, |tunnel| {
        cut |= tunnel.inner.addresses_cut();
        ControlFlow::Continue(())
    });
    cut
}

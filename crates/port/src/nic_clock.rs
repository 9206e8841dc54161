//! Times of a NIC's clock made times of the kernel's monotonic clock.
//!
//! The two run at rates of their own, some parts in a million apart, and somebody may steer either
//! (`ptp4l`, `phc2sys`). So they are compared ten times a second, on the control side; between
//! comparisons a straight line stands for the NIC's clock. What it was off by each time is what
//! times may be wrong by, together with the doubt that a comparison leaves.
//!
//! The line is read by workers without a lock: they look once a burst whether there is another.

use std::cell::Cell;
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering, fence};

use crate::sys::ptp_clock::{Comparison, PtpClock};

/// Comparisons that the rate is made of: a second and a half.
const KEPT: usize = 16;
/// Clocks that are further apart than this are not steered but set: the line begins anew. Clocks
/// of NICs are within 100 parts in a million, which is 10 us from one comparison to the next.
const STEP_NANOS: u64 = 100_000;
/// No clock runs so wrong, parts in 2^32: 1000 in a million.
const RATE_MAX: i64 = 4_294_967;
/// A clock that says the same for so long stands still: the coarsest tick some microseconds.
const STANDS_NANOS: u64 = 2_000_000;
/// A stamp that so many frames in a row have is of a clock that stands still.
const SAME_STAMPS_MAX: u32 = 64;
/// Binary digits of a rate.
const RATE_BITS: u32 = 32;

/// From the NIC's clock to the kernel's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Line {
    nic: u64,
    kernel: u64,
    /// By how much the kernel's clock is faster, parts in 2^32.
    rate: i64,
}

impl Line {
    fn at(&self, nic: u64) -> Option<u64> {
        let passed = i64::try_from(i128::from(nic) - i128::from(self.nic)).ok()?;
        let gained = (i128::from(passed) * i128::from(self.rate)) >> RATE_BITS;
        let kernel = i128::from(self.kernel) + i128::from(passed) + gained;
        u64::try_from(kernel).ok()
    }

    /// Through the last of some comparisons, as steep as from the first to it.
    fn through(history: &VecDeque<Comparison>) -> Option<Self> {
        let (first, last) = (history.front()?, history.back()?);
        let nic = i128::from(last.nic) - i128::from(first.nic);
        let kernel = i128::from(last.kernel) - i128::from(first.kernel);
        let rate = match nic {
            ..=0 => 0,
            nic => ((kernel - nic) << RATE_BITS) / nic,
        };
        Some(Self {
            nic: last.nic,
            kernel: last.kernel,
            rate: i64::try_from(rate).unwrap_or(0).clamp(-RATE_MAX, RATE_MAX),
        })
    }
}

/// The line, where its writer and its readers meet: one writer, which makes `version` odd for as
/// long as it writes.
#[derive(Debug, Default)]
struct Shared {
    version: AtomicU64,
    nic: AtomicU64,
    kernel: AtomicU64,
    rate: AtomicI64,
}

impl Shared {
    fn put(&self, line: Line) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version + 1, Ordering::Relaxed);
        // The parts come after the odd version for whoever sees one of them.
        fence(Ordering::Release);
        self.nic.store(line.nic, Ordering::Relaxed);
        self.kernel.store(line.kernel, Ordering::Relaxed);
        self.rate.store(line.rate, Ordering::Relaxed);
        self.version.store(version + 2, Ordering::Release);
    }

    /// The line and its version; `None` while it is written: the one before does as well.
    fn get(&self) -> Option<(u64, Line)> {
        let version = self.version.load(Ordering::Acquire);
        let line = Line {
            nic: self.nic.load(Ordering::Relaxed),
            kernel: self.kernel.load(Ordering::Relaxed),
            rate: self.rate.load(Ordering::Relaxed),
        };
        fence(Ordering::Acquire);
        let whole = version.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == version;
        whole.then_some((version, line))
    }
}

/// A worker's view of the NIC's clock.
#[derive(Debug)]
pub(crate) struct ClockReader {
    shared: Arc<Shared>,
    version: u64,
    line: Line,
    /// The last stamp, and how many frames before had the same.
    last: Cell<(u64, u32)>,
}

impl ClockReader {
    /// Looks whether the clocks were compared anew.
    #[inline]
    pub(crate) fn follow(&mut self) {
        if self.shared.version.load(Ordering::Relaxed) != self.version
            && let Some((version, line)) = self.shared.get()
        {
            (self.version, self.line) = (version, line);
        }
    }

    /// The stamp of a frame, by the NIC's clock, as a time of the kernel's; `None` where no time
    /// of the kernel's clock is that, and where stamps stand still.
    #[inline]
    pub(crate) fn kernel_time(&self, nic: u64) -> Option<u64> {
        let (last, same) = self.last.get();
        let same = if nic == last {
            same.saturating_add(1)
        } else {
            0
        };
        self.last.set((nic, same));
        (same < SAME_STAMPS_MAX).then(|| self.line.at(nic))?
    }
}

/// What times of a NIC may be wrong by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ClockError {
    /// Mean and worst of what the line was off by when the clocks were compared, and what that
    /// left in doubt; nanoseconds.
    pub(crate) mean: u64,
    pub(crate) worst: u64,
    /// How often one of the clocks was set.
    pub(crate) steps: u64,
}

type Compare = Box<dyn FnMut() -> io::Result<Comparison> + Send>;

/// The clock of a NIC, on the control side.
pub(crate) struct NicClock {
    compare: Compare,
    path: String,
    shared: Arc<Shared>,
    history: VecDeque<Comparison>,
    errors: u128,
    compared: u64,
    worst: u64,
    steps: u64,
    /// Why it can be compared no more.
    failure: Option<String>,
}

impl NicClock {
    /// The NIC's clock of this number, compared once.
    ///
    /// # Errors
    /// It cannot be opened or compared, or stands still; a sentence's end.
    pub(crate) fn open(number: u32) -> Result<Self, String> {
        let path = PtpClock::path(number);
        let clock = PtpClock::open(number)
            .map_err(|error| format!("its clock {path} cannot be opened: {error}"))?;
        if stands_still(|| clock.compare()) {
            return Err(format!("its clock {path} stands still"));
        }
        Self::by(path, Box::new(move || clock.compare()))
    }

    fn by(path: String, compare: Compare) -> Result<Self, String> {
        let mut clock = Self {
            compare,
            path,
            shared: Arc::default(),
            history: VecDeque::with_capacity(KEPT),
            errors: 0,
            compared: 0,
            worst: 0,
            steps: 0,
            failure: None,
        };
        clock.follow();
        match clock.failure.take() {
            None => Ok(clock),
            Some(why) => Err(why),
        }
    }

    /// Compares the clocks and tells the readers.
    pub(crate) fn follow(&mut self) {
        let compared = match (self.compare)() {
            Ok(compared) => compared,
            Err(error) => {
                let path = &self.path;
                let why = format!("{path} cannot be compared with the kernel's clock: {error}");
                self.failure.get_or_insert(why);
                return;
            }
        };
        let is_same = |last: &&Comparison| {
            last.nic == compared.nic && compared.kernel >= last.kernel + STANDS_NANOS
        };
        if self.history.back().filter(is_same).is_some() {
            let why = format!("{} stands still", self.path);
            self.failure.get_or_insert(why);
        }
        let foreseen = Line::through(&self.history).and_then(|line| line.at(compared.nic));
        let off = foreseen.map_or(0, |kernel| kernel.abs_diff(compared.kernel));
        if off > STEP_NANOS.saturating_add(compared.doubt) {
            self.steps += 1;
            self.history.clear();
        } else {
            let error = off + compared.doubt;
            self.errors += u128::from(error);
            self.compared += 1;
            self.worst = self.worst.max(error);
        }
        if self.history.len() == KEPT {
            self.history.pop_front();
        }
        self.history.push_back(compared);
        if let Some(line) = Line::through(&self.history) {
            self.shared.put(line);
        }
    }

    /// For one worker.
    pub(crate) fn reader(&self) -> ClockReader {
        let (version, line) = self.shared.get().unwrap_or_default();
        ClockReader {
            shared: Arc::clone(&self.shared),
            version,
            line,
            last: Cell::default(),
        }
    }

    /// As in `/dev/ptp0`.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// What times may be wrong by.
    pub(crate) fn error(&self) -> ClockError {
        let mean = self.errors / u128::from(self.compared.max(1));
        ClockError {
            mean: u64::try_from(mean).unwrap_or(u64::MAX),
            worst: self.worst,
            steps: self.steps,
        }
    }

    /// Why it could not be compared at some time, a sentence's end.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }
}

impl fmt::Debug for NicClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CardClock")
            .field("path", &self.path)
            .field("compared", &self.compared)
            .field("worst", &self.worst)
            .finish_non_exhaustive()
    }
}

/// Whether a clock says the same for some milliseconds. What cannot be compared is for others to
/// tell.
fn stands_still(mut compare: impl FnMut() -> io::Result<Comparison>) -> bool {
    let Ok(first) = compare() else { return false };
    loop {
        match compare() {
            Ok(next) if next.nic == first.nic => {
                if next.kernel >= first.kernel.saturating_add(STANDS_NANOS) {
                    return true;
                }
            }
            _ => return false,
        }
    }
}

/// A reader of a clock that says `nic` when the kernel's says `kernel`, and goes as fast.
#[cfg(test)]
pub(crate) fn nic_clock_at(nic: u64, kernel: u64) -> ClockReader {
    let compared = Comparison {
        kernel,
        nic,
        doubt: 0,
    };
    let clock = NicClock::by(String::new(), Box::new(move || Ok(compared)));
    clock.expect("it was compared").reader()
}

#[cfg(test)]
mod tests;

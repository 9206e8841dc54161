//! The thread that writes samples: what it has no time for is left out and counted.

use std::io::{self, ErrorKind, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender, TryRecvError, TrySendError};
use std::sync::{Arc, PoisonError};
use std::thread::{Builder, JoinHandle};

use daemon::capture::CapturedFrame;

use crate::error::Error;

/// Samples that wait to be written, 10 s of the default rate: 3 MiB at most.
const WAITING_MAX: usize = 1_000;

/// How samples look.
pub(super) trait Format: Send {
    /// A word for messages.
    fn name(&self) -> &'static str;

    /// Appends what stands before the first sample.
    fn begin(&mut self, out: &mut Vec<u8>);

    /// Appends a sample.
    fn sample(&mut self, frame: &CapturedFrame, out: &mut Vec<u8>);
}

/// What came of a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Samples written.
    pub(super) samples: u64,
    /// Frames that they stand for.
    pub(super) frames: u64,
    /// Samples left out; the frames they stood for are in the next one's number.
    pub(super) lost: u64,
}

/// Takes samples and never waits.
pub(super) struct Writer {
    samples: SyncSender<CapturedFrame>,
    thread: JoinHandle<io::Result<Tally>>,
    ended: Arc<AtomicBool>,
    lost: AtomicU64,
    /// Frames of samples left out since the last that went through.
    owed: Mutex<u64>,
}

impl Writer {
    pub(super) fn start(
        mut format: Box<dyn Format>,
        mut to: Box<dyn Write + Send>,
    ) -> Result<Self, Error> {
        let (samples, waiting) = mpsc::sync_channel(WAITING_MAX);
        let ended = Arc::new(AtomicBool::new(false));
        let end = Arc::clone(&ended);
        let thread = Builder::new().name("capture".to_owned());
        let thread = thread.spawn(move || {
            let tally = write(&mut *format, &mut *to, &waiting);
            end.store(true, Ordering::Release);
            tally
        });
        let thread =
            thread.map_err(|error| Error::refused(format!("no thread to write with: {error}")))?;
        Ok(Self {
            samples,
            thread,
            ended,
            lost: AtomicU64::new(0),
            owed: Mutex::new(0),
        })
    }

    /// Whether nothing can be written any more; [`Writer::finish`] says why.
    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Whether frames of samples left out wait for the next one.
    #[cfg(test)]
    pub(super) fn owes(&self) -> bool {
        *self.owed.lock().unwrap_or_else(PoisonError::into_inner) != 0
    }

    /// Has a sample written, unless too many wait.
    pub(super) fn give(&self, mut frame: CapturedFrame) {
        let mut owed = self.owed.lock().unwrap_or_else(PoisonError::into_inner);
        frame.stands_for += std::mem::take(&mut *owed);
        match self.samples.try_send(frame) {
            Ok(()) => {}
            Err(TrySendError::Full(frame) | TrySendError::Disconnected(frame)) => {
                *owed = frame.stands_for;
                self.lost.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Writes what waits and says what was written. A reader that went away has seen enough.
    pub(super) fn finish(self) -> io::Result<Tally> {
        drop(self.samples);
        let written = self
            .thread
            .join()
            .unwrap_or_else(|_| Err(ErrorKind::Other.into()));
        match written {
            Ok(mut tally) => {
                tally.lost = self.lost.into_inner();
                Ok(tally)
            }
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Tally::default()),
            Err(error) => Err(error),
        }
    }
}

fn write(
    format: &mut dyn Format,
    to: &mut dyn Write,
    waiting: &Receiver<CapturedFrame>,
) -> io::Result<Tally> {
    let mut tally = Tally::default();
    let mut out = Vec::new();
    format.begin(&mut out);
    loop {
        to.write_all(&out)?;
        out.clear();
        let frame = match waiting.try_recv() {
            Ok(frame) => Ok(frame),
            Err(TryRecvError::Disconnected) => break,
            // What is written is seen before anybody waits.
            Err(TryRecvError::Empty) => to.flush().map(|()| waiting.recv())?,
        };
        let Ok(frame) = frame else { break };
        format.sample(&frame, &mut out);
        tally.samples += 1;
        tally.frames += frame.stands_for;
    }
    to.flush()?;
    Ok(tally)
}

//! Where lines go: a file, a FIFO or standard output, none of which may be trusted to take them.
//!
//! A FIFO is never waited for, neither for a reader when it is opened nor for room: a daemon that
//! is told to stop stops, whoever reads its log.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::io::Errno;

/// How often it is looked whether the file was renamed, as rotation does, and tried to be opened
/// where that failed.
pub(super) const REOPEN_EVERY: Duration = Duration::from_secs(1);
/// Bytes that are handed over at once: some three hundred lines.
const BUFFER_BYTES: usize = 64 << 10;

/// What became of lines so far; plain counts, one writer.
#[derive(Debug, Default)]
pub struct FlowLogCounts {
    pub(super) written: AtomicU64,
    pub(super) unwritten: AtomicU64,
}

impl FlowLogCounts {
    /// Lines that the system took.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Lines that it did not take.
    #[must_use]
    pub fn unwritten(&self) -> u64 {
        self.unwritten.load(Ordering::Relaxed)
    }
}

/// The open end, and the lines that wait for it.
#[derive(Debug)]
pub(super) struct Outlet {
    /// None for standard output.
    path: Option<PathBuf>,
    to: To,
    /// Lines that were not taken yet; of the first perhaps only the rest.
    buffer: Vec<u8>,
    counts: Arc<FlowLogCounts>,
    /// Why the first lines were lost.
    error: Option<io::Error>,
    /// Lines are lost, and somebody was told.
    is_told: bool,
    /// When the file was last looked after.
    looked: Instant,
}

#[derive(Debug)]
enum To {
    File(File),
    Stdout,
    /// Nothing takes lines now.
    Nobody,
}

impl Outlet {
    /// Opens a file to append to; `-` is standard output. A FIFO without a reader gets one later.
    ///
    /// # Errors
    /// It cannot be opened.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let is_stdout = path == Path::new("-");
        let to = match is_stdout {
            true => To::Stdout,
            false => match append_to(path) {
                Ok(file) => To::File(file),
                Err(error) if is_unread(path, &error) => To::Nobody,
                Err(error) => return Err(error),
            },
        };
        Ok(Self {
            path: (!is_stdout).then(|| path.to_owned()),
            to,
            buffer: Vec::with_capacity(2 * BUFFER_BYTES),
            counts: Arc::default(),
            error: None,
            is_told: false,
            looked: Instant::now(),
        })
    }

    pub(super) fn counts(&self) -> Arc<FlowLogCounts> {
        Arc::clone(&self.counts)
    }

    /// Why the first lines were lost, once.
    pub(super) fn take_error(&mut self) -> Option<io::Error> {
        self.error.take()
    }

    /// Whether there is no room for more lines until some are taken.
    pub(super) fn is_full(&self) -> bool {
        self.buffer.len() >= BUFFER_BYTES
    }

    pub(super) fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// One line, with its end.
    pub(super) fn push(&mut self, line: &str) {
        if matches!(self.to, To::Nobody) {
            let gone = || io::Error::other("nothing reads it");
            self.error.get_or_insert_with(gone);
            self.tell();
            self.count_lost(1);
            return;
        }
        self.buffer.extend_from_slice(line.as_bytes());
        if self.is_full() {
            self.flush();
        }
    }

    /// Hands over what waits, as much as is taken; returns whether anything was.
    pub(super) fn flush(&mut self) -> bool {
        let mut taken = 0;
        let failed = loop {
            let rest = &self.buffer[taken..];
            if rest.is_empty() {
                break None;
            }
            let done = match &mut self.to {
                To::File(file) => file.write(rest),
                To::Stdout => write_out(rest),
                To::Nobody => break None,
            };
            match done {
                Ok(0) => break Some(io::ErrorKind::WriteZero.into()),
                Ok(bytes) => taken += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break None,
                Err(error) => break Some(error),
            }
        };
        let lines = lines(&self.buffer[..taken]);
        self.buffer.drain(..taken);
        self.counts.written.fetch_add(lines, Ordering::Relaxed);
        match failed {
            Some(error) => self.fail(error),
            None if lines > 0 && self.is_told => self.tell_that_it_goes_on(),
            None => {}
        }
        taken > 0
    }

    /// Gives up what waits.
    pub(super) fn fail(&mut self, error: io::Error) {
        self.error.get_or_insert(error);
        self.tell();
        self.to = To::Nobody;
        let rest = lines(&self.buffer);
        self.buffer.clear();
        self.count_lost(rest);
    }

    pub(super) fn count_lost(&self, lines: u64) {
        self.counts.unwritten.fetch_add(lines, Ordering::Relaxed);
    }

    /// Opens the file anew where it was renamed or does not take lines.
    pub(super) fn look_after(&mut self) {
        let Some(path) = &self.path else {
            return;
        };
        if self.looked.elapsed() < REOPEN_EVERY {
            return;
        }
        self.looked = Instant::now();
        let is_same = match &self.to {
            To::File(file) => is_same(file, path),
            _ => false,
        };
        if !is_same && let Ok(file) = append_to(path) {
            // What the old one does not take now is nobody's.
            self.flush();
            let rest = lines(&self.buffer);
            self.buffer.clear();
            self.count_lost(rest);
            self.to = To::File(file);
        }
    }

    /// Once, and not each second that a disk is full.
    fn tell(&mut self) {
        if let Some(error) = &self.error
            && !std::mem::replace(&mut self.is_told, true)
        {
            tracing::error!(
                "the flow log cannot be written ({error}): flows are not logged until it \
                 can"
            );
        }
    }

    fn tell_that_it_goes_on(&mut self) {
        self.is_told = false;
        tracing::info!(
            unwritten = self.counts.unwritten(),
            "the flow log is written again"
        );
    }
}

/// By the descriptor: `io::Stdout` keeps lines back, which a reader that goes would take along.
fn write_out(bytes: &[u8]) -> io::Result<usize> {
    let stdout = io::stdout().lock();
    Ok(rustix::io::write(stdout.as_fd(), bytes)?)
}

fn lines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// Addresses that people met are nobody else's business.
fn append_to(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o640);
    options.custom_flags(OFlags::NONBLOCK.bits() as i32);
    let mut file = options.open(path)?;
    if is_torn(path) {
        // Part of a line is there, from a full disk or a killed process: the next begins behind it.
        file.write_all(b"\n")?;
    }
    Ok(file)
}

/// Whether it is a FIFO that nobody has open for reading.
fn is_unread(path: &Path, error: &io::Error) -> bool {
    let is_fifo = || std::fs::metadata(path).is_ok_and(|file| file.file_type().is_fifo());
    Errno::from_io_error(error) == Some(Errno::NXIO) && is_fifo()
}

/// Whether a file ends within a line. What cannot be read is taken for whole.
fn is_torn(path: &Path) -> bool {
    let is_file = std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() > 0);
    let last = || {
        let mut file = File::open(path).ok()?;
        file.seek(SeekFrom::End(-1)).ok()?;
        let mut last = [0];
        file.read_exact(&mut last).ok()?;
        Some(last[0])
    };
    is_file && last().is_some_and(|last| last != b'\n')
}

fn is_same(file: &File, path: &Path) -> bool {
    let identity = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
    let open = file.metadata().map(identity);
    let named = std::fs::metadata(path).map(identity);
    matches!((open, named), (Ok(open), Ok(named)) if open == named)
}

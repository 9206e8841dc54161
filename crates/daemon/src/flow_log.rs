//! Writing flows down as JSON lines, on a thread of its own: workers put records into
//! rings, and what this thread is too slow for is lost there and counted.

mod line;
mod outlet;
#[cfg(test)]
mod tests;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use engine::FlowLogReader;
use outlet::Outlet;

pub use outlet::FlowLogCounts;

/// Between two looks at rings that had little: they hold what comes meanwhile.
const NAP: Duration = Duration::from_millis(20);
/// Records at one look, of 16,384 a ring: more wait already, and a nap might lose some.
const MANY: usize = 4096;
/// How long a reader that takes nothing is waited for after the run.
const LAST_WAIT: Duration = Duration::from_secs(1);

/// Where lines go, opened.
#[derive(Debug)]
pub struct FlowLogFile(Outlet);

/// What became of the lines.
#[derive(Debug, Default)]
pub struct FlowLogEnd {
    /// Lines that the system took.
    pub written: u64,
    /// Lines that it did not take.
    pub unwritten: u64,
    /// Why the first of those was not.
    pub error: Option<io::Error>,
}

/// The thread that writes.
#[derive(Debug)]
pub struct FlowLogWriter {
    thread: JoinHandle<Option<io::Error>>,
    counts: Arc<FlowLogCounts>,
}

impl FlowLogFile {
    /// Opens a file to append to; `-` is standard output. A FIFO that nobody reads is tried again
    /// each second.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        Outlet::open(path).map(Self)
    }

    /// Begins to write what workers put down; `ports` are the names of the two ports.
    ///
    /// # Errors
    /// No thread is to be had.
    pub fn write(self, reader: FlowLogReader, ports: [String; 2]) -> io::Result<FlowLogWriter> {
        let counts = self.0.counts();
        let lines = Lines {
            outlet: self.0,
            ports,
        };
        let thread = Builder::new().name("flow-log".to_owned());
        let thread = thread.spawn(move || lines.run(reader))?;
        Ok(FlowLogWriter { thread, counts })
    }
}

impl FlowLogWriter {
    /// What became of lines so far, for whoever asks while it goes on.
    #[must_use]
    pub fn counts(&self) -> Arc<FlowLogCounts> {
        Arc::clone(&self.counts)
    }

    /// Waits until all is written, after the run has ended.
    #[must_use]
    pub fn finish(self) -> FlowLogEnd {
        let ended = self.thread.join();
        let bug = || Some(io::Error::other("its thread ended by a bug"));
        FlowLogEnd {
            written: self.counts.written(),
            unwritten: self.counts.unwritten(),
            error: ended.unwrap_or_else(|_| bug()),
        }
    }
}

struct Lines {
    outlet: Outlet,
    ports: [String; 2],
}

impl Lines {
    fn run(mut self, mut reader: FlowLogReader) -> Option<io::Error> {
        let mut since = Instant::now();
        loop {
            // Asked first: what came before the end is read after it.
            let is_over = reader.is_over();
            // Who takes no lines gets no more: records wait in their rings, then are lost there.
            let read = match self.outlet.is_full() {
                true => 0,
                false => self.read(&mut reader),
            };
            let is_moving = self.outlet.flush() || read > 0;
            if is_moving {
                since = Instant::now();
            }
            self.outlet.look_after();
            if is_over && reader.is_ended() && self.outlet.is_empty() {
                return self.outlet.take_error();
            }
            if is_over && since.elapsed() >= LAST_WAIT {
                return self.give_up(reader);
            }
            if read < MANY && !(is_over && is_moving) {
                std::thread::sleep(NAP);
            }
        }
    }

    /// Takes what waits, and makes lines of it; returns how many.
    fn read(&mut self, reader: &mut FlowLogReader) -> usize {
        let mut records = Vec::new();
        reader.read(|record| records.push(record));
        for record in &records {
            let text = line::of(record, &self.ports, |tick| reader.time(tick));
            self.outlet.push(&text);
        }
        records.len()
    }

    /// The run is over, and nobody takes what is left.
    fn give_up(mut self, mut reader: FlowLogReader) -> Option<io::Error> {
        let stuck = "whoever reads it takes nothing";
        self.outlet.fail(io::Error::other(stuck));
        self.outlet.count_lost(reader.read(drop) as u64);
        self.outlet.take_error()
    }
}

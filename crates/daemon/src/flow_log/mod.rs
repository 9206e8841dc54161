//! Writing conversations down as JSON lines, on a thread of its own: workers put records into
//! rings, and what this thread is too slow for is lost there and counted.

mod line;
#[cfg(test)]
mod tests;

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use engine::FlowLogReader;

/// Between two looks at rings that were empty: they hold what comes meanwhile.
const NAP: Duration = Duration::from_millis(20);
/// How often it is looked whether the file was renamed, as rotation does, and tried to be opened
/// where that failed.
const REOPEN_EVERY: Duration = Duration::from_secs(1);

/// Where lines go, opened.
#[derive(Debug)]
pub struct FlowLogFile {
    /// None for standard output.
    path: Option<PathBuf>,
    out: Out,
}

#[derive(Debug)]
enum Out {
    File(BufWriter<File>),
    Stdout(BufWriter<io::Stdout>),
    /// It could not be written to.
    Broken,
}

/// What became of the lines.
#[derive(Debug, Default)]
pub struct FlowLogEnd {
    /// Lines that were handed to the system.
    pub written: u64,
    /// Lines that could not be written.
    pub unwritten: u64,
    /// Why the first of those could not.
    pub error: Option<io::Error>,
}

/// The thread that writes.
#[derive(Debug)]
pub struct FlowLogWriter {
    thread: JoinHandle<FlowLogEnd>,
}

impl FlowLogFile {
    /// Opens a file to append to; `-` is standard output.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        if path == Path::new("-") {
            return Ok(Self {
                path: None,
                out: Out::Stdout(BufWriter::new(io::stdout())),
            });
        }
        Ok(Self {
            path: Some(path.to_owned()),
            out: Out::File(BufWriter::new(append_to(path)?)),
        })
    }

    /// Begins to write what workers put down; `ports` are the names of the two ports.
    ///
    /// # Errors
    /// No thread is to be had.
    pub fn write(self, reader: FlowLogReader, ports: [String; 2]) -> io::Result<FlowLogWriter> {
        let lines = Lines {
            file: self,
            ports,
            end: FlowLogEnd::default(),
            looked: Instant::now(),
        };
        let thread = Builder::new().name("flow-log".to_owned());
        let thread = thread.spawn(move || lines.run(reader))?;
        Ok(FlowLogWriter { thread })
    }
}

impl FlowLogWriter {
    /// Waits until all is written, after the run has ended.
    #[must_use]
    pub fn finish(self) -> FlowLogEnd {
        self.thread.join().unwrap_or_else(|_| FlowLogEnd {
            error: Some(io::Error::other("its thread ended by a bug")),
            ..FlowLogEnd::default()
        })
    }
}

/// Addresses that people met are nobody else's business.
fn append_to(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o640).open(path)
}

struct Lines {
    file: FlowLogFile,
    ports: [String; 2],
    end: FlowLogEnd,
    /// When the file was last looked after.
    looked: Instant,
}

impl Lines {
    fn run(mut self, mut reader: FlowLogReader) -> FlowLogEnd {
        loop {
            // Asked first: what came before the end is read after it.
            let ended = reader.is_ended();
            let mut records = Vec::new();
            reader.read(|record| records.push(record));
            let is_idle = records.is_empty();
            for record in &records {
                let text = line::of(record, &self.ports, |tick| reader.time(tick));
                self.write(&text);
            }
            if !is_idle && !ended {
                continue;
            }
            self.flush();
            if ended {
                return self.end;
            }
            self.look_after();
            std::thread::sleep(NAP);
        }
    }

    fn write(&mut self, text: &str) {
        let written = match &mut self.file.out {
            Out::File(out) => out.write_all(text.as_bytes()),
            Out::Stdout(out) => out.write_all(text.as_bytes()),
            Out::Broken => {
                self.end.unwritten += 1;
                return;
            }
        };
        match written {
            Ok(()) => self.end.written += 1,
            Err(error) => {
                self.end.unwritten += 1;
                self.fail(error);
            }
        }
    }

    fn flush(&mut self) {
        let flushed = match &mut self.file.out {
            Out::File(out) => out.flush(),
            Out::Stdout(out) => out.flush(),
            Out::Broken => Ok(()),
        };
        if let Err(error) = flushed {
            self.fail(error);
        }
    }

    /// Part of a line may be there: the next begins behind it, in a file that is opened anew.
    fn fail(&mut self, error: io::Error) {
        tracing::error!("the flow log cannot be written ({error}): conversations are not logged");
        self.end.error.get_or_insert(error);
        let broken = std::mem::replace(&mut self.file.out, Out::Broken);
        if let Out::File(out) = broken {
            // What could not be written is not tried again when it is dropped.
            let _ = out.into_parts();
        }
    }

    /// Opens the file anew where it was renamed or could not be written to.
    fn look_after(&mut self) {
        let Some(path) = &self.file.path else {
            return;
        };
        if self.looked.elapsed() < REOPEN_EVERY {
            return;
        }
        self.looked = Instant::now();
        let is_same = match &self.file.out {
            Out::File(out) => is_same(out.get_ref(), path),
            _ => false,
        };
        if !is_same && let Ok(file) = append_to(path) {
            self.file.out = Out::File(BufWriter::new(file));
        }
    }
}

fn is_same(file: &File, path: &Path) -> bool {
    let identity = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
    let open = file.metadata().map(identity);
    let named = std::fs::metadata(path).map(identity);
    matches!((open, named), (Ok(open), Ok(named)) if open == named)
}

//! The two streams: results on standard output, everything human on standard error.

use std::io::{self, ErrorKind, IsTerminal, Write};

use crate::args::Manners;
use crate::error::{Error, Outcome};
use crate::exit::ExitCode;
use crate::paint::Paint;
use crate::report::table::wrap;

/// Widest text there is, however wide the terminal.
const WIDTH_MAX: usize = 110;

/// How to speak, as the command line and the streams have it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    pub(crate) manners: Manners,
}

/// Where a report goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Stdout,
    /// Standard output is taken, by a capture or by JSON.
    Stderr,
}

/// How much a sentence on standard error matters.
#[derive(Clone, Copy, Debug)]
enum Level {
    Error,
    Warning,
}

impl Level {
    /// What the journal, where it reads standard error, takes off a line and files it by
    /// (`sd-daemon(3)`); it files lines without one among information.
    fn prefix(self, journal: bool) -> &'static str {
        match self {
            _ if !journal => "",
            Self::Error => "<3>",
            Self::Warning => "<4>",
        }
    }
}

impl Output {
    /// Prints a result. A reader that went away is a quiet success: it has seen what it wanted.
    pub(crate) fn print(self, stream: Stream, text: &str) -> Outcome {
        let written = match stream {
            Stream::Stdout => write_all(io::stdout().lock(), text),
            Stream::Stderr => write_all(io::stderr().lock(), text),
        };
        match written {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Error::check_failed(
                format!("the report could not be written: {error}"),
            )),
            _ => Ok(ExitCode::Done),
        }
    }

    /// Prints a piece of what goes on and on; whether anybody still reads it.
    pub(crate) fn print_on(self, text: &str) -> Result<bool, Error> {
        match write_all(io::stdout().lock(), text) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
            Err(error) => Err(Error::check_failed(format!(
                "the answer could not be written: {error}"
            ))),
        }
    }

    /// Prints one JSON object: indented for people on a terminal, on one line for programs.
    pub(crate) fn print_json(self, value: &impl serde::Serialize) -> Outcome {
        let text = if io::stdout().is_terminal() {
            serde_json::to_string_pretty(value)
        } else {
            serde_json::to_string(value)
        };
        let text = text.map_err(|error| Error::check_failed(format!("no JSON: {error}")))?;
        self.print(Stream::Stdout, &(text + "\n"))
    }

    /// One sentence on standard error, marked as a warning.
    pub(crate) fn warn(self, sentence: &str) {
        self.say(Level::Warning, "warning: ", sentence, Paint::warning);
    }

    /// One sentence on standard error, marked as an error.
    pub(crate) fn complain(self, sentence: &str) {
        self.say(Level::Error, "", sentence, Paint::bad);
    }

    /// One line on standard error, unless told to be quiet.
    pub(crate) fn tell(self, line: &str) {
        if !self.manners.quiet {
            // Nobody to complain to when standard error is gone.
            let _ = writeln!(io::stderr(), "{line}");
        }
    }

    /// Colours of a stream.
    pub(crate) fn paint(self, stream: Stream) -> Paint {
        match stream {
            Stream::Stdout => Paint::for_stream(self.manners.color, &io::stdout()),
            Stream::Stderr => Paint::for_stream(self.manners.color, &io::stderr()),
        }
    }

    /// How wide text on a stream may be.
    pub(crate) fn width(self, stream: Stream) -> usize {
        let size = match stream {
            Stream::Stdout => terminal_size::terminal_size_of(io::stdout()),
            Stream::Stderr => terminal_size::terminal_size_of(io::stderr()),
        };
        size.map_or(WIDTH_MAX, |(width, _)| {
            usize::from(width.0).clamp(40, WIDTH_MAX)
        })
    }

    /// Each line with its mark, so that every line on standard error says who speaks.
    fn say(self, level: Level, mark: &str, text: &str, color: fn(Paint, &str) -> String) {
        let plain = format!("linerate: {mark}");
        let level = level.prefix(daemon::log::journal_listens());
        let head = color(self.paint(Stream::Stderr), &plain);
        let terminal = io::stderr().is_terminal();
        for line in text.lines() {
            // A terminal gets whole words; what programs may read is not broken into lines.
            let said = if terminal {
                let wrapped = wrap(&format!("{plain}{line}"), 0, self.width(Stream::Stderr));
                wrapped.replacen(&plain, &head, 1)
            } else {
                format!("{level}{head}{line}\n")
            };
            let _ = io::stderr().write_all(said.as_bytes());
        }
    }
}

fn write_all(mut stream: impl Write, text: &str) -> io::Result<()> {
    stream.write_all(text.as_bytes())?;
    stream.flush()
}

//! Why a source could not be read: one sentence each that says what, where and the remedy.

use std::time::Duration;
use std::{fmt, io};

use list::ListError;

use super::deliver::Refused;
use super::list_url::SpecError;

/// Why a try of a source failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum SourceError {
    /// A file or a folder could not be used.
    Io {
        /// The source, or the path that it is about.
        name: String,
        /// What was tried, as in `be read`.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The text is no list.
    List(ListError),
    /// Not a regular file.
    NotAFile {
        /// The path.
        name: String,
    },
    /// More bytes than the limit.
    TooLarge {
        /// The source.
        name: String,
        /// The limit.
        bytes_max: u64,
        /// True when it is the unpacked text.
        unpacked: bool,
    },
    /// It is written to all the time.
    Unsettled {
        /// The path.
        name: String,
    },
    /// It took too long.
    TooSlow {
        /// The source.
        name: String,
        /// The limit.
        limit: Duration,
    },
    /// It ended before its end.
    CutOff {
        /// The source.
        name: String,
        /// What told so.
        sign: &'static str,
    },
    /// The server answered otherwise than hoped.
    Answer {
        /// The URL without query.
        name: String,
        /// What it answered, as in `403 Forbidden`.
        answer: String,
        /// The same as a number.
        status: u16,
        /// When it wants to be asked again.
        retry_after: Option<Duration>,
    },
    /// The server could not be asked.
    Connection {
        /// The URL without query.
        name: String,
        /// What went wrong.
        text: String,
    },
    /// A redirect that is not followed, or a URL that is none.
    Address(SpecError),
    /// A command failed.
    Command {
        /// The program.
        name: String,
        /// How it ended, as in `ended with status 3`.
        ending: String,
        /// The last line it wrote to standard error, printable and bounded.
        stderr: String,
    },
    /// An API key could not be had.
    Key(String),
    /// The local API answered what is not its protocol.
    Protocol {
        /// The URL without query.
        name: String,
        /// What is wrong.
        text: String,
    },
    /// etcd, or what stands in its place: a sentence.
    Etcd(String),
    /// The keeper did not take it.
    Refused {
        /// The set.
        set: String,
        /// Its reason.
        refused: Refused,
    },
    /// The daemon is stopping.
    Stopped,
}

impl SourceError {
    pub(crate) fn io(name: impl Into<String>, what: &'static str, source: io::Error) -> Self {
        Self::Io {
            name: name.into(),
            what,
            source,
        }
    }

    /// True when the keeper refused what was read well.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused { .. })
    }

    /// When the server wants to be asked again.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Answer { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { name, what, source } => write!(f, "{name} cannot {what}: {source}"),
            Self::List(error) => write_list(f, error),
            Self::NotAFile { name } => write!(f, "{name} is not a regular file: name the list"),
            Self::TooLarge {
                name,
                bytes_max,
                unpacked,
            } => {
                let packed = if *unpacked { " when unpacked" } else { "" };
                write!(
                    f,
                    "{name} is larger than {bytes_max} bytes{packed}: split the list, or raise \
                     list_bytes in [limits]"
                )
            }
            Self::Unsettled { name } => write!(
                f,
                "{name} is being written to all the time: write the list aside and rename it \
                 into place"
            ),
            Self::TooSlow { name, limit } => write!(
                f,
                "{name} took longer than {} s: raise list_time in [limits] if that is normal",
                limit.as_secs_f32()
            ),
            Self::CutOff { name, sign } => write!(f, "{name} was cut off on its way: {sign}"),
            Self::Answer { name, answer, .. } => {
                write!(f, "{name} was not given out: the server answered {answer}")
            }
            Self::Connection { name, text } => write!(f, "{name} cannot be fetched: {text}"),
            Self::Address(error) => write!(f, "{error}"),
            Self::Command {
                name,
                ending,
                stderr,
            } => match stderr.as_str() {
                "" => write!(f, "command {name} {ending}, and its output was not taken"),
                said => write!(f, "command {name} {ending}: {said}"),
            },
            Self::Key(text) | Self::Etcd(text) => f.write_str(text),
            Self::Protocol { name, text } => write!(
                f,
                "{name} answered what is no stream of decisions: {text}; check the address"
            ),
            Self::Refused { set, refused } => write!(f, "set {set} was not changed: {refused}"),
            Self::Stopped => f.write_str("the daemon is stopping"),
        }
    }
}

/// The first bad line and how many more there are: logs and metrics have one line.
fn write_list(f: &mut fmt::Formatter<'_>, error: &ListError) -> fmt::Result {
    let ListError::Refused {
        entry_count,
        bad_count,
        bad,
        ..
    } = error
    else {
        return write!(f, "{error}");
    };
    if let Some(first) = bad.first() {
        write!(f, "{first}")?;
    }
    match bad_count.saturating_sub(1) {
        0 => {}
        1 => write!(f, ", and 1 more bad line")?,
        more => write!(f, ", and {more} more bad lines")?,
    }
    if bad_count > entry_count {
        write!(f, "; {}", list::remedy(bad, *bad_count, *entry_count))?;
    }
    // Also where there was no list before.
    write!(f, "; the set stays as it is until the list is mended")
}

impl std::error::Error for SourceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::List(error) => Some(error),
            Self::Address(error) => Some(error),
            _ => None,
        }
    }
}

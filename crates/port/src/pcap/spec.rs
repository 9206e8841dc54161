//! `pcap:in=a.pcap,out=b.pcap[,loop=N][,format=F]`: what a user says of capture files.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::SpecError;
use crate::spec::{Settings, escape};

const KEYS: [&str; 4] = ["in", "out", "loop", "format"];

/// Where a capture is: a file, or the standard stream of the direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CapturePath {
    /// `-`: standard input to read, standard output to write.
    Stdio,
    /// A file, pipe or device by its path.
    File(PathBuf),
}

/// Whether what stands behind `pcap:` is settings, and not a bare name.
pub(crate) fn begins_with_setting(text: &str) -> bool {
    text.split_once('=')
        .is_some_and(|(key, _)| KEYS.contains(&key))
}

impl CapturePath {
    fn new(text: String) -> Self {
        if text == "-" {
            Self::Stdio
        } else {
            Self::File(text.into())
        }
    }

    fn spec_text(&self) -> String {
        match self {
            Self::Stdio => "-".to_owned(),
            Self::File(path) => escape(&path.to_string_lossy()).into_owned(),
        }
    }
}

/// The format a capture is written in. All but [`Format::PcapMicro`] keep every nanosecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// pcap with nanoseconds, whatever the input had: times stay exactly what they were.
    Pcap,
    /// pcap with microseconds, for readers that know nothing else; what is below is cut.
    PcapMicro,
    /// pcapng with nanoseconds.
    Pcapng,
}

impl Format {
    /// The word after `format=`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pcap => "pcap",
            Self::PcapMicro => "pcap-us",
            Self::Pcapng => "pcapng",
        }
    }

    fn parse(text: &str) -> Result<Self, SpecError> {
        let formats = [Self::Pcap, Self::PcapMicro, Self::Pcapng];
        formats
            .into_iter()
            .find(|format| format.name() == text)
            .ok_or_else(|| {
                SpecError::value(
                    "format",
                    text,
                    "pcap (nanoseconds), pcap-us (microseconds) or pcapng",
                )
            })
    }

    /// The format that a file name stands for.
    fn of_path(path: &CapturePath) -> Self {
        let CapturePath::File(path) = path else {
            return Self::Pcap;
        };
        let unpacked = without_gzip(path);
        match has_ending(&unpacked, "pcapng") || has_ending(&unpacked, "ntar") {
            true => Self::Pcapng,
            false => Self::Pcap,
        }
    }
}

/// Endings of packed files that are not written, and the filter that packs so.
const FOREIGN: [(&str, &str); 16] = [
    ("zst", "zstd"),
    ("zstd", "zstd"),
    ("xz", "xz"),
    ("lzma", "xz --format=lzma"),
    ("bz", "bzip2"),
    ("bz2", "bzip2"),
    ("lz", "lzip"),
    ("lz4", "lz4"),
    ("lzo", "lzop"),
    ("br", "brotli"),
    ("sz", "snzip"),
    ("z", "compress"),
    ("zip", "zip"),
    ("7z", "7z a -si"),
    ("bgz", "bgzip"),
    ("zz", "pigz -z"),
];
/// Endings of archives of files.
const ARCHIVES: [&str; 14] = [
    "tar", "tgz", "taz", "tbz", "tbz2", "tb2", "txz", "tlz", "tlzma", "tzst", "tz2", "rar", "cab",
    "jar",
];

/// Refuses an output whose name promises a compression that it would not have.
///
/// # Errors
/// What a name like this would have to hold, and what is possible.
pub fn expect_packing(path: &Path) -> Result<(), String> {
    let possible = "a name that ends in .gz is packed";
    if let Some((ending, filter)) = FOREIGN.iter().find(|(ending, _)| has_ending(path, ending)) {
        return Err(format!(
            "captures are not packed with {filter} here, as the ending .{ending} says; {possible}, \
             and - (standard output) goes into `{filter}`"
        ));
    }
    let unpacked = without_gzip(path);
    match ARCHIVES.iter().find(|ending| has_ending(&unpacked, ending)) {
        Some(ending) => Err(format!(
            "a capture is one file and no archive, as the ending .{ending} says; {possible}"
        )),
        None => Ok(()),
    }
}

/// Whether a name promises gzip.
#[must_use]
pub fn is_gzip(path: &Path) -> bool {
    has_ending(path, "gz") || has_ending(path, "gzip")
}

/// The name without an ending that promises gzip.
fn without_gzip(path: &Path) -> PathBuf {
    match is_gzip(path) {
        true => path.with_extension(""),
        false => path.to_owned(),
    }
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension()
        .is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

/// How often a capture is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loops {
    /// So many times in all, at least once.
    Times(u64),
    /// Until the run is ended.
    Forever,
}

/// Capture files to read, to write, or both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PcapSpec {
    /// What is read.
    pub input: Option<CapturePath>,
    /// What is written, and in which format.
    pub output: Option<(CapturePath, Format)>,
    /// How often the input is read; times of frames stay as they are in the file, and those of a
    /// later round begin where the round before had come to.
    pub loops: Loops,
}

impl PcapSpec {
    /// A port that reads one file once.
    #[must_use]
    pub fn reading(path: impl Into<PathBuf>) -> Self {
        let input = Some(CapturePath::File(path.into()));
        Self {
            input,
            output: None,
            loops: Loops::Times(1),
        }
    }

    /// A port that writes one file.
    #[must_use]
    pub fn writing(path: impl Into<PathBuf>, format: Format) -> Self {
        let output = Some((CapturePath::File(path.into()), format));
        Self {
            input: None,
            output,
            loops: Loops::Times(1),
        }
    }

    pub(crate) fn from_settings(settings: &mut Settings) -> Result<Self, SpecError> {
        settings.expect(&KEYS)?;
        settings.expect_no_name("write in=FILE to read it, out=FILE to write it")?;
        let input = settings.take("in").map(CapturePath::new);
        let output = settings.take("out").map(CapturePath::new);
        let loops = settings.take("loop");
        let format = settings.take("format");
        if input.is_none() && output.is_none() {
            return Err(SpecError::new(
                "it names no file; write in=FILE, out=FILE or both",
            ));
        }
        if input.is_none() && loops.is_some() {
            return Err(SpecError::new(
                "loop= repeats an input and there is none; add in=FILE",
            ));
        }
        if output.is_none() && format.is_some() {
            return Err(SpecError::new(
                "format= is of an output and there is none; add out=FILE",
            ));
        }
        if let Some(CapturePath::File(path)) = &output {
            expect_packing(path).map_err(SpecError::new)?;
        }
        let format = format.map(|format| Format::parse(&format)).transpose()?;
        let output = output.map(|path| {
            let format = format.unwrap_or_else(|| Format::of_path(&path));
            (path, format)
        });
        let loops = loops.map_or(Ok(Loops::Times(1)), |loops| parse_loops(&loops))?;
        if input == Some(CapturePath::Stdio) && loops != Loops::Times(1) {
            let sentence = "standard input cannot be read again for loop=; name a file";
            return Err(SpecError::new(sentence));
        }
        Ok(Self {
            input,
            output,
            loops,
        })
    }
}

fn parse_loops(text: &str) -> Result<Loops, SpecError> {
    match text.parse() {
        _ if text == "forever" => Ok(Loops::Forever),
        Ok(times) if times > 0 => Ok(Loops::Times(times)),
        _ => Err(SpecError::value(
            "loop",
            text,
            "a whole number from 1, or forever",
        )),
    }
}

impl fmt::Display for PcapSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut comma = "pcap:";
        if let Some(input) = &self.input {
            write!(f, "{comma}in={}", input.spec_text())?;
            match self.loops {
                Loops::Times(1) => {}
                Loops::Times(times) => write!(f, ",loop={times}")?,
                Loops::Forever => f.write_str(",loop=forever")?,
            }
            comma = ",";
        }
        if let Some((output, format)) = &self.output {
            write!(
                f,
                "{comma}out={},format={}",
                output.spec_text(),
                format.name()
            )?;
        }
        Ok(())
    }
}

//! Reads a list from its first byte to its last.

use crate::columns::Columns;
use crate::csv::Csv;
use crate::error::ListError;
use crate::format::Format;
use crate::intake::{Intake, Note, Sink};
use crate::ipset::Ipset;
use crate::json_claims::Incomplete;
use crate::json_lines::JsonLines;
use crate::lines::{Block, Lines, Piece};
use crate::options::ReadOptions;
use crate::report::{BadLine, Finding};
use crate::source::{Source, Text};
use crate::{json_document, nft_json, nft_text, plain};
use std::io::Read;
use std::sync::Arc;
use table::Entries;

/// How far reading has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes read of the input, compressed as it came.
    pub bytes_read: u64,
    /// Lines read.
    pub lines: u64,
    /// Entries found.
    pub entries: u64,
}

/// A list as it was read.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The entries as given: nothing merged. An IPv4-mapped IPv6 entry is the IPv4 entry that it
    /// stands for.
    pub entries: Entries,
    /// How it is written.
    pub format: Format,
    /// True when the input is gzip.
    pub gzip: bool,
    /// Lines, comments and empty ones included.
    pub lines: u64,
    /// Bytes of the input, compressed as it came.
    pub bytes_read: u64,
    /// Entries, duplicates included.
    pub entry_count: u64,
    /// Bad lines left out: 0 unless the caller asked to skip them.
    pub bad_count: u64,
    /// The first of them.
    pub bad: Vec<BadLine>,
    /// The first warnings of each kind, in the order of their lines.
    pub warnings: Vec<Finding>,
    /// How many warnings there were.
    pub warning_count: u64,
    /// What the list says of having more than was read, where it was taken all the same; a warning,
    /// too.
    pub doubt: Option<Incomplete>,
}

/// Reads a list in any format, plain or gzip. `name` stands in messages. `progress` is called
/// about once a block.
///
/// # Errors
/// Reading fails, the list has bad lines and `options` does not skip them, or it is out of bounds.
pub fn read(
    name: &str,
    mut input: impl Read,
    options: &ReadOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Loaded, ListError> {
    let file = Arc::from(name);
    let mut intake = Intake::new(&file, options, Entries::default());
    let run = run(&mut input, &mut intake, progress)?;
    if intake.bad_count > 0 && !options.skip_bad_lines {
        return Err(ListError::Refused {
            file,
            entry_count: intake.entry_count(),
            bad_count: intake.bad_count,
            bad: intake.bad,
        });
    }
    if let Some(incomplete) = intake.incomplete {
        return Err(ListError::Incomplete {
            file,
            incomplete,
            wording: options.wording,
        });
    }
    let lines = intake.line;
    if intake.held.entry_count == 0 && intake.bad_count == 0 {
        intake.line = 0;
        intake.warn(Note::Empty, || "the list holds no entries".to_owned());
    }
    Ok(Loaded {
        entries: intake.held.sink,
        format: run.format,
        gzip: run.gzip,
        lines,
        bytes_read: run.bytes_read,
        entry_count: intake.held.entry_count,
        bad_count: intake.bad_count,
        bad: intake.bad,
        warnings: intake.held.warnings,
        warning_count: intake.held.warning_count,
        doubt: intake.doubt,
    })
}

/// What reading tells beside what went into the intake.
pub(crate) struct Run {
    format: Format,
    gzip: bool,
    bytes_read: u64,
}

/// Reads all of `input` into `intake`.
pub(crate) fn run<S: Sink>(
    input: &mut dyn Read,
    intake: &mut Intake<'_, S>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Run, ListError> {
    let source = Source::open(&intake.file, input)?;
    let format = match &intake.options.columns {
        Some(_) => Format::Csv,
        None => Format::of(source.head()),
    };
    let (gzip, mut meter) = (source.is_gzip(), source.meter());
    let limits = intake.options.limits;
    let text = source.into_text();
    let mut tell = |intake: &Intake<'_, S>| {
        meter.tell(
            limits.block_bytes,
            (intake.line, intake.entry_count()),
            progress,
        );
        intake.check_bound()
    };
    match (format, &intake.options.columns) {
        (_, Some(Columns::All)) => {
            let text = text.with_lines_for_columns();
            read_blocks(text, intake, &mut tell, &mut plain::read_block)?;
        }
        (_, Some(columns)) => {
            let mut csv = Csv::new(columns);
            read_lines(text, intake, &mut tell, &mut |line, intake| {
                csv.read_line(line, intake);
            })?;
            csv.finish(intake)?;
        }
        (Format::Plain | Format::Csv, None) => {
            read_blocks(text, intake, &mut tell, &mut plain::read_block)?;
        }
        (Format::JsonLines, None) => {
            let mut lines = JsonLines::new(&intake.options.json_paths);
            read_lines(text, intake, &mut tell, &mut |line, intake| {
                lines.read_line(line, intake);
            })?;
            lines.finish(intake)?;
        }
        (Format::Json, None) => json_document::read(text, intake, &mut tell)?,
        (Format::Ipset, None) => {
            let mut ipset = Ipset::new();
            read_lines(text, intake, &mut tell, &mut |line, intake| {
                ipset.read_line(line, intake);
            })?;
            ipset.finish(intake);
        }
        (Format::NftText, None) => nft_text::read(text, intake, &mut tell)?,
        (Format::NftJson, None) => nft_json::read(text, intake, &mut tell)?,
    }
    Ok(Run {
        format,
        gzip,
        bytes_read: meter.bytes_read(),
    })
}

/// Tells how far reading has come, and stops it when it has come too far.
pub(crate) type Tell<'t, 'o, S> = &'t mut dyn FnMut(&Intake<'o, S>) -> Result<(), ListError>;

fn read_blocks<'o, S: Sink>(
    text: Text<'_>,
    intake: &mut Intake<'o, S>,
    tell: Tell<'_, 'o, S>,
    read_block: &mut dyn FnMut(Block<'_>, &mut Intake<'o, S>),
) -> Result<(), ListError> {
    let limits = intake.options.limits;
    let mut lines = Lines::new(text, limits.block_bytes, limits.line_bound());
    while let Some(piece) = lines.next()? {
        match piece {
            Piece::Block(block) => read_block(block, intake),
            Piece::TooLong => {
                intake.line += 1;
                intake.too_long();
            }
        }
        tell(intake)?;
    }
    Ok(())
}

fn read_lines<'o, S: Sink>(
    text: Text<'_>,
    intake: &mut Intake<'o, S>,
    tell: Tell<'_, 'o, S>,
    read_line: &mut dyn FnMut(&[u8], &mut Intake<'o, S>),
) -> Result<(), ListError> {
    let line_bytes_max = intake.options.limits.line_bound();
    read_blocks(text, intake, tell, &mut |block, intake| {
        for line in block.lines() {
            intake.line += 1;
            if line.len() > line_bytes_max {
                intake.too_long();
            } else {
                read_line(line.strip_suffix(b"\r").unwrap_or(line), intake);
            }
        }
    })
}

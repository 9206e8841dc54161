//! Reading a journal at the start: all of it, or a named refusal.

use super::OpenOptions;
use super::error::JournalError;
use super::file::{Found, HEADER_BYTES, Records};
use super::generation::{Folder, Kind};
use super::op;
use super::state::KeptSets;
use std::path::{Path, PathBuf};

/// The most entries that are taken from a journal: some gigabytes.
pub const ENTRIES_MAX: usize = 16 << 20;

/// What reading told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Records read.
    pub records: u64,
    /// Bytes cut off the end of the last journal: a record that was not written to its end.
    pub cut_bytes: u64,
    /// What was damaged in the middle and left out, only where the caller asked to recover: file,
    /// where in it, bytes.
    pub skipped: Vec<(PathBuf, u64, u64)>,
    /// Why nothing can be written, a sentence: the disk is full. What was kept is there, and what
    /// comes is kept as soon as there is room.
    pub no_room: Option<String>,
}

impl Report {
    /// True when something in the middle was left out.
    #[must_use]
    pub fn is_recovered(&self) -> bool {
        !self.skipped.is_empty()
    }
}

/// Where the journal ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Last {
    pub(super) generation: u64,
    pub(super) next_seq: u64,
}

/// Reads the newest snapshot and the journals that follow it.
pub(super) fn read_all(
    folder: &Folder,
    options: OpenOptions,
    now_ms: u64,
) -> Result<(KeptSets, Report, Last), JournalError> {
    let files = folder.files()?;
    let newest = |wanted: Kind| {
        let of_kind = files.iter().filter(move |&&(kind, _)| kind == wanted);
        of_kind.map(|&(_, generation)| generation).max()
    };
    let snapshot = newest(Kind::Snapshot);
    let first = snapshot.unwrap_or(1);
    let last = newest(Kind::Journal).map_or(first, |journal| journal.max(first));
    let mut reading = Reading {
        folder,
        options,
        kept: KeptSets::default(),
        report: Report::default(),
        next_seq: None,
    };
    if let Some(generation) = snapshot {
        reading.snapshot(generation)?;
    }
    let journals = files.iter().filter(|&&(kind, _)| kind == Kind::Journal);
    let journals: Vec<u64> = journals.map(|&(_, generation)| generation).collect();
    let mut expected = first;
    for &generation in journals.iter().filter(|&&generation| generation >= first) {
        if generation != expected {
            let path = folder.path(Kind::Journal, expected);
            reading.damage(path, 0, 0, "the file is not there")?;
        }
        let ended_at = match generation == last {
            true => EndedAt::Unknown,
            false => reading.begun_at(generation.saturating_add(1))?,
        };
        reading.journal(generation, ended_at)?;
        expected = generation.saturating_add(1);
    }
    if expected == first && snapshot.is_some() {
        let path = folder.path(Kind::Journal, first);
        reading.damage(path, 0, 0, "the file is not there")?;
    }
    let Reading {
        mut kept,
        report,
        next_seq,
        ..
    } = reading;
    kept.expire(now_ms);
    let last = Last {
        generation: if files.is_empty() { 0 } else { last },
        next_seq: next_seq.unwrap_or(1),
    };
    Ok((kept, report, last))
}

/// What is known of where a journal ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EndedAt {
    /// It is the last one: what is torn at its end was never answered.
    Unknown,
    /// The next one begins with this number. When it was begun this one ended before it, and what
    /// is torn there was cut off by that start.
    Before(u64),
    /// The next one does not say, or is not there.
    Untold,
}

impl EndedAt {
    /// Whether nothing is missing if number `next` is the first that this one has not.
    fn fits(self, next: u64) -> bool {
        match self {
            Self::Unknown => true,
            Self::Before(first) => first == next,
            Self::Untold => false,
        }
    }
}

struct Reading<'a> {
    folder: &'a Folder,
    options: OpenOptions,
    kept: KeptSets,
    report: Report,
    next_seq: Option<u64>,
}

impl Reading<'_> {
    /// Damage in the middle: refused, or noted.
    fn damage(
        &mut self,
        path: PathBuf,
        offset: u64,
        bytes: u64,
        what: &'static str,
    ) -> Result<(), JournalError> {
        if !self.options.recover {
            return Err(JournalError::Damaged { path, offset, what });
        }
        self.report.skipped.push((path, offset, bytes));
        Ok(())
    }

    fn snapshot(&mut self, generation: u64) -> Result<(), JournalError> {
        let path = self.folder.path(Kind::Snapshot, generation);
        let mut records = self.records(Kind::Snapshot, generation)?;
        let header = records.header().map_err(JournalError::io("read", &path))?;
        match header {
            Some((own, next_seq)) if own == generation => self.next_seq = Some(next_seq),
            _ => self.damage(
                path.clone(),
                0,
                HEADER_BYTES as u64,
                "the header is damaged",
            )?,
        }
        let (mut offset, mut number) = (HEADER_BYTES as u64, 0);
        loop {
            let found = records
                .at(offset)
                .map_err(JournalError::io("read", &path))?;
            match found {
                Found::Record { seq, .. } if seq == number && records.payload.is_empty() => {
                    return Ok(());
                }
                Found::Record { seq, end } if seq == number || self.options.recover => {
                    self.take(&records, &path, offset)?;
                    (offset, number) = (end, seq.wrapping_add(1));
                }
                _ => match self.skip(&mut records, &path, (offset, number))? {
                    Some(next) => offset = next,
                    None => return Ok(()),
                },
            }
        }
    }

    /// What the journal of a generation says of the one before.
    fn begun_at(&self, generation: u64) -> Result<EndedAt, JournalError> {
        let path = self.folder.path(Kind::Journal, generation);
        if !path.exists() {
            return Ok(EndedAt::Untold);
        }
        let header = self.records(Kind::Journal, generation)?.header();
        let header = header.map_err(JournalError::io("read", &path))?;
        Ok(match header {
            Some((own, first)) if own == generation => EndedAt::Before(first),
            _ => EndedAt::Untold,
        })
    }

    fn journal(&mut self, generation: u64, ended_at: EndedAt) -> Result<(), JournalError> {
        let path = self.folder.path(Kind::Journal, generation);
        let mut records = self.records(Kind::Journal, generation)?;
        let failed = || JournalError::io("read", &path);
        let header = records.header().map_err(failed())?;
        match header {
            Some((own, first)) if own == generation && self.follows(first) => {
                self.next_seq = Some(first);
            }
            // A start or a compaction that was killed at once.
            None if ended_at.fits(self.next_seq.unwrap_or(1))
                && records.bytes() <= HEADER_BYTES as u64 =>
            {
                self.report.cut_bytes += records.bytes();
                return Ok(());
            }
            _ => self.damage(
                path.clone(),
                0,
                HEADER_BYTES as u64,
                "the header is damaged",
            )?,
        }
        let mut offset = HEADER_BYTES as u64;
        loop {
            let next_seq = self.next_seq.unwrap_or(1);
            match records.at(offset).map_err(failed())? {
                Found::End => return Ok(()),
                Found::Record { seq, end } if seq == next_seq || self.options.recover => {
                    self.take(&records, &path, offset)?;
                    self.next_seq = Some(seq.wrapping_add(1));
                    offset = end;
                }
                _ => {
                    let next = records.next_after(offset, next_seq).map_err(failed())?;
                    if next.is_none() && ended_at.fits(next_seq) {
                        self.report.cut_bytes += records.bytes() - offset;
                        return Ok(());
                    }
                    match self.skip(&mut records, &path, (offset, next_seq))? {
                        Some(next) => offset = next,
                        None => return Ok(()),
                    }
                }
            }
        }
    }

    /// Goes on behind damage, where the caller asked for it; none at the end.
    fn skip(
        &mut self,
        records: &mut Records,
        path: &Path,
        (offset, number): (u64, u64),
    ) -> Result<Option<u64>, JournalError> {
        let next = records.next_after(offset, number);
        let next = next.map_err(JournalError::io("read", path))?;
        let end = next.unwrap_or(records.bytes());
        let what = "a record is damaged or missing";
        self.damage(path.to_owned(), offset, end.saturating_sub(offset), what)?;
        Ok(next)
    }

    fn follows(&self, first: u64) -> bool {
        self.options.recover || self.next_seq.is_none_or(|next| next == first)
    }

    fn records(&self, kind: Kind, generation: u64) -> Result<Records, JournalError> {
        let file = self.folder.open(kind, generation)?;
        let path = self.folder.path(kind, generation);
        Records::new(file).map_err(JournalError::io("read", &path))
    }

    fn take(&mut self, records: &Records, path: &Path, offset: u64) -> Result<(), JournalError> {
        self.report.records += 1;
        let kept = &mut self.kept;
        if op::read(&records.payload, &mut |set, op| kept.take(set, op)).is_none() {
            let bytes = records.payload.len() as u64;
            self.damage(
                path.to_owned(),
                offset,
                bytes,
                "a record says nothing known",
            )?;
        }
        if self.kept.entry_count() > ENTRIES_MAX {
            return Err(JournalError::TooMany {
                entries_max: ENTRIES_MAX,
            });
        }
        Ok(())
    }
}

//! The files of a journal: a header, then records.
//!
//! Header, 28 bytes: `LRJRNL` and the version (2), generation (8), first sequence number (8),
//! CRC-32 of what comes before (4). Record: mark (4), length of the payload (4), sequence number
//! (8), CRC-32 of length, number and payload (4), payload. All numbers are little-endian. The mark
//! lets a reader find the next record behind damage.

use super::PAYLOAD_BYTES_MAX;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MAGIC: [u8; 8] = *b"LRJRNL\x01\x00";
pub(super) const HEADER_BYTES: usize = 28;
const MARK: [u8; 4] = [0xB7, b'L', b'R', 0x1E];
const RECORD_BYTES: usize = 20;
/// Bytes looked at while searching for the next record, at most: what hostile bytes can cost.
const SEARCH_BYTES_MAX: u64 = 256 << 20;

pub(super) fn header(generation: u64, first_seq: u64) -> [u8; HEADER_BYTES] {
    let mut bytes = [0; HEADER_BYTES];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..16].copy_from_slice(&generation.to_le_bytes());
    bytes[16..24].copy_from_slice(&first_seq.to_le_bytes());
    let check = crc32fast::hash(&bytes[..24]);
    bytes[24..].copy_from_slice(&check.to_le_bytes());
    bytes
}

/// Generation and first sequence number.
pub(super) fn read_header(bytes: &[u8]) -> Option<(u64, u64)> {
    let bytes: &[u8; HEADER_BYTES] = bytes.try_into().ok()?;
    let number = |at: usize| bytes[at..at + 8].try_into().map(u64::from_le_bytes);
    let check = crc32fast::hash(&bytes[..24]).to_le_bytes();
    let is_ours = bytes[..8] == MAGIC && bytes[24..] == check;
    is_ours.then_some((number(8).ok()?, number(16).ok()?))
}

/// Appends a record's bytes.
pub(super) fn put_record(out: &mut Vec<u8>, seq: u64, payload: &[u8]) -> io::Result<()> {
    if payload.len() > PAYLOAD_BYTES_MAX {
        return Err(io::Error::other("too many changes for one record"));
    }
    let length = (payload.len() as u32).to_le_bytes();
    out.extend_from_slice(&MARK);
    out.extend_from_slice(&length);
    out.extend_from_slice(&seq.to_le_bytes());
    out.extend_from_slice(&checksum(length, seq, payload).to_le_bytes());
    out.extend_from_slice(payload);
    Ok(())
}

fn checksum(length: [u8; 4], seq: u64, payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&length);
    hasher.update(&seq.to_le_bytes());
    hasher.update(payload);
    hasher.finalize()
}

/// Appends records to the journal of one generation.
#[derive(Debug)]
pub(super) struct Appender {
    path: PathBuf,
    file: Arc<File>,
    generation: u64,
    next_seq: u64,
    bytes: u64,
    /// A record being put together; its memory is kept.
    record: Vec<u8>,
}

impl Appender {
    pub(super) fn new(path: PathBuf, file: Arc<File>, generation: u64, next_seq: u64) -> Self {
        Self {
            path,
            file,
            generation,
            next_seq,
            bytes: HEADER_BYTES as u64,
            record: Vec::new(),
        }
    }

    pub(super) fn append(&mut self, payload: &[u8]) -> io::Result<()> {
        /// What a usual turn takes; a bulk's memory is given back.
        const KEPT_BYTES: usize = 64 << 10;
        self.record.clear();
        put_record(&mut self.record, self.next_seq, payload)?;
        if let Err(error) = (&*self.file).write_all(&self.record) {
            // What was written of it would be damage in the middle.
            self.file.set_len(self.bytes)?;
            return Err(error);
        }
        self.bytes += self.record.len() as u64;
        self.next_seq = self.next_seq.wrapping_add(1);
        self.record.shrink_to(KEPT_BYTES);
        Ok(())
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn shared(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    pub(super) fn generation(&self) -> u64 {
        self.generation
    }

    pub(super) fn next_seq(&self) -> u64 {
        self.next_seq
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether there is no record in it.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes == HEADER_BYTES as u64
    }
}

/// What stands at a place of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A record with this number; its payload is in the reader. The next begins at `end`.
    Record { seq: u64, end: u64 },
    /// The file ends here.
    End,
    /// Neither.
    Damage,
}

/// Reads records at places. Holds one payload.
#[derive(Debug)]
pub(super) struct Records {
    file: File,
    bytes: u64,
    pub(super) payload: Vec<u8>,
}

impl Records {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let bytes = file.metadata()?.len();
        let payload = Vec::new();
        Ok(Self {
            file,
            bytes,
            payload,
        })
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn header(&self) -> io::Result<Option<(u64, u64)>> {
        let mut bytes = [0; HEADER_BYTES];
        if self.bytes < HEADER_BYTES as u64 {
            return Ok(None);
        }
        self.file.read_exact_at(&mut bytes, 0)?;
        Ok(read_header(&bytes))
    }

    pub(super) fn at(&mut self, offset: u64) -> io::Result<Found> {
        let left = self.bytes.saturating_sub(offset);
        if left == 0 {
            return Ok(Found::End);
        }
        let mut head = [0; RECORD_BYTES];
        if left < RECORD_BYTES as u64 {
            return Ok(Found::Damage);
        }
        self.file.read_exact_at(&mut head, offset)?;
        let [mark, length, seq_low, seq_high, check] = words(&head);
        let count = u32::from_le_bytes(length) as usize;
        let fits = count as u64 <= left - RECORD_BYTES as u64;
        if mark != MARK || count > PAYLOAD_BYTES_MAX || !fits {
            return Ok(Found::Damage);
        }
        self.payload.resize(count, 0);
        let begin = offset + RECORD_BYTES as u64;
        self.file.read_exact_at(&mut self.payload, begin)?;
        let seq =
            u64::from(u32::from_le_bytes(seq_low)) | u64::from(u32::from_le_bytes(seq_high)) << 32;
        if checksum(length, seq, &self.payload) != u32::from_le_bytes(check) {
            return Ok(Found::Damage);
        }
        let end = begin + count as u64;
        Ok(Found::Record { seq, end })
    }

    /// The next place after `offset` where a record stands that is numbered `seq_min` or later;
    /// none where there is none. Gives up, by saying that here is one, when the search took too
    /// much: then something is damaged for sure.
    pub(super) fn next_after(&mut self, offset: u64, seq_min: u64) -> io::Result<Option<u64>> {
        const BLOCK: usize = 64 << 10;
        let (mut at, mut budget) = (offset + 1, SEARCH_BYTES_MAX);
        let mut block = vec![0; BLOCK];
        while at < self.bytes {
            let count = BLOCK.min((self.bytes - at) as usize);
            self.file.read_exact_at(&mut block[..count], at)?;
            for place in marks(&block[..count]) {
                let place = at + place as u64;
                if let Found::Record { seq, .. } = self.at(place)?
                    && seq >= seq_min
                {
                    return Ok(Some(place));
                }
                budget = budget.saturating_sub(self.payload.len() as u64);
            }
            budget = budget.saturating_sub(count as u64);
            if budget == 0 {
                return Ok(Some(at));
            }
            // A mark may lie across the end of the block.
            at += (count - if count == BLOCK { MARK.len() - 1 } else { 0 }) as u64;
        }
        Ok(None)
    }
}

fn words(head: &[u8; RECORD_BYTES]) -> [[u8; 4]; 5] {
    std::array::from_fn(|word| std::array::from_fn(|byte| head[4 * word + byte]))
}

fn marks(block: &[u8]) -> impl Iterator<Item = usize> {
    let windows = block.windows(MARK.len()).enumerate();
    windows
        .filter(|(_, window)| *window == MARK)
        .map(|(place, _)| place)
}

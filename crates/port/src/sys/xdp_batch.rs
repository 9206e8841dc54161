//! A batch of frames for `bpf/send.bpf.c`: a value of a map that this process has mapped, too.

use std::io;
use std::os::fd::AsRawFd;
use std::ptr::{self, NonNull};

use super::xdp_maps::{Map, MapKind, MapShape};

/// Records begin below this (`AT_END`).
const AT_END: usize = 1 << 17;
/// Lengths of frames that a record may have (`LENGTH_MIN`, `LENGTH_MAX`).
pub(crate) const LENGTH_MIN: usize = 14;
pub(crate) const LENGTH_MAX: usize = 3200;
/// A value of the map: whole pages, so that each can be mapped (`BATCH_BYTES`).
const BATCH_BYTES: usize = 33 * 4096;
/// Where the words, the lengths of frames sent last and the records are in it (`struct batch`).
const NEXT_AT: usize = 0;
const END_AT: usize = 4;
const STRANDED_AT: usize = 8;
const STRANDED_BYTES_AT: usize = 12;
const QUEUED_AT: usize = 16;
const PASSED_AT: usize = 20;
const LOST_AT: usize = 24;
const LOST_BYTES_AT: usize = 28;
const LENGTHS_AT: usize = 32;
const RECORDS_AT: usize = 160;
/// Lengths, two to a word (`LENGTHS`).
const LENGTHS: u32 = 32;
/// Before the bytes of a frame: its length.
const LENGTH_BYTES: usize = 8;

const _: () = assert!(RECORDS_AT + AT_END + LENGTH_BYTES + LENGTH_MAX <= BATCH_BYTES);

/// The map of so many batches.
pub(crate) fn batches(count: u32) -> io::Result<Map> {
    let shape = MapShape::numbered(MapKind::Array, BATCH_BYTES, count);
    Map::mappable("batches", shape)
}

/// The map in which the program leaves whose frames are under way on a CPU (`struct running`).
pub(crate) fn running() -> io::Result<Map> {
    let shape = MapShape::numbered(MapKind::PerCpuArray, size_of::<u64>(), 1);
    Map::create("running", shape)
}

/// Frames that are to be sent, in order.
#[derive(Debug)]
pub(crate) struct Batch {
    start: NonNull<u8>,
    /// Bytes of records.
    end: usize,
    frames: u32,
    /// Of the first one.
    first_length: usize,
}

// SAFETY: the mapping belongs to no thread; whoever has the batch has it alone in this process, and
// the kernel's program touches it only within a call that borrows it mutably.
unsafe impl Send for Batch {}

/// What became of frames of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Handed {
    /// Frames that the program was not run for: the run was interrupted.
    pub(crate) left: bool,
    /// Frames, and their bytes, that there was no interface for.
    pub(crate) stranded: u32,
    pub(crate) stranded_bytes: u32,
    /// Frames, and their bytes, that were redirected to it and that it or its driver did not take.
    pub(crate) lost: u32,
    pub(crate) lost_bytes: u32,
}

impl Batch {
    /// The batch of a place in the map, which must be mapped once only.
    pub(crate) fn map(batches: &Map, place: u32) -> io::Result<Self> {
        if !batches.has_entries_of(BATCH_BYTES) || place >= batches.entries() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let offset = (place as usize * BATCH_BYTES) as libc::off_t;
        let fd = std::os::fd::AsFd::as_fd(batches).as_raw_fd();
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory in use.
        let start = unsafe {
            libc::mmap(
                ptr::null_mut(),
                BATCH_BYTES,
                access,
                libc::MAP_SHARED,
                fd,
                offset,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self {
            start: NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?,
            end: 0,
            frames: 0,
            first_length: 0,
        })
    }

    /// Frames in it.
    pub(crate) fn frames(&self) -> u32 {
        self.frames
    }

    /// Bytes of the first frame that was put into it.
    pub(crate) fn first_length(&self) -> usize {
        self.first_length
    }

    /// Appends a frame of [`LENGTH_MIN`] to [`LENGTH_MAX`] bytes; false where it has another length
    /// or there is no room.
    #[inline]
    pub(crate) fn push(&mut self, frame: &[u8]) -> bool {
        let fits = (LENGTH_MIN..=LENGTH_MAX).contains(&frame.len());
        if !fits || self.end >= AT_END {
            return false;
        }
        // SAFETY: the record begins in the mapping, below AT_END, and ends in it, as the constants
        // say; we have it alone.
        unsafe {
            let record = self.start.as_ptr().add(RECORDS_AT + self.end);
            record.cast::<u64>().write(frame.len() as u64);
            let bytes = record.add(LENGTH_BYTES);
            ptr::copy_nonoverlapping(frame.as_ptr(), bytes, frame.len());
        }
        if self.frames == 0 {
            self.first_length = frame.len();
        }
        self.end += LENGTH_BYTES + frame.len().next_multiple_of(8);
        self.frames += 1;
        true
    }

    /// Shows it to the program, from the first frame on.
    pub(crate) fn show(&mut self) {
        self.write(STRANDED_AT, 0);
        self.write(STRANDED_BYTES_AT, 0);
        self.write(QUEUED_AT, 0);
        self.write(PASSED_AT, 0);
        self.write(LOST_AT, 0);
        self.write(LOST_BYTES_AT, 0);
        self.write(NEXT_AT, 0);
        self.write(END_AT, self.end as u32);
    }

    /// What became of its frames, once no run uses it.
    /// A frame that nobody saw arrive is lost, too.
    pub(crate) fn handed(&self) -> Handed {
        let (passed, queued) = (self.read(PASSED_AT), self.read(QUEUED_AT));
        let unseen = (passed..queued).rev().take(LENGTHS as usize);
        let unseen: u32 = unseen.map(|number| self.length(number)).sum();
        Handed {
            left: self.read(NEXT_AT) as usize != self.end,
            stranded: self.read(STRANDED_AT),
            stranded_bytes: self.read(STRANDED_BYTES_AT),
            lost: self.read(LOST_AT) + queued.saturating_sub(passed),
            lost_bytes: self.read(LOST_BYTES_AT) + unseen,
        }
    }

    /// Bytes of the frame of this number, of those that were redirected last.
    fn length(&self, number: u32) -> u32 {
        let place = number % LENGTHS;
        let two = self.read(LENGTHS_AT + (place / 2 * 4) as usize);
        if place.is_multiple_of(2) {
            two & 0xffff
        } else {
            two >> 16
        }
    }

    /// How many frames, and bytes of frames, were not handed to the interface.
    pub(crate) fn left(&self) -> (u32, u64) {
        let (mut at, mut frames, mut bytes) = (self.read(NEXT_AT) as usize, 0, 0);
        while at < self.end {
            // SAFETY: records end at `end`, each where the next begins, and none is written by the
            // program, so `at` is that of one; a page is aligned to more than eight bytes.
            let length = unsafe {
                self.start
                    .as_ptr()
                    .add(RECORDS_AT + at)
                    .cast::<u64>()
                    .read()
            };
            at += LENGTH_BYTES + (length as usize).next_multiple_of(8);
            frames += 1;
            bytes += length;
        }
        (frames, bytes)
    }

    /// Empties it.
    pub(crate) fn clear(&mut self) {
        (self.end, self.frames, self.first_length) = (0, 0, 0);
        self.write(NEXT_AT, 0);
        self.write(END_AT, 0);
    }

    fn read(&self, at: usize) -> u32 {
        debug_assert!(at < RECORDS_AT, "a word of the head");
        // SAFETY: the head is in the mapping; volatile, since the program writes it.
        unsafe { self.start.as_ptr().add(at).cast::<u32>().read_volatile() }
    }

    fn write(&mut self, at: usize, word: u32) {
        debug_assert!(at < RECORDS_AT, "a word of the head");
        // SAFETY: as above.
        unsafe {
            self.start
                .as_ptr()
                .add(at)
                .cast::<u32>()
                .write_volatile(word);
        }
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        // SAFETY: this mapping was made by `map`, and nothing refers to it any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), BATCH_BYTES) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_that_nobody_saw_arrive_is_lost() {
        let Ok(map) = batches(1) else {
            println!("skipped: no right to make BPF maps");
            return;
        };
        let mut batch = Batch::map(&map, 0).unwrap();
        batch.show();
        // Lengths of frames 30 to 33, two to a word: the last two begin anew.
        batch.write(LENGTHS_AT + 60, 61 << 16 | 60);
        batch.write(LENGTHS_AT, 63 << 16 | 62);
        for (passed, lost, bytes) in [(34, 0, 0), (33, 1, 63), (31, 3, 61 + 62 + 63)] {
            batch.write(QUEUED_AT, 34);
            batch.write(PASSED_AT, passed);
            let handed = batch.handed();
            assert_eq!((handed.lost, handed.lost_bytes), (lost, bytes));
        }
        batch.show();
        assert_eq!(batch.handed(), Handed::default());
    }

    #[test]
    fn a_batch_holds_frames_until_it_is_full_and_knows_what_is_left() {
        let Ok(map) = batches(2) else {
            println!("skipped: no right to make BPF maps");
            return;
        };
        assert!(Batch::map(&map, 2).is_err(), "there are two");
        let mut batch = Batch::map(&map, 1).unwrap();
        assert!(!batch.push(&[0; LENGTH_MIN - 1]) && !batch.push(&[0; LENGTH_MAX + 1]));
        let mut lengths = Vec::new();
        for length in (LENGTH_MIN..=LENGTH_MAX).cycle() {
            if !batch.push(&vec![1; length]) {
                break;
            }
            lengths.push(length as u64);
        }
        assert_eq!(batch.frames() as usize, lengths.len());
        assert_eq!(batch.first_length(), LENGTH_MIN);
        batch.show();
        assert!(batch.handed().left);
        assert_eq!(batch.left(), (batch.frames(), lengths.iter().sum()));
        batch.clear();
        batch.show();
        assert_eq!(batch.handed(), Handed::default());
        assert_eq!(batch.left(), (0, 0));
        let other = Map::create("test", MapShape::numbered(MapKind::Array, 8, 1)).unwrap();
        assert!(Batch::map(&other, 0).is_err());
    }
}

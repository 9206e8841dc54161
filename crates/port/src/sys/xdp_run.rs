//! Programs that the kernel runs when it is asked to, and maps filled by the thousand.

use std::ffi::c_int;
use std::io;

use super::xdp_bpf::{Program, bpf};
use super::xdp_maps::Map;

const PROG_TEST_RUN: c_int = 10;
const MAP_UPDATE_BATCH: c_int = 26;

/// What the program answers happens to the frames (`BPF_F_TEST_XDP_LIVE_FRAMES`, kernel 5.18 on).
const LIVE_FRAMES: u32 = 1 << 1;
/// Frames of which each batch is made, after which interrupts that were put off are taken: half the
/// ring of a veth. 64 took a quarter more of the CPU's time a frame where others used that CPU too.
const BATCH: u32 = 128;

#[repr(C)]
struct TestRun {
    prog_fd: u32,
    retval: u32,
    data_size_in: u32,
    data_size_out: u32,
    data_in: u64,
    data_out: u64,
    repeat: u32,
    duration: u32,
    ctx_size_in: u32,
    ctx_size_out: u32,
    ctx_in: u64,
    ctx_out: u64,
    flags: u32,
    cpu: u32,
    batch_size: u32,
    /// Not the kernel's, which refuses what is not zero there.
    end: u32,
}

#[repr(C)]
struct UpdateBatch {
    in_batch: u64,
    out_batch: u64,
    keys: u64,
    values: u64,
    count: u32,
    map_fd: u32,
    elem_flags: u64,
    flags: u64,
}

impl UpdateBatch {
    /// Of as many values, which begin at this address.
    fn of(map: &Map, keys: &[u32], values: usize) -> Self {
        Self {
            in_batch: 0,
            out_batch: 0,
            keys: keys.as_ptr().expose_provenance() as u64,
            values: values as u64,
            count: keys.len() as u32,
            map_fd: map.raw_fd() as u32,
            elem_flags: 0,
            flags: 0,
        }
    }
}

/// What a program is told of where a frame came from (`struct xdp_md`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
struct Context {
    data: u32,
    data_end: u32,
    data_meta: u32,
    ingress_ifindex: u32,
    rx_queue_index: u32,
    egress_ifindex: u32,
}

impl Program {
    /// Runs it over this many frames, all of which begin as this one; what it writes into them may
    /// stay there. Returns when it is through.
    pub(crate) fn run(&self, frame: &[u8], frames: u32) -> io::Result<()> {
        self.run_in(frame, frames, BATCH, None)
    }

    /// As [`Self::run`], as if the frames had come by a queue of an interface, and with batches of
    /// so many.
    pub(crate) fn run_as(
        &self,
        frame: &[u8],
        frames: u32,
        batch: u32,
        (interface, queue): (u32, u32),
    ) -> io::Result<()> {
        let context = Context {
            data_end: frame.len() as u32,
            ingress_ifindex: interface,
            rx_queue_index: queue,
            ..Context::default()
        };
        self.run_in(frame, frames, batch, Some(context))
    }

    fn run_in(
        &self,
        frame: &[u8],
        frames: u32,
        batch: u32,
        context: Option<Context>,
    ) -> io::Result<()> {
        let (context_at, context_bytes) = match &context {
            None => (0, 0),
            Some(context) => (
                (&raw const *context).expose_provenance() as u64,
                size_of::<Context>(),
            ),
        };
        let mut attributes = TestRun {
            prog_fd: self.raw_fd() as u32,
            retval: 0,
            data_size_in: frame.len() as u32,
            data_size_out: 0,
            data_in: frame.as_ptr().expose_provenance() as u64,
            data_out: 0,
            repeat: frames,
            duration: 0,
            ctx_size_in: context_bytes as u32,
            ctx_size_out: 0,
            ctx_in: context_at,
            ctx_out: 0,
            flags: LIVE_FRAMES,
            cpu: 0,
            batch_size: batch,
            end: 0,
        };
        // SAFETY: the kernel reads `data_size_in` bytes of `frame` and `ctx_size_in` of `context`,
        // both of which are borrowed for this call; what it writes, it writes into the struct.
        unsafe { bpf(PROG_TEST_RUN, &mut attributes) }.map(drop)
    }
}

impl Map {
    /// Writes the entries of many numbers; values are 32-bit numbers too.
    pub(crate) fn put_many(&self, keys: &[u32], values: &[u32]) -> io::Result<()> {
        if keys.len() != values.len() || !self.is_numbers() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let values = values.as_ptr().expose_provenance();
        let mut attributes = UpdateBatch::of(self, keys, values);
        // SAFETY: the kernel reads `count` keys and `count` values of four bytes each, which the
        // slices have, as checked, and are borrowed for this call.
        unsafe { bpf(MAP_UPDATE_BATCH, &mut attributes) }.map(drop)
    }
}

/// Entries that are written in one call at most: the kernel copies both lists.
const ENTRIES_A_CALL: usize = 1 << 14;

impl Map {
    /// Writes the first entries of an array, as many as these words are, each a whole number of
    /// words.
    pub(crate) fn put_words(&self, words: &[u64]) -> io::Result<()> {
        let each = self.words_an_entry().ok_or(io::ErrorKind::InvalidInput)?;
        if !words.len().is_multiple_of(each) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        for (call, words) in words.chunks(each * ENTRIES_A_CALL).enumerate() {
            let first = (call * ENTRIES_A_CALL) as u32;
            let keys: Vec<u32> = (first..).take(words.len() / each).collect();
            let values = words.as_ptr().expose_provenance();
            let mut attributes = UpdateBatch::of(self, &keys, values);
            // SAFETY: the kernel reads `count` keys of four bytes and `count` values of the map's
            // length, which is `each` words, so that the slices have as many; both are borrowed
            // for this call.
            unsafe { bpf(MAP_UPDATE_BATCH, &mut attributes) }?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::xdp_maps::{MapKind, MapShape};
    use super::*;

    #[test]
    fn structs_are_the_kernels() {
        assert_eq!(std::mem::offset_of!(TestRun, batch_size), 72);
        assert_eq!(size_of::<TestRun>(), 80, "nothing in it is not named");
        assert_eq!(size_of::<Context>(), 24);
        assert_eq!(std::mem::offset_of!(UpdateBatch, map_fd), 36);
    }

    #[test]
    fn many_entries_are_each_where_they_belong() {
        let shape = MapShape::numbered(MapKind::Hash, 4, 100);
        let Ok(map) = Map::create("test", shape) else {
            println!("skipped: no right to make BPF maps");
            return;
        };
        let keys: Vec<u32> = (0..100).map(|key| key * 7).collect();
        let values: Vec<u32> = (1000..1100).collect();
        map.put_many(&keys, &values).unwrap();
        for (key, value) in keys.iter().zip(&values) {
            assert_eq!(map.get(*key).unwrap(), value.to_ne_bytes());
        }
        assert!(map.get(1).is_err());
        assert!(map.put_many(&keys, &values[1..]).is_err());
        assert!(map.put_many(&[1], &[1]).is_err(), "it is full");
    }

    #[test]
    fn words_fill_entries_from_the_first() {
        let shape = MapShape::numbered(MapKind::Array, 16, 3);
        let Ok(map) = Map::create("test", shape) else {
            println!("skipped: no right to make BPF maps");
            return;
        };
        map.put_words(&[1, 2, 3, 4]).unwrap();
        let entry = |words: [u64; 2]| words.map(u64::to_ne_bytes).concat();
        let entries = [[1, 2], [3, 4], [0, 0]];
        for (place, words) in (0..).zip(entries) {
            assert_eq!(map.get(place).unwrap(), entry(words));
        }
        assert!(map.put_words(&[1]).is_err(), "half an entry");
        assert!(
            map.put_words(&[0; 8]).is_err(),
            "one entry more than there is"
        );
        let hash = MapShape::numbered(MapKind::Hash, 16, 3);
        let hash = Map::create("test", hash).unwrap();
        assert!(hash.put_words(&[1, 2]).is_err());
    }
}

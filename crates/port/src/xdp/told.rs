//! What the interface tells of a frame: the program writes it right before the frame (`struct told`
//! in `bpf/xdp.bpf.c`), and the kernel copies both.

use frame::{Frame, FrameMeta, PortId, QueueId};

use super::btf::Functions;

/// Bytes before a frame that the program wrote.
const BYTES: usize = 16;

/// In the upper half of the last word: that the program wrote it for this frame.
const TOLD: u32 = 0x6c72_0000;
/// Which fields the hash is of; none where there is no hash.
const FIELDS: u32 = 0xffff;

/// What the interface is asked about each frame that goes to a socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    /// When it came, by the interface's clock.
    pub(super) stamp: bool,
    /// What it was hashed to.
    pub(super) hash: bool,
}

impl Asked {
    /// As the program is told it (`enum asked`).
    pub(super) fn bits(self) -> u32 {
        u32::from(self.stamp) | u32::from(self.hash) << 1
    }

    pub(super) fn any(self) -> bool {
        self.stamp || self.hash
    }

    /// As far as the kernel has the functions.
    pub(super) fn within(self, functions: &Functions) -> Self {
        Self {
            stamp: self.stamp && functions.stamp.is_some(),
            hash: self.hash && functions.hash.is_some(),
        }
    }
}

/// What was told of one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Told {
    /// Nanoseconds of the interface's clock; 0 where it did not say.
    stamp: u64,
    /// 0 where there is none.
    hash: u32,
}

impl Told {
    fn read(bytes: &[u8; BYTES]) -> Self {
        let [a, b, c, d, e, f, g, h, ..] = *bytes;
        let [.., i, j, k, l, m, n, o, p] = *bytes;
        let fields = u32::from_ne_bytes([m, n, o, p]);
        if fields & !FIELDS != TOLD {
            return Self::default();
        }
        let hash = match fields & FIELDS {
            0 => 0,
            _ => u32::from_ne_bytes([i, j, k, l]),
        };
        let stamp = u64::from_ne_bytes([a, b, c, d, e, f, g, h]);
        Self { stamp, hash }
    }

    /// Takes it from before a frame that was just received: nothing is left there for a later frame
    /// in the same chunk.
    fn take(frame: &mut Frame) -> Self {
        if frame.extend_front(BYTES).is_err() {
            return Self::default();
        }
        let told = frame
            .bytes_mut()
            .first_chunk_mut()
            .map_or_else(Self::default, |bytes| {
                let told = Self::read(bytes);
                *bytes = [0; BYTES];
                told
            });
        // As many as were put before it.
        let _always = frame.trim_front(BYTES);
        told
    }
}

/// Writes what the interface told of received frames into their records, with the queue of the
/// interface that they came on. `convert` makes a time of the interface's clock one of the kernel's
/// monotonic clock.
pub(super) fn note(
    frames: &mut [Frame],
    (port, queue): (PortId, u32),
    convert: impl Fn(u64) -> Option<u64>,
) {
    for frame in frames {
        let told = Told::take(frame);
        let stamp = Some(told.stamp).filter(|&stamp| stamp != 0);
        *frame.meta_mut() = FrameMeta {
            port,
            queue: QueueId(queue as u16),
            rss_hash: told.hash,
            time_ns: stamp.and_then(&convert).unwrap_or(0),
            by_nic: true,
            ..FrameMeta::default()
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests_support::pool;

    fn bytes(stamp: u64, hash: u32, last: u32) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&stamp.to_ne_bytes());
        bytes[8..12].copy_from_slice(&hash.to_ne_bytes());
        bytes[12..].copy_from_slice(&last.to_ne_bytes());
        bytes
    }

    #[test]
    fn only_what_the_program_wrote_is_read() {
        let told = |stamp, hash| Told { stamp, hash };
        for (stamp, hash, last, expect) in [
            (5, 7, TOLD | 1, told(5, 7)),
            (0, 7, TOLD | 0xffff, told(0, 7)),
            (u64::MAX, u32::MAX, TOLD, told(u64::MAX, 0)),
            (5, 7, 1, told(0, 0)),
            (5, 7, TOLD ^ 0x1_0000 | 1, told(0, 0)),
            (5, 7, u32::MAX, told(0, 0)),
            (5, 7, 0, told(0, 0)),
        ] {
            assert_eq!(Told::read(&bytes(stamp, hash, last)), expect, "{last:x}");
        }
    }

    #[test]
    fn a_record_is_written_once_and_the_frame_stays_as_it_is() {
        let mut pool = pool(1);
        let mut frame = pool.alloc().unwrap();
        frame.copy_from(&[0xaa; 60]).unwrap();
        frame.extend_front(BYTES).unwrap();
        frame.bytes_mut()[..BYTES].copy_from_slice(&bytes(1_000, 9, TOLD | 8));
        frame.trim_front(BYTES).unwrap();
        let mut frames = [frame];
        let place = (PortId(3), 2);
        note(&mut frames, place, |stamp| Some(stamp + 1));
        assert_eq!(frames[0].bytes(), [0xaa; 60]);
        let meta = *frames[0].meta().unwrap();
        let expect = FrameMeta {
            port: PortId(3),
            queue: QueueId(2),
            rss_hash: 9,
            time_ns: 1_001,
            by_nic: true,
            ..FrameMeta::default()
        };
        assert_eq!(meta, expect);
        // What stood there is gone: a frame of which nothing is told has no record of another's.
        note(&mut frames, place, |stamp| Some(stamp + 1));
        let meta = *frames[0].meta().unwrap();
        assert_eq!((meta.rss_hash, meta.nic_time()), (0, None));
        let [frame] = frames;
        pool.free(frame);
    }

    #[test]
    fn a_frame_without_room_before_it_and_a_clock_that_is_not_known_tell_nothing() {
        let mut pool = pool(1);
        let mut frame = pool.alloc().unwrap();
        frame.copy_from(&[1; 60]).unwrap();
        let room = frame.headroom();
        frame.extend_front(room).unwrap();
        assert_eq!(Told::take(&mut frame), Told::default());
        assert_eq!(frame.len(), 60 + room);
        frame.bytes_mut()[..BYTES].copy_from_slice(&bytes(1_000, 9, TOLD | 8));
        frame.trim_front(BYTES).unwrap();
        let mut frames = [frame];
        note(&mut frames, (PortId(0), 0), |_| None);
        let meta = *frames[0].meta().unwrap();
        assert_eq!((meta.rss_hash, meta.nic_time()), (9, None));
        let [frame] = frames;
        pool.free(frame);
    }
}

//! Records of the kernel, read into what happened.

use super::tracefs::Tracepoints;

/// `PERF_RECORD_LOST` and `PERF_RECORD_SAMPLE`.
const LOST: u32 = 2;
const SAMPLE: u32 = 9;
/// Addresses from here on are no calls: they say whose calls follow (`PERF_CONTEXT_MAX`).
const CONTEXTS: u64 = u64::MAX - 4094;
/// The operation of `futex(2)`, without the flags for private ones and for the clock.
const OPERATION: u64 = 0x7f;
/// `FUTEX_WAIT`, `FUTEX_LOCK_PI`, `FUTEX_WAIT_BITSET`, `FUTEX_WAIT_REQUEUE_PI`, `FUTEX_LOCK_PI2`.
const WAITS: [u64; 5] = [0, 6, 9, 11, 13];

/// Something that happened in a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) time: u64,
    pub(super) process: u32,
    pub(super) thread: u32,
    pub(super) what: What,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A wait for a kernel lock begins; `calls` led there, the innermost first.
    Begin {
        lock: u64,
        flags: u64,
        calls: Vec<u64>,
    },
    /// It ends.
    End { lock: u64 },
    /// A thread calls `futex(2)` to wait.
    Enter { address: u64 },
    /// Any call of `futex(2)` returns.
    Exit { result: i64 },
}

/// A record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Record {
    Event(Event),
    /// So many records were dropped, since the ring was full.
    Lost(u64),
    /// Of no interest.
    Other,
}

/// Reads a record; none where it is shorter than it says.
pub(super) fn read(record: &[u8], tracepoints: &Tracepoints) -> Option<Record> {
    let mut words = Reader(record);
    let kind = words.u32()?;
    words.u32()?;
    match kind {
        LOST => {
            words.u64()?;
            words.u64().map(Record::Lost)
        }
        SAMPLE => {
            let (process, thread) = (words.u32()?, words.u32()?);
            let time = words.u64()?;
            let count = words.u64()?;
            let calls = words.bytes(usize::try_from(count).ok()?.checked_mul(8)?)?;
            let length = words.u32()?;
            let raw = words.bytes(length as usize)?;
            let what = what(raw, calls, tracepoints);
            Some(what.map_or(Record::Other, |what| {
                Record::Event(Event {
                    time,
                    process,
                    thread,
                    what,
                })
            }))
        }
        _ => Some(Record::Other),
    }
}

/// By the tracepoint's number, which its bytes begin with.
fn what(raw: &[u8], calls: &[u8], tracepoints: &Tracepoints) -> Option<What> {
    let number = u64::from(u16::from_ne_bytes([*raw.first()?, *raw.get(1)?]));
    if let Some(points) = &tracepoints.locks {
        if number == points.begin {
            return Some(What::Begin {
                lock: points.begin_lock.of(raw)?,
                flags: points.begin_flags.of(raw)?,
                calls: addresses(calls),
            });
        }
        if number == points.end {
            return points.end_lock.of(raw).map(|lock| What::End { lock });
        }
    }
    let points = tracepoints.futexes.as_ref()?;
    if number == points.enter {
        let operation = points.enter_operation.of(raw)? & OPERATION;
        let address = points.enter_address.of(raw)?;
        return WAITS
            .contains(&operation)
            .then_some(What::Enter { address });
    }
    let result = points.exit_result.of(raw)?.cast_signed();
    (number == points.exit).then_some(What::Exit { result })
}

fn addresses(calls: &[u8]) -> Vec<u64> {
    let (words, _) = calls.as_chunks::<8>();
    let words = words.iter().map(|&word| u64::from_ne_bytes(word));
    words.filter(|&address| address < CONTEXTS).collect()
}

/// What is left of a record.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (first, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(first)
    }

    fn u32(&mut self) -> Option<u32> {
        self.bytes(4)?.try_into().ok().map(u32::from_ne_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.bytes(8)?.try_into().ok().map(u64::from_ne_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tracefs::{Field, FutexPoints, LockPoints};
    use super::*;

    const fn field(offset: usize, bytes: usize) -> Field {
        Field { offset, bytes }
    }

    const POINTS: Tracepoints = Tracepoints {
        locks: Some(LockPoints {
            begin: 408,
            begin_lock: field(8, 8),
            begin_flags: field(16, 4),
            end: 407,
            end_lock: field(8, 8),
        }),
        futexes: Some(FutexPoints {
            enter: 500,
            enter_address: field(16, 8),
            enter_operation: field(24, 8),
            exit: 499,
            exit_result: field(16, 8),
        }),
    };

    /// A sample of a tracepoint with three words behind its head.
    fn sample(number: u16, words: [u64; 3], calls: &[u64]) -> Vec<u8> {
        let mut raw = vec![0; 8];
        raw[..2].copy_from_slice(&number.to_ne_bytes());
        raw.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        let mut record = Vec::new();
        record.extend(SAMPLE.to_ne_bytes());
        record.extend([0; 4]);
        record.extend(10u32.to_ne_bytes());
        record.extend(11u32.to_ne_bytes());
        record.extend(12u64.to_ne_bytes());
        record.extend((calls.len() as u64).to_ne_bytes());
        record.extend(calls.iter().flat_map(|call| call.to_ne_bytes()));
        record.extend((raw.len() as u32).to_ne_bytes());
        record.extend(raw);
        record
    }

    fn what_of(record: &[u8]) -> Option<What> {
        match read(record, &POINTS)? {
            Record::Event(event) => {
                assert_eq!((event.time, event.process, event.thread), (12, 10, 11));
                Some(event.what)
            }
            other => {
                assert_eq!(other, Record::Other);
                None
            }
        }
    }

    #[test]
    fn records_are_told_apart_by_the_number_of_the_tracepoint() {
        let context = u64::MAX - 127;
        let begin = What::Begin {
            lock: 7,
            flags: 2,
            calls: vec![100, 200],
        };
        let wait_private = 9 | 128;
        for (record, expected) in [
            (sample(408, [7, 2, 0], &[context, 100, 200]), Some(begin)),
            (sample(407, [7, 0, 0], &[]), Some(What::End { lock: 7 })),
            (
                sample(500, [0, 5, wait_private], &[]),
                Some(What::Enter { address: 5 }),
            ),
            (
                sample(500, [0, 5, 0], &[]),
                Some(What::Enter { address: 5 }),
            ),
            (sample(500, [0, 5, 1], &[]), None),
            (
                sample(499, [0, u64::MAX, 0], &[]),
                Some(What::Exit { result: -1 }),
            ),
            (sample(3, [0, 0, 0], &[]), None),
        ] {
            assert_eq!(what_of(&record), expected);
        }
    }

    /// No record is believed by half, however it is cut.
    #[test]
    fn what_is_cut_is_no_record() {
        let whole = sample(408, [7, 2, 0], &[100]);
        for length in 0..whole.len() {
            assert_eq!(read(&whole[..length], &POINTS), None, "{length}");
        }
        let mut wild = whole;
        wild[24..32].fill(0xff);
        assert_eq!(read(&wild, &POINTS), None);
        let mut lost = LOST.to_ne_bytes().to_vec();
        lost.extend([0; 12]);
        lost.extend(9u64.to_ne_bytes());
        assert_eq!(read(&lost, &POINTS), Some(Record::Lost(9)));
        assert_eq!(read(&lost[..16], &POINTS), None);
        assert_eq!(
            read(&[1, 0, 0, 0, 0, 0, 8, 0], &POINTS),
            Some(Record::Other)
        );
    }
}

//! The most random lines a second that memory gives for a footprint: what every table is held
//! against, measured in the same rounds.

use std::hint::black_box;
use std::rc::Rc;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use frame::HugeSlice;

use super::walk::{Line, Method};
use crate::contest::refused;
use crate::key::{Cursor, Stream};
use crate::places::{PLACES, places_for};
use crate::shuffle::Seeded;
use crate::{LabError, Trial};

/// How long each of the best methods reads in one trial.
const TRIAL: Duration = Duration::from_millis(10);
/// How long a method is tried.
const TRY: Duration = Duration::from_millis(1);
/// Times that every method is tried, each after all the others: the machine's speed drifts, and
/// three times chose a method of 237 where another gave 405 million lines a second.
const TRIES: usize = 10;
/// The best methods, which every trial measures.
const BEST: usize = 2;
/// Lines read between two looks at the clock.
const STEP: usize = 1 << 16;
/// Footprints up to here are read [`WARM`] times as often as they have lines before a trial, so
/// that what the caches can hold is there: a third-level cache of 32 MB gives up what the trial
/// before left in it only slowly, and 24 MB read twice differed by 27 % from one trial to the next.
const WARM_BYTES: usize = 64 << 20;
const WARM: usize = 8;
/// One byte in so many of a footprint may lie beside the lines of tables that a limit reads.
const BESIDE: usize = 32;
/// Distances tried.
const DISTANCES: [usize; 3] = [16, 32, 64];

/// Lines and keys that limits of several footprints share. Each reads as many lines from the front,
/// or, where there are [`places_for`] it, round by round from behind those of the round before.
pub(crate) struct Field {
    lines: Lines,
    keys: Rc<Stream<u32>>,
}

/// Where the lines of a field are.
enum Lines {
    /// In memory of its own, all zero.
    Zero(HugeSlice<Line>),
    /// In tables.
    Of(Rc<dyn Tables>),
}

/// Tables that a limit reads itself, rather than other memory of the same size.
pub(crate) trait Tables {
    /// The lines of the one whose turn it is; none where they do not lie side by side.
    fn lines(&self, trial: &Trial) -> &[Line];
}

impl Field {
    /// For footprints of so many bytes, in large pages if there are any.
    pub(crate) fn new(footprints: &[usize], seed: u64) -> Result<Rc<Self>, LabError> {
        let lines = HugeSlice::zeroed(lines_for(footprints)).map_err(refused)?;
        Self::of(lines, seed)
    }

    /// As [`Field::new`], in pages of 4 KiB.
    pub(crate) fn in_small_pages(footprints: &[usize], seed: u64) -> Result<Rc<Self>, LabError> {
        let lines = HugeSlice::zeroed_in_small_pages(lines_for(footprints));
        Self::of(lines.map_err(refused)?, seed)
    }

    fn of(lines: HugeSlice<Line>, seed: u64) -> Result<Rc<Self>, LabError> {
        let mut seeded = Seeded::new(seed);
        let keys = Rc::new(Stream::drawn(|| seeded.next() as u32)?);
        let lines = Lines::Zero(lines);
        Ok(Rc::new(Self { lines, keys }))
    }

    /// Tables instead, if their lines are nearly all of a footprint.
    pub(crate) fn over(&self, tables: &Rc<dyn Tables>, bytes: usize) -> Option<Rc<Self>> {
        let is_whole =
            |round| size_of_val(tables.lines(&unshifted(round))) >= bytes - bytes / BESIDE;
        let field = || Self {
            lines: Lines::Of(Rc::clone(tables)),
            keys: Rc::clone(&self.keys),
        };
        (0..PLACES).all(is_whole).then(|| Rc::new(field()))
    }

    /// The pages got.
    pub(crate) fn pages(&self) -> Option<frame::Pages> {
        match &self.lines {
            Lines::Zero(lines) => Some(lines.pages()),
            Lines::Of(_) => None,
        }
    }

    /// Those of a footprint in the place whose turn it is.
    fn lines(&self, bytes: usize, trial: &Trial) -> &[Line] {
        let count = lines_of(bytes);
        match &self.lines {
            Lines::Zero(lines) => {
                let place = trial.round % places_for(bytes);
                let first = place * count + trial.shift_lines.min(63);
                &lines[first..first + count]
            }
            Lines::Of(tables) => {
                let lines = tables.lines(trial);
                &lines[..count.min(lines.len())]
            }
        }
    }
}

/// Round `round`, for what is no trial.
fn unshifted(round: usize) -> Trial {
    Trial {
        round,
        shift_lines: 0,
        seed: 0,
    }
}

/// Lines of a footprint.
fn lines_of(bytes: usize) -> usize {
    bytes.div_ceil(64).max(1)
}

/// Lines for all places of each footprint, and a page more, for shifts.
fn lines_for(footprints: &[usize]) -> usize {
    let lines = footprints
        .iter()
        .map(|&bytes| places_for(bytes) * lines_of(bytes));
    lines.max().unwrap_or(1) + 64
}

/// Reads of random lines of one footprint, one way.
pub(crate) struct Reader {
    field: Rc<Field>,
    bytes: usize,
    threads: usize,
    method: Method,
    /// One a thread.
    cursors: Vec<Cursor>,
}

impl Reader {
    pub(crate) fn new(field: &Rc<Field>, bytes: usize, threads: usize, method: Method) -> Self {
        Self {
            field: Rc::clone(field),
            bytes,
            threads,
            method,
            cursors: (0..threads)
                .map(|thread| Cursor::at(field.keys.keys().len() / threads * thread))
                .collect(),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    pub(crate) fn method(&self) -> Method {
        self.method
    }

    /// Those of the place whose turn it is.
    fn lines(&self, trial: &Trial) -> &[Line] {
        self.field.lines(self.bytes, trial)
    }

    /// Brings into the caches what they can hold.
    fn warm(&mut self, trial: &Trial) {
        if self.bytes > WARM_BYTES {
            return;
        }
        let mut cursor = self.cursors[0];
        let lines = self.lines(trial);
        let keys = cursor.take(self.field.keys.keys(), WARM * lines.len(), 0);
        black_box(Method::ROLLING.walk(lines, keys));
        self.cursors[0] = cursor;
    }

    /// Lines a second over all threads, each reading at least this long.
    pub(crate) fn measure(&mut self, wanted: Duration, trial: &Trial) -> f64 {
        self.warm(trial);
        self.timed(wanted, trial)
    }

    fn timed(&mut self, wanted: Duration, trial: &Trial) -> f64 {
        let mut cursors = std::mem::take(&mut self.cursors);
        let all = self.field.keys.keys();
        let (method, lines) = (self.method, self.lines(trial));
        let read = |cursor: &mut Cursor| rate(method, lines, (all, cursor), wanted);
        let lines_per_second = if let [cursor] = &mut cursors[..] {
            read(cursor)
        } else {
            together(&mut cursors, read)
        };
        self.cursors = cursors;
        lines_per_second
    }
}

/// The sum over threads that begin at the same moment.
fn together(cursors: &mut [Cursor], read: impl Fn(&mut Cursor) -> f64 + Sync) -> f64 {
    let begin = Barrier::new(cursors.len());
    std::thread::scope(|scope| {
        let (begin, read) = (&begin, &read);
        let spawn = |cursor| {
            scope.spawn(move || {
                begin.wait();
                read(cursor)
            })
        };
        let running: Vec<_> = cursors.iter_mut().map(spawn).collect();
        let rates = running.into_iter().filter_map(|thread| thread.join().ok());
        rates.sum()
    })
}

fn rate(
    method: Method,
    lines: &[Line],
    (keys, cursor): (&[u32], &mut Cursor),
    wanted: Duration,
) -> f64 {
    let begun = Instant::now();
    let mut read = 0;
    loop {
        let some = cursor.take(keys, STEP, 0);
        black_box(method.walk(lines, some));
        read += some.len();
        let taken = begun.elapsed();
        if taken >= wanted {
            return read as f64 / taken.as_secs_f64();
        }
    }
}

/// The limit of one footprint on one CPU: the better, trial by trial, of the two methods that were
/// best when it was made. It must not be understated, whatever the machine did meanwhile.
pub(crate) struct Limit {
    /// The best first.
    readers: Vec<Reader>,
}

impl Limit {
    /// For a footprint of `bytes`, with memory of its own.
    #[allow(dead_code)] // For experiments of one footprint.
    pub(crate) fn new(bytes: usize, seed: u64) -> Result<Self, LabError> {
        Ok(Self::within(&Field::new(&[bytes], seed)?, bytes))
    }

    /// For a footprint of `bytes` that the field was made for. Tries every method some
    /// milliseconds, in all places.
    pub(crate) fn within(field: &Rc<Field>, bytes: usize) -> Self {
        let tried = |method: Method| (0f64, Reader::new(field, bytes, 1, method));
        let mut readers: Vec<_> = Method::all(&DISTANCES).into_iter().map(tried).collect();
        for round in 0..TRIES {
            let trial = unshifted(round);
            for (best, reader) in &mut readers {
                reader.warm(&trial);
                *best = best.max(reader.timed(TRY, &trial));
            }
        }
        readers.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let best = readers.into_iter().take(BEST);
        Self {
            readers: best.map(|(_, reader)| reader).collect(),
        }
    }

    /// Lines a second.
    pub(crate) fn measure(&mut self, trial: &Trial) -> f64 {
        let rates = self
            .readers
            .iter_mut()
            .map(|reader| reader.measure(TRIAL, trial));
        rates.fold(0.0, f64::max)
    }

    /// How it reads: the best method, and the other one that each trial tries.
    pub(crate) fn methods(&self) -> Vec<Method> {
        self.readers.iter().map(Reader::method).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The farthest shift of a round.
    fn last_of(round: usize) -> Trial {
        Trial {
            round,
            shift_lines: 63,
            seed: 1,
        }
    }

    #[test]
    fn footprints_of_one_field_have_limits() {
        let footprints = [1, 1 << 12, 1 << 20];
        let field = Field::new(&footprints, 1).expect("memory");
        for bytes in footprints {
            let mut limit = Limit::within(&field, bytes);
            for round in 0..PLACES {
                let rate = limit.measure(&last_of(round));
                assert!(rate > 0.0, "{:?}", limit.methods());
            }
            assert_eq!(limit.methods().len(), BEST);
        }
    }

    #[test]
    fn places_lie_side_by_side_and_the_turns_go_round() {
        let field = Field::new(&[1 << 12, 1], 1).expect("memory");
        let reader = Reader::new(&field, 1 << 12, 1, Method::CHAIN);
        let first = |round| reader.lines(&last_of(round)).as_ptr().addr();
        assert_eq!(reader.lines(&last_of(0)).len(), 64);
        for round in 1..PLACES {
            assert_eq!(first(round), first(round - 1) + (1 << 12));
        }
        assert_eq!(first(PLACES), first(0));
    }

    #[test]
    fn threads_add_up() {
        let field = Field::in_small_pages(&[1 << 16], 1).expect("memory");
        assert_eq!(field.pages(), Some(frame::Pages::Small));
        let mut reader = Reader::new(&field, 1 << 16, 2, Method::CHAIN);
        assert!(reader.measure(Duration::from_micros(10), &last_of(1)) > 0.0);
    }
}

//! What every set should hold, version by version, and whether a frame's fate can be told from it.
//!
//! Each set has address space of its own and looks at sources alone, so that one set decides on a
//! frame. Whoever changes a set announces the change, makes it, and says when it was answered. A
//! frame's fate is right when some version explains it: one that was announced when the frame was
//! seen, not older than what was answered when it arrived, and not older than the version that
//! explained the set's frame before. The oldest such version is taken, which leaves the most to
//! those that come after; there is a right choice exactly if this one never ends.

use std::collections::{HashSet, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Networks of 16 bits in all of IPv4.
const NETS: usize = 1 << 16;

/// From one version of a set to the next.
#[derive(Default)]
pub(crate) struct Change {
    /// Networks of 16 bits by their upper half: in or out.
    pub(crate) nets: Vec<(u16, bool)>,
    /// Single addresses: in or out.
    pub(crate) addresses: Vec<(u32, bool)>,
    /// Whether the set blocks from now on.
    pub(crate) blocks: Option<bool>,
    /// Nothing of it happens before; whoever changes the set may be late to say so.
    pub(crate) not_before: Option<Instant>,
}

impl Change {
    pub(crate) fn nets(nets: impl IntoIterator<Item = u16>, is_in: bool) -> Self {
        let nets = nets.into_iter().map(|net| (net, is_in)).collect();
        Self {
            nets,
            ..Self::default()
        }
    }

    pub(crate) fn addresses(addresses: &[u32], is_in: bool) -> Self {
        let addresses = addresses.iter().map(|&address| (address, is_in)).collect();
        Self {
            addresses,
            ..Self::default()
        }
    }

    pub(crate) fn blocks(blocks: bool) -> Self {
        Self {
            blocks: Some(blocks),
            ..Self::default()
        }
    }
}

/// A set's versions, as those who change it tell them.
#[derive(Default)]
pub(crate) struct Track {
    /// Those that no frame made necessary yet.
    ahead: Mutex<VecDeque<Change>>,
    announced: AtomicU64,
    answered: AtomicU64,
}

impl Track {
    /// What may be in force from now on, and is one version. Its number, from 1.
    pub(crate) fn announce(&self, change: Change) -> u64 {
        self.ahead.lock().expect("no panic").push_back(change);
        self.announced.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// From now on every frame is judged by this version or a later one.
    pub(crate) fn answered(&self, version: u64) {
        self.answered.store(version, Ordering::SeqCst);
    }

    pub(crate) fn version(&self) -> u64 {
        self.announced.load(Ordering::SeqCst)
    }
}

/// Whose a source address is, by its upper byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    /// In no set, ever.
    Free,
    /// In a blocking set, always.
    Blocked,
    /// A track's.
    Of(usize),
}

/// What the threads of a test share.
pub(crate) struct Sides {
    pub(crate) spaces: [Space; 256],
    pub(crate) tracks: Vec<Track>,
    /// Of frames from this number on: the versions that had been answered.
    marks: Mutex<VecDeque<(u64, Vec<u64>)>>,
    /// The first wrong judgement.
    wrong: Mutex<Option<String>>,
    over: AtomicBool,
}

impl Sides {
    pub(crate) fn new(tracks: usize, space: impl Fn(u8) -> Space) -> Self {
        let mut spaces = [Space::Free; 256];
        for upper in 0..=255 {
            spaces[usize::from(upper)] = space(upper);
        }
        Self {
            spaces,
            tracks: (0..tracks).map(|_| Track::default()).collect(),
            marks: Mutex::default(),
            wrong: Mutex::default(),
            over: AtomicBool::new(false),
        }
    }

    /// The versions answered by now; a mark of them is for frames that arrive later.
    pub(crate) fn all_answered(&self) -> Vec<u64> {
        let answered = |track: &Track| track.answered.load(Ordering::SeqCst);
        self.tracks.iter().map(answered).collect()
    }

    pub(crate) fn mark(&self, frame: u64, answered: Vec<u64>) {
        let mut marks = self.marks.lock().expect("no panic");
        marks.push_back((frame, answered));
    }

    /// The tests' threads end.
    pub(crate) fn end(&self) {
        self.over.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    pub(crate) fn wrong(&self) -> Option<String> {
        self.wrong.lock().expect("no panic").clone()
    }

    fn tell(&self, wrong: String) {
        self.wrong.lock().expect("no panic").get_or_insert(wrong);
        self.end();
    }
}

/// A set as one version has it.
struct Book {
    version: u64,
    nets: Vec<bool>,
    addresses: HashSet<u32>,
    blocks: bool,
}

impl Book {
    fn new() -> Self {
        Self {
            version: 0,
            nets: vec![false; NETS],
            addresses: HashSet::new(),
            blocks: true,
        }
    }

    fn drops(&self, src: u32) -> bool {
        let is_in = self.nets[(src >> 16) as usize] || self.addresses.contains(&src);
        self.blocks && is_in
    }

    /// Goes on to the next version; false where none was announced.
    fn turn(&mut self, track: &Track) -> bool {
        let mut ahead = track.ahead.lock().expect("no panic");
        let is_due = |change: &Change| change.not_before.is_none_or(|at| at <= Instant::now());
        if !ahead.front().is_some_and(is_due) {
            return false;
        }
        let change = ahead.pop_front().expect("just seen");
        drop(ahead);
        for (net, is_in) in change.nets {
            self.nets[usize::from(net)] = is_in;
        }
        for (address, is_in) in change.addresses {
            if is_in {
                self.addresses.insert(address);
            } else {
                self.addresses.remove(&address);
            }
        }
        self.blocks = change.blocks.unwrap_or(self.blocks);
        self.version += 1;
        true
    }
}

/// What came of judging.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Judged {
    pub(crate) frames: u64,
    pub(crate) passed: u64,
    /// Frames of sets that change.
    pub(crate) of_tracks: u64,
    /// Of those, frames that one version alone explains.
    pub(crate) sure: u64,
    /// Versions that frames or answers made necessary.
    pub(crate) versions: u64,
}

/// Holds each frame's fate against the sets.
pub(crate) struct Judge<'s> {
    sides: &'s Sides,
    books: Vec<Book>,
    pub(crate) judged: Judged,
}

impl<'s> Judge<'s> {
    pub(crate) fn new(sides: &'s Sides) -> Self {
        Self {
            sides,
            books: sides.tracks.iter().map(|_| Book::new()).collect(),
            judged: Judged::default(),
        }
    }

    /// The next frame had this source, and passed or was dropped.
    pub(crate) fn judge(&mut self, src: u32, passed: bool) {
        let number = self.judged.frames;
        self.judged.frames += 1;
        self.judged.passed += u64::from(passed);
        if number.is_multiple_of(64) {
            self.catch_up(number);
        }
        let right = match self.sides.spaces[(src >> 24) as usize] {
            Space::Free => passed,
            Space::Blocked => !passed,
            Space::Of(track) => self.explain(track, src, passed),
        };
        if !right {
            let [a, b, c, d] = src.to_be_bytes();
            let versions: Vec<u64> = self.books.iter().map(|book| book.version).collect();
            self.sides.tell(format!(
                "frame {number} from {a}.{b}.{c}.{d}: passed is {passed}, which is wrong by all \
                 versions from {versions:?} on"
            ));
        }
    }

    /// Something is wrong beside a frame's fate.
    pub(crate) fn tell(&self, wrong: String) {
        self.sides.tell(wrong);
    }

    fn explain(&mut self, track: usize, src: u32, passed: bool) -> bool {
        let (book, track) = (&mut self.books[track], &self.sides.tracks[track]);
        while book.drops(src) == passed {
            if !book.turn(track) {
                return false;
            }
            self.judged.versions += 1;
        }
        self.judged.of_tracks += 1;
        self.judged.sure += u64::from(book.version == track.version());
        true
    }

    /// What was answered before this frame arrived is in force.
    fn catch_up(&mut self, number: u64) {
        let mut marks = self.sides.marks.lock().expect("no panic");
        while marks.front().is_some_and(|(frame, _)| *frame <= number) {
            let (_, answered) = marks.pop_front().expect("just seen");
            for ((book, track), answered) in
                self.books.iter_mut().zip(&self.sides.tracks).zip(answered)
            {
                while book.version < answered && book.turn(track) {
                    self.judged.versions += 1;
                }
            }
        }
    }
}

/// The model must find what is wrong, or the tests could not fail.
#[test]
fn the_model_tells_wrong_judgements() {
    let sides = || {
        let sides = Sides::new(1, |upper| match upper {
            1 => Space::Of(0),
            2 => Space::Blocked,
            _ => Space::Free,
        });
        sides.tracks[0].announce(Change::nets([0x0101], true));
        sides.tracks[0].announce(Change::nets([0x0101], false));
        sides
    };
    let told = |sides: &Sides, fates: &[(u32, bool)]| {
        let mut judge = Judge::new(sides);
        for &(src, passed) in fates {
            judge.judge(src, passed);
        }
        sides.wrong().is_some()
    };
    let (free, blocked, listed) = (0x0300_0000, 0x0200_0000, 0x0101_0203);
    assert!(!told(&sides(), &[(free, true), (blocked, false)]));
    assert!(told(&sides(), &[(free, false)]));
    assert!(told(&sides(), &[(blocked, true)]));
    assert!(!told(
        &sides(),
        &[(listed, true), (listed, false), (listed, true)]
    ));
    let hours = sides();
    let later = Change::nets([0x0101], true);
    hours.tracks[0].announce(Change {
        not_before: Some(Instant::now() + Duration::from_secs(3600)),
        ..later
    });
    assert!(told(
        &hours,
        &[(listed, false), (listed, true), (listed, false)]
    ));
    // There is no third version.
    let back = [(listed, false), (listed, true), (listed, false)];
    assert!(told(&sides(), &back));
    // Answered before it arrived.
    let late = sides();
    late.mark(0, vec![2]);
    assert!(told(&late, &[(listed, false)]));
}

//! The hand-over of buckets as a small machine, of which every interleaving is looked at.
//!
//! Three workers receive frames of two buckets; one bucket goes from worker 0 to worker 1, the
//! other the opposite way, at any moment. A worker's turn is cut where the real one
//! ([`super::handover`], [`crate::moves`], [`crate::exchange`]) reads or writes what others see,
//! one load or store a part. Loads and stores are taken for ordered as written, which is what
//! release and acquire give on each of them. Rings have room for all frames or for one.

use std::collections::HashSet;

const WORKERS: usize = 3;
const BUCKETS: usize = 2;
const OLD: [usize; BUCKETS] = [0, 1];
const NEW: [usize; BUCKETS] = [1, 0];

/// A frame: the queue it came by, its bucket, and its number there.
type Frame = (u8, u8, u8);

/// A rule that can be left out, to see that it is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Without {
    Nothing,
    /// A worker that is behind takes all there is, also what was placed by the newer table.
    BoundedTakes,
    /// The new owner decides at once.
    KeepingBack,
    /// The old owner has drained without having taken what is below marks.
    Marks,
    /// Whether there is a newer table is asked before the rings are looked at.
    LookFirst,
}

/// Where a worker is in its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum At {
    Follow,
    Drain,
    Settle,
    Look,
    Newest,
    Take,
    Receive,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Worker {
    at: At,
    /// What it placed by: 0 before, 1 after the move.
    version: u8,
    /// Of its ring from each other worker, what it saw last and what it has taken.
    ready: [u8; WORKERS],
    taken: [u8; WORKERS],
    stale: bool,
    kept: Vec<Frame>,
    going: bool,
    awaits: bool,
    /// Frames that will arrive, and one that found no room in a ring.
    input: Vec<Frame>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    published: bool,
    workers: [Worker; WORKERS],
    /// From, to; what was ever put into each.
    rings: [[Vec<Frame>; WORKERS]; WORKERS],
    marks: [[u8; WORKERS]; WORKERS],
    adopted: [bool; WORKERS],
    drained: [bool; WORKERS],
    settled: [bool; WORKERS],
    /// By queue and bucket: the number decided on last, plus one.
    decided: [[u8; BUCKETS]; WORKERS],
}

struct Model {
    without: Without,
    room: usize,
}

impl State {
    fn new(inputs: [&[u8]; WORKERS]) -> Self {
        let worker = |queue: usize| {
            let mut numbers = [0; BUCKETS];
            let frame = |&bucket: &u8| {
                let number = &mut numbers[usize::from(bucket)];
                *number += 1;
                (queue as u8, bucket, *number - 1)
            };
            // Taken from the end.
            let mut input: Vec<Frame> = inputs[queue].iter().map(frame).collect();
            input.reverse();
            Worker {
                at: At::Follow,
                version: 0,
                ready: [0; WORKERS],
                taken: [0; WORKERS],
                stale: false,
                kept: Vec::new(),
                going: false,
                awaits: false,
                input,
            }
        };
        Self {
            published: false,
            workers: std::array::from_fn(worker),
            rings: Default::default(),
            marks: Default::default(),
            adopted: Default::default(),
            drained: Default::default(),
            settled: Default::default(),
            decided: Default::default(),
        }
    }

    fn waiting(&self, from: usize, to: usize) -> u8 {
        self.rings[from][to].len() as u8 - self.workers[to].taken[from]
    }

    /// Whether the order held.
    fn decide(&mut self, (queue, bucket, number): Frame) -> bool {
        let next = &mut self.decided[usize::from(queue)][usize::from(bucket)];
        let in_order = *next == number;
        *next = number + 1;
        in_order
    }

    fn is_done(&self) -> bool {
        let all = |counters: &[bool; WORKERS]| counters.iter().all(|word| *word);
        let idle = self
            .workers
            .iter()
            .all(|own| own.input.is_empty() && own.kept.is_empty());
        let pairs = (0..WORKERS).flat_map(|from| (0..WORKERS).map(move |to| (from, to)));
        let empty = pairs
            .into_iter()
            .all(|(from, to)| self.waiting(from, to) == 0);
        idle && empty && all(&self.adopted) && all(&self.drained) && all(&self.settled)
    }
}

impl Model {
    /// One part of a worker's turn; `None` where a flow is out of order.
    fn step(&self, before: &State, me: usize) -> Option<State> {
        let mut state = before.clone();
        match state.workers[me].at {
            At::Follow => self.follow(&mut state, me),
            At::Drain => self.drain(&mut state, me),
            At::Settle => return self.settle(state, me),
            At::Look => {
                for from in 0..WORKERS {
                    state.workers[me].ready[from] = state.waiting(from, me);
                }
                if self.without == Without::LookFirst {
                    state.workers[me].at = At::Take;
                } else {
                    state.workers[me].at = At::Newest;
                }
            }
            At::Newest => {
                let own = &mut state.workers[me];
                own.stale = state.published && own.version == 0;
                own.at = if self.without == Without::LookFirst {
                    At::Look
                } else {
                    At::Take
                };
            }
            At::Take => return self.take(state, me),
            At::Receive => return self.receive(state, me),
        }
        Some(state)
    }

    /// Adopts the newer table, marks first.
    fn follow(&self, state: &mut State, me: usize) {
        state.workers[me].at = At::Drain;
        if !state.published || state.workers[me].version == 1 {
            return;
        }
        for to in 0..WORKERS {
            state.marks[me][to] = state.rings[me][to].len() as u8;
        }
        let own = &mut state.workers[me];
        own.version = 1;
        own.going = OLD.contains(&me);
        own.awaits = NEW.contains(&me) && self.without != Without::KeepingBack;
        state.drained[me] = !own.going;
        state.settled[me] = !own.awaits;
        state.adopted[me] = true;
    }

    fn drain(&self, state: &mut State, me: usize) {
        state.workers[me].at = At::Settle;
        let all = state.adopted.iter().all(|adopted| *adopted);
        let below = |from: usize| state.workers[me].taken[from] >= state.marks[from][me];
        let empty = self.without == Without::Marks || (0..WORKERS).all(below);
        if state.workers[me].going && all && empty {
            state.workers[me].going = false;
            state.drained[me] = true;
        }
    }

    fn settle(&self, mut state: State, me: usize) -> Option<State> {
        state.workers[me].at = match self.without {
            Without::LookFirst => At::Newest,
            _ => At::Look,
        };
        let sources = (0..BUCKETS)
            .filter(|bucket| NEW[*bucket] == me)
            .map(|bucket| OLD[bucket]);
        let arrived = sources.into_iter().all(|source| state.drained[source]);
        if state.workers[me].awaits && arrived {
            for frame in std::mem::take(&mut state.workers[me].kept) {
                state.decide(frame).then_some(())?;
            }
            state.workers[me].awaits = false;
            state.settled[me] = true;
        }
        Some(state)
    }

    /// Takes what it saw, from one other worker after the other.
    fn take(&self, mut state: State, me: usize) -> Option<State> {
        state.workers[me].at = At::Receive;
        for from in 0..WORKERS {
            let own = &state.workers[me];
            let bounded = own.awaits || own.stale;
            let newer = state.published && state.adopted[from];
            let mut count = own.ready[from];
            if bounded && own.stale && newer && self.without != Without::BoundedTakes {
                count = count.min(state.marks[from][me].saturating_sub(own.taken[from]));
            }
            for _ in 0..count {
                let place = usize::from(state.workers[me].taken[from]);
                let frame = state.rings[from][me][place];
                state.workers[me].taken[from] += 1;
                if self.comes(&state.workers[me], me, frame) {
                    state.workers[me].kept.push(frame);
                } else {
                    state.decide(frame).then_some(())?;
                }
            }
        }
        Some(state)
    }

    fn comes(&self, own: &Worker, me: usize, (_, bucket, _): Frame) -> bool {
        own.awaits && NEW[usize::from(bucket)] == me
    }

    fn receive(&self, mut state: State, me: usize) -> Option<State> {
        state.workers[me].at = At::Follow;
        let Some(frame) = state.workers[me].input.pop() else {
            return Some(state);
        };
        let table = if state.workers[me].version == 0 {
            OLD
        } else {
            NEW
        };
        let owner = table[usize::from(frame.1)];
        if owner != me {
            match usize::from(state.waiting(me, owner)) < self.room {
                true => state.rings[me][owner].push(frame),
                // It waits for room, before anything is placed by a newer table.
                false => state.workers[me].input.push(frame),
            }
        } else if self.comes(&state.workers[me], me, frame) {
            state.workers[me].kept.push(frame);
        } else {
            state.decide(frame).then_some(())?;
        }
        Some(state)
    }

    /// Looks at every state; whether a flow can get out of order, and how many states there are.
    fn explore(&self, inputs: [&[u8]; WORKERS]) -> (bool, usize) {
        let first = State::new(inputs);
        let mut seen = HashSet::from([first.clone()]);
        let mut open = vec![first];
        while let Some(state) = open.pop() {
            let mut next: Vec<State> = Vec::new();
            if !state.published {
                next.push(State {
                    published: true,
                    ..state.clone()
                });
            }
            for me in 0..WORKERS {
                match self.step(&state, me) {
                    Some(state) => next.push(state),
                    None => return (true, seen.len()),
                }
            }
            for state in next {
                if seen.insert(state.clone()) {
                    open.push(state);
                }
            }
        }
        self.ends(&seen);
        (false, seen.len())
    }

    /// From every state the end can be reached, also by turns of all workers one after the other:
    /// nobody waits for ever.
    fn ends(&self, seen: &HashSet<State>) {
        for (place, state) in seen.iter().enumerate() {
            // Each takes its time: a part of the states, evenly.
            if place % 64 != 0 {
                continue;
            }
            let mut state = State {
                published: true,
                ..state.clone()
            };
            for turn in 0..WORKERS * 400 {
                if state.is_done() {
                    break;
                }
                let next = self.step(&state, turn % WORKERS);
                state = next.expect("no state reached was out of order");
            }
            assert!(state.is_done(), "somebody waits for ever: {state:?}");
        }
    }
}

const X: u8 = 0;
const Y: u8 = 1;

#[test]
fn no_interleaving_of_a_hand_over_reorders_a_flow_or_hangs() {
    let mut inputs: Vec<[&[u8]; WORKERS]> =
        vec![[&[], &[], &[X, X]], [&[], &[X], &[X]], [&[Y], &[], &[X]]];
    // Some millions of states: a minute or two.
    if std::env::var_os("LINERATE_MODEL_ALL").is_some() {
        inputs.extend([
            [&[][..], &[X], &[X, X]],
            [&[X], &[Y, X], &[X]],
            [&[Y], &[X], &[X, Y]],
        ]);
    }
    for inputs in inputs {
        // Where one ring gets two frames, also such as have no room for both.
        let rooms = if inputs[2].len() > 1 {
            &[1, usize::MAX][..]
        } else {
            &[usize::MAX]
        };
        for &room in rooms {
            let model = Model {
                without: Without::Nothing,
                room,
            };
            let (reordered, states) = model.explore(inputs);
            println!("{inputs:?}, room {room}: {states} states");
            assert!(!reordered, "{inputs:?}, room {room}");
            assert!(states > 1000, "{states} states are too few to say much");
        }
    }
}

#[test]
fn each_rule_of_a_hand_over_is_needed() {
    let rules = [
        Without::BoundedTakes,
        Without::KeepingBack,
        Without::Marks,
        Without::LookFirst,
    ];
    for without in rules {
        let model = Model {
            without,
            room: usize::MAX,
        };
        let (reordered, _) = model.explore([&[], &[X], &[X, X]]);
        assert!(reordered, "nothing goes wrong without {without:?}");
    }
}

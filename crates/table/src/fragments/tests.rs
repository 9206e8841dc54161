//! The table against its twin, its bounds under pressure, and what waits in it.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;
use wire::Family;

use super::oracle::Holes;
use super::*;

type Table = FragmentTable<u32, u32>;

const LIMITS: FragmentLimits = FragmentLimits {
    datagrams: 64,
    pieces: 16,
    held: 32,
    timeout: Nanos(1_000_000),
    source_part: 4,
};

fn table(limits: FragmentLimits) -> Table {
    Table::with_secret(limits, &Secret::from_seed(7))
}

fn key(src: u32, identification: u32) -> DatagramKey {
    DatagramKey {
        src: src.into(),
        dst: 9,
        identification,
        protocol: 17,
        family: Family::V4,
    }
}

fn piece(key: DatagramKey, (start, end): (u16, u16), last: bool, mark: u32) -> Piece {
    Piece {
        key,
        start: start * 8,
        end: end * 8,
        last,
        mark,
        header: 20,
    }
}

/// A table and everything that was lost of it.
struct Bench {
    table: Table,
    now: Nanos,
    lost: Vec<(u32, Lost)>,
}

impl Bench {
    fn new(limits: FragmentLimits) -> Self {
        Self {
            table: table(limits),
            now: Nanos(1),
            lost: Vec::new(),
        }
    }

    fn meet(&mut self, piece: &Piece) -> Result<Met, Refused> {
        let hash = self.table.hash(&piece.key, 0);
        let lost = &mut self.lost;
        self.table
            .meet(piece, (0, hash), self.now, &mut |item, why| {
                lost.push((item, why));
            })
    }

    fn hold(&mut self, id: DatagramId, item: u32) {
        let lost = &mut self.lost;
        let held = self
            .table
            .hold(id, item, &mut |item, why| lost.push((item, why)));
        if let Err(lost) = held {
            self.lost.push(lost);
        }
    }

    fn release(&mut self, id: DatagramId) -> Vec<u32> {
        let mut given = Vec::new();
        self.table.release(id, &mut |item| given.push(item));
        given
    }
}

fn some_piece() -> impl Strategy<Value = Piece> {
    let span = (0_u16..12, 0_u16..5);
    (span, any::<bool>(), 0_u32..2, 0_u32..3, 0_u16..8).prop_map(
        |((start, len), last, mark, identification, odd)| {
            let mut piece = piece(key(1, identification), (start, start + len), last, mark);
            // Mostly ends where more may follow.
            if odd == 0 {
                piece.end += 3;
            }
            piece
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn it_answers_as_its_twin(pieces in proptest::collection::vec(some_piece(), 1..60)) {
        let limits = FragmentLimits { pieces: 100, datagrams: 16, ..LIMITS };
        let (mut bench, mut twin) = (Bench::new(limits), Holes::new());
        for piece in &pieces {
            let met = bench.meet(piece);
            prop_assert_eq!(met.map(|met| met.complete), twin.meet(piece));
            if let Ok(Met { id, complete: true }) = met {
                bench.table.finish(id);
            }
        }
        bench.table.clear(&mut |_, _| ());
        prop_assert!(bench.table.is_empty());
        prop_assert_eq!(bench.table.more.free_count(), 16);
    }

    #[test]
    fn whole_in_any_order(order in Just((0..40_u16).collect::<Vec<_>>()).prop_shuffle()) {
        let mut bench = Bench::new(FragmentLimits { pieces: 40, ..LIMITS });
        for (count, &at) in order.iter().enumerate() {
            let met = bench.meet(&piece(key(1, 1), (at, at + 1), at == 39, at.into()));
            prop_assert_eq!(met.map(|met| met.complete), Ok(count == 39));
        }
    }
}

#[test]
fn too_many_pieces_make_a_datagram_bad() {
    let mut bench = Bench::new(LIMITS);
    for at in 0..LIMITS.pieces {
        let met = bench.meet(&piece(key(1, 1), (2 * at, 2 * at + 1), false, 1));
        let id = met.expect("within the limit").id;
        if at < 8 {
            bench.hold(id, at.into());
        }
    }
    let next = piece(key(1, 1), (100, 101), false, 1);
    assert_eq!(bench.meet(&next), Err(Refused::Flawed(Flaw::Pieces)));
    assert_eq!(bench.meet(&next), Err(Refused::Flawed(Flaw::Pieces)));
    let flawed = Lost::Flawed(Flaw::Pieces);
    assert!(bench.lost.iter().all(|&(_, why)| why == flawed) && bench.lost.len() == 8);
    assert_eq!(bench.table.held(), 0);
    bench.now = Nanos(2 + LIMITS.timeout.0);
    assert!(bench.meet(&next).is_ok());
}

#[test]
fn what_waits_is_released_in_its_order() {
    let mut bench = Bench::new(LIMITS);
    let mut ids = Vec::new();
    for at in [3, 1, 2] {
        let met = bench
            .meet(&piece(key(1, 1), (at, at + 1), at == 3, 1))
            .expect("sound");
        bench.hold(met.id, at.into());
        ids.push(met.id);
    }
    let met = bench
        .meet(&piece(key(1, 1), (0, 1), false, 1))
        .expect("sound");
    assert!(met.complete && ids.iter().all(|&id| id == met.id));
    assert_eq!(bench.table.state(met.id), Some(State::Waiting));
    bench.table.judge(met.id, 5);
    assert_eq!(bench.table.state(met.id), Some(State::Judged(5)));
    assert!(bench.table.is_awaited(met.id));
    assert_eq!(bench.release(met.id), [3, 1, 2]);
    assert!(!bench.table.is_awaited(met.id));
    bench.table.finish(met.id);
    assert_eq!((bench.table.state(met.id), bench.table.len()), (None, 0));
    assert_eq!(bench.lost, []);
}

#[test]
fn time_ends_datagrams_by_and_by_and_at_once_when_asked() {
    let mut bench = Bench::new(LIMITS);
    for at in 0..10 {
        let met = bench
            .meet(&piece(key(at, 1), (1, 2), false, 1))
            .expect("sound");
        bench.hold(met.id, at);
    }
    bench.now = Nanos(LIMITS.timeout.0 + 1);
    let known = bench
        .meet(&piece(key(0, 1), (0, 1), false, 1))
        .expect("sound");
    assert_eq!(bench.lost, [(0, Lost::TimedOut)]);
    for _ in 0..2 {
        bench.now = Nanos(bench.now.0 + LIMITS.timeout.0 / SWEEPS);
        let Bench { table, lost, now } = &mut bench;
        table.expire(*now, &mut |item, why| lost.push((item, why)));
    }
    assert_eq!((bench.table.len(), bench.lost.len()), (1, 10));
    assert!(bench.table.state(known.id).is_some());
}

#[test]
fn another_datagram_with_the_same_identification_is_not_joined() {
    let mut bench = Bench::new(LIMITS);
    let first = |mark| piece(key(1, 1), (0, 1), false, mark);
    let old = bench.meet(&first(1)).expect("sound");
    let held = bench
        .meet(&piece(key(1, 1), (2, 3), false, 1))
        .expect("sound");
    bench.hold(held.id, 4);
    assert_eq!(bench.meet(&first(1)), Err(Refused::Duplicate));
    let reused = Flaw::Reused;
    assert_eq!(bench.meet(&first(2)), Err(Refused::Flawed(reused)));
    assert_eq!(bench.meet(&first(1)), Err(Refused::Flawed(reused)));
    assert_eq!(bench.table.state(old.id), Some(State::Bad(reused)));
    assert_eq!(bench.lost, [(4, Lost::Flawed(reused))]);
    assert_eq!(bench.table.counts().reused, 1);
    assert_eq!(bench.table.len(), 1);
}

#[test]
fn a_side_is_part_of_the_name() {
    let mut table = table(LIMITS);
    let piece = piece(key(1, 1), (0, 1), false, 1);
    let mut meet = |side| {
        let hash = table.hash(&piece.key, side);
        table
            .meet(&piece, (side, hash), Nanos(1), &mut |_, _| ())
            .map(|met| met.id)
    };
    assert_ne!(meet(0), meet(1));
    assert_eq!(meet(1), Err(Refused::Duplicate));
}

/// Every thing that was held is held still, or was released or lost once.
#[test]
fn floods_stay_within_bounds_and_lose_nothing_uncounted() {
    let seed = 0x5EED_u64;
    println!("seed {seed}");
    let mut bench = Bench::new(LIMITS);
    let bytes = bench.table.bytes();
    let (mut state, mut held) = (seed, HashSet::new());
    let mut random = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as u32
    };
    for item in 0..20_000 {
        bench.now = Nanos(bench.now.0 + 100);
        let start = 1 + random() as u16 % 4;
        let some = piece(
            key(random() % 400, random() % 3),
            (start, start + 1),
            false,
            1,
        );
        if let Ok(met) = bench.meet(&some) {
            held.insert(item);
            bench.hold(met.id, item);
        }
        assert!(bench.table.len() <= 64 && bench.table.held() <= 32);
        for (item, _) in bench.lost.drain(..) {
            assert!(held.remove(&item), "{item} was lost twice");
        }
        assert_eq!(held.len(), bench.table.held());
    }
    assert_eq!(
        (bench.table.bytes(), bench.table.counts().held_max),
        (bytes, 32)
    );
    assert!(bench.table.counts().evicted > 1000);
}

#[test]
fn one_source_has_its_share_and_no_more() {
    let limits = FragmentLimits {
        datagrams: 1024,
        held: 512,
        ..LIMITS
    };
    let mut bench = Bench::new(limits);
    let mut of_source = HashMap::new();
    for identification in 0..5000 {
        let some = piece(key(1, identification), (1, 2), false, 1);
        match bench.meet(&some) {
            Ok(met) => {
                of_source.insert(met.id.at, ());
                bench.hold(met.id, identification);
            }
            Err(refused) => assert_eq!(refused, Refused::Source),
        }
        assert!(bench.table.len() <= 256 && bench.table.held() <= 128);
    }
    // Others have room all the same.
    for source in 2..100 {
        let met = bench
            .meet(&piece(key(source, 1), (1, 2), false, 1))
            .expect("room");
        let before = bench.lost.len();
        bench.hold(met.id, source);
        assert_eq!(bench.lost.len(), before);
    }
    assert!(of_source.len() > 200);
}

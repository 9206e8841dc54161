//! What runs out: chunks, room for a tag, the outbox, frames a second. And frames of others.

use frame::{Burst, Nanos, PortId};

use super::super::*;
use super::bench::{A, B, BROADCAST, Bench, C, CHUNKS, MS, config, frame, port, ports, station};
use crate::{DropReason, Outbox, Ports, Verdict, Verdicts};

#[test]
fn copies_that_cannot_be_made_are_counted() {
    let mut bench = Bench::new(config(VlanMode::Default, 4));
    let mut lent = Burst::new();
    let mut others = Vec::new();
    while bench.pool.free_count() > 1 {
        bench
            .pool
            .alloc_burst(&mut lent, bench.pool.free_count() as usize - 1);
        others.push(std::mem::take(&mut lent));
    }
    // One chunk is left: the frame takes it, and no copy can be made.
    let mut burst = Burst::new();
    bench.pool.alloc_burst(&mut burst, 1);
    burst.frames_mut()[0]
        .copy_from(&frame(BROADCAST, station(1), &[]))
        .expect("short");
    let mut verdicts = Verdicts::new();
    verdicts.push(Verdict::Forward(B));
    let mut cx = Forwarding {
        from: A,
        now: bench.now,
        pool: &mut bench.pool,
        out: &mut bench.out,
    };
    bench.switch.forward(&mut cx, &mut burst, &mut verdicts);
    assert_eq!(verdicts.as_slice(), [Verdict::Forward(PortId(3))]);
    let counts = bench.switch.counts();
    assert_eq!(
        [counts.flooded, counts.copies, counts.copies_failed],
        [1, 0, 2]
    );
    bench.pool.free_burst(&mut burst);
    for mut burst in others {
        bench.pool.free_burst(&mut burst);
    }
    assert_eq!(bench.pool.free_count(), CHUNKS);
}

#[test]
fn a_full_outbox_loses_copies_and_no_chunk() {
    let mut bench = Bench::new(config(VlanMode::Default, 4));
    bench.out = Outbox::with_room(1);
    assert_eq!(bench.left(A, BROADCAST, station(1)), Ok(vec![1, 3]));
    assert_eq!(bench.switch.counts().copies_failed, 1);
}

/// A switch whose port C is a tagged member, the others untagged.
fn tagging() -> SwitchConfig {
    let mut made = config(VlanMode::Dot1q, 3);
    made.vlans.push(Vlan {
        id: 10,
        untagged: ports(&[A, B]),
        tagged: ports(&[C]),
    });
    made.ports[0] = SwitchPort {
        pvid: Some(10),
        priority: 5,
        ..port()
    };
    made
}

#[test]
fn a_tag_takes_headroom_then_tail_and_is_refused_where_neither_is() {
    // Stride 256 and headroom 64: after all headroom is taken 256 bytes are the most.
    for (headroom, len, fits) in [
        (64, 192, true),
        (0, 252, true),
        (0, 253, false),
        (3, 253, false),
    ] {
        let mut bench = Bench::new(tagging());
        let mut burst = Burst::new();
        bench.pool.alloc_burst(&mut burst, 1);
        let one = &mut burst.frames_mut()[0];
        let mut bytes = frame(BROADCAST, station(1), &[]);
        bytes.resize(len, 0xCD);
        one.extend_front(64 - headroom).expect("headroom");
        one.copy_from(&bytes).expect("it fits");
        one.meta_mut().original_len = 1_500;
        let mut verdicts = Verdicts::new();
        verdicts.push(Verdict::Forward(B));
        let mut cx = Forwarding {
            from: A,
            now: bench.now,
            pool: &mut bench.pool,
            out: &mut bench.out,
        };
        bench.switch.forward(&mut cx, &mut burst, &mut verdicts);
        let left = &burst.frames()[0];
        let mut right = bytes.clone();
        right.splice(12..12, [0x81, 0, 0xA0, 10]);
        let (verdict, right, length) = match fits {
            true => (Verdict::Forward(C), right, 1_504),
            false => (Verdict::Drop(DropReason::NoTagRoom), bytes, 1_500),
        };
        assert_eq!(verdicts.as_slice(), [verdict], "{headroom} {len}");
        assert_eq!(left.bytes(), right);
        assert_eq!(left.meta().map(|meta| meta.original_len), Some(length));
        bench.pool.free_burst(&mut burst);
        for copy in bench.out.drain() {
            assert_eq!(copy.frame.meta().map(|meta| meta.original_len), Some(1_500));
            bench.pool.free(copy.frame);
        }
        assert_eq!(bench.pool.free_count(), CHUNKS);
    }
}

#[test]
fn a_storm_passes_its_limit_in_a_second_and_known_stations_always() {
    let mut limited = config(VlanMode::Default, 3);
    limited.ports[0].storm = Some(10);
    let mut bench = Bench::new(limited);
    assert!(bench.left(B, BROADCAST, station(2)).is_ok());
    let passed = |bench: &mut Bench, count: usize, to: Mac| {
        let frames = vec![frame(to, station(1), &[]); count];
        let fates = bench.burst(A, &frames);
        let dropped = fates.iter().filter(|fate| **fate == Err(DropReason::Storm));
        count - dropped.count()
    };
    assert_eq!(passed(&mut bench, 25, BROADCAST), 10);
    assert_eq!(passed(&mut bench, 25, station(2)), 25, "known");
    assert_eq!(passed(&mut bench, 25, station(9)), 0, "unknown");
    bench.now = Nanos(bench.now.0 + 250 * MS);
    assert_eq!(passed(&mut bench, 25, BROADCAST), 2);
    bench.now = Nanos(bench.now.0 + 50 * MS);
    assert_eq!(passed(&mut bench, 25, BROADCAST), 1, "what was left counts");
    bench.now = Nanos(bench.now.0 + 3_600_000 * MS);
    assert_eq!(
        passed(&mut bench, 25, BROADCAST),
        10,
        "never more than a second's"
    );
    assert_eq!(
        bench
            .burst(B, &vec![frame(BROADCAST, station(2), &[]); 25])
            .len(),
        25
    );
}

#[test]
fn frames_that_the_policy_keeps_teach_nothing() {
    let mut bench = Bench::new(config(VlanMode::Default, 3));
    let frames = vec![frame(station(9), station(1), &[]); 3];
    let verdicts = [
        Verdict::Drop(DropReason::BlockedSrc),
        Verdict::Hold,
        Verdict::Drop(DropReason::NonIp),
    ];
    let fates = bench.judged(A, &frames, &verdicts);
    assert_eq!(fates[0], Err(DropReason::BlockedSrc));
    assert_eq!(fates[1], Ok(Vec::new()));
    assert!(bench.switch.fdb().is_empty());
}

#[test]
fn isolated_ports_and_hairpins() {
    let mut made = config(VlanMode::Default, 4);
    for at in [0, 1] {
        made.ports[at].isolated = true;
    }
    made.ports[3].hairpin = true;
    let mut bench = Bench::new(made);
    let d = PortId(3);
    assert_eq!(bench.left(A, BROADCAST, station(1)), Ok(vec![2, 3]));
    assert_eq!(
        bench.left(B, station(1), station(2)),
        Err(DropReason::Isolated)
    );
    assert_eq!(bench.left(C, station(1), station(3)), Ok(vec![0]));
    assert_eq!(bench.left(A, station(3), station(1)), Ok(vec![2]));
    assert_eq!(bench.left(d, BROADCAST, station(4)), Ok(vec![0, 1, 2, 3]));
    assert_eq!(bench.left(d, station(4), station(5)), Ok(vec![3]));
    assert_eq!(
        bench.left(C, station(3), station(6)),
        Err(DropReason::SamePort)
    );
    let alone = &mut Bench::new(config(VlanMode::Default, 1));
    assert_eq!(
        alone.left(A, BROADCAST, station(1)),
        Err(DropReason::NoPort)
    );
}

#[test]
fn sixty_four_ports_get_a_copy_each_but_the_one_it_came_by() {
    let mut bench = Bench::new(config(VlanMode::Default, Ports::MAX));
    let last = PortId(63);
    assert_eq!(
        bench.left(last, BROADCAST, station(1)),
        Ok((0..63).collect())
    );
    assert_eq!(bench.left(A, station(1), station(2)), Ok(vec![63]));
    assert_eq!(bench.switch.counts().copies, 62);
}

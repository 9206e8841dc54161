//! Frames between a leader and a follower.

use std::sync::atomic::{AtomicBool, Ordering};

use super::ends::{End, folder, frame, pair, until, until_up};
use crate::Port;

/// Frames pass one way: as they were, in order.
#[track_caller]
fn passes(from: &mut End, to: &mut End, queue: usize, frames: &[Vec<u8>]) {
    let mut received = Vec::new();
    let mut sent = 0;
    while sent < frames.len() {
        let taken = from.send(queue, &frames[sent..]);
        sent += taken;
        let some = to.receive(queue);
        assert!(taken > 0 || !some.is_empty(), "stuck after {sent} frames");
        received.extend(some);
    }
    received.extend(to.receive(queue));
    assert_eq!(received.len(), frames.len());
    for (index, (got, wanted)) in received.iter().zip(frames).enumerate() {
        assert!(got == wanted, "frame {index} of {} bytes", wanted.len());
    }
}

#[test]
fn every_size_passes_both_ways() {
    for options in ["", ",buffer=256,ring=64", ",buffer=9216,ring=32"] {
        let folder = folder();
        let [mut leader, mut follower] = pair(&folder, options, 1);
        let sizes = (1..200)
            .chain((200..9018).step_by(97))
            .chain([1514, 2048, 2049, 9014]);
        let frames: Vec<_> = sizes.enumerate().map(|(n, len)| frame(n, len)).collect();
        passes(&mut leader, &mut follower, 0, &frames);
        passes(&mut follower, &mut leader, 0, &frames);
        leader.expect_whole();
        follower.expect_whole();
        let bytes: usize = frames.iter().map(Vec::len).sum();
        for end in [&leader, &follower] {
            let counted = end.queues[0].statistics();
            assert_eq!(counted.rx_frames, frames.len() as u64);
            assert_eq!(counted.tx_frames, frames.len() as u64);
            assert_eq!(
                (counted.rx_bytes, counted.tx_bytes),
                (bytes as u64, bytes as u64)
            );
            assert_eq!(counted.missed, 0);
        }
    }
}

#[test]
fn indices_run_around_more_than_once() {
    let folder = folder();
    let [mut leader, mut follower] = pair(&folder, ",ring=32,buffer=128", 1);
    // 16 bits of index, and frames of one and of three buffers.
    let frames: Vec<_> = (0..140)
        .map(|n| frame(n, if n % 3 == 0 { 300 } else { 60 }))
        .collect();
    for _ in 0..320 {
        passes(&mut leader, &mut follower, 0, &frames);
        passes(&mut follower, &mut leader, 0, &frames[..7]);
    }
}

#[test]
fn a_full_ring_leaves_frames_with_their_sender() {
    let folder = folder();
    let [mut leader, mut follower] = pair(&folder, ",ring=64,buffer=128", 1);
    let frames: Vec<_> = (0..100).map(|n| frame(n, 60)).collect();
    let long: Vec<_> = (0..100).map(|n| frame(n, 300)).collect();
    for [from, to] in [[0, 1], [1, 0]] {
        let ends = [&mut leader, &mut follower];
        assert_eq!(ends[from].send(0, &frames), 64);
        assert_eq!(ends[from].send(0, &frames), 0);
        assert_eq!(ends[to].receive(0), frames[..64]);
        // Of three buffers each: one that has no room for all of it waits.
        assert_eq!(ends[from].send(0, &long), 21);
        assert_eq!(ends[to].receive(0), long[..21]);
        // One that no ring holds is given up and counted.
        assert_eq!(ends[from].send(0, &[frame(0, 65 * 128)]), 1);
        assert_eq!(ends[from].queues[0].take_refused(), 1);
        let said = ends[from].queues[0].finish().unwrap();
        assert!(said[0].contains("needed more buffers"), "{said:?}");
    }
}

#[test]
fn a_frame_longer_than_a_chunk_is_missed_and_counted() {
    let folder = folder();
    let [mut leader, mut follower] = pair(&folder, "", 1);
    follower.pool = crate::tests_support::pool(64);
    let frames = [frame(1, 60), frame(2, 1900), frame(3, 5000), frame(4, 70)];
    assert_eq!(leader.send(0, &frames), 4);
    assert_eq!(follower.receive(0), [frame(1, 60), frame(4, 70)]);
    let counted = follower.queues[0].statistics();
    assert_eq!((counted.missed, counted.missed_too_long), (2, 2));
    follower.expect_whole();
}

#[test]
fn chunks_that_are_short_leave_frames_in_the_ring() {
    let folder = folder();
    let [mut leader, mut follower] = pair(&folder, ",buffer=128", 1);
    let frames: Vec<_> = (0..60).map(|n| frame(n, 60 + n * 5)).collect();
    for [from, to] in [[0, 1], [1, 0]] {
        let ends = [&mut leader, &mut follower];
        assert_eq!(ends[from].send(0, &frames), 60);
        ends[to].pool = super::ends::pool(7);
        let end = &mut *ends[to];
        end.queues[0].rx_burst(&mut end.pool, &mut end.burst, 64);
        assert_eq!(end.burst.len(), 7);
        end.pool.free_burst(&mut end.burst);
        assert_eq!(end.receive(0), frames[7..]);
        end.expect_whole();
        end.pool = super::ends::pool(2048);
    }
}

#[test]
fn queues_are_rings_of_their_own() {
    let folder = folder();
    let [mut leader, mut follower] = pair(&folder, ",ring=128", 3);
    for queue in 0..3 {
        let frames: Vec<_> = (0..90).map(|n| frame(n * 3 + queue, 64)).collect();
        assert_eq!(leader.send(queue, &frames), 90);
    }
    for queue in [2, 0, 1] {
        let frames: Vec<_> = (0..90).map(|n| frame(n * 3 + queue, 64)).collect();
        assert_eq!(follower.receive(queue), frames);
        passes(&mut follower, &mut leader, queue, &frames);
    }
}

#[test]
fn either_may_come_first_and_go_and_come_again() {
    let folder = folder();
    let socket = folder.path().join("socket");
    let open = |role: &str| End::open(&format!("memif:{},role={role}", socket.display()), 1);
    let frames = [frame(1, 60), frame(2, 3000)];
    let mut follower = open("follower");
    for _ in 0..5 {
        follower.port.attend();
    }
    assert_eq!((follower.is_up(), follower.send(0, &frames)), (false, 0));
    let mut leader = open("leader");
    until_up(&mut [&mut leader, &mut follower]);
    passes(&mut leader, &mut follower, 0, &frames);
    for _ in 0..3 {
        // Frames that were not read are gone with the connection.
        assert_eq!(follower.send(0, &frames), 2);
        drop(leader);
        until(&mut [&mut follower], |ends| !ends[0].is_up());
        assert_eq!(follower.send(0, &frames), 0);
        assert!(!socket.exists(), "the leader takes its socket away");
        leader = open("leader");
        until_up(&mut [&mut leader, &mut follower]);
        passes(&mut leader, &mut follower, 0, &frames);
        passes(&mut follower, &mut leader, 0, &frames);

        drop(follower);
        until(&mut [&mut leader], |ends| !ends[0].is_up());
        assert_eq!(leader.send(0, &frames), 0);
        follower = open("follower");
        until_up(&mut [&mut leader, &mut follower]);
        passes(&mut leader, &mut follower, 0, &frames);
        passes(&mut follower, &mut leader, 0, &frames);
    }
    let said = leader.queues[0].finish().unwrap();
    assert!(
        said.iter().any(|said| said.contains("a peer came 2 times")),
        "{said:?}"
    );
}

#[test]
fn two_leaders_share_a_socket_by_id() {
    let folder = folder();
    let socket = folder.path().join("socket");
    let spec = |role: &str, id: u32| format!("memif:{},role={role},id={id}", socket.display());
    let context = crate::OpenContext::default();
    let lead = |id| {
        let crate::PortSpec::Memif(spec) = crate::PortSpec::parse(&spec("leader", id)).unwrap()
        else {
            panic!()
        };
        super::super::MemifPort::open(&spec, frame::PortId(0), &context)
    };
    let (mut one, mut two) = (
        End::with(lead(7).unwrap(), 1),
        End::with(lead(9).unwrap(), 1),
    );
    let taken = lead(7).err().unwrap().to_string();
    assert!(taken.contains("two ports lead id 7"), "{taken}");
    let mut nine = End::open(&spec("follower", 9), 1);
    let mut seven = End::open(&spec("follower", 7), 1);
    until_up(&mut [&mut one, &mut two, &mut seven, &mut nine]);
    passes(&mut seven, &mut one, 0, &[frame(7, 77)]);
    passes(&mut nine, &mut two, 0, &[frame(9, 99)]);
    drop(one);
    assert!(socket.exists());
    drop(two);
    assert!(!socket.exists());
}

#[test]
fn abstract_names_and_secrets_do() {
    let name = format!("@linerate-test-{}", std::process::id());
    let spec = |role: &str| format!("memif:{name},role={role},secret=open sesame");
    let mut leader = End::open(&spec("leader"), 1);
    let mut follower = End::open(&spec("follower"), 1);
    until_up(&mut [&mut leader, &mut follower]);
    passes(&mut leader, &mut follower, 0, &[frame(1, 64)]);
}

#[test]
fn a_sleeper_is_woken() {
    let folder = folder();
    let [mut leader, mut follower] = pair(&folder, "", 1);
    let readable = |end: &End| {
        let wake = end.queues[0].wake();
        wake.is_some_and(|wake| crate::sys::memif_socket::readable(wake, 0))
    };
    for [from, to] in [[0, 1], [1, 0]] {
        let ends = [&mut leader, &mut follower];
        // Nobody asked to be woken.
        assert_eq!(ends[from].send(0, &[frame(0, 64)]), 1);
        assert_eq!(ends[to].receive(0).len(), 1);
        for round in 0..200 {
            assert!(!readable(ends[to]), "round {round}");
            assert_eq!(ends[from].send(0, &[frame(round, 64)]), 1);
            // What came is seen at the second look, or the file tells.
            let told = match ends[to].queues[0].wake() {
                None => true,
                Some(_) => readable(ends[to]),
            };
            assert!(told, "round {round}");
            assert_eq!(ends[to].receive(0), [frame(round, 64)]);
        }
    }
}

#[test]
fn threads_of_their_own_lose_nothing() {
    let folder = folder();
    let [mut leader, mut follower] = pair(&folder, ",ring=64", 1);
    let ended = AtomicBool::new(false);
    let frames: Vec<_> = (0..50_000).map(|n| frame(n, 60 + n % 200)).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut sent = 0;
            while sent < frames.len() {
                sent += leader.send(0, &frames[sent..]);
                std::hint::spin_loop();
            }
            ended.store(true, Ordering::Release);
        });
        let mut count = 0;
        while count < frames.len() {
            let last = ended.load(Ordering::Acquire);
            let received = follower.receive(0);
            for got in &received {
                assert!(*got == frames[count], "frame {count}");
                count += 1;
            }
            assert!(!last || count == frames.len() || !received.is_empty());
            if received.is_empty() {
                std::thread::yield_now();
            }
        }
    });
    leader.expect_whole();
    follower.expect_whole();
}

//! Peers that write anything, anywhere, at any time. What is expected: nothing breaks, no chunk is
//! lost, what is counted adds up, and one that keeps to the rules is served afterwards.

use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::ends::{End, folder, frame, until, until_up};
use super::peer::{LOG2, Peer, RINGS, begun, connected, init, interrupt, region, ring};
use crate::Port;
use crate::memif::link::Regions;
use crate::memif::message::{Hello, Message, Text, VERSION};
use crate::memif::ring::{CONTINUES, Fault};
use crate::memif::shared::Shared;
use crate::sys::memif_memory::{Descriptor, Index, RingMemory, SharedMemory};
use crate::sys::memif_socket::{Address, Socket};
use traffic::Random;

/// Prints what replays a test.
fn seed() -> u64 {
    let now = std::time::SystemTime::now();
    let since = now.duration_since(std::time::UNIX_EPOCH).unwrap();
    let seed = std::env::var("SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or(since.as_nanos() as u64);
    println!("SEED={seed}");
    seed
}

/// Values at and around which checks stand.
fn odd(random: &mut Random) -> u32 {
    match random.below(6) {
        0 => random.below(1 << 16) as u32,
        1 => u32::MAX - random.below(70_000) as u32,
        2 => (super::peer::REGION_BYTES as u32).wrapping_sub(random.below(130) as u32),
        3 => random.below(9) as u32,
        _ => random.below(1 << 11) as u32,
    }
}

/// Writes anything into rings until told to end.
fn scribble(memory: &Arc<SharedMemory>, rings: &[(u32, u8)], ended: &AtomicBool, seed: u64) {
    let mut random = Random::new(seed, 1);
    let rings: Vec<_> = rings
        .iter()
        .filter_map(|(at, log2)| memory.ring(*at, *log2))
        .collect();
    while !ended.load(Ordering::Relaxed) {
        let ring = &rings[random.below(rings.len() as u64) as usize];
        match random.below(8) {
            0 => ring.store(Index::Head, odd(&mut random) as u16, Ordering::Relaxed),
            1 => ring.store(Index::Tail, odd(&mut random) as u16, Ordering::Relaxed),
            // A step that may be one of the peer's.
            2 | 3 => {
                for index in [Index::Head, Index::Tail] {
                    let value = ring.load(index, Ordering::Relaxed);
                    let more = random.below(9) as u16;
                    ring.store(index, value.wrapping_add(more), Ordering::Release);
                }
            }
            _ => {
                let descriptor = Descriptor {
                    flags: random.below(4) as u16,
                    region: if random.below(9) == 0 {
                        odd(&mut random) as u16
                    } else {
                        0
                    },
                    len: odd(&mut random),
                    offset: odd(&mut random),
                    metadata: odd(&mut random),
                };
                ring.write(random.below(32) as u16, descriptor);
            }
        }
    }
}

/// Receives and sends for a while; what passed.
fn work(end: &mut End, rounds: usize) -> u64 {
    let frames: Vec<_> = (0..9).map(|n| frame(n, 40 + 500 * n)).collect();
    let before = end.queues[0].statistics();
    let (mut received, mut sent) = (0, 0);
    for _ in 0..rounds {
        let max = 1 + received as usize % 64;
        end.queues[0].rx_burst(&mut end.pool, &mut end.burst, max);
        assert!(
            end.burst
                .frames()
                .iter()
                .all(|frame| frame.len() <= frame.capacity())
        );
        received += end.burst.len() as u64;
        end.pool.free_burst(&mut end.burst);
        sent += end.send(0, &frames) as u64;
        sent -= end.queues[0].take_refused();
    }
    let after = end.queues[0].statistics();
    assert_eq!(after.rx_frames - before.rx_frames, received);
    assert_eq!(after.tx_frames - before.tx_frames, sent);
    end.expect_whole();
    received + sent
}

#[test]
fn a_leader_outlives_a_follower_that_scribbles() {
    let mut random = Random::new(seed(), 0);
    let folder = folder();
    let path = folder.path().join("socket");
    let mut leader = End::open(&format!("memif:{},role=leader", path.display()), 1);
    let mut passed = 0;
    for _ in 0..60 {
        until(&mut [&mut leader], |ends| !ends[0].is_up());
        let (peer, memory) = connected(&mut leader, &path);
        let ended = AtomicBool::new(false);
        let seed = random.next();
        std::thread::scope(|scope| {
            scope.spawn(|| scribble(&memory, &RINGS.map(|at| (at, LOG2)), &ended, seed));
            passed += work(&mut leader, 2000);
            ended.store(true, Ordering::Relaxed);
        });
        drop(peer);
    }
    println!("{passed} frames passed");
    serves(&mut leader, &path);
}

#[test]
fn a_follower_outlives_a_leader_that_scribbles() {
    let mut random = Random::new(seed(), 0);
    let folder = folder();
    let path = folder.path().join("socket");
    let address = Address::File(path.display().to_string().into_bytes());
    let text = format!("memif:{},ring=32,buffer=256", path.display());
    let mut follower = End::open(&text, 1);
    let listening = Socket::listen(&address).unwrap();
    for _ in 0..60 {
        until(&mut [&mut follower], |ends| !ends[0].is_up());
        let (peer, memory, rings) = led(&mut follower, &listening);
        let ended = AtomicBool::new(false);
        let seed = random.next();
        std::thread::scope(|scope| {
            scope.spawn(|| scribble(&memory, &rings, &ended, seed));
            work(&mut follower, 2000);
            ended.store(true, Ordering::Relaxed);
        });
        drop(peer);
    }
    drop(listening);
    std::fs::remove_file(&path).unwrap();
    let mut leader = End::open(&format!("memif:{},role=leader", path.display()), 1);
    until(&mut [&mut follower, &mut leader], |ends| {
        ends.iter().all(|end| end.is_up())
    });
    assert_eq!(follower.send(0, &[frame(5, 555)]), 1);
    assert_eq!(leader.receive(0), [frame(5, 555)]);
}

/// A leader by hand, connected; the follower's memory and where the rings are.
fn led(follower: &mut End, listening: &Socket) -> (Peer, Arc<SharedMemory>, Vec<(u32, u8)>) {
    let peer = loop {
        follower.port.attend();
        if let Some(socket) = listening.accept() {
            break Peer(socket);
        }
    };
    peer.say(&Message::Hello(hello()), None);
    let (mut memory, mut rings) = (None, Vec::new());
    loop {
        let (message, file) = peer.hear(follower).unwrap();
        match message {
            Message::AddRegion { bytes, .. } => {
                let file = file.unwrap();
                memory = Some(Arc::new(SharedMemory::open(file.as_fd(), bytes).unwrap()));
            }
            Message::AddRing(ring) => rings.push((ring.offset, ring.log2_entries)),
            Message::Connect { name } => {
                peer.say(&Message::Connected { name }, None);
                until(&mut [follower], |ends| ends[0].is_up());
                return (peer, memory.unwrap(), rings);
            }
            _ => {}
        }
        peer.say(&Message::Ack, None);
    }
}

fn hello() -> Hello {
    Hello {
        name: Text::new(b"by hand"),
        version_min: VERSION,
        version_max: VERSION,
        region_max: 1,
        ring_to_follower_max: 0,
        ring_to_leader_max: 0,
        log2_entries_max: 14,
    }
}

/// One that keeps to the rules is served.
fn serves(leader: &mut End, path: &Path) {
    let mut follower = End::open(&format!("memif:{}", path.display()), 1);
    until_up(&mut [leader, &mut follower]);
    assert_eq!(follower.send(0, &[frame(5, 5000)]), 1);
    assert_eq!(leader.receive(0), [frame(5, 5000)]);
}

#[test]
fn a_leader_outlives_any_message() {
    let mut random = Random::new(seed(), 0);
    let folder = folder();
    let path = folder.path().join("socket");
    let mut leader = End::open(&format!("memif:{},role=leader", path.display()), 1);
    let name = Text::new(b"");
    for _ in 0..300 {
        let peer = match random.below(2) {
            0 => Peer::connect(&path),
            _ => begun(&mut leader, &path),
        };
        let (add, (_memory, file)) = region(8192);
        for _ in 0..random.below(12) {
            let message = match random.below(8) {
                0 => Message::Init(init()),
                1 | 2 => add,
                3 | 4 => ring(random.below(2) == 0),
                5 => Message::Connect { name },
                6 => Message::Hello(hello()),
                _ => Message::Ack,
            };
            let mut bytes = message.emit();
            if random.below(3) == 0 {
                bytes[random.below(20) as usize] = random.next() as u8;
            }
            let file = match random.below(3) {
                0 => None,
                1 => Some(interrupt()),
                _ => Some(file.try_clone().unwrap()),
            };
            let len = if random.below(20) == 0 {
                77
            } else {
                bytes.len()
            };
            // It may have closed.
            let _closed = peer.0.send(&bytes[..len], file.as_ref().map(AsFd::as_fd));
            leader.port.attend();
            work(&mut leader, 2);
        }
        drop(peer);
        until(&mut [&mut leader], |ends| !ends[0].is_up());
    }
    serves(&mut leader, &path);
}

#[test]
fn a_follower_outlives_any_message() {
    let mut random = Random::new(seed(), 0);
    let folder = folder();
    let path = folder.path().join("socket");
    let address = Address::File(path.display().to_string().into_bytes());
    let mut follower = End::open(&format!("memif:{},ring=32", path.display()), 1);
    let listening = Socket::listen(&address).unwrap();
    let mut said = 0;
    for _ in 0..300 {
        let peer = loop {
            follower.port.attend();
            if let Some(socket) = listening.accept() {
                break Peer(socket);
            }
        };
        for _ in 0..random.below(12) {
            let name = Text::new(b"\x1b[2J");
            let message = match random.below(6) {
                0 | 1 => Message::Hello(hello()),
                2 | 3 => Message::Ack,
                4 => Message::Connected { name },
                _ => ring(true),
            };
            let mut bytes = message.emit();
            if random.below(4) == 0 {
                bytes[random.below(60) as usize] = random.next() as u8;
            }
            let _closed = peer.0.send(&bytes, None);
            follower.port.attend();
            work(&mut follower, 2);
            said += 1;
        }
    }
    assert!(said > 300);
    drop(listening);
    std::fs::remove_file(&path).unwrap();
    let mut leader = End::open(&format!("memif:{},role=leader", path.display()), 1);
    until_up(&mut [&mut leader, &mut follower]);
}

/// A head index, what all descriptors say, and what is wrong with that.
fn steps() -> Vec<(u16, Descriptor, Option<Fault>)> {
    let good = Descriptor {
        len: 60,
        offset: 4096,
        ..Descriptor::default()
    };
    let end = super::peer::REGION_BYTES as u32;
    vec![
        (33, good, Some(Fault::Index)),
        (u16::MAX, good, Some(Fault::Index)),
        (1, Descriptor { region: 1, ..good }, Some(Fault::Buffer)),
        (
            1,
            Descriptor {
                offset: end - 59,
                ..good
            },
            Some(Fault::Buffer),
        ),
        (
            1,
            Descriptor {
                offset: u32::MAX,
                len: u32::MAX,
                ..good
            },
            Some(Fault::Buffer),
        ),
        (
            32,
            Descriptor {
                flags: CONTINUES,
                ..good
            },
            Some(Fault::Endless),
        ),
        (
            31,
            Descriptor {
                flags: CONTINUES,
                ..good
            },
            None,
        ),
        (
            1,
            Descriptor {
                offset: end - 60,
                ..good
            },
            None,
        ),
        (32, good, None),
    ]
}

/// What a leader finds of one step of a follower's is told apart.
#[test]
fn each_fault_has_its_name() {
    let folder = folder();
    let path = folder.path().join("socket");
    let mut leader = End::open(&format!("memif:{},role=leader", path.display()), 1);
    for (head, descriptor, fault) in steps() {
        let (peer, memory) = connected(&mut leader, &path);
        let ring = memory.ring(RINGS[0], LOG2).unwrap();
        (0..32).for_each(|index| ring.write(index, descriptor));
        ring.store(Index::Head, head, Ordering::Release);
        let frames = leader.receive(0).len();
        match fault {
            Some(fault) => {
                let (answer, _) = peer.hear(&mut leader).unwrap();
                let Message::Disconnect { reason, .. } = answer else {
                    panic!("{answer:?}")
                };
                assert_eq!((reason.to_string(), frames), (fault.reason().to_owned(), 0));
            }
            None => {
                let whole = descriptor.flags & CONTINUES == 0;
                assert_eq!(frames, usize::from(head) * usize::from(whole));
                assert!(leader.is_up());
            }
        }
        drop(peer);
        until(&mut [&mut leader], |ends| !ends[0].is_up());
        leader.expect_whole();
    }
    let said = leader.queues[0].finish().unwrap();
    assert!(
        said.iter().any(|said| said.contains("parted with 6 times")),
        "{said:?}"
    );
}

#[test]
fn an_accusation_of_a_peer_that_is_gone_means_nothing() {
    let shared = Shared::default();
    let mut seen = 0;
    shared.offer(Vec::new());
    assert!(
        shared
            .fetch(0, &mut seen)
            .is_some_and(|link| link.is_none())
    );
    shared.accuse(seen, Fault::Index);
    assert_eq!(shared.accused(), Some(Fault::Index));
    shared.offer(Vec::new());
    assert_eq!(shared.accused(), None);
}

#[test]
fn nothing_is_read_or_written_beyond_a_region() {
    let (memory, _file) = SharedMemory::create(4096).unwrap();
    let regions: Regions = [Arc::new(memory)].into();
    let memory = &regions[0];
    let mut bytes = [7; 100];
    for (offset, fits) in [
        (3996, true),
        (3997, false),
        (4096, false),
        (u32::MAX, false),
    ] {
        assert_eq!(memory.has(offset, 100), fits);
        assert_eq!(memory.read(offset, &mut bytes), fits);
        assert_eq!(memory.write(offset, &bytes), fits);
    }
    assert!(memory.has(4096, 0) && !memory.has(4097, 0) && !memory.has(1, u32::MAX));
    // Every length is copied whole, and nothing beside it.
    for len in 0..300 {
        let wanted = frame(len, len);
        memory.write(0, &[0xEE; 400]);
        assert!(memory.write(50, &wanted));
        let mut all = [0; 400];
        memory.read(0, &mut all);
        assert!(
            all[..50]
                .iter()
                .chain(&all[50 + len..])
                .all(|byte| *byte == 0xEE),
            "{len}"
        );
        let mut part = vec![0; len];
        assert!(memory.read(50, &mut part));
        assert_eq!(part, wanted);
    }
}

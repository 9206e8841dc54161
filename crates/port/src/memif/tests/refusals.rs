//! Peers that are sent away, and sockets that are not taken.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;

use super::ends::{End, folder, frame, until, until_up};
use super::peer::{Peer, begun, connected, init, interrupt, region, ring};
use crate::memif::message::{AddRing, Init, Message, Text};
use crate::memif::{MemifPort, MemifRole, MemifSpec};
use crate::{OpenContext, Port, PortSpec};

fn spec(text: &str) -> MemifSpec {
    match PortSpec::parse(text) {
        Ok(PortSpec::Memif(spec)) => spec,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn a_leader_sends_strangers_away() {
    let folder = folder();
    let path = folder.path().join("socket");
    let text = format!("memif:{},role=leader,secret=abc,id=3", path.display());
    let mut leader = End::open(&text, 1);
    let good = Init {
        id: 3,
        secret: Text::new(b"abc"),
        ..init()
    };
    let wrong = [
        (Init { id: 4, ..good }, "id not found"),
        (Init { mode: 1, ..good }, "only ethernet"),
        (Init { version: 1, ..good }, "incompatible"),
        (
            Init {
                secret: Text::new(b"abd"),
                ..good
            },
            "incorrect secret",
        ),
        (
            Init {
                secret: Text::new(b"ab"),
                ..good
            },
            "incorrect secret",
        ),
        (
            Init {
                secret: Text::new(b""),
                ..good
            },
            "incorrect secret",
        ),
    ];
    for (init, reason) in wrong {
        let peer = Peer::connect(&path);
        peer.hear(&mut leader);
        let said = peer.refused(&mut leader, &Message::Init(init), None);
        assert!(said.contains(reason), "{said}");
    }
    let first = Peer::connect(&path);
    first.hear(&mut leader);
    first.agreed(&mut leader, &Message::Init(good), None);
    let second = Peer::connect(&path);
    second.hear(&mut leader);
    let said = second.refused(&mut leader, &Message::Init(good), None);
    assert_eq!(said, "already connected");
}

#[test]
fn regions_that_cannot_be() {
    let folder = folder();
    let path = folder.path().join("socket");
    let mut leader = End::open(&format!("memif:{},role=leader", path.display()), 1);
    let file = |name: &str, bytes: u64| -> OwnedFd {
        let file = fs::File::create_new(folder.path().join(name)).unwrap();
        file.set_len(bytes).unwrap();
        file.into()
    };
    let peer = begun(&mut leader, &path);
    let (good, (_, memory)) = region(4096);
    assert!(
        peer.refused(&mut leader, &good, None)
            .contains("missing region")
    );
    for (index, bytes, reason) in [
        (1, 4096, "invalid region index"),
        (0, 4097, "smaller"),
        (0, 0, "smaller"),
        (0, u64::MAX, "smaller"),
    ] {
        let peer = begun(&mut leader, &path);
        let message = Message::AddRegion { index, bytes };
        let said = peer.refused(&mut leader, &message, Some(&memory));
        assert!(said.contains(reason), "{said}");
    }
    // No seal: whoever has it could cut it off under us.
    let peer = begun(&mut leader, &path);
    let said = peer.refused(&mut leader, &good, Some(&file("plain", 4096)));
    assert!(said.contains("sealed"), "{said}");
}

#[test]
fn rings_that_cannot_be() {
    let folder = folder();
    let path = folder.path().join("socket");
    let mut leader = End::open(&format!("memif:{},role=leader", path.display()), 1);
    let (good, (_, memory)) = region(4096);
    let Message::AddRing(base) = ring(true) else {
        panic!()
    };
    let at_once = [
        (AddRing { index: 1, ..base }, "invalid ring index"),
        (
            AddRing {
                log2_entries: 0,
                ..base
            },
            "invalid ring size",
        ),
        (
            AddRing {
                log2_entries: 11,
                ..base
            },
            "invalid ring size",
        ),
        (
            AddRing {
                log2_entries: 255,
                ..base
            },
            "invalid ring size",
        ),
        (
            AddRing {
                private_bytes: 8,
                ..base
            },
            "private",
        ),
    ];
    for (ring, reason) in at_once {
        let peer = begun(&mut leader, &path);
        peer.agreed(&mut leader, &good, Some(&memory));
        let said = peer.refused(&mut leader, &Message::AddRing(ring), Some(&interrupt()));
        assert!(said.contains(reason), "{said}");
    }
}

#[test]
fn rings_that_are_not_where_they_should_be() {
    let folder = folder();
    let path = folder.path().join("socket");
    let mut leader = End::open(&format!("memif:{},role=leader", path.display()), 1);
    let (good, (_, memory)) = region(4096);
    let Message::AddRing(base) = ring(true) else {
        panic!()
    };
    let at_the_end = [
        (
            AddRing {
                offset: 4096,
                ..base
            },
            "outside",
        ),
        (
            AddRing {
                offset: 4090,
                ..base
            },
            "outside",
        ),
        (
            AddRing {
                offset: u32::MAX - 15,
                ..base
            },
            "outside",
        ),
        (AddRing { offset: 8, ..base }, "outside"),
        (AddRing { region: 1, ..base }, "outside"),
        (
            AddRing {
                offset: 2048,
                ..base
            },
            "cookie",
        ),
    ];
    let connect = Message::Connect {
        name: Text::new(b""),
    };
    for (wrong, reason) in at_the_end {
        let peer = begun(&mut leader, &path);
        peer.agreed(&mut leader, &good, Some(&memory));
        peer.agreed(&mut leader, &Message::AddRing(wrong), Some(&interrupt()));
        peer.agreed(&mut leader, &ring(false), Some(&interrupt()));
        let said = peer.refused(&mut leader, &connect, None);
        assert!(said.contains(reason), "{said}: {wrong:?}");
    }
    let peer = begun(&mut leader, &path);
    assert!(
        peer.refused(&mut leader, &connect, None)
            .contains("1 rings each way")
    );
    // None of them is in the way of one that keeps to the rules.
    let (_peer, _memory) = connected(&mut leader, &path);
    assert!(leader.is_up());
}

#[test]
fn a_leader_with_fewer_rings_is_told() {
    let folder = folder();
    let socket = folder.path().join("socket");
    let mut leader = End::open(&format!("memif:{},role=leader", socket.display()), 1);
    let text = format!("memif:{},queues=2", socket.display());
    let mut follower = End::open(&text, 2);
    until(&mut [&mut follower, &mut leader], |ends| {
        ends[0].port.parted().is_some()
    });
    let why = follower.port.parted().unwrap();
    assert!(why.contains("1 rings each way, not 2"), "{why}");
    assert!(!leader.is_up());
}

#[test]
fn a_socket_that_answers_is_left_alone() {
    let folder = folder();
    let path = folder.path().join("socket");
    let spec = spec(&format!("memif:{},role=leader", path.display()));
    let open = || {
        let context = OpenContext::default();
        MemifPort::open(&spec, frame::PortId(0), &context).map_err(|error| error.to_string())
    };
    let port = open().unwrap();
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o660
    );
    let said = open().err().unwrap();
    assert!(
        said.contains("another program listens") && path.exists(),
        "{said}"
    );
    drop(port);
    assert!(!path.exists());
    // Another kind of socket.
    let listening = UnixListener::bind(&path).unwrap();
    assert!(open().err().unwrap().contains("another program listens"));
    // It ended without removing its file.
    drop(listening);
    drop(open().unwrap());
    fs::write(&path, "precious").unwrap();
    assert!(open().err().unwrap().contains("is no socket"));
    assert_eq!(fs::read(&path).unwrap(), b"precious");
    let link = folder.path().join("link");
    symlink(&path, &link).unwrap();
    let spec = MemifSpec {
        socket: link.display().to_string(),
        ..spec.clone()
    };
    let context = OpenContext::default();
    let refused = MemifPort::open(&spec, frame::PortId(0), &context).err();
    assert!(refused.unwrap().to_string().contains("is no socket"));
}

#[test]
fn a_file_that_is_no_longer_ours_stays() {
    let folder = folder();
    let path = folder.path().join("socket");
    let spec = spec(&format!("memif:{},role=leader", path.display()));
    let context = OpenContext::default();
    let port = MemifPort::open(&spec, frame::PortId(0), &context).unwrap();
    fs::remove_file(&path).unwrap();
    let _others = UnixListener::bind(&path).unwrap();
    drop(port);
    assert!(path.exists());
}

#[test]
fn queues_are_given_once() {
    let folder = folder();
    let path = folder.path().join("socket");
    let spec = spec(&format!("memif:{},queues=2", path.display()));
    let mut port = MemifPort::open(&spec, frame::PortId(0), &OpenContext::default()).unwrap();
    assert!(port.open_queue(frame::QueueId(0), 3).is_err());
    assert!(port.open_queue(frame::QueueId(0), 2).is_ok());
    let said = port
        .open_queue(frame::QueueId(0), 2)
        .err()
        .unwrap()
        .to_string();
    assert!(said.contains("given out before"), "{said}");
    assert_eq!(port.mode(), "memif follower, 2 queues");
}

#[test]
fn specs() {
    let spec = spec("memif:/run/a,role=leader,id=7,queues=2,ring=64,buffer=4096,secret=x\\,y");
    assert_eq!((spec.role, spec.id, spec.queues), (MemifRole::Leader, 7, 2));
    assert_eq!(
        (spec.ring, spec.buffer, &spec.secret[..]),
        (64, 4096, "x,y")
    );
    assert_eq!(self::spec(&spec.to_string()), spec);
    let long = format!("memif:/{}", "x".repeat(107));
    for (text, said) in [
        ("memif:", "names no socket; write memif:/run/memif.sock"),
        ("memif:@", "names no socket"),
        (&long[..], "no socket's has more than 107"),
        ("memif:/a,role=server", "leader, which is the same"),
        ("memif:/a,role=slave", "follower, which is the same"),
        ("memif:/a,ring=100", "a power of two"),
        ("memif:/a,ring=32768", "from 32 to 16384"),
        ("memif:/a,queues=0", "from 1 to 255"),
        (
            "memif:/a,secret=0123456789012345678901234",
            "at most 23 bytes",
        ),
        ("memif:/a,rol=leader", "did you mean role=?"),
    ] {
        let refused = PortSpec::parse(text).unwrap_err().to_string();
        assert!(refused.contains(said), "{text}: {refused}");
    }
}

#[test]
fn one_that_says_nothing_keeps_nobody_out() {
    let folder = folder();
    let path = folder.path().join("socket");
    let mut leader = End::open(&format!("memif:{},role=leader", path.display()), 1);
    let _silent: Vec<_> = (0..10).map(|_| Peer::connect(&path)).collect();
    leader.port.attend();
    let mut follower = End::open(&format!("memif:{}", path.display()), 1);
    until_up(&mut [&mut leader, &mut follower]);
    assert_eq!(follower.send(0, &[frame(1, 64)]), 1);
    assert_eq!(leader.receive(0), [frame(1, 64)]);
}

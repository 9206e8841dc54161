//! The client and the server: pipelining, files that come along, streams, and how both end.

use crate::Place;
use daemon::rpc::answers::{
    AddParams, Added, Drops, EntryList, LoadParams, Loaded, Ports, Saved, SavedLines, SetFacts,
    SetParams, StreamBegun, WatchParams, parse_entry,
};
use daemon::rpc::{Client, ClientError, ErrorKind};
use std::fs::{self, File};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixListener;
use std::time::Duration;

fn set(name: &str) -> SetParams {
    SetParams {
        set: name.to_owned(),
    }
}

fn add(entries: &[&str]) -> AddParams {
    let entries = entries
        .iter()
        .map(|text| parse_entry(text).expect("an entry"));
    AddParams {
        set: "bad".to_owned(),
        entries: EntryList(entries.collect()),
        timeout_ms: None,
        comment: None,
        force: false,
    }
}

#[test]
fn the_file_has_its_mode_and_goes_with_the_server() {
    let mut place = Place::new();
    let found = fs::metadata(place.socket()).expect("a socket");
    assert_eq!(found.mode() & 0o777, 0o660);
    let mut client = place.client();
    place.server.take();
    assert!(!place.socket().exists());
    let gone = client.call::<_, SetFacts>("set.show", &set("bad"));
    assert!(matches!(gone, Err(ClientError::Gone(_))), "{gone:?}");
    let absent = Client::connect(&place.socket());
    assert!(
        matches!(absent, Err(ClientError::NotRunning(_))),
        "{absent:?}"
    );
}

#[test]
fn requests_sent_together_are_answered_in_order() {
    let place = Place::new();
    let mut client = place.client();
    let texts: Vec<String> = (0..1000)
        .map(|n| format!("203.0.{}.{}", n / 250, n % 250))
        .collect();
    let sent: Vec<_> = texts
        .iter()
        .map(|text| client.send("set.add", &add(&[text])).expect("sent"))
        .collect();
    let seen = client.send("set.show", &set("bad")).expect("sent");
    for sent in sent {
        let did: Added = client.wait(sent).expect("an answer");
        assert_eq!((did.added, did.already), (1, 0));
    }
    let facts: SetFacts = client.wait(seen).expect("an answer");
    assert_eq!((facts.entries, facts.dynamic), (1003, 1000));
}

#[test]
fn a_file_comes_along_and_what_is_none_is_refused() {
    let place = Place::new();
    let mut client = place.client();
    let path = place.file("list.txt");
    fs::write(&path, "198.51.100.1\n").expect("a list");
    let params = LoadParams {
        set: "bad".to_owned(),
        file: "list.txt".to_owned(),
        column: None,
        columns: None,
        json_path: None,
        force: false,
    };
    let file = File::open(&path).expect("a list");
    let sent = client
        .send_file("set.load", &params, file.as_fd())
        .expect("sent");
    let loaded: Loaded = client.wait(sent).expect("an answer");
    assert_eq!((loaded.entries, loaded.added, loaded.removed), (1, 1, 3));
    let refused = client.call::<_, Loaded>("set.load", &params);
    assert!(
        matches!(refused, Err(ClientError::Refused(_))),
        "{refused:?}"
    );
    let folder = File::open(path.parent().expect("a folder")).expect("a folder");
    let sent = client
        .send_file("set.load", &params, folder.as_fd())
        .expect("sent");
    let refused = client.wait::<Loaded>(sent);
    assert!(
        matches!(refused, Err(ClientError::Refused(_))),
        "{refused:?}"
    );
}

#[test]
fn streams_bring_pieces_until_they_end() {
    let place = Place::new();
    let mut client = place.client();
    let entries: Vec<String> = (0..8000)
        .map(|n| format!("10.{}.{}.1", n / 250, n % 250))
        .collect();
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    client
        .call::<_, Added>("set.add", &add(&entries))
        .expect("an answer");
    let saved: Saved = client.call("set.save", &set("bad")).expect("an answer");
    let (mut lines, mut pieces) = (0, 0);
    let patience = Duration::from_secs(20);
    while let Some(piece) = client
        .next::<SavedLines>(saved.stream, patience)
        .expect("a piece")
    {
        lines += piece.lines.len();
        pieces += 1;
    }
    assert_eq!((lines, saved.entries), (8003, 8003));
    assert!(pieces > 1, "{pieces}");
    let watch = WatchParams {
        method: "show.drops".to_owned(),
        params: None,
        every_ms: 100,
    };
    let begun: StreamBegun = client.call("watch", &watch).expect("an answer");
    for _ in 0..3 {
        let drops = client
            .next::<Drops>(begun.stream, patience)
            .expect("a piece");
        assert_eq!(drops.expect("no end").drops.len(), 2);
        // Between two pieces other things are answered.
        client
            .call::<_, SetFacts>("set.show", &set("office"))
            .expect("an answer");
    }
}

#[test]
fn what_is_not_to_be_watched_is_refused() {
    let place = Place::new();
    let mut client = place.client();
    for (method, every_ms) in [("set.flush", 1000), ("reload", 1000), ("show.ports", 10)] {
        let params = WatchParams {
            method: method.to_owned(),
            params: None,
            every_ms,
        };
        let refused = client.call::<_, StreamBegun>("watch", &params);
        assert!(
            matches!(refused, Err(ClientError::Refused(_))),
            "{method}: {refused:?}"
        );
    }
    let params = WatchParams {
        method: "show.ports".to_owned(),
        params: None,
        every_ms: 3_600_000,
    };
    for _ in 0..8 {
        client
            .call::<_, StreamBegun>("watch", &params)
            .expect("an answer");
    }
    match client.call::<_, StreamBegun>("watch", &params) {
        Err(ClientError::Refused(error)) => assert_eq!(error.kind, ErrorKind::TooMany),
        other => panic!("{other:?}"),
    }
}

#[test]
fn who_answers_and_is_no_daemon_is_told_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("other.sock");
    let listener = UnixListener::bind(&path).expect("a socket");
    let other = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().expect("a connection");
        std::io::Write::write_all(&mut socket, b"220 mail ready\r\n").expect("sent");
    });
    let error = Client::connect(&path).expect_err("no daemon");
    other.join().expect("it ends");
    let sentence = error.to_string();
    assert!(
        matches!(error, ClientError::Garbled(..) | ClientError::Gone(_)),
        "{sentence}"
    );
}

#[test]
fn an_answer_has_its_time() {
    let place = Place::new();
    let mut client = place.client();
    client.allow(Duration::from_millis(50));
    let begun: StreamBegun = client
        .call(
            "watch",
            &WatchParams {
                method: "show.ports".to_owned(),
                params: None,
                every_ms: 3_600_000,
            },
        )
        .expect("an answer");
    let patience = Duration::from_millis(50);
    client
        .next::<Ports>(begun.stream, patience)
        .expect("the first piece");
    let silent = client.next::<Ports>(begun.stream, patience);
    assert!(matches!(silent, Err(ClientError::Silent(..))), "{silent:?}");
}

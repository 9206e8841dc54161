//! The source against servers that behave badly; against etcd itself it is judged from outside.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::super::testkeeper::{TestDesk, until};
use super::super::testserver::{Asked, Piece, TestServer, ok, raw};
use super::super::{Asking, Freshness, Limits, ListUrl, Source, SourceSpec, SourceState};
use super::super::{Sources, TextRules};
use super::{EtcdAt, EtcdSource};
use crate::config::{Held, TlsFiles};

struct Bench {
    _folder: tempfile::TempDir,
    desk: TestDesk,
    sources: Sources,
}

impl Bench {
    fn start(server: &TestServer) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let desk = TestDesk::new();
        let keeper = desk.keeper.clone();
        let mut sources = Sources::new(keeper, folder.path().to_owned(), Asking::default());
        let at = EtcdAt {
            endpoints: vec![ListUrl::new(&server.url(""), false).unwrap()],
            login: None,
            tls: TlsFiles::default(),
        };
        let held = Held::Prefix("/p/".to_owned());
        let spec = SourceSpec {
            set: "bad".into(),
            source: Source::Etcd(Box::new(EtcdSource { at, held })),
            refresh: Duration::from_secs(3600),
            text: TextRules::default(),
            limits: Limits {
                bytes_max: 1 << 20,
                entries_max: 1000,
                ..Limits::default()
            },
            freshness: Freshness::default(),
        };
        sources.replace(&[spec], &[]).unwrap();
        Self {
            _folder: folder,
            desk,
            sources,
        }
    }

    fn state(&self) -> SourceState {
        self.sources.states().remove(0)
    }

    #[track_caller]
    fn failure(&self) -> String {
        until("a failure", || self.state().last_error.is_some());
        self.state().last_error.unwrap().text
    }

    /// Entries of the next list.
    #[track_caller]
    fn entries(&self) -> usize {
        self.desk.load().entries.count()
    }
}

/// `/p/192.0.2.1` to `/p/192.0.2.4`.
const KEYS: [&str; 4] = [
    "L3AvMTkyLjAuMi4x",
    "L3AvMTkyLjAuMi4y",
    "L3AvMTkyLjAuMi4z",
    "L3AvMTkyLjAuMi40",
];

fn page(revision: u64, keys: &[&str], more: bool) -> String {
    let pair = |key: &&str| format!(r#"{{"key":"{key}","mod_revision":"5"}}"#);
    let pairs: Vec<String> = keys.iter().map(pair).collect();
    format!(
        r#"{{"header":{{"cluster_id":"9","revision":"{revision}"}},"kvs":[{}],"more":{more}}}"#,
        pairs.join(",")
    )
}

fn event(key: &str, revision: u64) -> String {
    format!(
        "{{\"result\":{{\"header\":{{\"cluster_id\":\"9\",\"revision\":\"{revision}\"}},\
         \"events\":[{{\"kv\":{{\"key\":\"{key}\",\"mod_revision\":\"{revision}\"}}}}]}}}}\n"
    )
}

/// A stream without length: it ends with the connection.
fn stream(text: &str) -> Vec<Piece> {
    raw(&format!("HTTP/1.1 200 OK\r\n\r\n{text}"))
}

fn is_range(asked: &Asked) -> bool {
    asked.target == "/v3/kv/range"
}

fn is_head(asked: &Asked) -> bool {
    is_range(asked) && text(asked).contains("\"keys_only\":true")
}

fn text(asked: &Asked) -> String {
    String::from_utf8(asked.body.clone()).unwrap()
}

#[test]
fn what_is_no_etcd_changes_nothing_and_is_named() {
    let deep = format!("{{\"kvs\":{}", "[".repeat(100_000));
    let status = |status: &str, body: &str| {
        let length = body.len();
        raw(&format!(
            "HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n{body}"
        ))
    };
    let page = |keys: &[&str]| ok("", page(7, keys, true).as_bytes());
    type Case = (Vec<Piece>, &'static str);
    let cases: Vec<Case> = vec![
        (ok("", b"<html>"), "is not etcd's JSON gateway"),
        (ok("", b""), "is not etcd's JSON gateway"),
        (ok("", deep.as_bytes()), "is not etcd's JSON gateway"),
        (ok("", br#"{"header":{"revision":"x"}}"#), "no number"),
        (ok("", br#"{"kvs":[{"key":"***"}]}"#), "no base64"),
        (
            ok("", br#"{"kvs":[{"key":"L3A"#),
            "is not etcd's JSON gateway",
        ),
        (status("404 Not Found", "no"), "etcd 3.4 or later"),
        (
            status("401 Unauthorized", r#"{"error":"bad token"}"#),
            "(bad token)",
        ),
        (
            status("503 Gone", r#"{"message":"no\nleader"}"#),
            "(noleader)",
        ),
        (
            status("302 Found\r\nLocation: http://127.0.0.1/", ""),
            "status 302",
        ),
        // Pages that lead nowhere.
        (page(&[]), "refused"),
        (page(&[KEYS[0]]), "does not go on"),
        (
            vec![
                Piece::Bytes(b"HTTP/1.1 200 OK\r\n\r\n{\"kvs\":[".to_vec()),
                Piece::Forever(br#"{"key":"L3Av"},"#.to_vec()),
            ],
            "is not etcd's JSON gateway",
        ),
    ];
    for (answer, wanted) in cases {
        let answer = std::sync::Mutex::new(Some(answer));
        let server = TestServer::new(move |_| {
            let mut answer = answer.lock().unwrap();
            let pieces = answer
                .as_mut()
                .map(|pieces| pieces.iter().map(again).collect());
            pieces.unwrap_or_default()
        });
        let bench = Bench::start(&server);
        if wanted == "refused" {
            // An empty list is a list; the guards of a keeper refuse it.
            assert_eq!(bench.entries(), 0);
            continue;
        }
        let failure = bench.failure();
        assert!(failure.contains(wanted), "{wanted}: {failure}");
        bench.desk.nothing_more();
    }
}

fn again(piece: &Piece) -> Piece {
    match piece {
        Piece::Bytes(bytes) => Piece::Bytes(bytes.clone()),
        Piece::Pause(time) => Piece::Pause(*time),
        Piece::Forever(bytes) => Piece::Forever(bytes.clone()),
    }
}

#[test]
fn pages_are_of_one_revision() {
    let server = TestServer::new(|asked| {
        let text = text(asked);
        if !is_range(asked) {
            return stream("");
        }
        match text.contains("\"revision\":\"7\"") {
            false => ok("", page(7, &KEYS[..2], true).as_bytes()),
            // Later changes have made it 9 by now.
            true => ok("", page(9, &KEYS[2..], false).as_bytes()),
        }
    });
    let bench = Bench::start(&server);
    assert_eq!(bench.entries(), 4);
    until("watched", || {
        server.asked().iter().any(|one| !is_range(one))
    });
    let asked = server.asked();
    let watch = asked.iter().find(|one| !is_range(one)).unwrap();
    assert!(
        text(watch).contains("\"start_revision\":\"8\""),
        "{}",
        text(watch)
    );
}

#[test]
fn a_watch_that_breaks_goes_on_behind_what_was_applied() {
    let watches = AtomicUsize::new(0);
    let server = TestServer::new(move |asked| {
        if is_head(asked) {
            return ok("", page(20, &[], false).as_bytes());
        }
        if is_range(asked) {
            return ok("", page(7, &KEYS[..1], false).as_bytes());
        }
        match watches.fetch_add(1, Ordering::SeqCst) {
            // A change, and half of another.
            0 => stream(&(event(KEYS[1], 8) + &event(KEYS[2], 9)[..40])),
            // The first again, which is a repeat, and then the other.
            1 => stream(&(event(KEYS[1], 8) + &event(KEYS[2], 9))),
            // Nonsense, and what follows it is not believed.
            2 => stream(&("nonsense\n".to_owned() + &event(KEYS[3], 10))),
            3 => stream("{}\n"),
            4 => stream(&event(KEYS[3], 10)),
            _ => vec![Piece::Pause(Duration::from_secs(1))],
        }
    });
    let bench = Bench::start(&server);
    for wanted in [1, 2, 3, 4] {
        assert_eq!(bench.entries(), wanted);
    }
    let watched = |one: &Asked| (!is_range(one)).then(|| text(one));
    let revisions = || -> Vec<String> {
        let asked = server.asked();
        let watches = asked.iter().filter_map(watched);
        let revision = |text: String| text.split('"').nth_back(1).unwrap().to_owned();
        watches.map(revision).collect()
    };
    until("again", || revisions().len() >= 6);
    assert_eq!(revisions()[..6], ["8", "9", "10", "10", "10", "11"]);
    let snapshots = server.asked().into_iter();
    let snapshots = snapshots.filter(|one| is_range(one) && !is_head(one));
    assert_eq!(snapshots.count(), 1, "no gap, and so no second snapshot");
}

#[test]
fn compaction_and_another_cluster_are_read_anew() {
    let (watches, heads) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let server = TestServer::new(move |asked| {
        if is_head(asked) {
            let text = page(20, &[], false);
            // The third time another cluster answers, as after a restore.
            return match heads.fetch_add(1, Ordering::SeqCst) {
                0 | 1 => ok("", text.as_bytes()),
                _ => ok("", text.replace("\"9\"", "\"8\"").as_bytes()),
            };
        }
        let count = watches.load(Ordering::SeqCst);
        if is_range(asked) {
            return ok("", page(7, &KEYS[..=count.min(2)], false).as_bytes());
        }
        match watches.fetch_add(1, Ordering::SeqCst) {
            0 => stream("{\"result\":{\"canceled\":true,\"compact_revision\":\"15\"}}\n"),
            _ => stream(""),
        }
    });
    let bench = Bench::start(&server);
    for wanted in [1, 2, 3] {
        assert_eq!(bench.entries(), wanted);
    }
    drop(bench);
}

#[test]
fn more_keys_than_the_limit_are_refused_in_a_snapshot_and_in_a_watch() {
    let many: Vec<&str> = KEYS.iter().cycle().take(1001).copied().collect();
    let text = page(7, &many, false);
    let server = TestServer::new(move |_| ok("", text.as_bytes()));
    let bench = Bench::start(&server);
    let failure = bench.failure();
    assert!(failure.contains("more than 1000 keys"), "{failure}");
    assert!(failure.contains("set_entries"), "{failure}");
    bench.desk.nothing_more();
}

/// Changes go to the set in place, with a copy of the list behind them; what the keeper does not
/// take so is loaded whole, and so is all after a compaction.
#[test]
fn changes_are_applied_in_place_until_a_whole_list_is_wanted() {
    let watches = AtomicUsize::new(0);
    let (more, wait) = std::sync::mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let server = TestServer::new(move |asked| {
        if is_head(asked) {
            return ok("", page(20, &[], false).as_bytes());
        }
        let count = watches.load(Ordering::SeqCst);
        if is_range(asked) {
            let keys = if count == 0 { &KEYS[..1] } else { &KEYS[..] };
            return ok("", page(7 + 3 * count as u64, keys, false).as_bytes());
        }
        let text = match watches.fetch_add(1, Ordering::SeqCst) {
            0 => event(KEYS[1], 8),
            1 => event(KEYS[2], 9).replace("\"kv\"", "\"type\":\"DELETE\",\"kv\""),
            2 => event(KEYS[2], 10),
            3 => "{\"result\":{\"canceled\":true,\"compact_revision\":\"15\"}}\n".to_owned(),
            _ => String::new(),
        };
        let _ended_with_the_test = wait.lock().unwrap().recv();
        stream(&text)
    });
    let bench = Bench::start(&server);
    assert_eq!(bench.entries(), 1);
    let shown = |entries: &[table::live::Entry]| -> Vec<String> {
        entries.iter().map(ToString::to_string).collect()
    };
    bench.desk.in_place(true);
    for (added, removed) in [(&["192.0.2.2"][..], &[][..]), (&[], &["192.0.2.3"])] {
        more.send(()).unwrap();
        let amended = bench.desk.amended();
        assert_eq!(
            (shown(&amended.added), shown(&amended.removed)),
            (
                added.iter().map(ToString::to_string).collect(),
                removed.iter().map(ToString::to_string).collect(),
            )
        );
        // The watch ends, and the copy is what is in force.
        let copied = bench.desk.amended();
        assert_eq!((copied.added.len(), copied.removed.len()), (0, 0));
        let copy = copied.copy.expect("a copy");
        let text = std::fs::read_to_string(&copy.file).unwrap();
        assert_eq!(text, "# entries of etcd\n192.0.2.1\n192.0.2.2\n");
        assert_eq!(copy.bytes, text.len() as u64);
    }
    assert_eq!(bench.state().entries, 2);
    bench.desk.in_place(false);
    more.send(()).unwrap();
    assert_eq!(bench.entries(), 3, "whole, since the keeper wants it so");
    bench.desk.in_place(true);
    more.send(()).unwrap();
    assert_eq!(bench.entries(), 4, "whole, since the watch ended");
    drop(more);
}

#[test]
fn what_a_guard_refuses_is_offered_again_with_the_next_change() {
    let watches = AtomicUsize::new(0);
    let server = TestServer::new(move |asked| {
        if is_head(asked) {
            return ok("", page(20, &[], false).as_bytes());
        }
        if is_range(asked) {
            return ok("", page(7, &KEYS[..1], false).as_bytes());
        }
        match watches.fetch_add(1, Ordering::SeqCst) {
            0 => stream(&event(KEYS[1], 8)),
            _ => vec![
                Piece::Bytes(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()),
                Piece::Pause(Duration::from_millis(300)),
            ],
        }
    });
    let mut bench = Bench::start(&server);
    bench.desk.refuse("too much");
    let failure = bench.failure();
    assert!(failure.contains("too much"), "{failure}");
    bench.desk.take();
    // The last that comes is whole, however many tries came before.
    until("taken", || bench.entries() == 2);
    bench.sources.stop();
}

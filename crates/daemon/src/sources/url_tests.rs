//! Web servers as they are: well, slow, broken, hostile, gone.

use std::io::Write;
use std::time::{Duration, SystemTime};

use flate2::{Compression, write::GzEncoder};

use super::testkeeper::{TestDesk, until};
use super::testserver::{Asked, Certificates, Piece, TestServer, ok, raw};
use super::*;

const HOUR: Duration = Duration::from_secs(3600);

struct Bench {
    folder: tempfile::TempDir,
    desk: TestDesk,
    sources: Sources,
}

fn spec(url: &str) -> SourceSpec {
    SourceSpec {
        set: "bad".into(),
        source: Source::parse(url).unwrap(),
        refresh: HOUR,
        text: TextRules::default(),
        limits: Limits {
            bytes_max: 1 << 20,
            text_bytes_max: 1 << 20,
            fetch_time_max: Duration::from_secs(30),
            ..Limits::default()
        },
        freshness: Freshness::default(),
    }
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let desk = TestDesk::new();
        let sources = Sources::new(
            desk.keeper.clone(),
            folder.path().to_owned(),
            Asking::default(),
        );
        Self {
            folder,
            desk,
            sources,
        }
    }

    fn start(&mut self, spec: SourceSpec) {
        self.sources.replace(&[spec], &[]).unwrap();
    }

    /// Begins anew with the copies there are, as after a restart.
    fn restart(&mut self, spec: SourceSpec) {
        self.sources.stop();
        self.desk = TestDesk::new();
        self.sources = Sources::new(
            self.desk.keeper.clone(),
            self.folder.path().to_owned(),
            Asking::default(),
        );
        self.start(spec);
    }

    fn state(&self) -> SourceState {
        self.sources.states().remove(0)
    }

    fn failure(&self) -> Failure {
        until("a failure", || self.state().last_error.is_some());
        self.state().last_error.unwrap()
    }
}

/// What is told of a server that answers so.
fn told(answer: fn(&Asked) -> Vec<Piece>, change: fn(&mut SourceSpec)) -> String {
    let server = TestServer::new(answer);
    let mut bench = Bench::new();
    let mut spec = spec(&server.url("/list?key=SECRET"));
    change(&mut spec);
    bench.start(spec);
    let told = bench.failure().text;
    bench.desk.nothing_more();
    assert!(!told.contains("SECRET"), "{told}");
    assert!(!told.contains('\n'), "{told}");
    let left = std::fs::read_dir(bench.folder.path()).map_or(0, Iterator::count);
    assert_eq!(left, 0, "what was not taken is not kept");
    told
}

fn packed(text: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(text).unwrap();
    packer.finish().unwrap()
}

#[test]
fn a_server_that_calls_a_list_unchanged_which_nobody_has_is_not_believed() {
    let answer = |_: &Asked| raw("HTTP/1.1 304 Not Modified\r\n\r\n");
    let told = told(answer, |_| ());
    assert!(told.contains("304 Not Modified"), "{told}");
}

#[test]
fn a_list_is_fetched_and_asked_for_only_when_it_changed() {
    let server = TestServer::new(|asked| match asked.headers.get("if-none-match") {
        Some(etag) if etag == "\"one\"" => raw("HTTP/1.1 304 Not Modified\r\n\r\n"),
        _ => ok("ETag: \"one\"\r\n", b"192.0.2.1\n"),
    });
    let mut bench = Bench::new();
    let mut spec = spec(&server.url("/list?key=SECRET"));
    spec.refresh = Duration::from_millis(20);
    bench.start(spec);
    let load = bench.desk.load();
    assert_eq!(load.entries.v4.addresses, [0xC000_0201]);
    assert_eq!(load.name, server.url("/list?..."));
    until("three times the same", || bench.state().unchanged >= 3);
    bench.desk.nothing_more();
    let state = bench.state();
    assert_eq!((state.loads, state.failures), (1, 0));
    assert_eq!(state.etag.as_deref(), Some("\"one\""));
    let asked = server.asked();
    assert!(!asked[0].headers.contains_key("if-none-match"));
    assert_eq!(asked[0].target, "/list?key=SECRET");
    assert!(asked[0].headers["user-agent"].starts_with("linerate/v"));
    assert!(
        asked[1..]
            .iter()
            .all(|asked| asked.headers["if-none-match"] == "\"one\"")
    );
    assert!(
        bench.sources.ask("bad", false),
        "by hand, whatever the server thinks we have"
    );
    assert_eq!(bench.desk.load().entries.count(), 1);
}

#[test]
fn by_date_where_there_is_no_etag() {
    const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    let server = TestServer::new(|asked| match asked.headers.get("if-modified-since") {
        Some(date) if date == DATE => raw("HTTP/1.1 304 Not Modified\r\n\r\n"),
        _ => ok(&format!("Last-Modified: {DATE}\r\n"), b"192.0.2.1\n"),
    });
    let mut bench = Bench::new();
    let mut spec = spec(&server.url("/"));
    spec.refresh = Duration::from_millis(20);
    bench.start(spec);
    bench.desk.load();
    until("the same", || bench.state().unchanged >= 2);
    bench.desk.nothing_more();
}

#[test]
fn the_last_good_copy_serves_when_the_net_is_down() {
    let server = TestServer::new(|_| ok("ETag: \"one\"\r\n", b"192.0.2.1\n192.0.2.2\n"));
    let mut bench = Bench::new();
    bench.start(spec(&server.url("/")));
    bench.desk.load();
    until("a copy", || bench.folder.path().join("bad.json").exists());
    server.go();
    bench.restart(spec(&server.url("/")));
    let copy = bench.desk.load();
    assert_eq!(copy.entries.count(), 2);
    assert!(copy.at <= SystemTime::now() && copy.file.is_some());
    let failure = bench.failure();
    assert!(
        failure.text.contains("cannot be fetched"),
        "{}",
        failure.text
    );
    let state = bench.state();
    assert!(state.from_copy && state.last_success.is_none());
    assert!(bench.sources.wait_tried(HOUR));
    bench.restart(spec(&server.url("/other")));
    bench.failure();
    bench.desk.nothing_more();
}

#[test]
fn a_copy_that_is_still_current_is_not_fetched_again() {
    let server = TestServer::new(|asked| match asked.headers.get("if-none-match") {
        Some(_) => raw("HTTP/1.1 304 Not Modified\r\n\r\n"),
        None => ok("ETag: \"one\"\r\n", b"192.0.2.1\n"),
    });
    let mut bench = Bench::new();
    bench.start(spec(&server.url("/")));
    bench.desk.load();
    until("a copy", || bench.folder.path().join("bad.json").exists());
    bench.restart(spec(&server.url("/")));
    bench.desk.load();
    until("confirmed", || bench.state().unchanged == 1);
    assert!(!bench.state().from_copy);
    bench.desk.nothing_more();
}

#[test]
fn a_damaged_copy_is_told_of_and_fetched_anew() {
    let server = TestServer::new(|_| ok("", b"192.0.2.1\n"));
    let mut bench = Bench::new();
    bench.start(spec(&server.url("/")));
    bench.desk.load();
    until("a copy", || bench.folder.path().join("bad.json").exists());
    bench.sources.stop();
    for entry in std::fs::read_dir(bench.folder.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "list") {
            std::fs::write(path, "10.0.0.0/8\n").unwrap();
        }
    }
    bench.restart(spec(&server.url("/")));
    assert_eq!(bench.desk.load().entries.v4.addresses, [0xC000_0201]);
    until("mended", || bench.state().last_error.is_none());
    assert_eq!(bench.state().failures, 1);
}

#[test]
fn what_the_keeper_refuses_is_not_kept() {
    let server = TestServer::new(|_| ok("ETag: \"one\"\r\n", b"192.0.2.1\n10.0.0.0/8\n"));
    let mut bench = Bench::new();
    bench.desk.refuse("it changes too much");
    bench.start(spec(&server.url("/list")));
    let failure = bench.failure();
    assert!(failure.refused, "{}", failure.text);
    assert_eq!(bench.state().refusals, 1);
    assert_eq!(std::fs::read_dir(bench.folder.path()).unwrap().count(), 0);
    bench.desk.take();
    assert!(bench.sources.ask("bad", false));
    bench.desk.load();
    assert!(!server.asked()[1].headers.contains_key("if-none-match"));
}

#[test]
fn packed_for_the_way_and_packed_as_a_file() {
    fn twice(asked: &Asked) -> Vec<Piece> {
        assert_eq!(asked.headers["accept-encoding"], "gzip");
        let file = packed(b"192.0.2.1\n192.0.2.2\n");
        ok("Content-Encoding: gzip\r\n", &packed(&file))
    }
    fn once(_: &Asked) -> Vec<Piece> {
        ok(
            "Content-Encoding: gzip\r\n",
            &packed(b"192.0.2.1\n192.0.2.2"),
        )
    }
    fn file(_: &Asked) -> Vec<Piece> {
        let body = packed(b"192.0.2.1\n192.0.2.2\n");
        let head = b"HTTP/1.1 200 OK\r\n\r\n";
        vec![Piece::Bytes([&head[..], &body].concat())]
    }
    for answer in [twice, once, file] {
        let server = TestServer::new(answer);
        let mut bench = Bench::new();
        bench.start(spec(&server.url("/")));
        assert_eq!(bench.desk.load().entries.count(), 2);
    }
}

#[test]
fn what_was_cut_off_is_not_taken() {
    let short = "HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n192.0.2.1\n";
    let chunk = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n192.0.2.1\n\r\n";
    let open = "HTTP/1.1 200 OK\r\n\r\n192.0.2.1\n192.0.2.2";
    for text in [short, chunk, open] {
        let server = TestServer::new(move |_| raw(text));
        let mut bench = Bench::new();
        bench.start(spec(&server.url("/")));
        let failure = bench.failure();
        assert!(failure.text.contains("cut off"), "{}", failure.text);
        bench.desk.nothing_more();
    }
    let whole = TestServer::new(|_| raw("HTTP/1.1 200 OK\r\n\r\n192.0.2.1\n192.0.2.2\n"));
    let mut bench = Bench::new();
    bench.start(spec(&whole.url("/")));
    assert_eq!(bench.desk.load().entries.count(), 2);
}

#[test]
fn what_is_no_list_is_told_with_its_line() {
    let page = |_: &Asked| ok("", b"# list\n<html>maintenance</html>\n");
    let text = told(page, |_| ());
    assert!(text.contains("/list?...:2: "), "{text}");
    let noise = |_: &Asked| {
        let bytes: Vec<u8> = (0..4096u32)
            .map(|n| ((n * 2_654_435_761) >> 13) as u8)
            .collect();
        ok("", &bytes)
    };
    told(noise, |_| ());
    let packed_by = |_: &Asked| ok("Content-Encoding: br\r\n", b"x");
    let text = told(packed_by, |_| ());
    assert!(text.contains("only gzip is unpacked"), "{text}");
}

#[test]
fn too_much_is_left_where_it_is() {
    let endless = |_: &Asked| {
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n".to_vec();
        vec![
            Piece::Bytes(head),
            Piece::Forever(b"192.0.2.1\n".repeat(1000)),
        ]
    };
    let text = told(endless, |_| ());
    assert!(text.contains("larger than 1048576 bytes"), "{text}");
    let bomb = |_: &Asked| ok("Content-Encoding: gzip\r\n", &packed(&vec![b'\n'; 8 << 20]));
    let text = told(bomb, |_| ());
    assert!(text.contains("larger than 1048576 bytes"), "{text}");
    let file = |_: &Asked| ok("", &packed(&vec![b'\n'; 8 << 20]));
    let text = told(file, |_| ());
    assert!(
        text.contains("larger than 1048576 bytes when unpacked"),
        "{text}"
    );
    let head = |_: &Asked| {
        let more = Piece::Forever(b"X-More: and more\r\n".to_vec());
        vec![Piece::Bytes(b"HTTP/1.1 200 OK\r\n".to_vec()), more]
    };
    told(head, |_| ());
}

#[test]
fn too_slow_is_given_up() {
    fn hasty(spec: &mut SourceSpec) {
        spec.limits.fetch_time_max = Duration::from_millis(300);
    }
    let silent = |_: &Asked| vec![Piece::Pause(Duration::from_secs(2))];
    told(silent, hasty);
    let drops = |_: &Asked| {
        let mut pieces = raw("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
        for _ in 0..100 {
            pieces.push(Piece::Bytes(b"#".to_vec()));
            pieces.push(Piece::Pause(Duration::from_millis(20)));
        }
        pieces
    };
    let text = told(drops, hasty);
    assert!(
        text.contains("took longer than 0.3 s") || text.contains("in time"),
        "{text}"
    );
}

#[test]
fn redirects_are_followed_within_bounds() {
    let around = |_: &Asked| raw("HTTP/1.1 302 Found\r\nLocation: /again?x=SECRET\r\n\r\n");
    let text = told(around, |_| ());
    assert!(text.contains("more than 5 redirects"), "{text}");
    let away = |_: &Asked| raw("HTTP/1.1 302 Found\r\nLocation: http://example.com/\r\n\r\n");
    let text = told(away, |_| ());
    assert!(text.contains("not encrypted"), "{text}");
    let file = |_: &Asked| raw("HTTP/1.1 301 Moved\r\nLocation: file:///etc/passwd\r\n\r\n");
    told(file, |_| ());
    let nowhere = |_: &Asked| raw("HTTP/1.1 302 Found\r\n\r\n");
    told(nowhere, |_| ());
    let server = TestServer::new(|asked| match asked.target.as_str() {
        "/lists/a" => raw("HTTP/1.1 307 Temporary Redirect\r\nLocation: b\r\n\r\n"),
        _ => ok("", b"192.0.2.1\n"),
    });
    let mut bench = Bench::new();
    bench.start(spec(&server.url("/lists/a")));
    bench.desk.load();
    assert_eq!(server.asked()[1].target, "/lists/b");
}

#[test]
fn a_server_that_is_busy_is_given_its_time() {
    let busy = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 7200\r\n\r\n";
    let server = TestServer::new(move |_| raw(busy));
    let mut bench = Bench::new();
    bench.start(spec(&server.url("/")));
    assert!(bench.failure().text.contains("503 Service Unavailable"));
    until("a next try", || bench.state().next_try.is_some());
    let wait = bench
        .state()
        .next_try
        .unwrap()
        .duration_since(SystemTime::now());
    assert!(
        wait.unwrap() > HOUR,
        "the hour of our own would be too soon"
    );
}

#[test]
fn encrypted_and_by_whom() {
    let Some(certificates) = Certificates::make() else {
        return;
    };
    let server = TestServer::encrypted(&certificates, |asked| match asked.target.as_str() {
        "/down" => raw("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/list\r\n\r\n"),
        _ => ok("", b"192.0.2.1\n"),
    });
    let trusting = |path: &str| {
        let mut spec = spec(&server.url(path));
        if let Source::Url { ca_file, .. } = &mut spec.source {
            *ca_file = Some(certificates.ca.clone());
        }
        spec
    };
    let mut bench = Bench::new();
    bench.start(trusting("/"));
    assert_eq!(bench.desk.load().entries.count(), 1);
    let mut bench = Bench::new();
    bench.start(trusting("/down"));
    let text = bench.failure().text;
    assert!(
        text.contains("/down redirects elsewhere") && text.contains("is not encrypted"),
        "{text}"
    );
    let mut bench = Bench::new();
    bench.start(spec(&server.url("/")));
    let text = bench.failure().text;
    assert!(
        text.contains("certificate"),
        "the platform does not know this authority: {text}"
    );
    bench.desk.nothing_more();
}

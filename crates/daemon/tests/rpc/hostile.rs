//! Peers that mean no good, or mean well and are broken: each costs its own place and no more.

use crate::Place;
use daemon::rpc::answers::SetFacts;
use daemon::rpc::answers::SetParams;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// A raw connection that gives up in the end.
fn connect(place: &Place) -> UnixStream {
    let socket = UnixStream::connect(place.socket()).expect("a connection");
    let patience = Some(Duration::from_secs(20));
    socket.set_read_timeout(patience).expect("a time limit");
    socket.set_write_timeout(patience).expect("a time limit");
    socket
}

/// The `data.name` of the error in the next line.
fn error(lines: &mut impl BufRead) -> String {
    let mut line = String::new();
    lines.read_line(&mut line).expect("an answer in time");
    let value: Value = serde_json::from_str(&line).expect("JSON");
    let name = value["error"]["data"]["name"].as_str();
    name.unwrap_or_else(|| panic!("no error: {line}"))
        .to_owned()
}

fn ends(mut socket: &UnixStream) {
    let mut rest = Vec::new();
    // A reset is an end too: there was something it had not read.
    let _ = socket.read_to_end(&mut rest);
}

fn answers(place: &Place) {
    let params = SetParams {
        set: "bad".to_owned(),
    };
    let facts: SetFacts = place.client().call("set.show", &params).expect("an answer");
    assert_eq!(facts.entries, 3);
}

#[test]
fn nonsense_is_answered_and_the_connection_goes_on() {
    let place = Place::new();
    let socket = connect(&place);
    let mut lines = BufReader::new(&socket);
    let deep = "[".repeat(1000);
    let many = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"set.add","params":{{"set":"bad","entries":[{}]}}}}"#,
        vec!["\"1.1.1.1\""; 9000].join(",")
    );
    for (bytes, wanted) in [
        (&b"\n"[..], "parse-error"),
        (b"\xff\xfe\x00\n", "parse-error"),
        (b"GET / HTTP/1.1\r\n", "parse-error"),
        (b"[]\n", "invalid-request"),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rm\"}\n",
            "method-not-found",
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\",\"params\":{\"x\":1}}\n",
            "invalid-params",
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\",\"params\":[]}\n",
            "invalid-params",
        ),
        ((deep + "\n").as_bytes(), "parse-error"),
        ((many + "\n").as_bytes(), "invalid-params"),
    ] {
        (&socket).write_all(bytes).expect("sent");
        let name = error(&mut lines);
        assert_eq!(
            name,
            wanted,
            "{:?}",
            String::from_utf8_lossy(&bytes[..bytes.len().min(60)])
        );
    }
    // Two connections of it disturb nobody.
    answers(&place);
}

/// What the kernel counts as this process's memory now.
fn resident_bytes() -> u64 {
    let statm = fs::read_to_string("/proc/self/statm").expect("Linux");
    let pages = statm
        .split_whitespace()
        .nth(1)
        .and_then(|word| word.parse::<u64>().ok());
    pages.expect("a number") * 4096
}

#[test]
fn a_line_of_a_hundred_megabytes_is_not_kept() {
    let place = Place::new();
    let socket = connect(&place);
    let before = resident_bytes();
    let block = vec![b'a'; 1 << 20];
    // The server closes after the first: what follows fails, and that is fine.
    for _ in 0..100 {
        if (&socket).write_all(&block).is_err() {
            break;
        }
    }
    ends(&socket);
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown < 50 << 20, "{grown} bytes more");
    answers(&place);
}

#[test]
fn half_a_line_is_given_up() {
    let place = Place::with(|config| config.limits.line = Duration::from_millis(100));
    let socket = connect(&place);
    // A whole one and half of another, together: the clock runs for the second.
    (&socket).write_all(b"{}\n{\"jsonrpc\"").expect("sent");
    let mut lines = BufReader::new(&socket);
    assert_eq!(error(&mut lines), "invalid-request");
    assert_eq!(error(&mut lines), "parse-error");
    ends(&socket);
    answers(&place);
}

#[test]
fn who_says_nothing_is_given_up() {
    let place = Place::with(|config| config.limits.silence = Duration::from_millis(100));
    let socket = connect(&place);
    assert_eq!(error(&mut BufReader::new(&socket)), "busy");
    ends(&socket);
    answers(&place);
}

#[test]
fn who_does_not_read_is_given_up() {
    let place = Place::with(|config| config.limits.unread = Duration::from_millis(100));
    let socket = connect(&place);
    let ask = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"set.list\"}\n".repeat(100);
    let mut refused = false;
    for _ in 0..2000 {
        refused = (&socket).write_all(&ask).is_err();
        if refused {
            break;
        }
    }
    assert!(refused, "200,000 answers were kept for who reads none");
    answers(&place);
}

#[test]
fn connections_are_bounded_and_free_again() {
    let place = Place::with(|config| config.limits.connections = 4);
    let held: Vec<UnixStream> = (0..4).map(|_| connect(&place)).collect();
    for socket in &held {
        (&*socket)
            .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\"}\n")
            .expect("sent");
        let mut line = String::new();
        BufReader::new(socket)
            .read_line(&mut line)
            .expect("an answer");
        assert!(line.contains("\"linerate\""), "{line}");
    }
    let fifth = connect(&place);
    assert_eq!(error(&mut BufReader::new(&fifth)), "too-many");
    drop(held);
    // The server sees their ends at its own time.
    for _ in 0..200 {
        if daemon::rpc::Client::connect(&place.socket()).is_ok() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("no place became free");
}

#[test]
fn random_bytes_harm_nobody() {
    let seed = std::env::var("LINERATE_TEST_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let mut state: u64 = seed.unwrap_or(0x2545_F491_4F6C_DD1D);
    println!("LINERATE_TEST_SEED={state}");
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let place = Place::new();
    let sound = br#"{"jsonrpc":"2.0","id":7,"method":"set.show","params":{"set":"office"}}"#;
    for _ in 0..200 {
        let socket = connect(&place);
        let mut bytes = sound.to_vec();
        for _ in 0..=next() % 6 {
            let at = (next() % bytes.len() as u64) as usize;
            match next() % 3 {
                0 => bytes[at] = next() as u8,
                1 => bytes.truncate(at.max(1)),
                _ => bytes.insert(at, b"\"{}[],:\\\n"[(next() % 9) as usize]),
            }
        }
        bytes.push(b'\n');
        (&socket).write_all(&bytes).expect("sent");
        socket.shutdown(std::net::Shutdown::Write).expect("shut");
        let mut got = String::new();
        (&socket)
            .read_to_string(&mut got)
            .expect("answers in UTF-8, and an end");
        for line in got.lines() {
            let value: Value = serde_json::from_str(line).expect("JSON");
            assert_eq!(value["jsonrpc"], "2.0", "{line}");
        }
    }
    answers(&place);
}

//! A server that lies, stalls and breaks off: each fault is reported as what it was.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use super::Place;
use super::http::{Served, errors, load, requests, signal};

/// What the faulty server does with each request.
#[derive(Clone, Copy)]
enum Fault {
    /// Sends this and closes.
    Sends(&'static [u8]),
    /// Sends this and waits for more requests.
    Keeps(&'static [u8]),
    /// Sends this and no more.
    Stalls(&'static [u8]),
    /// Sends this and resets the connection.
    Resets(&'static [u8]),
}

/// Serves until the test ends; returns its address.
fn faulty(fault: Fault) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let address = listener.local_addr().expect("an address").to_string();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer(stream, fault));
        }
    });
    address
}

fn answer(mut stream: TcpStream, fault: Fault) {
    let mut request = [0; 4096];
    while stream.read(&mut request).is_ok_and(|len| len > 0) {
        let (Fault::Sends(bytes)
        | Fault::Keeps(bytes)
        | Fault::Stalls(bytes)
        | Fault::Resets(bytes)) = fault;
        let _ = stream.write_all(bytes);
        match fault {
            Fault::Keeps(_) => {}
            Fault::Sends(_) => return,
            Fault::Stalls(_) => thread::sleep(Duration::from_secs(60)),
            Fault::Resets(_) => {
                // What was sent arrives first.
                thread::sleep(Duration::from_millis(50));
                let socket = rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO));
                socket.expect("a close that resets");
                return;
            }
        }
    }
}

const CASES: &[(&str, Fault)] = &[
    (
        "answered",
        Fault::Keeps(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab"),
    ),
    (
        "answered",
        Fault::Sends(b"HTTP/1.1 200 OK\r\n\r\nup to the end"),
    ),
    ("answered", Fault::Sends(b"HTTP/1.0 200 OK\r\n\r\n")),
    (
        "answered",
        Fault::Keeps(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No\r\n\r\n"),
    ),
    (
        "answered",
        Fault::Keeps(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n"),
    ),
    ("closed_early", Fault::Sends(b"")),
    (
        "closed_early",
        Fault::Sends(b"HTTP/1.1 200 OK\r\nContent-Le"),
    ),
    (
        "wrong_length",
        Fault::Sends(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"),
    ),
    (
        "wrong_length",
        Fault::Sends(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nabc"),
    ),
    (
        "wrong_length",
        Fault::Sends(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc"),
    ),
    (
        "wrong_bytes",
        Fault::Keeps(b"HTTP/1.1 200 OK\r\nLinerate-Body: pattern\r\nContent-Length: 3\r\n\r\nabc"),
    ),
    (
        "malformed",
        Fault::Keeps(b"HTTP/1.1 200 OK\nContent-Length: 0\n\n"),
    ),
    ("malformed", Fault::Keeps(b"ICY 200 OK\r\n\r\n")),
    (
        "malformed",
        Fault::Keeps(b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"),
    ),
    (
        "malformed",
        Fault::Keeps(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"),
    ),
    (
        "malformed",
        Fault::Keeps(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n"),
    ),
    (
        "status",
        Fault::Keeps(b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"),
    ),
    ("reset", Fault::Resets(b"")),
    (
        "reset",
        Fault::Resets(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"),
    ),
    ("timeout", Fault::Stalls(b"")),
    (
        "timeout",
        Fault::Stalls(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"),
    ),
];

#[test]
fn each_fault_is_reported_as_what_it_was() {
    let place = Place::new();
    for (index, (name, fault)) in CASES.iter().enumerate() {
        let address = faulty(*fault);
        let code = i32::from(*name != "answered");
        let words = format!("http://{address}/ -n 6 -c 2 -d 60s --timeout 1s");
        let said = load(&place, &words, code);
        let number = match *name {
            "answered" => requests(&said, "answered"),
            name => errors(&said, name),
        };
        assert_eq!(number, 6, "{name}, case {index}: {said}");
    }
}

/// The share of a second in which the requests are told apart from those of a machine that is busy.
const LATE: f64 = 0.2;

fn late(said: &Value) -> u64 {
    let buckets = said["all"]["times"]["latency_buckets"]
        .as_array()
        .expect("buckets");
    let late = buckets
        .iter()
        .filter(|bucket| bucket[0].as_f64() > Some(LATE * 1e9));
    late.filter_map(|bucket| bucket[1].as_u64()).sum()
}

/// A server stopped for two seconds: all that was due meanwhile is late, by up to two seconds.
#[test]
fn a_stall_makes_late_what_was_due_in_it() {
    const RATE: f64 = 200.0;
    let place = Place::new();
    let served = Served::start(&place, "");
    let words = format!(
        "load http {} -R {RATE} -d 6s -c 4 --json -q",
        served.url("/size/100")
    );
    let run = place.command(&words).spawn().expect("the program starts");
    thread::sleep(Duration::from_secs(2));
    let before = std::time::Instant::now();
    signal(&served.child, Signal::STOP);
    thread::sleep(Duration::from_secs(2));
    signal(&served.child, Signal::CONT);
    let stalled = before.elapsed().as_secs_f64();
    let said = super::Ran::of(run.wait_with_output().expect("it ends"))
        .ended(0)
        .json();
    let due = (RATE * (stalled - LATE)).round();
    // 1 %, and what is due within the 20 ms that signals and wakings may take on a busy machine.
    let tolerance = 0.01 * due + RATE * 0.02;
    assert!(
        (late(&said) as f64 - due).abs() <= tolerance,
        "{} of {due}: {said}",
        late(&said)
    );
    assert_eq!(
        (requests(&said, "due"), requests(&said, "answered")),
        (1200, 1200),
        "{said}"
    );
    let times = &said["all"]["times"];
    let max = times["latency"]["max"].as_f64().expect("a maximum");
    assert!(
        max > stalled - 0.05 && max < stalled + 1.0,
        "{max} of {stalled}"
    );
    let waited = said["limits"].as_array().expect("limits");
    assert!(
        waited.iter().any(|limit| limit["name"] == "connections"),
        "{said}"
    );
    // A closed loop would have seen no more than one late answer a connection.
    let service = times["service"]["p90"].as_f64().expect("p90");
    assert!(
        service < LATE && times["latency"]["p90"].as_f64() > Some(1.0),
        "{times}"
    );
}

/// The same in a closed loop: what it hides is counted.
#[test]
fn a_closed_loop_says_what_it_left_out() {
    let place = Place::new();
    let address = faulty(Fault::Stalls(b""));
    let words = format!("http://{address}/ -R 100 --closed -d 2s -c 4 --timeout 500ms");
    let said = load(&place, &words, 1);
    assert!((150..200).contains(&requests(&said, "omitted")), "{said}");
    // Nothing was answered, so all that is known is how long what was left out waited.
    let hidden = &said["all"]["times"]["with_omitted"];
    assert_eq!(hidden["count"], requests(&said, "omitted"), "{said}");
    let longest = hidden["max"].as_f64().expect("a time");
    assert!((0.3..1.5).contains(&longest), "{hidden}");
    let open = load(
        &place,
        &format!("http://{address}/ -R 100 -d 2s -c 4 --timeout 500ms"),
        1,
    );
    assert_eq!(
        (requests(&open, "due"), requests(&open, "omitted")),
        (200, 0),
        "{open}"
    );
    assert!(requests(&open, "not_sent") >= 150, "{open}");
}

#[test]
fn ctrl_c_closes_the_books() {
    let place = Place::new();
    let served = Served::start(&place, "");
    let words = format!(
        "load http {} -R 100 -d 600s --json -q",
        served.url("/time/100")
    );
    let run = place.command(&words).spawn().expect("the program starts");
    thread::sleep(Duration::from_millis(1500));
    signal(&run, Signal::INT);
    let said = super::Ran::of(run.wait_with_output().expect("it ends"))
        .ended(0)
        .json();
    assert_eq!(
        (&said["balanced"], &said["ended_by"]),
        (&true.into(), &"asked".into()),
        "{said}"
    );
    assert_eq!(requests(&said, "unfinished"), 0, "{said}");
    assert!((50..300).contains(&requests(&said, "answered")), "{said}");
}

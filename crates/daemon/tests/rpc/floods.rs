//! Peers that ask faster than they are answered, or never end: what waits, waits in the kernel.

use crate::Place;
use daemon::rpc::answers::LoadParams;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What may be under way beside requests that were answered: the kernel's buffers, which are some
/// 200 KiB each way unless the machine says otherwise, a line, what is received at once, and
/// answers that are made and not sent.
const UNDER_WAY_MAX: usize = 2 << 20;

/// Sends a request so often, as fast as the server takes it, and reads all that it answers.
fn flood(request: &str, times: usize) {
    let place = Place::new();
    let mut socket = UnixStream::connect(place.socket()).expect("a connection");
    socket.set_nonblocking(true).expect("no waiting");
    let text = request.repeat(1000);
    let (mut sent, mut answered, mut read) = (0, 0, vec![0; 1 << 16]);
    while answered < times {
        let from = sent % text.len();
        match socket.write(&text.as_bytes()[from..]) {
            Ok(count) => sent += count,
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
        }
        match socket.read(&mut read) {
            Ok(count) => {
                assert_ne!(count, 0, "closed after {answered} answers");
                let ends = read[..count].iter().filter(|&&byte| byte == b'\n');
                answered += ends.count();
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
        }
        let waiting = sent.saturating_sub(answered * request.len());
        assert!(waiting < UNDER_WAY_MAX, "{waiting} bytes were taken in");
    }
}

#[test]
fn requests_are_taken_in_as_they_are_answered() {
    let ask = r#"{"jsonrpc":"2.0","id":1,"method":"set.list"}"#;
    flood(&format!("{ask}\n"), 200_000);
}

#[test]
fn changes_are_taken_in_as_they_are_answered() {
    let params = r#"{"set":"bad","entries":["192.0.2.1"]}"#;
    let change = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"set.add","params":{params}}}"#);
    flood(&format!("{change}\n"), 150_000);
}

/// Each is three bytes, and its answer a hundred and more.
#[test]
fn bad_lines_are_taken_in_as_they_are_answered() {
    flood("[]\n", 100_000);
}

/// A byte now and then, for ever, of a list that is being loaded.
#[test]
fn a_pipe_that_trickles_does_not_hold_up_the_end() {
    let mut place = Place::new();
    let (list, mut source) = std::io::pipe().expect("a pipe");
    let ended = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&ended);
    let trickle = std::thread::spawn(move || {
        let begun = Instant::now();
        while !seen.load(Ordering::Relaxed) && begun.elapsed() < Duration::from_secs(60) {
            // When the server has given up, nobody reads.
            let _ = source.write_all(b"\n");
            std::thread::sleep(Duration::from_millis(20));
        }
        seen.load(Ordering::Relaxed)
    });
    let mut client = place.client();
    let params = LoadParams {
        set: "bad".to_owned(),
        file: "trickle".to_owned(),
        column: None,
        columns: None,
        json_path: None,
        force: false,
    };
    let _sent = client.send_file("set.load", &params, list.as_fd());
    drop(list);
    // It has begun to read by then, or the test shows nothing.
    std::thread::sleep(Duration::from_millis(300));
    place.server.take();
    ended.store(true, Ordering::Relaxed);
    assert!(
        trickle.join().expect("no panic"),
        "the server waited for a pipe"
    );
}

//! Peers that ask faster than they are answered: what waits, waits in the kernel's buffer.

use crate::Place;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;

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

//! Every example of the protocol's document is asked, and answered as it says.

use crate::Place;
use daemon::rpc::{ErrorKind, LINE_BYTES_MAX, METHODS};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, IoSlice, Write};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

fn document() -> String {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/daemon/control-protocol.md"
    );
    fs::read_to_string(path).expect("the document")
}

/// The blocks of examples, each a connection of its own.
fn examples(document: &str) -> Vec<Vec<&str>> {
    let blocks = document.split("```text\n").skip(1);
    let blocks = blocks.filter_map(|block| block.split("```").next());
    blocks.map(|block| block.lines().collect()).collect()
}

/// What differs from run to run.
fn steady(text: &str) -> Value {
    let mut value: Value = serde_json::from_str(text).expect("JSON");
    let result = value.get_mut("result").and_then(Value::as_object_mut);
    if let Some(result) = result {
        result.remove("pid");
        if result.contains_key("forced") || result.contains_key("sources") {
            result.remove("seconds");
        }
    }
    value
}

/// Sends a line, with the file that its `file` names where it loads one.
fn send(place: &Place, socket: &UnixStream, line: &str) {
    let line = format!("{line}\n");
    if !line.contains("\"set.load\"") && !line.contains("\"rules.load\"") {
        (&*socket).write_all(line.as_bytes()).expect("sent");
        return;
    }
    let names = ["new.txt", "rules.txt", "bad.rules"];
    let name = names.iter().find(|name| line.contains(**name));
    let name = name.unwrap_or(&"empty.txt");
    let file = File::open(place.file(name)).expect("a list");
    let files = [file.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut along = SendAncillaryBuffer::new(&mut space);
    along.push(SendAncillaryMessage::ScmRights(&files));
    let text = [IoSlice::new(line.as_bytes())];
    let sent = sendmsg(socket, &text, &mut along, SendFlags::empty()).expect("sent");
    assert_eq!(sent, line.len());
}

#[test]
fn examples_are_answered_as_they_say() {
    let document = document();
    let blocks = examples(&document);
    assert!(blocks.len() >= 10, "{} blocks", blocks.len());
    for block in blocks {
        let place = Place::new();
        fs::write(place.file("new.txt"), "192.0.2.1\n203.0.113.9\n").expect("a list");
        fs::write(place.file("empty.txt"), "").expect("a list");
        fs::write(
            place.file("rules.txt"),
            "policy drop\ntcp dport 22 accept\n",
        )
        .expect("rules");
        fs::write(place.file("bad.rules"), "accept\ntcp dport ssh accept\n").expect("rules");
        let socket = UnixStream::connect(place.socket()).expect("a connection");
        let patience = Some(Duration::from_secs(20));
        socket.set_read_timeout(patience).expect("a time limit");
        let mut lines = BufReader::new(&socket).lines();
        for line in block {
            if let Some(ask) = line.strip_prefix("--> ") {
                send(&place, &socket, ask);
            } else if let Some(wanted) = line.strip_prefix("<-- ") {
                let got = lines.next().expect("an answer").expect("in time");
                assert_eq!(steady(&got), steady(wanted), "{got}");
            } else {
                panic!("neither asked nor answered: {line}");
            }
        }
    }
}

#[test]
fn methods_errors_and_limits_are_in_it() {
    let document = document();
    for method in METHODS {
        assert!(document.contains(method), "{method} is not in the document");
    }
    for kind in ErrorKind::ALL {
        let row = format!("| {} | `{}` |", kind.code(), kind.name());
        assert!(document.contains(&row), "{row}");
    }
    let line = LINE_BYTES_MAX.to_string();
    let line = format!("{},{} bytes", &line[..3], &line[3..]);
    assert!(document.contains(&line), "{line}");
}

//! `linerate run` and who means it no good: what is asked, what is given, and when it is ended.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::daemon::{BRIDGE, Daemon};
use crate::{Place, Ran};

/// A comment is read by others, on their terminals.
#[test]
fn a_comment_does_nothing_to_a_terminal() {
    let place = Place::new();
    place.write(
        "a.toml",
        format!("{BRIDGE}[[set]]\nname = 'a'\naction = 'count'\n"),
    );
    let daemon = Daemon::start(&place, "run a.toml --json");
    let mut control = UnixStream::connect(place.path("ctl.sock")).expect("a connection");
    for comment in ["\\u001b[31m", "one\\n198.18.0.9", "\\u009b2J", "\\u0000"] {
        let params = format!(r#"{{"set":"a","entries":["198.18.0.1"],"comment":"{comment}"}}"#);
        let ask = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"set.add","params":{params}}}"#);
        control
            .write_all(format!("{ask}\n").as_bytes())
            .expect("sent");
        let mut answer = String::new();
        BufReader::new(&control)
            .read_line(&mut answer)
            .expect("an answer");
        assert!(answer.contains("control character"), "{comment}: {answer}");
    }
    let tested = place.run("set test 198.18.0.1 --socket ctl.sock").ended(1);
    assert!(tested.text().contains("in none"), "{tested:?}");
    daemon.stop();
}

/// A server that takes connections and never answers keeps a start waiting for a minute.
#[test]
fn a_start_that_waits_for_a_list_ends_when_it_is_asked() {
    let server = TcpListener::bind("127.0.0.1:0").expect("an address");
    let address = server.local_addr().expect("its number");
    let place = Place::new();
    let set = format!("[[set]]\nname = 'a'\naction = 'block'\nsource = 'http://{address}/'\n");
    place.write("a.toml", format!("{BRIDGE}{set}"));
    let mut command = place.command("run a.toml");
    let child = command.stdin(Stdio::null()).spawn().expect("it starts");
    // It waits for the list by now.
    let asked = server.accept().expect("it asks for the list");
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    kill_process(pid.expect("a process"), Signal::TERM).expect("a signal");
    let ran = Ran::of(child.wait_with_output().expect("it ends")).ended(0);
    drop(asked);
    assert!(!ran.stderr.contains("forwarding"), "{ran:?}");
}

/// Lists that are not kept pass through a folder that nobody else may write to or foresee, and
/// that does not stay.
#[test]
fn what_is_not_kept_leaves_nothing_behind() {
    let place = Place::new();
    std::fs::create_dir(place.path("tmp")).expect("a folder");
    let set = "[[set]]\nname = 'a'\naction = 'block'\n\
               source = { command = ['/bin/echo', '198.18.0.1'] }\n";
    let bridge = BRIDGE.replace("dir = 'state'", "keep = false");
    place.write("a.toml", format!("{bridge}{set}"));
    let mut command = place.command("run a.toml");
    let command = command.env("TMPDIR", place.path("tmp"));
    let child = command.stdin(Stdio::null()).spawn().expect("it starts");
    // The daemon answers before it fetches: that a set is listed says nothing of its folder.
    let folders = || std::fs::read_dir(place.path("tmp")).expect("a folder");
    let begun = Instant::now();
    let folder = loop {
        if let Some(folder) = folders().next() {
            break folder.expect("it is read");
        }
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "no folder is made"
        );
        std::thread::sleep(Duration::from_millis(20));
    };
    let mode = folder.metadata().expect("its mode").permissions().mode();
    assert_eq!(mode & 0o077, 0, "{mode:o}");
    let foreseen = format!("linerate-{}", child.id());
    assert_ne!(folder.file_name().to_string_lossy(), foreseen);
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    kill_process(pid.expect("a process"), Signal::TERM).expect("a signal");
    Ran::of(child.wait_with_output().expect("it ends")).ended(0);
    assert_eq!(folders().count(), 0, "something stays");
}

/// What the machine of `--check` has not is said; the configuration may be for another one.
#[test]
fn a_check_says_what_is_missing_here() {
    let place = Place::new();
    let set = "[[set]]\nname = 'a'\naction = 'block'\nsource = 'no-such-list.txt'\n";
    place.write("a.toml", format!("{BRIDGE}{set}"));
    let ran = place.run("run --check a.toml").ended(0);
    assert!(ran.stderr.contains("no-such-list.txt"), "{ran:?}");
    assert!(ran.text().contains("no-such-list.txt"), "{ran:?}");
}

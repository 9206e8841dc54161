//! `linerate health`, `linerate drain` and the pages that health checks read, of a daemon that
//! runs.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use crate::Place;
use crate::daemon::{Daemon, config, until};

/// A port of this machine that nobody listens at.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("its address").port()
}

/// The status and the text of a page.
fn page(port: u16, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    let patience = Some(Duration::from_secs(20));
    stream.set_read_timeout(patience).expect("a time limit");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: here\r\n\r\n").expect("sent");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer");
    let status = text.split(' ').nth(1).expect("a status").parse();
    let body = text.split_once("\r\n\r\n").expect("a text").1.to_owned();
    (status.expect("a number"), body)
}

#[test]
fn a_drain_is_seen_by_everybody_and_ends() {
    let place = Place::new();
    let port = free_port();
    let metrics = format!("[metrics]\naddress = '127.0.0.1:{port}'\n");
    place.write("a.toml", config(&metrics));
    let daemon = Daemon::start(&place, "run a.toml --json");
    let told = |words: &str| {
        let ran = daemon.ask(words);
        (ran.code, ran.text().to_owned())
    };
    let ok = "ok\n".to_owned();
    assert_eq!(told("health"), (0, ok.clone()));
    assert_eq!(page(port, "/readyz"), (200, ok.clone()));
    let drained = daemon.must("drain").text().to_owned();
    assert!(drained.contains("linerate drain --off"), "{drained}");
    // Twice is once.
    assert_eq!(told("drain"), (0, drained.clone()));
    for (words, wanted) in [
        ("health", (1, drained.clone())),
        ("health --quiet", (1, String::new())),
        ("health --live", (0, ok.clone())),
        ("health --live --quiet", (0, String::new())),
    ] {
        assert_eq!(told(words), wanted, "{words}");
    }
    let json = daemon.ask("health --json").json();
    assert_eq!(
        (&json["ready"], &json["healthy"]),
        (&false.into(), &true.into())
    );
    assert_eq!(json["reasons"][0]["kind"], "drain");
    assert_eq!(page(port, "/readyz"), (503, drained));
    assert_eq!(page(port, "/healthz"), (200, ok.clone()));
    let (_, metrics) = page(port, "/metrics");
    assert!(metrics.contains("\nlinerate_draining 1\n"), "{metrics}");
    assert!(metrics.contains("\nlinerate_ready 0\n"), "{metrics}");
    // What comes is forwarded all the same.
    daemon.await_sent(1000);
    assert_eq!(told("drain --off"), (0, ok.clone()));
    assert_eq!(page(port, "/readyz"), (200, ok));
    let (_, log) = daemon.stop();
    assert!(log.contains("draining: not ready"), "{log}");
    assert!(log.contains("draining has ended"), "{log}");
    assert_eq!(place.run("health --socket ctl.sock").code, 2);
}

#[test]
fn a_required_set_that_nobody_confirms_is_a_reason_until_it_is_confirmed() {
    let place = Place::new();
    place.write("bad.txt", "192.0.2.1\n");
    place.write("feed.txt", "192.0.2.2\n");
    let set = |name: &str, more: &str| {
        format!(
            "[[set]]\nname = '{name}'\nsource = '{name}.txt'\naction = 'count'\nrefresh = '1s'\n\
             max_age = '3s'\n{more}"
        )
    };
    let sets = set("bad", "") + &set("feed", "required = false\n");
    place.write("a.toml", config(&sets));
    let daemon = Daemon::start(&place, "run a.toml --json");
    daemon.must("health");
    for name in ["bad.txt", "feed.txt"] {
        std::fs::remove_file(place.path(name)).expect("removed");
    }
    until("too old", || daemon.ask("health").code == 1);
    let json = daemon.ask("health --live --json").json();
    let reasons = json["reasons"].as_array().expect("reasons");
    assert_eq!(
        reasons.len(),
        1,
        "a set that is not required is none: {json}"
    );
    assert_eq!(
        (&reasons[0]["kind"], &reasons[0]["name"]),
        (&"set".into(), &"bad".into())
    );
    let text = reasons[0]["text"].as_str().expect("a sentence");
    assert!(
        text.contains("may be 3 s old") && text.contains("bad.txt"),
        "{text}"
    );
    place.write("bad.txt", "192.0.2.3\n");
    until("current again", || daemon.ask("health").code == 0);
    daemon.stop();
}

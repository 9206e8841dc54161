//! Requests as bytes, answers as bytes.

use super::*;

/// Everything that a connection answers to an input which comes in pieces of this size.
fn answers(input: &[u8], piece: usize) -> (Vec<u8>, Peer) {
    let mut peer = Peer::new(100);
    let (mut sent, mut rest) = (Vec::new(), input);
    for _ in 0..4 * input.len() + 16 {
        let mut out = Vec::new();
        let taken = peer.receive(Nanos(5), &rest[..piece.min(rest.len())], &mut out);
        rest = &rest[taken..];
        let later = peer.transmit(Nanos(5), &mut out);
        assert_eq!(later, None, "nothing here waits");
        sent.extend_from_slice(&out);
        if rest.is_empty() && !peer.is_answering() {
            return (sent, peer);
        }
    }
    panic!("no end of {:?}", String::from_utf8_lossy(input));
}

fn statuses(sent: &[u8]) -> Vec<u16> {
    let text = String::from_utf8_lossy(sent);
    let lines = text
        .lines()
        .filter_map(|line| line.strip_prefix("HTTP/1.1 "));
    lines.filter_map(|line| line[..3].parse().ok()).collect()
}

/// Requests, the statuses of their answers, and whether the connection goes on.
const REQUESTS: &[(&str, &[u16], bool)] = &[
    ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", &[200], true),
    ("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", &[200], true),
    ("GET /size/5?x=y HTTP/1.1\r\nhOST: a\r\n\r\n", &[200], true),
    (
        "GET http://a/status/404 HTTP/1.1\r\nHost: a\r\n\r\n",
        &[404],
        true,
    ),
    ("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", &[200], true),
    (
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        &[200],
        false,
    ),
    (
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: x, CLOSE\r\n\r\n",
        &[200],
        false,
    ),
    ("GET / HTTP/1.0\r\n\r\n", &[200], false),
    (
        "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
        &[200],
        true,
    ),
    (
        "GET /chunked/5 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
        &[200],
        false,
    ),
    ("GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n", &[404], true),
    ("HEAD /size/9 HTTP/1.1\r\nHost: a\r\n\r\n", &[200], true),
    (
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
        &[200],
        true,
    ),
    (
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: CHUNKED\r\n\r\n1\r\na\r\n0\r\n\r\n",
        &[200],
        true,
    ),
    (
        "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\na",
        &[100, 200],
        true,
    ),
    (
        "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /status/201 HTTP/1.1\r\nHost: a\r\n\r\n",
        &[200, 201],
        true,
    ),
    (
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
        &[200],
        true,
    ),
    (
        "PUT /nothing HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nGET / HTT",
        &[404],
        false,
    ),
];

#[test]
fn requests_are_answered_however_they_are_cut() {
    for (text, expected, goes_on) in REQUESTS {
        for piece in [1, 2, 3, 7, 1000] {
            let (sent, peer) = answers(text.as_bytes(), piece);
            assert_eq!(statuses(&sent), *expected, "{text:?} by {piece}");
            assert_eq!(!peer.is_closed(), *goes_on, "{text:?} by {piece}");
        }
    }
}

/// What proxies and servers were made to read differently; no second request may come out of it.
const SMUGGLED: &[(&str, u16)] = &[
    ("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", 400),
    ("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", 400),
    ("Content-Length: 4\r\nContent-Length: 5\r\n", 400),
    ("Content-Length: 4\r\nContent-Length: 4\r\n", 400),
    ("Content-Length: 4, 4\r\n", 400),
    ("Content-Length: +4\r\n", 400),
    ("Content-Length: -4\r\n", 400),
    ("Content-Length: 0x4\r\n", 400),
    ("Content-Length: 4a\r\n", 400),
    ("Content-Length: 4 \u{b}\r\n", 400),
    ("Content-Length:\r\n", 400),
    ("Content-Length: 99999999999999999999\r\n", 400),
    ("Content-Length : 4\r\n", 400),
    ("Content-Length\t: 4\r\n", 400),
    ("Transfer-Encoding : chunked\r\n", 400),
    (
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        501,
    ),
    ("Transfer-Encoding: chunked, chunked\r\n", 501),
    ("Transfer-Encoding: gzip, chunked\r\n", 501),
    ("Transfer-Encoding: xchunked\r\n", 501),
    ("Transfer-Encoding: chunked;x=1\r\n", 501),
    ("Transfer-Encoding: \u{b}chunked\r\n", 400),
    ("Transfer-Encoding: identity\r\n", 501),
    ("Transfer-Encoding:\r\n chunked\r\n", 400),
    (" Transfer-Encoding: chunked\r\n", 400),
    ("X: a\r\n\tb\r\n", 400),
    ("X: a\nTransfer-Encoding: chunked\r\n", 400),
    ("X: a\rTransfer-Encoding: chunked\r\n", 400),
    ("X: a\r\r\nTransfer-Encoding: chunked\r\n", 400),
    ("X: a\0b\r\n", 400),
    ("X\0: a\r\n", 400),
    ("X a\r\n", 400),
    (": a\r\n", 400),
    ("Host: b\r\n", 400),
];

#[test]
fn requests_with_two_readings_are_refused_and_the_connection_ends() {
    let behind = "0\r\n\r\nGET /status/201 HTTP/1.1\r\nHost: a\r\n\r\n";
    for (header, status) in SMUGGLED {
        let text = format!("POST /size/1 HTTP/1.1\r\nHost: a\r\n{header}\r\n{behind}");
        for piece in [1, 1000] {
            let (sent, peer) = answers(text.as_bytes(), piece);
            assert_eq!(statuses(&sent), [*status], "{header:?} by {piece}");
            assert!(peer.is_closed(), "{header:?}");
        }
    }
}

/// Heads that are wrong as a whole.
#[test]
fn malformed_heads_are_refused() {
    let long = format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "x".repeat(17_000));
    let many = format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "a: b\r\n".repeat(70));
    for (text, status) in [
        ("GET /\r\n\r\n", 400),
        ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 400),
        ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET / /x HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET / HTTP/1.1\nHost: a\n\n", 400),
        ("GET / HTTP/1.1\r\n\r\n", 400),
        ("GET x HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("G\u{e9}T / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (
            "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            501,
        ),
        (
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\nx",
            400,
        ),
        (&long, 431),
        (&many, 431),
    ] {
        let (sent, peer) = answers(text.as_bytes(), 1000);
        assert_eq!(statuses(&sent), [status], "{text:.60?}");
        assert!(peer.is_closed(), "{text:.60?}");
    }
}

#[test]
fn bodies_are_the_pattern_and_echoes_what_came() {
    let body = |text: &str| {
        let (sent, _) = answers(text.as_bytes(), 1000);
        let at = sent
            .windows(4)
            .position(|four| four == b"\r\n\r\n")
            .expect("a head");
        sent[at + 4..].to_vec()
    };
    let sized = body("GET /size/100000 HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(sized.len() == 100_000 && pattern::is_at(0, &sized));
    let echo = "POST /echo HTTP/1.1\r\nHost: a\r\n";
    assert_eq!(
        body(&format!("{echo}Content-Length: 5\r\n\r\nhello")),
        b"hello"
    );
    let chunks = body(&format!(
        "{echo}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    ));
    assert_eq!(chunks, b"5\r\nhello\r\n0\r\n\r\n");
    for (bytes, status) in [(pattern::piece(0, 4), 200), (&b"xxxx"[..], 422)] {
        let head =
            "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nLinerate-Body: pattern\r\n\r\n";
        let (sent, _) = answers(&[head.as_bytes(), bytes].concat(), 1000);
        assert_eq!(statuses(&sent), [status]);
    }
}

#[test]
fn a_rate_and_a_delay_are_kept_to() {
    let mut peer = Peer::new(9);
    let mut out = Vec::new();
    let text = b"GET /time/50/rate/1000/size/100 HTTP/1.1\r\nHost: a\r\n\r\n";
    assert_eq!(peer.receive(Nanos(0), text, &mut out), text.len());
    let start = Nanos(50_000_000);
    assert_eq!(peer.transmit(Nanos(0), &mut out), Some(start));
    assert!(out.is_empty() && peer.is_answering());
    assert!(
        peer.transmit(start, &mut out).is_some(),
        "the rest is due later"
    );
    out.clear();
    assert!(peer.transmit(start.after(60_000_000), &mut out).is_some());
    assert_eq!(out.len(), 60, "a byte a millisecond");
    assert_eq!(peer.transmit(start.after(100_000_000), &mut out), None);
    assert!(out.len() == 100 && peer.is_idle());
}

#[test]
fn a_connection_ends_after_its_last_request() {
    let mut peer = Peer::new(1);
    let mut out = Vec::new();
    peer.receive(Nanos(0), b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", &mut out);
    peer.transmit(Nanos(0), &mut out);
    assert!(peer.is_closed());
    assert!(String::from_utf8_lossy(&out).contains("Connection: close"));
}

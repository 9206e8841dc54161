//! Files of a folder, as `linerate serve http --files` answers with them.

use std::io::{Read, Write};
use std::net::TcpStream;

use super::Place;
use super::http::{Served, load, requests};
use super::http_tls::certificates;

/// A long file of bytes that differ.
fn long() -> Vec<u8> {
    (0..3_000_000_u32)
        .map(|n| (n % 65_521) as u16)
        .flat_map(u16::to_be_bytes)
        .collect()
}

fn folder(place: &Place) {
    place.write("served/index.html", "first");
    place.write("served/empty", "");
    place.write("served/deep/a b.txt", "deep");
    place.write("served/size/1000", "an order comes first");
    place.write("served/long", long());
    place.write("secret", "secret");
    std::os::unix::fs::symlink("../secret", place.path("served/out")).expect("a link");
}

/// Sends this, and reads the answers up to the end.
fn exchange(address: &str, request: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).expect("it listens");
    // Sooner than the server ends silent connections.
    let patience = Some(std::time::Duration::from_secs(50));
    stream.set_read_timeout(patience).expect("a limit");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("it answers");
    answer
}

#[test]
fn paths_lead_to_files_of_the_folder_and_to_nothing_else() {
    let place = Place::new();
    folder(&place);
    let served = Served::start(&place, "--files served");
    for (path, status, body) in [
        ("/", 200, "first"),
        ("/index.html", 200, "first"),
        ("/empty", 200, ""),
        ("/deep/a%20b.txt?x", 200, "deep"),
        ("/status/201", 201, ""),
        ("/size/3", 200, "\0\0\0"),
        ("/absent", 404, "there is no such file\n"),
        ("/deep", 404, "there is no such file\n"),
        ("/out", 404, "there is no such file\n"),
        ("/../secret", 404, "there is no such file\n"),
        ("/deep/../../secret", 404, "there is no such file\n"),
        ("/%2e%2e/secret", 404, "there is no such file\n"),
        ("/..%2fsecret", 404, "there is no such file\n"),
        ("//secret", 404, "there is no such file\n"),
    ] {
        let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        let answer = exchange(&served.address, &request);
        let answer = String::from_utf8_lossy(&answer);
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{path}: {answer}"
        );
        let (_, seen) = answer.split_once("\r\n\r\n").expect("a head");
        // The pattern begins with whatever it begins with.
        assert!(seen == body || path == "/size/3", "{path}: {answer}");
    }
    for method in ["POST", "PUT", "DELETE", "TRACE", "OPTIONS", "get"] {
        let request = format!("{method} /empty HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        let answer = exchange(&served.address, &request);
        let answer = String::from_utf8_lossy(&answer);
        let is_refused = answer.starts_with("HTTP/1.1 405 Method Not Allowed\r\n");
        let says = answer.contains("\r\nAllow: GET, HEAD\r\n");
        assert!(is_refused && says, "{method}: {answer}");
    }
    let head = exchange(
        &served.address,
        "HEAD /long HTTP/1.1\r\nHost: a\r\n\r\nGET /empty HTTP/1.0\r\n\r\n",
    );
    let head = String::from_utf8_lossy(&head);
    assert!(head.contains("Content-Length: 6000000\r\n"), "{head}");
    assert_eq!(head.matches("HTTP/1.1 200 OK").count(), 2, "{head}");
}

#[test]
fn long_files_come_whole_with_and_without_tls() {
    let place = Place::new();
    folder(&place);
    let with_tls = "--files served --tls-cert server.pem --tls-key server.key";
    let mut servers = vec![("http", "--files served")];
    if certificates(&place) {
        servers.push(("https", with_tls));
    }
    for (scheme, words) in servers {
        let served = Served::start(&place, words);
        let url = format!("{scheme}://{}", served.address);
        let trust = if scheme == "https" { "--ca ca.pem" } else { "" };
        let said = load(&place, &format!("{url}/long {trust} -n 6 -c 2 -d 60s"), 0);
        assert_eq!(requests(&said, "answered"), 6, "{said}");
        let fetched = std::process::Command::new("curl")
            .args([
                "-sk",
                &format!("{url}/long"),
                &format!("{url}/deep/a%20b.txt"),
            ])
            .output();
        let mut connections = 2;
        match fetched {
            Ok(fetched) => {
                let expected = [long(), b"deep".to_vec()].concat();
                assert!(fetched.stdout == expected, "{} bytes", fetched.stdout.len());
                connections += 1;
            }
            Err(error) => eprintln!("skipped: curl: {error}"),
        }
        let counted = served.stop();
        assert_eq!(counted["connections"], connections, "{counted}");
        assert_eq!(counted["cut"], 0, "{counted}");
    }
}

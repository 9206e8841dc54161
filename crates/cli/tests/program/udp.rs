//! `linerate serve udp` and `linerate load udp`: what is refused, and with what help, and both ends
//! by sockets of the kernel.

use std::io::{BufRead, BufReader};
use std::net::UdpSocket;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::{Place, Ran};

#[test]
fn wrong_words_are_refused_with_what_helps() {
    let place = Place::new();
    let serve = "serve udp packet:absent0 --listen 9";
    let load = "load udp packet:absent0 --clients 192.0.2.9";
    let kernel = "load udp --kernel --server 127.0.0.1:9 -d 100ms";
    for (words, said) in [
        (serve.to_owned(), "--address"),
        (format!("{serve} --address 192.0.2"), "192.0.2.2/24"),
        (format!("{serve} --address 192.0.2.2 --respond 2"), "0..=1"),
        (format!("{serve} --address 192.0.2.2 --workers 2"), "worker"),
        (format!("{serve} --address 192.0.2.2"), "absent0"),
        (format!("{serve} --address 192.0.2.2 --kernel"), "--kernel"),
        (format!("{serve} --address 192.0.2.2 -t 2"), "PORT"),
        (
            "serve udp --address 192.0.2.2 --listen 9".to_owned(),
            "PORT",
        ),
        (
            "serve udp null: --address 192.0.2.2 --listen 9".to_owned(),
            "nobody answers",
        ),
        (load.to_owned(), "--server"),
        (format!("{load} --server 192.0.2.2"), "ADDRESS:PORT"),
        (format!("{load} --server 192.0.2.2:0"), "port 0"),
        (format!("{load} --server 192.0.2.2:9 -R 0"), "rate"),
        (
            "serve udp --kernel --address 127.0.0.1,127.0.0.2 --listen 9".to_owned(),
            "one --address",
        ),
        (
            "serve udp --kernel --address 192.0.2.77 --listen 9 -d 100ms".to_owned(),
            "ip address",
        ),
        (format!("{kernel} --clients 127.1.0.1 --size 17"), "18 to"),
        (format!("{kernel} --clients fd00::/64"), "same family"),
        (format!("{kernel} --clients 127.0.0.0/8"), "longer prefix"),
        (
            format!("{kernel} --clients 192.0.2.77"),
            "ip route add local",
        ),
    ] {
        place.run(&words).is_refused_as(Some(said), 2, &words);
    }
}

/// Datagrams at each place, of a report.
fn at(report: &Value, place: &str) -> u64 {
    report["datagrams"][place].as_u64().expect(place)
}

#[test]
fn both_ends_by_sockets_of_the_kernel() {
    let place = Place::new();
    let free = UdpSocket::bind("127.1.0.9:0").expect("a port");
    let server = free.local_addr().expect("an address");
    drop(free);
    let port = server.port();
    let words = format!("serve udp --kernel -t 2 --address 127.1.0.9 --listen {port} --json");
    let mut command = place.command(&words);
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut serving = command.spawn().expect("it starts");
    let mut said = BufReader::new(serving.stderr.take().expect("its words"));
    let mut line = String::new();
    while !line.contains("takes datagrams") {
        line.clear();
        let read = said.read_line(&mut line).expect("a line");
        assert_ne!(read, 0, "it ended");
    }
    let words = format!(
        "load udp --kernel -t 2 --clients 127.1.0.0/29 --server {server} -R 1k -d 2s --json"
    );
    let sent = place.run(&words).ended(0).json();
    let pid = serving.id().to_string();
    let killed = Command::new("kill").args(["-INT", &pid]).status();
    assert!(killed.expect("kill is there").success());
    let taken = Ran::of(serving.wait_with_output().expect("it ends"));
    let taken = taken.ended(0).json();
    let (generated, back) = (at(&sent, "generated"), at(&sent, "back"));
    let (received, answered) = (at(&taken, "received"), at(&taken, "answered"));
    assert!(0 < back && back <= answered && answered == received && received <= generated);
    assert_eq!(sent["not_back"].as_u64(), Some(generated - back));
    assert_eq!(sent["latency"]["count"].as_u64(), Some(back));
    assert_eq!(taken["received_bytes"].as_u64(), Some(510 * received));
    assert!(taken["datagrams"]["generated"].is_null());
    for report in [&sent, &taken] {
        let kernel = &report["kernel"];
        assert_eq!(kernel["threads"].as_u64(), Some(2));
        assert!(kernel["context_switches"].as_u64() > Some(0));
        assert!(kernel["dropped"]["rcvbuf_errors"].is_u64());
    }
}

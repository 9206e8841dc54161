//! TLS of `linerate load http` and `linerate serve http`: both together, curl and openssl against
//! the server, and faults of TLS as the client reports them.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;

use super::Place;
use super::daemon::until;
use super::http::{Served, errors, load, requests};

const KEY: &str = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";

/// An authority and certificates by it: `server` for this host, `other` for another one and `old`,
/// which is no longer valid. False, with a printed reason, without openssl.
pub(crate) fn certificates(place: &Place) -> bool {
    let mut steps = vec![format!(
        "req -x509 {KEY} -keyout ca.key -out ca.pem -days 2 -subj /CN=test-ca \
         -addext keyUsage=critical,keyCertSign"
    )];
    let here = "subjectAltName=DNS:localhost,IP:127.0.0.1\n";
    for (name, days, names) in [
        ("server", 2, here),
        ("old", -1, here),
        ("other", 2, "subjectAltName=DNS:other.invalid\n"),
    ] {
        place.write(&format!("{name}.names"), names);
        steps.push(format!(
            "req {KEY} -keyout {name}.key -out {name}.csr -subj /CN={name}"
        ));
        steps.push(format!(
            "x509 -req -in {name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out {name}.pem \
             -days {days} -extfile {name}.names"
        ));
    }
    steps.iter().all(|step| openssl(place, step))
}

fn openssl(place: &Place, words: &str) -> bool {
    let mut command = Command::new("openssl");
    command
        .args(words.split_whitespace())
        .current_dir(place.path("."));
    let ran = command.output().is_ok_and(|output| output.status.success());
    if !ran {
        eprintln!("skipped: openssl is missing or cannot make a certificate");
    }
    ran
}

/// A server with the certificate of this name.
fn secure(place: &Place, name: &str, words: &str) -> Served {
    let certificate = format!("--tls-cert {name}.pem --tls-key {name}.key");
    Served::start(place, &format!("{certificate} {words}"))
}

#[test]
fn both_ends_count_the_same_by_tls() {
    let place = Place::new();
    if !certificates(&place) {
        return;
    }
    for (server, client, sessions) in [
        ("", "", true),
        ("--tls-version 1.2", "", true),
        ("", "--tls-version 1.3", true),
        ("--no-resumption", "", false),
        ("--no-resumption", "--tls-version 1.2", false),
        ("", "--no-resumption", false),
    ] {
        let served = secure(&place, "server", server);
        let (mut sent, mut resumed, mut opened) = (0, 0, 0);
        for (path, words) in [
            ("/size/10", "-n 24 --requests-each 3 -c 2 -t 1"),
            ("/size/300000", "-n 6 -c 2"),
            ("/chunked/100000", "-n 6 -R 100"),
            ("/echo", "-n 6 -m POST --body 300000 --check always"),
            ("/size/10", "-n 12 --requests-each 1 --from 127.7.0.0/24"),
        ] {
            let words = format!(
                "https://{}{path} --ca ca.pem {client} -d 60s {words}",
                served.address
            );
            let said = load(&place, &words, 0);
            sent += requests(&said, "answered");
            let connections = &said["all"]["connections"];
            assert_eq!(
                said["all"]["times"]["tls"]["count"], connections["opened"],
                "{said}"
            );
            opened += connections["opened"].as_u64().expect("a number");
            resumed += connections["tls_resumed"].as_u64().expect("a number");
        }
        let counted = served.stop();
        let case = format!("serve {server} load {client}: {counted}");
        assert_eq!(sent, 54, "{case}");
        assert_eq!(counted["answers"], sent, "{case}");
        assert_eq!(counted["tls_handshakes"], opened, "{case}");
        assert_eq!(counted["tls_resumed"], resumed, "{case}");
        assert_eq!(counted["tls_failed"], 0, "{case}");
        assert_eq!(resumed > 0, sessions, "{case}");
    }
}

/// Relays connections to a server, and its records as `change` makes them; none ends both.
fn relay(server: &str, change: fn(Vec<u8>) -> Option<Vec<u8>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let address = listener.local_addr().expect("an address").to_string();
    let server = server.to_owned();
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let server = TcpStream::connect(&server).expect("the server listens");
            let (mut from, mut to) = (
                client.try_clone().expect("a socket"),
                server.try_clone().expect("a socket"),
            );
            thread::spawn(move || {
                let _ = std::io::copy(&mut from, &mut to);
                let _ = to.shutdown(Shutdown::Write);
            });
            thread::spawn(move || pass(server, client, change));
        }
    });
    address
}

fn pass(mut server: TcpStream, mut client: TcpStream, change: fn(Vec<u8>) -> Option<Vec<u8>>) {
    let mut header = [0; 5];
    while server.read_exact(&mut header).is_ok() {
        let len = usize::from(u16::from_be_bytes([header[3], header[4]]));
        let mut record = header.to_vec();
        record.resize(5 + len, 0);
        if server.read_exact(&mut record[5..]).is_err() {
            break;
        }
        let changed = change(record);
        if changed.is_none_or(|record| client.write_all(&record).is_err()) {
            break;
        }
    }
    let _ = client.shutdown(Shutdown::Both);
    let _ = server.shutdown(Shutdown::Both);
}

/// Changes a byte of each long record: those with the body.
fn corrupt(mut record: Vec<u8>) -> Option<Vec<u8>> {
    if record.len() > 5000 {
        record[3000] ^= 1;
    }
    Some(record)
}

/// Ends before an alert, which in TLS 1.3 is a record of 24 bytes: nobody says that the end is one.
fn silence(record: Vec<u8>) -> Option<Vec<u8>> {
    (record.len() != 24).then_some(record)
}

/// An HTTP/1.0 server of OpenSSL, whose answers last until the end of the connection.
struct Until(std::process::Child, String);

impl Until {
    fn start(place: &Place) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let address = free.local_addr().expect("an address").to_string();
        drop(free);
        place.write("page", "HTTP/1.0 200 OK\r\n\r\nup to the end");
        let child = Command::new("openssl")
            .args(["s_server", "-HTTP", "-quiet", "-accept", &address])
            .args(["-cert", "server.pem", "-key", "server.key"])
            .current_dir(place.path("."))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("openssl starts");
        let server = Self(child, address);
        until("openssl listens", || TcpStream::connect(&server.1).is_ok());
        server
    }
}

impl Drop for Until {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn each_fault_of_tls_is_reported_as_what_it_was() {
    let place = Place::new();
    if !certificates(&place) {
        return;
    }
    let plain = Served::start(&place, "");
    let [sound, other, old] = ["server", "other", "old"].map(|name| secure(&place, name, ""));
    let newest = secure(&place, "server", "--tls-version 1.3");
    let until = Until::start(&place);
    let corrupted = relay(&sound.address, corrupt);
    let silent = relay(&until.1, silence);
    for (name, address, words) in [
        ("answered", sound.address.as_str(), "--ca ca.pem"),
        ("answered", &other.address, "--insecure"),
        ("answered", &old.address, "--insecure"),
        ("tls_untrusted", &sound.address, "--ca server.pem"),
        ("tls_name", &other.address, "--ca ca.pem"),
        ("tls_expired", &old.address, "--ca ca.pem"),
        (
            "tls_refused",
            &newest.address,
            "--ca ca.pem --tls-version 1.2",
        ),
        ("tls_broken", &plain.address, "--ca ca.pem"),
        ("tls_broken", &corrupted, "--ca ca.pem"),
        ("answered", &until.1, "--ca ca.pem"),
        ("tls_cut", &silent, "--ca ca.pem"),
    ] {
        let path = if address == until.1 || address == silent {
            "page"
        } else {
            "size/20000"
        };
        let code = i32::from(name != "answered");
        let words = format!("https://{address}/{path} {words} -n 4 -c 2 -d 60s");
        let said = load(&place, &words, code);
        let number = match name {
            "answered" => requests(&said, "answered"),
            name => errors(&said, name),
        };
        assert_eq!(number, 4, "{name}, {words}: {said}");
    }
    // Nobody who speaks plainly to a server with TLS gets an answer.
    let said = load(&place, &format!("http://{}/ -n 4 -d 60s", sound.address), 1);
    assert_eq!(requests(&said, "answered"), 0, "{said}");
    let counted = newest.stop();
    assert_eq!(
        (&counted["tls_failed"], &counted["tls_handshakes"]),
        (&4.into(), &0.into()),
        "{counted}"
    );
}

/// What a program prints.
fn printed(place: &Place, words: &str) -> Option<Vec<u8>> {
    let mut words = words.split_whitespace();
    let mut command = Command::new(words.next()?);
    command
        .args(words)
        .stdin(Stdio::null())
        .current_dir(place.path("."));
    match command.output() {
        Ok(output) => Some(output.stdout),
        Err(error) => {
            eprintln!("skipped: {command:?}: {error}");
            None
        }
    }
}

#[test]
fn curl_and_openssl_agree_with_the_server() {
    let place = Place::new();
    if !certificates(&place) {
        return;
    }
    let served = secure(&place, "server", "");
    let address = &served.address;
    for version in ["--tls-max 1.2", "--tlsv1.3"] {
        for path in ["size/300000", "chunked/300000"] {
            let words = format!("curl -s --cacert ca.pem {version} https://{address}/{path}");
            let Some(body) = printed(&place, &words) else {
                return;
            };
            assert_eq!(body.len(), 300_000, "{words}");
        }
    }
    let session = format!("openssl s_client -connect {address} -tls1_2 -CAfile ca.pem");
    for (words, expected) in [
        ("-sess_out session", "New, TLSv1.2"),
        ("-sess_in session", "Reused, TLSv1.2"),
    ] {
        let said = printed(&place, &format!("{session} {words}")).expect("openssl runs");
        let said = String::from_utf8_lossy(&said);
        assert!(said.contains(expected), "{words}: {said}");
        assert!(said.contains("Verify return code: 0 (ok)"), "{said}");
    }
    let counted = served.stop();
    assert_eq!(counted["tls_handshakes"], 6, "{counted}");
    assert_eq!(counted["tls_resumed"], 1, "{counted}");
    assert_eq!(counted["cut"], 0, "{counted}");
}

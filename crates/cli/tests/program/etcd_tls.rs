//! Lists from an etcd that wants TLS and certificates of its clients.

use std::process::{Child, Command, Stdio};

use crate::Place;
use crate::daemon::{Daemon, config, until};
use crate::etcd::{address, entries, is_here};

/// An authority, and certificates by it of a server and of a client on this machine.
fn certificates(place: &Place) {
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    let names =
        "subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n";
    place.write("names", names);
    let mut steps = vec![format!(
        "req -x509 {key} -keyout ca.key -out ca.pem -days 2 -subj /CN=test-ca \
         -addext keyUsage=critical,keyCertSign"
    )];
    for name in ["server", "client"] {
        steps.push(format!(
            "req {key} -keyout {name}.key -out {name}.csr -subj /CN={name}"
        ));
        steps.push(format!(
            "x509 -req -in {name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out {name}.pem \
             -days 2 -extfile names"
        ));
    }
    for step in steps {
        let mut command = Command::new("openssl");
        command.current_dir(place.path("."));
        let ran = command.args(step.split_whitespace()).output();
        let ran = ran.expect("openssl runs");
        assert!(
            ran.status.success(),
            "{step}: {}",
            String::from_utf8_lossy(&ran.stderr)
        );
    }
}

struct Etcd(Child);

impl Etcd {
    fn start(place: &Place, address: &str) -> Self {
        let peer = self::address();
        let child = Command::new("etcd")
            .current_dir(place.path("."))
            .args(["--data-dir", "data", "--unsafe-no-fsync"])
            .args([
                "--listen-client-urls",
                address,
                "--advertise-client-urls",
                address,
            ])
            .args([
                "--listen-peer-urls",
                &peer,
                "--initial-advertise-peer-urls",
                &peer,
            ])
            .args(["--initial-cluster", &format!("default={peer}")])
            .args(["--cert-file", "server.pem", "--key-file", "server.key"])
            .args(["--client-cert-auth", "--trusted-ca-file", "ca.pem"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Self(child.expect("it starts"))
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        let _ended_already = self.0.kill();
        let _ended_already = self.0.wait();
    }
}

#[test]
fn both_sides_show_certificates_or_nothing_is_read() {
    for program in ["etcd", "openssl"] {
        if !is_here(program) {
            eprintln!("skipped: no {program} here (Debian: apt-get install etcd-server openssl)");
            return;
        }
    }
    let place = Place::new();
    certificates(&place);
    let etcd = address().replace("http://", "https://");
    let _etcd = Etcd::start(&place, &etcd);
    place.write("list.txt", "192.0.2.1\n");
    let push = |files: &str| place.run(&format!("set push bad list.txt --etcd {etcd} {files}"));
    let whole = "--ca-file ca.pem --cert-file client.pem --key-file client.key";
    until("etcd answers", || push(whole).code == 0);
    for (files, wanted) in [
        ("", "certificate"),
        ("--ca-file client.key", "holds no certificate"),
        (
            "--ca-file ca.pem --cert-file client.pem --key-file client.pem",
            "holds no private key",
        ),
    ] {
        let refused = push(files).ended(2);
        assert!(
            refused.stderr.contains(wanted),
            "{files}: {}",
            refused.stderr
        );
    }
    // A server hears late that a client has no certificate (TLS 1.3): it says why, or has closed.
    let refused = push("--ca-file ca.pem").ended(2).stderr;
    let said = ["ertificate", "Broken pipe", "reset", "closed", "EOF"];
    assert!(said.iter().any(|said| refused.contains(said)), "{refused}");
    let set = format!(
        "[[set]]\nname = 'bad'\naction = 'count'\nsource = {{ etcd = ['{etcd}'], prefix = \
         '/linerate/bad/', ca_file = 'ca.pem', cert_file = 'client.pem', key_file = 'client.key' \
         }}\n"
    );
    place.write("a.toml", config(&set));
    let daemon = Daemon::start(&place, "run a.toml --json");
    until("read", || entries(&daemon) == ["192.0.2.1"]);
    let added = place.run(&format!("set add bad 192.0.2.2 --etcd {etcd} {whole}"));
    added.ended(0);
    until("followed", || {
        entries(&daemon) == ["192.0.2.1", "192.0.2.2"]
    });
    daemon.stop();
}

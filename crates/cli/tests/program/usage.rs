//! Errors of usage and environment: exit code 2, nothing on standard output, a sentence with a
//! remedy.

use super::Place;

/// Runs, and expects a refusal whose text holds all of these.
#[track_caller]
fn refused(words: &str, expect: &[&str]) {
    let place = Place::new();
    place.write("list.txt", "192.0.2.1\n");
    place.write("bad.txt", "192.0.2.1\nnonsense\n");
    place.write("all.txt", "0.0.0.0/0\n");
    place.write("sub/list.txt", "192.0.2.9\n");
    let ran = place.run(words).ended(2);
    assert!(ran.stdout.is_empty(), "{words}: {}", ran.text());
    let complaints = ran.complaints();
    assert!(
        complaints.starts_with("linerate: "),
        "{words}: {complaints}"
    );
    for part in expect {
        assert!(
            complaints.contains(part),
            "{words}: no '{part}' in\n{complaints}"
        );
    }
}

#[test]
fn what_is_typed_wrong() {
    refused("brige", &["brige", "bridge"]);
    refused("bridge gen:", &["PORT"]);
    refused("bridge gen: null: null:", &["null:"]);
    refused("bridge gen: null: --blok list.txt", &["--blok", "--block"]);
    refused("bridge gen: null: --duration soon", &["soon", "10s"]);
    refused("bridge gen: null: --duration 0", &["zero is no time"]);
    refused("bridge gen: null: --frames 0", &["zero"]);
    refused("bridge gen: null: --burst 257", &["257", "256"]);
    refused("bridge gen: null: --stride 100", &["multiple of 64"]);
    refused("bridge gen: null: --cpus 0,0", &["CPU 0", "twice"]);
    refused("bridge gen: null: --keep public", &["public", "private"]);
    refused("bridge gen: null: --default allow", &["allow", "forward"]);
    refused("set check list.txt --test nobody", &["nobody", "192.0.2.1"]);
    refused("demo --entries 5G", &["at most"]);
    refused("lab run strid", &["strid", "lab list"]);
}

#[test]
fn ports_that_do_not_exist() {
    refused("bridge gne: null:", &["gne", "gen"]);
    refused("bridge eth0 null:", &["eth0", "DRIVER"]);
    refused("bridge a.pcap b.pcap", &["pcap:in="]);
    refused("bridge gen:sise=64 null:", &["sise", "size"]);
    refused("bridge null: null:", &["no port receives"]);
    refused("bridge gen: ring:a", &["ring:a", "other end"]);
    refused(
        "bridge gen:size=9018 null: --stride 256",
        &["9152", "--stride"],
    );
    refused("bridge pcap:in=absent.pcap null:", &["absent.pcap"]);
    refused("bridge pcap:in=list.txt null:", &["list.txt"]);
}

#[test]
fn streams_that_two_want() {
    refused(
        "bridge pcap:in=- null: --block -",
        &["standard input", "only once"],
    );
    refused(
        "bridge gen: null: --block - --allow -",
        &["standard input", "only once"],
    );
    refused(
        "bridge gen: pcap:out=- --json",
        &["--json", "standard output", "file"],
    );
    refused("set check - -", &["standard input"]);
}

#[test]
fn lists_that_cannot_be_used() {
    refused(
        "bridge gen: null: --block absent.txt",
        &["absent.txt", "check the path"],
    );
    refused("bridge gen: null: --block sub", &["sub", "folder"]);
    refused(
        "bridge gen: null: --block bad.txt",
        &["bad.txt:2: ", "--skip-bad-lines"],
    );
    refused(
        "bridge gen: null: --block all.txt",
        &["all.txt:1: ", "--force"],
    );
    refused(
        "bridge gen: null: --block x=list.txt --count x=sub/list.txt",
        &["'x'", "NAME=FILE"],
    );
    refused("bridge gen: null: --default drop", &["--allow"]);
}

#[test]
fn workers_that_do_not_fit() {
    refused(
        "bridge gen: null: --workers 1000",
        &["1000 workers", "--workers"],
    );
    refused("bridge gen: null: --cpus 4000", &["CPU 4000"]);
    refused(
        "bridge gen: null: --pool 10",
        &["pool of 10", "--pool", "or more"],
    );
    refused("demo --workers 3 --cpus 0", &["disagree"]);
}

#[test]
fn a_reader_that_went_away_is_no_error() {
    let place = Place::new();
    let mut command = place.command("drops");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output = command.stdout(writer).output().expect("the program ends");
    assert_eq!(output.status.code(), Some(0));
    assert!(
        output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

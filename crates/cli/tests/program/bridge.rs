//! Captures through the bridge: frames, streams, counts, exit codes.

use super::capture::{LIST, arp, frames, mixed, pcap, udp};
use super::{Place, Ran};

fn place() -> Place {
    let place = Place::new();
    place.write("in.pcap", pcap(&mixed()));
    place.write("list.txt", LIST);
    place
}

#[test]
fn a_capture_filtered_by_a_list() {
    let place = place();
    let ran = place
        .run("bridge pcap:in=in.pcap pcap:out=out.pcap --block list.txt")
        .ended(0);
    let expect: Vec<Vec<u8>> = mixed()[2..].to_vec();
    assert_eq!(frames(&place.read("out.pcap")), expect);
    for part in [
        "blocked_src",
        "blocked_dst",
        "books balance",
        "list",
        "out.pcap",
    ] {
        assert!(ran.text().contains(part), "no '{part}' in\n{}", ran.text());
    }
    assert_eq!(ran.complaints(), "");
}

#[test]
fn json_is_alone_on_standard_output() {
    let place = place();
    let ran = place.run("bridge pcap:in=in.pcap pcap:out=out.pcap --block bad=list.txt --json");
    let json = ran.ended(0).json();
    assert_eq!(json["frames"]["rx"], 6);
    assert_eq!(json["frames"]["tx"], 4);
    assert_eq!(
        json["frames"]["dropped"].to_string(),
        r#"{"blocked_dst":1,"blocked_src":1}"#
    );
    assert_eq!(json["balanced"], true);
    assert_eq!(json["ended_by"], "sources");
    assert_eq!(json["sets"][0]["name"], "bad");
    assert_eq!(json["sets"][0]["entries"], 2);
    assert_eq!(
        (&json["sets"][0]["hits_src"], &json["sets"][0]["hits_dst"]),
        (&1.into(), &1.into())
    );
    assert_eq!(json["ports"][0]["rx_frames"], 6);
    assert_eq!(json["ports"][1]["tx_bytes"], 240);
}

#[test]
fn bytes_and_times_are_those_of_the_input() {
    let place = place();
    let words = "bridge pcap:in=in.pcap pcap:out=out.pcap,format=pcap-us";
    place.run(words).ended(0);
    assert_eq!(place.read("out.pcap"), place.read("in.pcap"));
}

#[test]
fn an_input_is_never_overwritten() {
    let place = place();
    let before = place.read("in.pcap");
    let ran = place
        .run("bridge pcap:in=in.pcap pcap:out=./in.pcap")
        .ended(2);
    assert!(ran.complaints().contains("in.pcap"), "{}", ran.stderr);
    assert_eq!(place.read("in.pcap"), before);
}

#[test]
fn a_list_is_never_overwritten() {
    let place = place();
    let before = place.read("list.txt");
    let words = "bridge pcap:in=in.pcap pcap:out=./list.txt --block list.txt";
    let ran = place.run(words).ended(2);
    assert!(ran.complaints().contains("list.txt"), "{}", ran.stderr);
    assert_eq!(place.read("list.txt"), before);
}

#[test]
fn standard_output_by_another_name_is_refused() {
    let ran = place()
        .run("bridge pcap:in=in.pcap pcap:out=/dev/stdout")
        .ended(2);
    assert!(ran.complaints().contains("pcap:out=-"), "{}", ran.stderr);
    assert!(ran.stdout.is_empty());
}

/// A mapped address is the IPv4 address it stands for, in a list and in a question.
#[test]
fn a_mapped_address_is_ipv4() {
    let place = place();
    for entry in [
        "198.51.100.4",
        "::ffff:198.51.100.4",
        "::ffff:c633:6404/128",
    ] {
        place.write("list.txt", format!("{entry}\n"));
        let words = "bridge gen:hit=1,frames=1000 null: --block list.txt --json";
        let json = place.run(words).ended(0).json();
        assert_eq!(json["frames"]["tx"], 0, "{entry}: {json:#}");
        assert_eq!(json["sets"][0]["entries"], 1, "{entry}");
        for address in ["198.51.100.4", "::ffff:198.51.100.4", "::ffff:c633:6404"] {
            let ran = place.run(&format!("set check list.txt --test {address}"));
            let ran = ran.ended(0);
            assert!(
                ran.text().contains("198.51.100.4: 1 entry"),
                "{}",
                ran.text()
            );
        }
    }
}

#[test]
fn what_was_read_is_written_while_the_input_pauses() {
    let place = place();
    let mut command = place.command("bridge pcap:in=- pcap:out=out.pcap --quiet");
    let mut child = command
        .stdin(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    let input = place.read("in.pcap");
    let mut pipe = child.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut pipe, &input).expect("it reads");
    // A bound on the test, not a measurement: it takes some milliseconds.
    let written = (0..1000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        std::fs::metadata(place.path("out.pcap")).is_ok_and(|out| out.len() == input.len() as u64)
    });
    drop(pipe);
    assert!(child.wait().expect("it ends").success());
    assert!(written, "nothing was written before the input ended");
}

#[test]
fn a_trial_run_drops_nothing_and_says_what_it_would() {
    let place = place();
    let words = "bridge pcap:in=in.pcap pcap:out=out.pcap --count list.txt --json";
    let json = place.run(words).ended(0).json();
    assert_eq!(json["frames"]["tx"], 6);
    assert_eq!(json["would_drop"], 2);
    assert_eq!(json["sets"][0]["would_drop"], 2);
    assert_eq!(json["sets"][0]["action"], "count");
    assert_eq!(json["frames"]["dropped"].to_string(), "{}");
    let text = place
        .run("bridge pcap:in=in.pcap null: --count list.txt")
        .ended(0);
    assert!(text.text().contains("would drop"), "{}", text.text());
}

#[test]
fn sides_allow_and_defaults() {
    let place = place();
    place.write("me.txt", "203.0.113.1\n");
    for (policy, left) in [
        ("", 6),
        ("--block-src list.txt", 5),
        ("--block-dst list.txt", 5),
        ("--block list.txt --allow list.txt", 6),
        ("--block list.txt --allow me.txt", 4),
        ("--allow me.txt --default drop", 5),
        ("--allow me.txt --default drop --non-ip drop", 4),
        ("--non-ip drop", 5),
    ] {
        let ran = place.run(&format!(
            "bridge pcap:in=in.pcap pcap:out=out.pcap {policy}"
        ));
        ran.ended(0);
        assert_eq!(frames(&place.read("out.pcap")).len(), left, "{policy}");
    }
}

#[test]
fn standard_streams_carry_captures() {
    let place = place();
    let words = "bridge pcap:in=- pcap:out=- --block list.txt";
    let ran = place.run_with_input(words, &pcap(&mixed())).ended(0);
    assert_eq!(frames(&ran.stdout).len(), 4);
    assert!(
        ran.stderr.contains("books balance"),
        "the report goes to stderr: {}",
        ran.stderr
    );
}

#[test]
fn lists_over_a_pipe() {
    let place = place();
    let words = "bridge pcap:in=in.pcap null: --block - --json";
    let json = place.run_with_input(words, LIST.as_bytes()).ended(0).json();
    assert_eq!(json["sets"][0]["name"], "stdin");
    assert_eq!(json["frames"]["tx"], 4);
}

#[test]
fn a_bad_line_refuses_unless_told_otherwise() {
    let place = place();
    place.write("bad.txt", "198.18.77.1\nwww.example.com\n");
    place
        .run("bridge pcap:in=in.pcap null: --block bad.txt")
        .ended(2);
    let ran = place.run("bridge pcap:in=in.pcap null: --block bad.txt --skip-bad-lines --json");
    let ran = ran.ended(0);
    assert_eq!(ran.json()["frames"]["tx"], 5);
    assert!(ran.stderr.contains("bad.txt:2: ") && ran.stderr.contains("1 bad line left out"));
}

#[test]
fn covered_space_is_warned_of_and_kept() {
    let place = place();
    let private = udp("10.0.0.1", "203.0.113.1");
    place.write("in.pcap", pcap(&[private.clone(), arp()]));
    place.write("level1.netset", "10.0.0.0/8\n");
    let words = "bridge pcap:in=in.pcap null: --block level1.netset --json";
    let ran = place.run(words).ended(0);
    assert_eq!(ran.json()["frames"]["tx"], 1);
    assert!(ran.stderr.contains("level1.netset:1: "), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("--keep private,local"),
        "{}",
        ran.stderr
    );
    let kept = place
        .run(&format!("{words} --keep private"))
        .ended(0)
        .json();
    assert_eq!(kept["frames"]["tx"], 2);
    assert_eq!(kept["sets"][1]["name"], "keep-private");
    assert_eq!(kept["sets"][1]["action"], "allow");
}

#[test]
fn a_truncated_capture_gives_what_it_has() {
    let place = place();
    let whole = pcap(&mixed());
    place.write("in.pcap", &whole[..whole.len() - 7]);
    let ran = place.run("bridge pcap:in=in.pcap null: --json").ended(1);
    assert_eq!(ran.json()["frames"]["rx"], 5);
    let failure = ran.json()["failure"].to_string();
    assert!(failure.contains("in.pcap is cut off"), "{failure}");
    assert!(ran.stderr.contains("in.pcap is cut off"), "{}", ran.stderr);
}

#[test]
fn an_output_that_cannot_be_written_fails_the_check() {
    if !std::path::Path::new("/dev/full").exists() {
        println!("skipped: there is no /dev/full here");
        return;
    }
    let place = place();
    let ran = place
        .run("bridge pcap:in=in.pcap pcap:out=/dev/full")
        .ended(1);
    assert!(ran.complaints().contains("/dev/full"), "{}", ran.stderr);
}

#[test]
fn generated_traffic_ends_when_told() {
    let place = place();
    let words = "bridge gen:hit=0.5 null: --block list.txt --frames 100k --json";
    let json = place.run(words).ended(0).json();
    assert_eq!(json["frames"]["rx"], 100_000);
    assert_eq!(json["ended_by"], "frames");
    let hits = json["sets"][0]["hits_src"].as_u64().unwrap_or(0)
        + json["sets"][0]["hits_dst"].as_u64().unwrap_or(0);
    assert!(
        (60_000..75_000).contains(&hits),
        "half of the frames, some on both sides: {hits}"
    );
    let json = place
        .run("bridge gen: null: --duration 50ms --json")
        .ended(0)
        .json();
    assert_eq!(json["ended_by"], "duration");
}

#[test]
fn a_dry_run_touches_nothing() {
    let place = place();
    let words = "bridge pcap:in=in.pcap pcap:out=out.pcap --block list.txt --duration 2m --dry-run";
    let ran = place.run(words).ended(0);
    for part in [
        "pcap:in=in.pcap",
        "list.txt",
        "block",
        "2112",
        "after 120.0 s",
        "workers",
    ] {
        assert!(ran.text().contains(part), "no '{part}' in\n{}", ran.text());
    }
    assert!(!place.path("out.pcap").exists());
    let json = place.run(&format!("{words} --json")).ended(0).json();
    assert_eq!(json["dry_run"], true);
    assert_eq!(json["duration_seconds"], 120.0);
    let demo = place.run("demo --dry-run").ended(0);
    assert!(
        demo.text().contains("random IPv4 addresses"),
        "{}",
        demo.text()
    );
}

#[test]
fn an_interrupt_ends_cleanly_with_the_report() {
    let place = Place::new();
    for signal in ["-INT", "-TERM"] {
        let mut child = place
            .command("bridge gen: null: --json")
            .spawn()
            .expect("it starts");
        std::thread::sleep(std::time::Duration::from_millis(600));
        let process = child.id().to_string();
        let kill = std::process::Command::new("kill")
            .args([signal, &process])
            .status();
        if !kill.is_ok_and(|status| status.success()) {
            println!("skipped: there is no kill command here");
            child.kill().expect("it runs");
            child.wait().expect("it ends");
            return;
        }
        let ran = Ran::of(child.wait_with_output().expect("it ends")).ended(0);
        assert_eq!(ran.json()["ended_by"], "asked");
        assert_eq!(ran.json()["balanced"], true);
    }
}

#[test]
fn quiet_says_nothing_but_what_matters() {
    let place = place();
    let words = "bridge pcap:in=in.pcap null: --json --quiet";
    assert_eq!(place.run(words).ended(0).complaints(), "");
}

/// Whoever was told to spin never calls the kernel to rest; whoever has frames all the time does
/// not either, but after the last one, until it is told to end.
#[test]
fn a_busy_worker_does_not_rest() {
    let sleeps = |idle: &str| {
        let words = format!("bridge gen:size=64 null: --frames 4M --idle {idle} --json");
        let json = Place::new().run(&words).ended(0).json();
        let worker = &json["workers"][0];
        assert!(worker["cpu_seconds"].as_f64() > Some(0.0), "{json}");
        worker["sleeps"].as_u64().expect("a count")
    };
    assert_eq!(sleeps("spin"), 0);
    // 62,500 bursts, and the thread that ends the run looks every millisecond.
    let rests = sleeps("doze");
    assert!(rests < 6_250, "{rests}");
    let ran = Place::new().run("bridge gen: null: --idle never").ended(2);
    assert!(ran.stderr.contains("doze, spin"), "{}", ran.stderr);
}

#[test]
fn pinned_interrupts_are_for_interfaces_alone() {
    let words = "bridge gen:size=64 null: --frames 1k --pin-irqs --json";
    let ran = Place::new().run(words).ended(0);
    assert!(!ran.stderr.contains("interrupt"), "{}", ran.stderr);
    let dry = Place::new().run("bridge gen: null: --pin-irqs --idle spin --dry-run --json");
    let json = dry.ended(0).json();
    assert_eq!(
        (&json["pin_irqs"], &json["idle"]),
        (&true.into(), &"spin".into())
    );
}

#[test]
fn words_of_other_programs_lead_where_they_meant() {
    let place = Place::new();
    place.write("all.txt", "0.0.0.0/1\n128.0.0.0/1\n");
    place.write("none.txt", "2001:db8::1\n");
    for (options, dropped) in [
        ("--block all.txt", 10),
        ("--deny all.txt", 10),
        ("--drop all.txt", 10),
        ("--blocklist all.txt", 10),
        ("--denylist all.txt", 10),
        ("--block all.txt --whitelist all.txt", 0),
        ("--default deny --allow none.txt", 10),
    ] {
        let ran = place.run(&format!("bridge gen:frames=10 null: {options} --json"));
        let report = ran.ended(0).json();
        assert_eq!(report["frames"]["tx"], 10 - dropped, "{options}: {report}");
    }
    let refused = place.run("bridge pcap:a.pcap null:").ended(2);
    assert!(refused.stderr.contains("in=FILE"), "{refused:?}");
}

/// A name promises how a file is packed; what no name may promise is refused by name.
#[test]
fn outputs_are_packed_as_their_names_say() {
    let place = Place::new();
    place.write("a.pcap", pcap(&mixed()));
    for (name, mode) in [
        ("b.pcap.gz", "pcap (nanosecond, Ethernet, gzip)"),
        ("b.pcapng.gz", "pcapng (Ethernet, gzip)"),
        ("b.gz", "pcap (nanosecond, Ethernet, gzip)"),
        ("b,c:d.pcap", "pcap (nanosecond, Ethernet)"),
    ] {
        let spec = name.replace(',', "\\,");
        place
            .run(&format!("bridge pcap:in=a.pcap pcap:out={spec}"))
            .ended(0);
        let again = place
            .run(&format!("bridge pcap:in={spec} null: --json"))
            .ended(0)
            .json();
        assert_eq!(again["frames"]["rx"], 6, "{name}: {again}");
        assert_eq!(again["ports"][0]["mode"], mode, "{name}");
    }
    for ending in [
        "zst", "xz", "bz2", "lz4", "ZST", "tgz", "br", "7z", "zip", "Tar",
    ] {
        let ran = place.run(&format!("bridge pcap:in=a.pcap pcap:out=b.pcap.{ending}"));
        let ran = ran.ended(2);
        assert!(
            ran.stderr.contains(&format!(".{}", ending.to_lowercase())),
            "{}",
            ran.stderr
        );
        assert!(!place.path(&format!("b.pcap.{ending}")).exists());
    }
}

/// Segments as a host hands them to its NIC: an IPv4 total length of 0, more than 65,535 bytes, an
/// IPv6 payload length of 0.
#[test]
fn lengths_that_a_nic_would_write_are_those_of_the_frame() {
    let place = Place::new();
    let tcp = |len: usize| {
        let mut frame = udp("198.18.0.1", "203.0.113.1");
        frame[16..18].fill(0);
        frame[23] = 6;
        frame[46] = 0x50;
        frame.resize(14 + 20 + 20 + len, 0);
        frame
    };
    let mut v6 = vec![
        2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x86, 0xdd, 0x60, 0, 0, 0, 0, 0, 6, 64,
    ];
    v6.extend([0x20; 32]);
    v6.extend([
        0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x10, 0, 0, 0, 0, 0, 0,
    ]);
    v6.resize(3000, 0);
    let frames = [tcp(3000), tcp(70_000), v6, tcp(0)[..54].to_vec()];
    place.write("tso.pcap", pcap(&frames));
    let ran = place
        .run("bridge pcap:in=tso.pcap pcap:out=b.pcap --json")
        .ended(0);
    let report = ran.json();
    assert_eq!(report["frames"]["dropped"].to_string(), "{}", "{report}");
    assert_eq!(super::capture::frames(&place.read("b.pcap")), frames);
}

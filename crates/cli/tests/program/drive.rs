//! `linerate gen` and `linerate sink` over ports that need no privileges.

use serde_json::Value;

use super::Place;

/// Runs to an end with this code; the JSON report.
#[track_caller]
pub(crate) fn report(place: &Place, words: &str, code: i32) -> Value {
    place.run(&format!("{words} --json -q")).ended(code).json()
}

/// 1000 signed frames in `a.pcap`.
pub(crate) fn capture(place: &Place) {
    let sent = report(place, "gen pcap:out=a.pcap --count 1000 --flows 7", 0);
    assert_eq!(sent["sent"]["frames"], 1000, "{sent}");
    assert_eq!(sent["balanced"], true, "{sent}");
}

pub(crate) const FILE_HEADER: usize = 24;
pub(crate) const RECORD: usize = 16 + 60;

#[test]
fn every_frame_of_a_ring_arrives_and_is_accounted_for() {
    let place = Place::new();
    let words = "gen ring:x --sink ring:x --count 5000 --rate max";
    let said = report(&place, words, 0);
    assert_eq!(said["sent"]["frames"], 5000, "{said}");
    assert_eq!(said["sent"]["rate"], "max");
    assert!(said["sent"]["asked_pps"].is_null() && said["sent"]["limited_by"].is_null());
    let arrived = &said["arrived"];
    assert_eq!(arrived["frames"], 5000, "{said}");
    for nothing in [
        "lost",
        "duplicated",
        "reordered",
        "corrupted",
        "foreign",
        "other_streams",
    ] {
        assert_eq!(arrived[nothing], 0, "{nothing}: {said}");
    }
    assert_eq!(arrived["latency"]["count"], 5000);
    assert_eq!(said["frames"]["originated"], 5000);
    assert_eq!(said["frames"]["consumed"], 5000);
    assert_eq!(said["clock"]["hardware_timestamps"], false);
    assert_eq!(said["ended_by"], "frames");
    assert!(said.get("returned").is_none(), "{said}");
}

/// The times of the records of a capture with frames of 60 bytes, nanoseconds.
fn record_times(place: &Place, name: &str) -> Vec<u64> {
    let bytes = std::fs::read(place.path(name)).expect("a capture");
    let word = |record: &[u8], at: usize| {
        u64::from(u32::from_ne_bytes(
            record[at..at + 4].try_into().expect("a word"),
        ))
    };
    let records = bytes[FILE_HEADER..].chunks_exact(RECORD);
    let times = records.map(|record| word(record, 0) * 1_000_000_000 + word(record, 4));
    times.collect()
}

#[test]
fn records_of_what_is_sent_have_the_times_of_its_schedule() {
    let place = Place::new();
    let since_1970 = || {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.expect("after 1970").as_nanos() as u64
    };
    // Nanoseconds from one frame to the next; 0 for none that is asked for.
    for (rate, apart) in [
        ("--rate 1kpps --no-trial", 1_000_000),
        ("--rate 1Mpps --no-trial", 1_000),
        ("--rate 512kbpsL2 --no-trial", 1_000_000),
        ("--rate max", 0),
    ] {
        let begun = since_1970();
        place.run(&format!("gen pcap:out=a.pcap --count 200 {rate} -q"));
        let times = record_times(&place, "a.pcap");
        let distances: Vec<u64> = times.windows(2).map(|two| two[1] - two[0]).collect();
        assert_eq!(distances.len(), 199, "{rate}");
        assert!(
            times[0] >= begun && times[199] <= since_1970(),
            "{rate}: {times:?}"
        );
        // A busy machine puts frames off, and no frame is early: but for parts of a nanosecond.
        let kept = distances.iter().filter(|own| own.abs_diff(apart) <= 1);
        assert!(
            distances.iter().all(|own| own + 1 >= apart),
            "{rate}: {distances:?}"
        );
        assert!(apart == 0 || kept.count() > 100, "{rate}: {distances:?}");
    }
}

#[test]
fn what_is_sent_back_comes_back() {
    let place = Place::new();
    for frames in [
        "--size 64",
        "--protocol tcp --size 80",
        "--protocol icmp",
        "--ipv6 1 --size 90",
    ] {
        let words = format!("gen ring:x --sink ring:x --reflect --count 2000 --vlan 7 {frames}");
        let words = words
            .replace("--size 64", "--size 68")
            .replace("icmp", "icmp --size 70");
        let said = report(&place, &words, 0);
        assert_eq!(said["arrived"]["frames"], 2000, "{words}: {said}");
        assert_eq!(said["returned"]["frames"], 2000, "{words}: {said}");
        assert_eq!(said["returned"]["foreign"], 0, "{words}: {said}");
        assert_eq!(said["frames"]["tx"], 4000, "sent, and sent back: {said}");
    }
}

#[test]
fn two_workers_share_a_count() {
    if engine_cpus() < 2 {
        println!("skipped: there is one CPU");
        return;
    }
    let place = Place::new();
    let words = "gen ring:x --sink ring:x --count 3001 --workers 2 --size imix";
    let said = report(&place, words, 0);
    let streams = said["arrived"]["streams"].as_array().expect("streams");
    let frames: Vec<_> = streams.iter().map(|own| own["frames"].as_u64()).collect();
    assert_eq!(frames, [Some(1501), Some(1500)], "{said}");
    assert_eq!(said["sent"]["frames"], 3001);
    let words = "gen ring:x --sink ring:x --count 3001 --workers 2 --apart";
    let said = report(&place, words, 0);
    let parts = |what: &str| {
        let workers = said["workers"].as_array().expect("workers").iter();
        workers.map(|own| own[what].as_u64()).collect::<Vec<_>>()
    };
    assert_eq!(parts("tx"), [Some(3001), Some(0)], "{said}");
    assert_eq!(parts("rx"), [Some(0), Some(3001)], "{said}");
}

fn engine_cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[test]
fn a_capture_of_test_frames_is_judged_frame_by_frame() {
    let place = Place::new();
    capture(&place);
    let whole = place.read("a.pcap");
    assert_eq!(whole.len(), FILE_HEADER + 1000 * RECORD);
    let said = report(&place, "sink pcap:in=a.pcap", 0);
    assert_eq!(said["arrived"]["frames"], 1000, "{said}");
    assert_eq!(said["ended_by"], "sources");
    assert!(said.get("sent").is_none(), "{said}");

    let record = |number: usize| {
        let at = FILE_HEADER + number * RECORD;
        at..at + RECORD
    };
    let mut lost = whole.clone();
    lost.drain(record(500));
    place.write("lost.pcap", &lost);
    let mut twice = whole.clone();
    let copy = whole[record(300)].to_vec();
    twice.splice(record(310).end..record(310).end, copy);
    place.write("twice.pcap", &twice);
    let mut flipped = whole.clone();
    flipped[record(700).end - 1] ^= 0x10;
    place.write("flipped.pcap", &flipped);
    // The next frame of the same flow, and of another: addresses and ports are behind both headers.
    let flow = |number: usize| &whole[record(number)][16 + 26..16 + 38];
    for (file, same) in [("swapped", true), ("apart", false)] {
        let next = (11..1000).find(|&next| (flow(next) == flow(10)) == same);
        let next = next.expect("there are seven flows");
        let mut swapped = whole.clone();
        swapped[record(10)].copy_from_slice(&whole[record(next)]);
        swapped[record(next)].copy_from_slice(&whole[record(10)]);
        place.write(&format!("{file}.pcap"), &swapped);
    }
    // What was done: lost, duplicated, reordered, corrupted.
    for (file, counts) in [
        ("lost", [1, 0, 0, 0]),
        ("twice", [0, 1, 0, 0]),
        ("swapped", [0, 0, 1, 0]),
        ("apart", [0, 0, 0, 0]),
        ("flipped", [1, 0, 0, 1]),
    ] {
        let code = i32::from(counts != [0; 4]);
        let said = report(&place, &format!("sink pcap:in={file}.pcap"), code);
        let names = ["lost", "duplicated", "reordered", "corrupted"];
        let found = names.map(|name| said["arrived"][name].as_u64().unwrap_or(u64::MAX));
        assert_eq!(found, counts, "{file}: {said}");
    }
}

/// What the ledger calls so.
fn behind_of(report: &Value) -> u64 {
    let parts = report["ledger"]["differences"].as_array().expect("a list");
    let behind = parts.iter().filter(|part| part["name"] == "behind");
    behind
        .map(|part| part["frames"].as_u64().expect("a count"))
        .sum()
}

/// Whatever the machine does meanwhile: a rate that no port has is not reached, and one that any
/// has is reached or said not to be.
#[test]
fn a_rate_that_was_not_reached_is_no_result_at_any_length() {
    let place = Place::new();
    for pace in [
        "--rate 1Tpps --count 300",
        "--rate 1Tpps --count 999",
        "--rate 1Tpps --count 5000",
        "--rate 1Tpps --duration 20ms",
        "--rate 1Tpps --count 5000 --duration 20ms",
        "--rate 1TbpsL2 --count 300",
    ] {
        let words = format!("gen null: {pace} --no-trial --burst 1");
        let said = report(&place, &words, 1);
        assert_ne!(said["sent"]["behind"], 0, "{words}: {said}");
        assert_eq!(behind_of(&said), said["sent"]["behind"], "{words}: {said}");
        if let Some(count) = said["asked"]["frames"].as_u64() {
            assert!(
                said["sent"]["behind"].as_u64() <= Some(count),
                "{words}: {said}"
            );
            // All left in the end, unless the time was over before.
            let late = &said["sent"]["late"];
            let all = late == &said["sent"]["behind"];
            assert!(all || said["ended_by"] == "duration", "{words}: {said}");
        }
        assert!(said["sent"]["limited_by"].is_string(), "{words}: {said}");
    }
    for pace in ["--count 1", "--count 20", "--duration 200ms"] {
        let words = format!("gen null: --rate 100pps {pace} --no-trial --json -q");
        let ran = place.run(&words);
        let said = ran.json();
        let behind = said["sent"]["behind"].as_u64();
        let reached = said["no_result"].is_null();
        assert_eq!(reached, behind == Some(0), "{words}: {said}");
        ran.ended(i32::from(!reached));
    }
}

#[test]
fn a_rate_and_a_time_make_their_product() {
    let place = Place::new();
    for (rate, time, frames, pps) in [
        ("100pps", "500ms", 50, 100.0),
        ("10pps", "1s", 10, 10.0),
        ("0.5pps", "1s", 1, 0.5),
        ("67200bps", "200ms", 20, 100.0),
    ] {
        let words = format!("gen ring:x --sink ring:x --rate {rate} --duration {time} --no-trial");
        let said = report(&place, &words, 0);
        assert_eq!(said["sent"]["frames"], frames, "{said}");
        assert_eq!(said["ended_by"], "duration", "{said}");
        // Whoever was kept from its CPU so long that frames were put off or late says so.
        let pacing = &said["sent"]["pacing"];
        if pacing["lost_times"] == 0 && pacing["late_max_ns"].as_u64() < Some(1_000_000) {
            let told = said["sent"]["pps"].as_f64().expect("a number");
            assert!((told / pps - 1.0).abs() < 0.01, "{rate} {time}: {said}");
        }
    }
}

#[test]
fn a_sink_of_a_capture_tells_no_latency_and_what_was_cut() {
    let place = Place::new();
    capture(&place);
    let said = report(&place, "sink pcap:in=a.pcap", 0);
    assert_eq!(said["arrived"]["frames"], 1000, "{said}");
    assert_eq!(said["arrived"]["latency"]["count"], 0, "{said}");
    assert_eq!(said["arrived"]["arrived_early"], 0, "{said}");
    assert_eq!(said["clock"]["recorded"], true, "{said}");
    let told = place.run("sink pcap:in=a.pcap").ended(0).text().to_owned();
    assert!(told.contains("No latency:"), "{told}");
    // The same frames, of which 42 bytes each were kept.
    let whole = place.read("a.pcap");
    let mut cut = whole[..FILE_HEADER].to_vec();
    for record in whole[FILE_HEADER..].chunks(RECORD) {
        cut.extend(&record[..8]);
        cut.extend(42_u32.to_le_bytes());
        cut.extend(&record[12..16 + 42]);
    }
    place.write("cut.pcap", cut);
    let said = report(&place, "sink pcap:in=cut.pcap", 1);
    assert_eq!(said["arrived"]["cut"], 1000, "{said}");
    assert_eq!(said["arrived"]["foreign"], 0, "{said}");
    assert_eq!(said["ledger"]["closes"], true, "{said}");
    let differences = said["ledger"]["differences"]
        .as_array()
        .expect("differences");
    let named = differences.iter().map(|own| (&own["name"], &own["frames"]));
    assert!(named.eq([(&"cut".into(), &1000.into())]), "{said}");
    let told = place
        .run("sink pcap:in=cut.pcap")
        .ended(1)
        .text()
        .to_owned();
    assert!(
        told.contains("NO RESULT") && told.contains("tcpdump -s 0"),
        "{told}"
    );
}

#[test]
fn fields_come_from_files_of_values() {
    let place = Place::new();
    place.write("ports", "53\n# a comment\n443 # web\n");
    place.write("list", "192.0.2.1\n192.0.2.9\n");
    place.write("macs", "02:00:00:00:00:01\n");
    place.write("tags", "7\n9\n");
    let words = "gen pcap:out=a.pcap --count 100 --dport @ports --src @list --smac @macs \
                 --vlan @tags --size 70 --hits list --hit 50%";
    report(&place, words, 0);
    let bytes = place.read("a.pcap");
    for record in bytes[FILE_HEADER..].chunks(16 + 66) {
        let frame = &record[16..];
        assert_eq!(frame[6..12], [2, 0, 0, 0, 0, 1]);
        assert!([7, 9].contains(&frame[15]), "{frame:?}");
        let port = u16::from_be_bytes([frame[40], frame[41]]);
        assert!([53, 443].contains(&port), "{port}");
    }
}

#[test]
fn what_cannot_be_is_refused_in_a_sentence() {
    let place = Place::new();
    place.write("range", "1-5\n");
    place.write("long", "1".repeat(1000));
    for (words, named) in [
        ("gen null: --rate 0", "--rate"),
        ("gen null: --rate 1e400Mpps", "--rate"),
        ("gen null: --rate fast", "1Mpps"),
        ("gen null: --size 63", "--size 63"),
        ("gen null: --size 99999", "--size 99999"),
        ("gen null: --size 64 --protocol tcp", "76"),
        ("gen null: --size 64 --ipv6 1", "84"),
        ("gen null: --sport 65536", "--sport 65536"),
        ("gen null: --src 10.0.0.0/33", "--src 10.0.0.0/33"),
        ("gen null: --src @absent", "absent"),
        ("gen null: --dport @range", "ranges"),
        ("gen null: --dport @long", "--dport @long"),
        ("gen null: --vlan 4095", "--vlan 4095"),
        ("gen null: --count 0", "--count"),
        ("gen null: --duration 0", "--duration"),
        ("gen null: --drain nan", "--drain"),
        ("gen null: --burst 257", "--burst"),
        ("gen null: --stride 256 --size 1518", "--stride"),
        ("gen null: --flows 0", "--flows 0"),
        ("gen null: --new-flows x", "--new-flows x"),
        ("gen null: --hit 2 --hits range", "--hit 2"),
        ("gen null: --speed 1x", "--replay"),
        ("gen null: --replay absent.pcap", "absent.pcap"),
        ("gen null: --cover link --reflect", "--reflect"),
        ("gen ring:x --sink ring:x --apart", "--workers 2"),
        ("gen ring:x", "ring:x"),
        ("gen ring:x --sink ring:y", "ring:x"),
        ("gen null: --sink null:", "null:"),
        ("gen pcap:in=absent.pcap", "absent.pcap"),
        ("gen pcap:out=- --json", "--json"),
        ("gen packet:no-such-interface", "no-such-interface"),
        (
            "gen xdp:no-such-interface --sink null:",
            "no-such-interface",
        ),
        ("sink null:", "null:"),
        ("sink ring:x", "ring:x"),
        ("sink pcap:out=x.pcap", "pcap:out=x.pcap"),
        ("sink nonsense", "nonsense"),
        ("sink pcap:in=a,b,c=d", "c"),
    ] {
        let ran = place.run(words).ended(2);
        assert!(ran.stdout.is_empty(), "{words}");
        let said = ran.complaints();
        assert!(said.contains(named), "{words}: {said}");
        assert!(said.starts_with("linerate: "), "{words}: {said}");
    }
}

#[test]
fn frames_without_a_signature_are_foreign() {
    let said = report(
        &Place::new(),
        "gen ring:x --sink ring:x --unsigned --count 10",
        0,
    );
    assert_eq!(said["arrived"]["foreign"], 10, "{said}");
    assert_eq!(said["arrived"]["lost"], 0, "{said}");
}

#[test]
fn the_text_says_what_the_figures_say() {
    let place = Place::new();
    let ran = place
        .run("gen ring:x --sink ring:x --count 1000 -q")
        .ended(0);
    for part in [
        "Frames",
        "arrived",
        "1,000",
        "Every frame that was sent came",
        "p99.9",
        "clock",
    ] {
        assert!(ran.text().contains(part), "{part}: {}", ran.text());
    }
    // A port that takes nothing that fast: no result, and said so.
    let ran = place
        .run("gen null: --rate 1Tpps --duration 200ms --no-trial -q")
        .ended(1);
    assert!(ran.text().contains("NO RESULT"), "{}", ran.text());
}

//! A sink says what kept frames from arriving: the state of its interface, its MTU, an ICMP error.
//! The named cause of a loss is the one that the state explains.

use serde_json::Value;

use crate::bench::{Bench, LEFT_ADDRESS, RIGHT_ADDRESS, Side, await_that, must_end_well};

const KINDS: [&str; 2] = ["packet", "xdp"];

fn json(report: &[u8]) -> Value {
    serde_json::from_slice(report).expect("a JSON report")
}

fn says(report: &Value) -> &str {
    report["no_result"].as_str().unwrap_or_default()
}

/// Names of differences at a place of the ledger, with their frames.
fn named(report: &Value, place: &str) -> Vec<(String, u64)> {
    let differences = report["ledger"]["differences"]
        .as_array()
        .expect("differences");
    let own = differences.iter().filter(|own| own["place"] == place);
    own.map(|own| {
        let name = own["name"].as_str().unwrap_or_default().to_owned();
        (name, own["frames"].as_u64().unwrap_or(0))
    })
    .collect()
}

/// Whether standard error and the report have a sentence with these words.
fn warned(report: &Value, said: &str, words: &str) -> bool {
    let warnings = report["warnings"].as_array().expect("warnings");
    let mut warnings = warnings.iter().filter_map(Value::as_str);
    said.contains(words) && warnings.any(|warning| warning.contains(words))
}

#[test]
fn a_sink_that_loses_its_interface_has_no_result_and_names_the_state() {
    let changes = [
        ("ip link set y down", "down", "ip link set dev y up"),
        ("ip link set x down", "without a carrier", "the other end"),
        ("ip link del dev x", "gone", "took the interface away"),
    ];
    for kind in KINDS {
        for (disturb, state, remedy) in changes {
            let Some(bench) = Bench::pair() else { return };
            let sink = bench.start(&format!("sink {kind}:y --duration 8s --json"));
            await_that("the sink is there", || bench.is_taken(&format!("{kind}:y")));
            bench.run("gen packet:x --count 20 --rate 200pps --no-trial -q");
            bench.expect(Side::Middle, disturb);
            let (code, report, said) = sink.ended();
            let report = json(report.as_bytes());
            let told = format!("{kind} {disturb}: {report} {said}");
            assert_eq!(code, 1, "{told}");
            assert_ne!(report["arrived"]["frames"], 0, "{told}");
            assert!(
                says(&report).contains(&format!("{kind}:y was {state} for ")),
                "{told}"
            );
            assert!(says(&report).contains(remedy), "{told}");
            let down = &report["arrival"]["link_down"];
            assert_eq!(
                (&down["state"], &down["losses"]),
                (&state.into(), &1.into()),
                "{told}"
            );
            assert!(down["since_seconds"].as_f64() > Some(0.0), "{told}");
            assert!(
                warned(&report, &said, &format!("{kind}:y was {state} for ")),
                "{told}"
            );
        }
    }
}

#[test]
fn a_sink_to_which_nothing_came_names_the_state_of_its_interface() {
    let Some(bench) = Bench::pair() else { return };
    for kind in KINDS {
        for (disturb, mend, state) in [
            ("ip link set y down", "ip link set y up", "down"),
            (
                "ip link set x down",
                "ip link set x up",
                "without a carrier",
            ),
        ] {
            bench.expect(Side::Middle, disturb);
            let ran = bench.run(&format!("sink {kind}:y --duration 300ms --json -q"));
            let report = json(&ran.stdout);
            assert_eq!(ran.status.code(), Some(1), "{report}");
            let whole = format!("{kind}:y was {state} all the time");
            assert!(says(&report).contains(&whole), "{report}");
            bench.expect(Side::Middle, mend);
        }
    }
}

/// It may be started before its link is there.
#[test]
fn a_sink_that_waited_for_its_link_has_a_result() {
    let Some(bench) = Bench::pair() else { return };
    bench.expect(Side::Middle, "ip link set y down");
    let sink = bench.start("sink packet:y --count 50 --json");
    await_that("the sink is there", || bench.is_taken("packet:y"));
    std::thread::sleep(std::time::Duration::from_millis(500));
    bench.expect(Side::Middle, "ip link set y up");
    std::thread::sleep(std::time::Duration::from_millis(500));
    bench.run("gen packet:x --count 50 --rate 200pps --no-trial -q");
    let (code, report, said) = sink.ended();
    let report = json(report.as_bytes());
    assert_eq!((code, &report["no_result"]), (0, &Value::Null), "{report}");
    assert_eq!(report["arrival"]["link_down"]["losses"], 0, "{report}");
    assert!(
        warned(&report, &said, "packet:y was down for the first "),
        "{report} {said}"
    );
}

/// Two veth pairs, `e1` to `p1` and `p2` to `e2`, of which `br0` is in the middle.
fn bridged() -> Option<Bench> {
    let bench = Bench::apart()?;
    if !bench.succeeds(Side::Middle, "ip link add br0 type bridge") {
        println!("skipped: no bridges here");
        return None;
    }
    for number in 1..=2 {
        for words in [
            format!("ip link add e{number} type veth peer name p{number}"),
            format!("ip link set p{number} master br0"),
            format!("ip link set e{number} up"),
            format!("ip link set p{number} up"),
        ] {
            bench.expect(Side::Middle, &words);
        }
    }
    bench.expect(Side::Middle, "ip link set br0 up");
    Some(bench)
}

#[test]
fn what_is_lost_behind_a_bridge_has_the_cause_that_the_state_explains() {
    // What is done, the size of frames, and the one name of what is lost.
    let table = [
        ("ip link set e2 down", "64", "link_down"),
        ("ip link set p2 down", "64", "link_down"),
        ("ip link set e2 mtu 1000", "1400", "longer_than_mtu"),
    ];
    for kind in KINDS {
        for (disturb, size, cause) in table {
            let Some(bench) = bridged() else { return };
            bench.expect(Side::Middle, disturb);
            let words = format!(
                "gen {kind}:e1 --sink packet:e2 --size {size} --rate 200pps --count 100 --no-trial \
                 --json -q"
            );
            let ran = bench.run(&words);
            let report = json(&ran.stdout);
            assert_eq!(ran.status.code(), Some(1), "{words}: {report}");
            let mut between = named(&report, &format!("{kind}:e1 to packet:e2"));
            // What the bridge itself says arrives.
            between.retain(|(name, _)| name != "foreign");
            let [(name, frames)] = &between[..] else {
                panic!("{words} {disturb}: {between:?} {report}");
            };
            assert_eq!(name, cause, "{words}: {report}");
            assert!((90..=100).contains(frames), "{words}: {report}");
            assert_eq!(report["ledger"]["closes"], true, "{words}: {report}");
        }
    }
}

#[test]
fn frames_longer_than_the_sinks_mtu_did_not_leave_for_that_reason() {
    for kind in KINDS {
        let Some(bench) = Bench::pair() else { return };
        bench.expect(Side::Middle, "ip link set x mtu 3000");
        let words = format!(
            "gen {kind}:x --sink packet:y --size 2000 --rate 200pps --duration 500ms --no-trial \
             --json -q"
        );
        let ran = bench.run(&words);
        let report = json(&ran.stdout);
        assert_eq!(ran.status.code(), Some(1), "{report}");
        let causes = report["departure"]["causes"].as_array().expect("causes");
        assert_eq!(causes.len(), 1, "{report}");
        assert_eq!(causes[0]["name"], "longer_than_mtu", "{report}");
        assert!(
            says(&report).contains("the same MTU at both ends"),
            "{report}"
        );
    }
}

#[test]
fn an_mtu_lowered_in_mid_run_is_the_cause_and_is_said_as_the_port_takes_it() {
    // The port that sends, the interface whose MTU is lowered, the cause, and what is said.
    let table = [
        ("xdp:x", "y", Some("longer_than_mtu"), "may go on to arrive"),
        ("xdp:x", "x", Some("tx_refused"), "dropped as tx_refused"),
        ("packet:x", "x", Some("tx_refused"), "dropped as tx_refused"),
        ("tap:h0", "h0", None, "takes longer frames all the same"),
    ];
    for (port, lowered, cause, means) in table {
        let Some(bench) = Bench::pair() else { return };
        let (sink, seen) = match port {
            "tap:h0" => ("", "h0"),
            _ => ("--sink packet:y", "x"),
        };
        let run = bench.start(&format!(
            "gen {port} {sink} --size 1400 --rate 200pps --duration 4s --no-trial --json"
        ));
        await_that("it sends", || bench.promiscuity(seen).is_some());
        let way = if seen == "h0" { "rx" } else { "tx" };
        await_that("it sends", || {
            bench.counter(Side::Middle, seen, way, "packets") > 20
        });
        bench.expect(Side::Middle, &format!("ip link set {lowered} mtu 1000"));
        let (code, report, said) = run.ended();
        let report = json(report.as_bytes());
        match cause {
            Some(_) => assert_eq!(code, 1, "{port} {lowered}: {report}"),
            None => must_end_well(code, &report),
        }
        let found = report["departure"]["causes"][0]["name"].as_str();
        assert_eq!(found, cause, "{port} {lowered}: {report}");
        assert!(said.contains(means), "{port} {lowered}: {said}");
    }
}

#[test]
fn a_search_for_a_rate_ends_with_the_state_of_an_interface() {
    let changes = [
        ("ip link set y down", "packet:y was down"),
        ("ip link set x down", "packet:x was down"),
        ("ip link del dev x", "packet:x was gone"),
    ];
    for (disturb, said) in changes {
        let Some(bench) = Bench::pair() else { return };
        let words = "ndr --tx packet:x --rx packet:y --quick --min 10 --max 300";
        let find = |text: &[u8]| {
            let text = String::from_utf8_lossy(text).into_owned();
            assert!(text.contains(said), "{disturb}: {text}");
            for wrong in ["never met", "lower --min", "not settled"] {
                assert!(!text.contains(wrong), "{disturb}: {text}");
            }
        };
        // In mid-search first, so that the ports are up when it begins.
        let run = bench.start(words);
        await_that("it searches", || {
            bench.counter(Side::Middle, "x", "tx", "packets") > 20
        });
        bench.expect(Side::Middle, disturb);
        let (code, _, told) = run.ended();
        find(told.as_bytes());
        assert_eq!(code, 1, "{told}");
        if bench.promiscuity("x").is_none() {
            continue;
        }
        let ran = bench.run(words);
        find(&ran.stderr);
        assert_eq!(ran.status.code(), Some(1), "{disturb}");
    }
}

#[test]
fn icmp_errors_are_named_with_who_sent_them() {
    // Reading them is not answering.
    let table = KINDS.map(|kind| [(kind, ""), (kind, "--answer off")]);
    for (kind, answer) in table.into_iter().flatten() {
        let Some(bench) = Bench::new() else { return };
        let host = bench.expect(Side::Right, "cat /sys/class/net/r/address");
        bench.expect(Side::Middle, "ip neigh flush dev b");
        if !answer.is_empty() {
            // Nobody tells the host where its errors go.
            let words = format!("ip neigh replace {LEFT_ADDRESS} lladdr 02:00:00:00:00:01 dev r");
            bench.expect(Side::Right, &words);
        }
        let words = format!(
            "gen {kind}:b {answer} --dst {RIGHT_ADDRESS} --src {LEFT_ADDRESS} --dmac {} \
             --dport 9 --flows 1 --rate 100pps --count 100 --no-trial --drain 1s",
            host.trim()
        );
        let ran = bench.run(&format!("{words} --json -q"));
        let report = json(&ran.stdout);
        let errors = &report["controls"]["tx"]["icmp_errors"];
        assert_eq!(errors[0]["kind"], "port_unreachable", "{report}");
        assert_eq!(errors[0]["from"], RIGHT_ADDRESS, "{report}");
        assert!(errors[0]["frames"].as_u64() > Some(0), "{report}");
        let text = String::from_utf8_lossy(&bench.run(&words).stdout).into_owned();
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let said = format!("came back from {RIGHT_ADDRESS}: the frames reached a host");
        assert!(flat.contains(&said), "{text}");
    }
}

//! What lists hold, and which entry matches.

use super::Place;

#[track_caller]
fn holds(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no '{part}' in\n{text}");
    }
}

#[test]
fn a_list_in_figures() {
    let place = Place::new();
    place.write(
        "list.txt",
        "# header\n192.0.2.1\n192.0.2.1\n198.51.100.0/24\n198.51.100.7\n203.0.113.1-203.0.113.9\n\
         2001:db8::/32\n",
    );
    let ran = place.run("set check list.txt").ended(0);
    holds(
        ran.text(),
        &[
            "list.txt",
            "plain",
            "7 lines",
            "6: 3 addresses, 2 networks, 1 range",
        ],
    );
    holds(
        ran.text(),
        &[
            "266 IPv4 addresses",
            "/64 networks",
            "once loaded",
            "lines/s",
        ],
    );
    assert_eq!(ran.complaints(), "");
    let json = place.run("set check list.txt --json").ended(0).json();
    let file = &json["files"][0];
    assert_eq!(file["entries"], 6);
    assert_eq!(file["merged"], 2);
    assert_eq!(file["covered_v4"], 266);
    assert_eq!(file["covered_v6"], (1_u128 << 96).to_string());
    assert_eq!(file["families"].to_string(), r#"["ipv4","ipv6"]"#);
}

#[test]
fn which_entry_matches() {
    let place = Place::new();
    place.write("a.txt", "# x\n192.0.2.1\n10.9.0.0/16 ; SBL7\n");
    place.write("b.txt", "10.0.0.0-10.255.255.255\n");
    let ran = place
        .run("set check a.txt b.txt --test 10.9.8.7 --test 192.0.2.1")
        .ended(0);
    holds(
        ran.text(),
        &[
            "10.9.8.7: 2 entries match",
            "a.txt:3: ",
            "b.txt:1: ",
            "192.0.2.1: 1 entry",
        ],
    );
    let ran = place.run("set check a.txt --test 192.0.2.2").ended(1);
    holds(ran.text(), &["192.0.2.2: no entry matches"]);
    holds(&ran.complaints(), &["192.0.2.2 is in none of the lists"]);
}

#[test]
fn bad_lines_fail_the_check_and_are_named() {
    let place = Place::new();
    let lines: String = (0..30)
        .map(|n| format!("192.0.2.{n}\nhost{n}.example\n"))
        .collect();
    place.write("list.txt", lines);
    let ran = place.run("set check list.txt").ended(1);
    holds(
        ran.text(),
        &[
            "30 bad lines",
            "list.txt:2: ",
            "list.txt:40: ",
            "and 10 more",
        ],
    );
    assert!(
        !ran.text().contains("list.txt:42: "),
        "only the first 20 are shown"
    );
    holds(
        &ran.complaints(),
        &["list.txt has 30 bad lines", "--skip-bad-lines"],
    );
    let json = place.run("set check list.txt --json").ended(1).json();
    assert_eq!(json["files"][0]["bad_lines"], 30);
    assert_eq!(json["files"][0]["bad"].as_array().map(Vec::len), Some(20));
    assert_eq!(json["files"][0]["entries"], 30);
    let ran = place.run("set check list.txt --json").ended(1);
    holds(
        &ran.complaints(),
        &["list.txt:2: ", "list.txt has 30 bad lines"],
    );
}

#[test]
fn one_that_cannot_be_read_does_not_hide_the_others() {
    let place = Place::new();
    place.write("list.txt", "192.0.2.1\n");
    let ran = place.run("set check absent.txt list.txt").ended(2);
    holds(ran.text(), &["list.txt", "1 address"]);
    holds(&ran.complaints(), &["absent.txt"]);
}

#[test]
fn a_pipe_can_be_tested_for_several_addresses() {
    let words = "set check - --test 192.0.2.1 --test 2001:db8::1";
    let ran = Place::new()
        .run_with_input(words, b"192.0.2.1\n2001:db8::/32\n")
        .ended(0);
    holds(
        ran.text(),
        &[
            "standard input",
            "192.0.2.1: 1 entry",
            "2001:db8::1: 1 entry",
        ],
    );
}

#[test]
fn what_a_block_list_had_better_not_cover() {
    let place = Place::new();
    place.write("level1.netset", "10.0.0.0/8\n224.0.0.0/3\n");
    let ran = place.run("set check level1.netset").ended(0);
    holds(
        ran.text(),
        &["warning", "level1.netset:1: ", "level1.netset:2: "],
    );
    place.write("all.txt", "0.0.0.0/0\n");
    place.run("set check all.txt").ended(1);
    holds(
        place.run("set check all.txt --force").ended(0).text(),
        &["4,294,967,296", "100.0 %"],
    );
}

/// What is wrong with the whole is said once, with the option that mends it; the bridge and the
/// check agree.
#[test]
fn a_list_of_which_nothing_would_be_loaded() {
    let place = Place::new();
    for (text, part) in [
        ("", "holds no entries (read as plain lines)"),
        ("# nothing today\n", "--allow-empty"),
        ("table ip f {\n}\n", "holds no entries (read as nft text)"),
        (
            "table <x> persist { 192.0.2.0/24 }\n",
            "'pfctl -t NAME -T show'",
        ),
        (
            "a,b\n192.0.2.0,192.0.2.9\n",
            "--columns 1-2 reads the range",
        ),
        ("192.0.2.0\t24\t64500\n", "--columns 1/2 reads the network"),
        ("host.example\n", "it is a list of names"),
    ] {
        place.write("list.txt", text);
        let ran = place.run("set check list.txt").ended(1);
        holds(&ran.complaints(), &[part]);
        let json = place.run("set check list.txt --json").ended(1).json();
        let refusal = json["files"][0]["refusal"].to_string();
        assert!(refusal.contains(part), "{refusal}");
        for skip in ["", " --skip-bad-lines"] {
            let words = format!("bridge gen:frames=1 null: --block list.txt{skip}");
            let ran = place.run(&words).ended(2);
            holds(&ran.complaints(), &[part]);
        }
    }
    place.write("list.txt", "# nothing today\n");
    place.run("set check list.txt --allow-empty").ended(0);
    place
        .run("bridge gen:frames=1 null: --block list.txt --allow-empty")
        .ended(0);
}

#[test]
fn a_name_that_was_split_off_a_path() {
    let place = Place::new();
    std::fs::create_dir(place.path("dt=2026-11-01")).expect("a folder");
    place.write("dt=2026-11-01/list.txt", "192.0.2.1\n");
    for words in ["set check", "bridge gen:frames=1 null: --block"] {
        let ran = place
            .run(&format!("{words} dt=2026-11-01/list.txt"))
            .ended(2);
        holds(
            &ran.complaints(),
            &[
                "'dt=' was taken for the name",
                "write ./dt=2026-11-01/list.txt",
            ],
        );
        place
            .run(&format!("{words} ./dt=2026-11-01/list.txt"))
            .ended(0);
    }
}

#[test]
fn two_columns() {
    let place = Place::new();
    place.write("list.csv", "start_ip,end_ip\n198.51.100.0,198.51.100.255\n");
    for words in ["--columns 1-2", "--columns start_ip-end_ip"] {
        let words = format!("set check list.csv {words} --test 198.51.100.9");
        holds(place.run(&words).ended(0).text(), &["1: 1 range"]);
    }
    for (words, part) in [
        ("--column 1", "--columns 1-2 reads the range"),
        ("--column 1-2", "write --columns 1-2"),
        ("--column ip", "first line is: start_ip, end_ip"),
        ("--columns 2-2", "one column twice"),
        ("--column 1 --columns 1-2", "cannot be used with"),
    ] {
        let ran = place.run(&format!("set check list.csv {words}"));
        assert!(ran.stderr.contains(part), "{words}: {}", ran.stderr);
    }
}

#[test]
fn columns() {
    let place = Place::new();
    place.write("list.csv", "first,192.0.2.1\nsecond,192.0.2.2\n");
    let ran = place.run("set check list.csv --column 2").ended(0);
    holds(ran.text(), &["CSV", "2: 2 addresses"]);
}

const CLOUD: &str = "{\"prefixes\": [{\"ip_prefix\": \"203.0.113.0/24\"}],\n\
                     \"ipv6_prefixes\": [{\"ipv6_prefix\": \"2001:db8::/32\"}]}\n";

#[test]
fn a_json_document_and_its_paths() {
    let place = Place::new();
    place.write("one.json", "[\"203.0.113.0/24\"]");
    let ran = place.run("set check one.json").ended(0);
    holds(ran.text(), &["JSON document", "1: 1 network"]);
    place.write("cloud.json", CLOUD);
    let names = "prefixes[].ip_prefix, ipv6_prefixes[].ipv6_prefix";
    let ran = place.run("set check cloud.json").ended(2);
    holds(&ran.stderr, &["more than one path", "--json-path", names]);
    let paths = "--json-path prefixes[].ip_prefix,ipv6_prefixes[].ipv6_prefix";
    let ran = place.run(&format!("set check cloud.json {paths}")).ended(0);
    holds(ran.text(), &["2: 2 networks"]);
    let twice = "--json-path prefixes[].ip_prefix --json-path *[].ipv6_prefix";
    let ran = place.run(&format!("set check cloud.json {twice}")).ended(0);
    holds(ran.text(), &["2: 2 networks"]);
    let ran = place.run("bridge null: null: --block cloud.json").ended(2);
    holds(&ran.stderr, &[names]);
    for wrong in ["--json-path a[0]", "--json-path a[] --column 2"] {
        place.run(&format!("set check cloud.json {wrong}")).ended(2);
    }
}

#[test]
fn a_script_ends_as_the_tool_does() {
    let place = Place::new();
    let script = "create t hash:net\nadd t 203.0.113.0/24\nflush t\nadd t 198.51.100.0/24 -exist\n\
                  swap t s\ndestroy t\n";
    place.write("s.restore", script);
    let ran = place
        .run("set check s.restore --test 198.51.100.1")
        .ended(0);
    holds(ran.text(), &["1: 1 network", "s.restore:4"]);
    place.run("set check s.restore --test 203.0.113.1").ended(1);
    place.write("s.nft", "include \"other.nft\"\n");
    let ran = place.run("set check s.nft").ended(1);
    holds(ran.text(), &["names another file, which is not read"]);
}

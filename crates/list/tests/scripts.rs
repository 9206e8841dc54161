//! Scripts of `ipset restore` and `nft -f`: the entries are those that the tool ends up with. Where
//! the tools and the kernel are at hand they are the judges.

mod reading;

use list::{Entry, Format, Loaded};
use reading::{bad, entries, load, load_rest, sample, warnings};
use std::io::Write;
use std::process::{Command, Stdio};

/// A script, and what is expected of it.
struct Case {
    expected: String,
    text: String,
}

/// The cases of one file: a line `== EXPECTED`, then the script.
fn cases(file: &str) -> Vec<Case> {
    let text = String::from_utf8(sample(&format!("scripts/{file}"))).unwrap();
    let cases = format!("\n{text}");
    let cases = cases.split("\n==").skip(1).map(|case| {
        let (expected, text) = case.split_once('\n').unwrap_or((case, ""));
        Case {
            expected: expected.trim().to_owned(),
            text: format!("{}\n", text.trim_end()),
        }
    });
    cases.collect()
}

#[track_caller]
fn check(file: &str, format: Format) {
    for Case { expected, text } in cases(file) {
        let loaded = load(&text);
        assert_eq!(loaded.format, format, "{text}");
        let mut got = entries(&loaded);
        got.sort();
        let mut expected: Vec<&str> = expected.split_whitespace().collect();
        expected.sort_unstable();
        assert_eq!(got, expected, "{text}");
    }
}

#[test]
fn scripts_hold_what_the_tool_ends_up_with() {
    check("ipset.txt", Format::Ipset);
    check("nft.txt", Format::NftText);
    check("nft_json.txt", Format::NftJson);
}

/// A set that was not made in the text is empty before it.
#[test]
fn pieces_of_scripts() {
    let table: [(&str, &[&str]); 10] = [
        ("flush bl\nadd bl 192.0.2.1\n", &["192.0.2.1"]),
        (
            "add tmp 192.0.2.1\nswap tmp bl\ndestroy tmp\n",
            &["192.0.2.1"],
        ),
        ("swap a b\nadd a 192.0.2.1\n", &["192.0.2.1"]),
        (
            "-N bl nethash --hashsize 1024 --probes 8 --resize 50\n-A bl 192.0.2.1\nCOMMIT\n",
            &["192.0.2.1"],
        ),
        ("COMMIT\nadd a 192.0.2.1\n", &["192.0.2.1"]),
        ("del a 192.0.2.1 -exist\nadd a 192.0.2.2\n", &["192.0.2.2"]),
        (
            "flush set inet filter bl\nadd element inet filter bl { 192.0.2.1 }\n",
            &["192.0.2.1"],
        ),
        (
            "destroy table inet f\ntable inet f {\n set bl {\n type ipv4_addr\n \
             elements = { 192.0.2.1 }\n }\n}\n",
            &["192.0.2.1"],
        ),
        (
            "destroy element inet f x { 192.0.2.1 }\nadd element inet f x { 192.0.2.2 }\n",
            &["192.0.2.2"],
        ),
        (
            "set x {\n type ipv4_addr\n elements = { 192.0.2.1 }\n}\n",
            &["192.0.2.1"],
        ),
    ];
    for (text, expected) in table {
        assert_eq!(entries(&load(text)), expected, "{text}");
    }
}

/// A text of variables alone, as they are kept to be included.
#[test]
fn variables_alone() {
    let loaded = load("#!/usr/sbin/nft -f\ndefine bl = {\n 192.0.2.1,\n 198.51.100.0/24\n}\n");
    assert_eq!(loaded.format, Format::NftText);
    assert_eq!(entries(&loaded), ["192.0.2.1", "198.51.100.0/24"]);
    let two = load("define mark = 0x10\ndefine a = { 192.0.2.1 }\ndefine b = { 192.0.2.2 }\n");
    assert_eq!(entries(&two), ["192.0.2.1", "192.0.2.2"]);
    assert_eq!(
        warnings(&two),
        [
            "L:3: a further set, b: all sets of the file become one; keep one variable in the file \
          for a list of it alone"
        ]
    );
    let bad_one = load_rest("define a = { 192.0.2.1, example.com }\ndefine ports = { 22 }\n");
    assert_eq!(
        bad(&bad_one),
        ["L:1: \"example.com\" is a host name; a list holds addresses"]
    );
    let none = load_rest("define a = { example.com }\n");
    assert_eq!((entries(&none).len(), none.bad_count), (0, 1));
}

/// What is not understood is a bad line, and nothing is passed over.
#[test]
fn words_that_are_not_known() {
    for Case { expected, text } in cases("refused.txt") {
        let loaded = load_rest(&text);
        let said = bad(&loaded);
        let is_said = said.iter().any(|line| line.contains(&expected));
        assert!(is_said, "{text}: {said:?}");
        assert!(loaded.bad_count <= 2, "{text}: {said:?}");
    }
}

/// Entries that the tool would forget are said not to be forgotten, once.
#[test]
fn timeouts() {
    let sentence = "entries with a timeout are loaded for good: the list does not forget them";
    let table = [
        (
            "add x 192.0.2.1 timeout 5\nadd x 192.0.2.2 timeout 6\n",
            Some(1),
        ),
        ("add x 192.0.2.1 timeout 0\n", None),
        ("create x hash:ip timeout 60\n", Some(1)),
        (
            "add x 192.0.2.1 timeout 5\nflush x\nadd x 192.0.2.1 timeout 5\n",
            Some(3),
        ),
        (
            "{\"nftables\": [{\"set\": {\"name\": \"x\", \"elem\": [\n\
             {\"elem\": {\"val\": \"192.0.2.1\", \"timeout\": 5}}]}}]}\n",
            Some(2),
        ),
        (
            "create x hash:ip timeout 0\nadd x 192.0.2.1\nadd x 192.0.2.2 timeout 5\n",
            Some(3),
        ),
        (
            "add element ip f x { 192.0.2.1 timeout 1h expires 5m }\n",
            Some(1),
        ),
        (
            "table ip f {\n set x {\n timeout 1h\n elements = { 192.0.2.1 }\n }\n}\n",
            Some(3),
        ),
    ];
    for (text, line) in table {
        let said = warnings(&load(text));
        let said: Vec<_> = said
            .iter()
            .filter(|text| text.ends_with(sentence))
            .collect();
        let expected: Vec<_> = line
            .iter()
            .map(|line| format!("L:{line}: {sentence}"))
            .collect();
        assert_eq!(said, expected.iter().collect::<Vec<_>>(), "{text}");
    }
}

/// Warnings are about the entries that are left.
#[test]
fn warnings_of_what_is_left() {
    let private = |text: &str| load(text).warning_count;
    assert_eq!(private("create a hash:net\nadd a 10.0.0.0/8\n"), 1);
    assert_eq!(
        private("create a hash:net\nadd a 10.0.0.0/8\nflush a\nadd a 192.0.2.1\n"),
        0
    );
    assert_eq!(
        private("create a hash:net\nadd a 10.0.0.0/8\ndel a 10.0.0.0/8\nadd a 192.0.2.1\n"),
        0
    );
}

/// What costs the tool nothing costs the reader little: removals are compared once a set.
#[test]
fn many_removals_and_nested_variables() {
    let mut text = String::from("create a hash:ip maxelem 1000000\n");
    for number in 0..60_000u32 {
        let address = std::net::Ipv4Addr::from(0x0a00_0000 + number);
        text += &format!("add a {address}\ndel a {address}\n");
    }
    assert_eq!(load(&text).entry_count, 0);
    let mut nested = String::from("define v0 = { 192.0.2.1, 192.0.2.2 }\n");
    for depth in 1..60 {
        nested += &format!("define v{depth} = {{ $v{0}, $v{0} }}\n", depth - 1);
    }
    let mut options = list::ReadOptions::default();
    options.limits.entries_max = 100_000;
    let refused = reading::refusal(&nested, &options);
    assert!(refused.contains("more than 100000 entries"), "{refused}");
}

/// The addresses of both families as disjoint runs, in order.
fn runs(loaded: &Loaded) -> Vec<(bool, u128, u128)> {
    let mut all: Vec<_> = entries(loaded)
        .iter()
        .map(|entry| match Entry::parse(entry.as_bytes()).unwrap() {
            Entry::V4(span) => (false, span.first().into(), span.last().into()),
            Entry::V6(span) => (true, span.first(), span.last()),
        })
        .collect();
    all.sort_unstable();
    let mut runs: Vec<(bool, u128, u128)> = Vec::new();
    for (is_v6, first, last) in all {
        match runs.last_mut() {
            Some(run) if run.0 == is_v6 && first <= run.2.saturating_add(1) => {
                run.2 = run.2.max(last);
            }
            _ => runs.push((is_v6, first, last)),
        }
    }
    runs
}

/// What `shell` prints when it is given `script`, in a network of its own.
fn judge(shell: &str, script: &str) -> Result<String, String> {
    let mut judge = Command::new("unshare")
        .args(["-n", "sh", "-c", shell])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let written = judge
        .stdin
        .take()
        .map(|mut input| input.write_all(script.as_bytes()));
    let done = judge
        .wait_with_output()
        .map_err(|error| error.to_string())?;
    if !done.status.success() || !matches!(written, Some(Ok(()))) {
        return Err(String::from_utf8_lossy(&done.stderr).into_owned());
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

#[track_caller]
fn compare(file: &str, shell: &str, try_first: &str) {
    if let Err(why) = judge(shell, try_first) {
        println!("skipped: no judge for {file} here: {why}");
        return;
    }
    for Case { text, .. } in cases(file) {
        let held = judge(shell, &text).unwrap_or_else(|why| panic!("{text}: {why}"));
        assert_eq!(runs(&load(&text)), runs(&load(&held)), "{text}");
    }
}

#[test]
fn the_kernel_holds_the_same_after_ipset_restore() {
    let first = "create x hash:ip\nadd x 192.0.2.1\n";
    compare("ipset.txt", "ipset restore && ipset save", first);
}

#[test]
fn the_kernel_holds_the_same_after_nft() {
    let first = "table ip f {\n set x {\n type ipv4_addr\n }\n}\n";
    compare("nft.txt", "nft -f - && nft list ruleset", first);
    let first = r#"{"nftables": [{"add": {"table": {"family": "ip", "name": "f"}}}]}"#;
    compare("nft_json.txt", "nft -j -f - && nft -j list ruleset", first);
}

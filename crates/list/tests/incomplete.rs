//! Lists that say of themselves that they have more than was read.

mod reading;

use list::{ReadOptions, Wording};
use reading::{asking, entries, load_with, refusal, warnings};

/// What came of a text: how many entries, and the warning if there is one; or the refusal.
fn came(text: &str, options: &ReadOptions) -> String {
    match load_with(text, options) {
        Ok(loaded) if loaded.warning_count == 0 => format!("{}", entries(&loaded).len()),
        Ok(loaded) => format!("{}: {}", entries(&loaded).len(), warnings(&loaded)[0]),
        Err(error) => error.to_string(),
    }
}

/// Two entries a line, then metadata.
fn drop_list(metadata: &[&str]) -> String {
    let mut text = String::from("{\"cidr\":\"192.0.2.0/24\"}\n{\"cidr\":\"198.51.100.0/24\"}\n");
    for line in metadata {
        text += &format!("{{\"type\":\"metadata\",{line}}}\n");
    }
    text
}

#[test]
fn metadata_lines_announce_records() {
    let two_of =
        |count: u64| format!("announces {count} records (records: {count}), and 2 records");
    for (metadata, said) in [
        (&["\"timestamp\":1761916455"][..], "2"),
        (&["\"records\":2,\"size\":114326"], "2"),
        (&["\"records\":1420,\"size\":114326"], &two_of(1420)),
        (
            &["\"count\":3"],
            "announces 3 records (count: 3), and 2 records",
        ),
        (&["\"total\":3"], "announces 3 records (total: 3)"),
        (
            &["\"total_records\":3"],
            "announces 3 records (total_records: 3)",
        ),
        (
            &["\"recordCount\":3"],
            "announces 3 records (recordCount: 3)",
        ),
        (
            &["\"truncated\":true"],
            "says that there is more of it (truncated: true), and 2 records",
        ),
        (
            &["\"truncated\":false,\"has_more\":false,\"next\":null,\"next_page\":\"\""],
            "2",
        ),
        (&["\"has_more\":true"], "(has_more: true)"),
        (
            &["\"next\":\"https://a.example/2\""],
            "(next: \"https://a.example/2\")",
        ),
        (&["\"next_page\":2"], "(next_page: 2)"),
        (&["\"complete\":false"], "(complete: false)"),
        // It may be bytes.
        (
            &["\"size\":3"],
            "2: L:3: the list announces 3 records (size: 3)",
        ),
        (&["\"size\":2"], "2"),
        // More than are announced were not cut off.
        (
            &["\"records\":1"],
            "2: L:3: the list announces 1 records (records: 1), and 2 records",
        ),
        // Files that were joined, and one with a line at both ends.
        (&["\"records\":1", "\"records\":1"], "2"),
        (&["\"records\":2", "\"records\":2"], "2"),
        (
            &["\"records\":2", "\"records\":1"],
            "announces 3 records (records: 2), and 2 records",
        ),
    ] {
        let text = drop_list(metadata);
        for options in [&ReadOptions::default(), &asking("cidr")] {
            let came = came(&text, options);
            assert!(
                came == said || (said.len() > 1 && came.contains(said)),
                "{text}: {came}"
            );
        }
    }
}

#[test]
fn the_message_names_both_numbers() {
    let refused = refusal(drop_list(&["\"records\":3"]), &ReadOptions::default());
    assert_eq!(
        refused,
        "L announces 3 records (records: 3), and 2 records were read: it was cut off or is one \
         part of several; fetch all of it, or load it as it is with --force"
    );
    let cut = "{\"cidr\":\"192.0.2.0/24\"}\n{\"type\":\"metadata\",\"records\":2}\n";
    let cut = refusal(cut, &ReadOptions::default());
    assert!(cut.contains("and 1 record was read"), "{cut}");
}

/// A text, the paths asked for, and what came of it.
#[rustfmt::skip]
const DOCUMENTS: [(&str, &str, &str); 37] = [
    (r#"{"count":2,"data":["192.0.2.1","192.0.2.2"]}"#, "data[]", "2"),
    (
        r#"{"count":3,"ips":["192.0.2.1","192.0.2.2"]}"#,
        "", "announces 3 records (count: 3), and 2 records",
    ),
    (r#"{"total":500,"items":[{"ip":"192.0.2.1"},{"ip":"192.0.2.2"}]}"#, "", "(total: 500)"),
    (
        r#"{"total":500,"items":[{"ip":"192.0.2.1"},{"ip":"192.0.2.2"}]}"#,
        "items[].ip", "(total: 500)",
    ),
    (
        r#"{"items":[{"ip":"192.0.2.1"}],"totalCount":2}"#,
        "", "announces 2 records (totalCount: 2), and 1 record was read",
    ),
    (r#"{"meta":{"total":3},"ips":["192.0.2.1"]}"#, "", "(total: 3)"),
    (r#"{"ips":["192.0.2.1"],"result_info":{"page":1,"total_count":3}}"#, "", "(total_count: 3)"),
    (r#"{"d":{"ips":["192.0.2.1"],"pagination":{"total":3}}}"#, "", "(total: 3)"),
    (r#"{"ips":["192.0.2.1"],"truncated":true}"#, "", "(truncated: true)"),
    (r#"{"ips":["192.0.2.1"],"isTruncated":"true"}"#, "", "(isTruncated: \"true\")"),
    (r#"{"ips":["192.0.2.1"],"hasMore":true}"#, "", "(hasMore: true)"),
    (r#"{"ips":["192.0.2.1"],"next":"/p/2"}"#, "", "(next: \"/p/2\")"),
    (r#"{"ips":["192.0.2.1"],"links":{"next":"/p/2"}}"#, "", "(next: \"/p/2\")"),
    (r#"{"ips":["192.0.2.1"],"next":{"href":"/p/2"}}"#, "", "(next: ...)"),
    (r#"{"ips":["192.0.2.1"],"@odata.nextLink":"/p/2"}"#, "", "(@odata.nextLink:"),
    (r#"{"ips":["192.0.2.1"],"next_page_token":"x"}"#, "", "(next_page_token:"),
    (r#"{"ips":["192.0.2.1"],"total_pages":2}"#, "", "(total_pages: 2)"),
    (r#"{"ips":["192.0.2.1"],"last":false,"islast":false}"#, "", "(islast: false)"),
    (
        r#"{"total":5,"data":[]}"#,
        "data[]", "announces 5 records (total: 5), and 0 records were read",
    ),
    // Nothing of it says that there is more.
    (r#"{"ips":["192.0.2.1"],"total_pages":1,"page":1,"has_more":false,"next":null}"#, "", "1"),
    (r#"{"ips":["192.0.2.1"],"next_update":"2026-11-01","next":""}"#, "", "1"),
    (r#"{"changeNumber":145,"country":7,"number":9,"ips":["192.0.2.1"]}"#, "", "1"),
    (r#"{"count":3,"ips":["192.0.2.1",null,"192.0.2.3"]}"#, "", "2"),
    (r#"{"count":1,"ips":["192.0.2.1","192.0.2.2","192.0.2.3"]}"#, "", "3"),
    (r#"{"total":4,"a":["192.0.2.1","192.0.2.2"],"b":["192.0.2.3","192.0.2.4"]}"#, "*[]", "4"),
    (r#"{"total":4,"a":["192.0.2.1","192.0.2.2"],"b":["192.0.2.3","192.0.2.4"]}"#, "a[]", "2"),
    (r#"{"total":2,"g":[{"ips":["192.0.2.1"]},{"ips":["192.0.2.3","192.0.2.4"]}]}"#, "", "3"),
    (
        r#"{"total":9,"g":[{"ips":["192.0.2.1"]},{"ips":["192.0.2.3","192.0.2.4"]}]}"#,
        "", "(total: 9)",
    ),
    // What an element says of itself is no number of records.
    (r#"[{"ip":"192.0.2.1","count":17},{"ip":"192.0.2.2","total":5}]"#, "", "2"),
    (r#"{"ip":"192.0.2.1","count":17}"#, "ip", "1"),
    (
        r#"[{"meta":{"total":9},"note":"x"},{"ip":"192.0.2.2"}]"#,
        "[].ip", "1: L:1: an element has nothing",
    ),
    // It may be: a warning.
    (r#"[{"total":5,"ips":["192.0.2.1"]}]"#, "", "1: L:1: the list announces 5 records"),
    (r#"{"g":[{"count":12,"ips":["192.0.2.1"]}]}"#, "", "1: L:1: the list announces 12 records"),
    (r#"{"size":4096,"ips":["192.0.2.1"]}"#, "", "1: L:1: the list announces 4096 records"),
    (r#"{"total_ips":256,"prefixes":["192.0.2.0/24"]}"#, "", "1: L:1: the list announces 256"),
    (r#"{"total":1,"size":4096,"ips":["192.0.2.1"]}"#, "", "1"),
    (
        r#"{"data":{"a":{"ip":"192.0.2.1"},"b":{"ip":"192.0.2.2"}},"total":3}"#,
        "data.*.ip", "(total: 3)",
    ),
];

#[test]
fn documents_announce_records() {
    for (text, paths, said) in DOCUMENTS {
        let options = match paths {
            "" => ReadOptions::default(),
            paths => asking(paths),
        };
        let skipping = ReadOptions {
            skip_bad_lines: true,
            ..options.clone()
        };
        for options in [&options, &skipping] {
            let came = came(text, options);
            assert!(
                came == said || (said.len() > 1 && came.contains(said)),
                "{text}: {came}"
            );
        }
    }
}

/// Who takes such a list all the same is told what it says.
#[test]
fn force_takes_it_and_a_daemon_names_its_own_way() {
    let text = "{\"ips\":[\"192.0.2.1\"],\"total\":2}";
    let force = |force, everything| ReadOptions {
        force,
        everything,
        ..ReadOptions::default()
    };
    for options in [force(true, false), force(false, true)] {
        let came = came(text, &options);
        assert!(
            came.starts_with("1: L:1: the list announces 2 records"),
            "{came}"
        );
    }
    let daemon = ReadOptions {
        wording: Wording::Keys,
        ..ReadOptions::default()
    };
    let told = refusal(text, &daemon);
    assert!(
        told.ends_with("with 'linerate set load NAME --force'"),
        "{told}"
    );
}

/// Which address a list has is known of one that was taken by force.
#[test]
fn a_search_reads_what_is_there() {
    let text = "{\"ips\":[\"192.0.2.1\"],\"total\":2}";
    let found = list::find(
        "L",
        text.as_bytes(),
        &ReadOptions::default(),
        [192, 0, 2, 1].into(),
    );
    assert_eq!(found.unwrap().count, 1);
}

/// Two addresses may be the ends of a range.
#[test]
fn two_addresses_under_a_key() {
    let pair = "which may be two entries or one range";
    for (text, said) in [
        (
            r#"{"x":["192.0.2.1","192.0.2.9"]}"#,
            "two addresses at x[], which",
        ),
        (r#"{"x":["192.0.2.9","192.0.2.1"]}"#, pair),
        (
            r#"{"data":["2001:db8::1","2001:db8::9"]}"#,
            "at data[], which",
        ),
        (
            r#"[{"net":["192.0.2.1","192.0.2.9"]}]"#,
            "at [].net[], which",
        ),
        (
            r#"[{"x":["192.0.2.1","192.0.2.2"]},{"x":["192.0.2.3","192.0.2.4"]}]"#,
            pair,
        ),
        (
            r#"{"a":{"b c":["192.0.2.1","192.0.2.9"]}}"#,
            "at a.\"b c\"[], which",
        ),
        (r#"{"ips":["192.0.2.1","192.0.2.9"]}"#, "2"),
        (r#"{"blocklist":["192.0.2.1","192.0.2.9"]}"#, "2"),
        (r#"["192.0.2.1","192.0.2.9"]"#, "2"),
        (r#"{"x":["192.0.2.1","2001:db8::9"]}"#, "2"),
        (r#"{"x":["192.0.2.1","192.0.2.0/24"]}"#, "2"),
        (
            r#"{"x":["192.0.2.1","192.0.2.9","192.0.2.3","192.0.2.5"]}"#,
            "4",
        ),
        (
            r#"[{"x":["192.0.2.1","192.0.2.2"]},{"x":["192.0.2.3"]}]"#,
            "3",
        ),
    ] {
        let came = came(text, &ReadOptions::default());
        assert!(
            came == said || (said.len() > 1 && came.contains(said)),
            "{text}: {came}"
        );
    }
    let text = r#"{"x":["192.0.2.1","192.0.2.9"]}"#;
    assert_eq!(came(text, &asking("x[]")), "2");
    assert_eq!(
        came(text, &ReadOptions::default()),
        "L has two addresses at x[], which may be two entries or one range: --json-path x[] reads \
         them as entries; a range is written FIRST-LAST"
    );
}

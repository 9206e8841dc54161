//! Another value of any key of a source in etcd is another source.

use std::path::Path;

use crate::config::Config;
use crate::sources::Sources;

/// Each key, its value and another.
const KEYS: [(&str, &str, &str); 8] = [
    (
        "etcd",
        "['https://a.example:2379']",
        "['https://b.example:2379']",
    ),
    ("prefix", "'/p/'", "'/q/'"),
    ("user", "'me'", "'you'"),
    ("password_file", "'/pw'", "'/other'"),
    ("ca_file", "'/ca'", "'/other'"),
    ("cert_file", "'/cert'", "'/other'"),
    ("key_file", "'/key'", "'/other'"),
    ("key", "", "'/k'"),
];

fn parse(keys: &str) -> Config {
    let text = format!(
        "[[port]]\nspec = 'gen:'\n[[port]]\nspec = 'null:'\n[[set]]\nname = 'a'\n\
         action = 'count'\n[set.source]\n{keys}"
    );
    let read = Config::parse(Path::new("/etc/linerate/a.toml"), &text);
    read.unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// All keys, one of them with its other value.
fn with(changed: Option<&str>) -> Config {
    let value = |&(key, value, other): &(&str, &str, &'static str)| match changed {
        Some(changed) if changed == key => (key.to_owned(), other.to_owned()),
        // A key in place of a prefix.
        Some("key") if key == "prefix" => (key.to_owned(), String::new()),
        _ => (key.to_owned(), value.to_owned()),
    };
    let values = KEYS.iter().map(value);
    let lines = values.filter(|(_, value)| !value.is_empty());
    let lines: String = lines
        .map(|(key, value)| format!("{key} = {value}\n"))
        .collect();
    parse(&lines)
}

#[test]
fn every_key_of_a_source_in_etcd_makes_it_another() {
    let sources = |config: &Config| Sources::planned(config).expect("sources");
    let old = sources(&with(None));
    assert_eq!(sources(&with(None)), old);
    for (key, _, _) in KEYS {
        assert_ne!(sources(&with(Some(key))), old, "{key}");
    }
}

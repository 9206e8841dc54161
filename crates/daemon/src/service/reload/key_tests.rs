//! Every key of a configuration that is another is applied by a reload, or refused.

use std::path::Path;

use super::*;

/// Every section and key that there is.
const ALL: &str = r#"
[[port]]
name = "outside"
spec = "xdp:eth1"
[[port]]
name = "inside"
spec = "xdp:eth2"
[[pipeline]]
keep = ["private"]
rules = "/etc/linerate/rules.txt"
hash = "inner"
[[set]]
name = "feed"
source = "https://example.net/drop.json"
ca_file = "/etc/ssl/own.pem"
action = "count"
column = 2
[[set.on]]
port = "inside"
sides = "source"
action = "block"
[[set]]
name = "made"
source = { command = ["/usr/bin/env"], timeout = "1m" }
action = "count"
columns = "1-2"
[[set]]
name = "document"
source = "/etc/linerate/cloud.json"
action = "count"
json_path = "prefixes[].ip_prefix"
[stateful]
allow_new = ["inside"]
flow_log = "/var/log/flows.jsonl"
[workers]
count = 2
cpus = "0-1"
burst = 32
[memory]
stride = 2048
pool = 4096
[control]
group = "netops"
[metrics]
address = "127.0.0.1:9177"
[crowdsec]
url = "http://127.0.0.1:8080/"
key_file = "/key"
set = "made"
ca_file = "/etc/ssl/own.pem"
[user]
name = "linerate"
"#;

/// Another value for each key, by its section.
const OTHERS: &[(&str, &str)] = &[
    ("port.name", "\"other\""),
    ("port.spec", "\"null:\""),
    ("port.required", "false"),
    ("pipeline.kind", "\"router\""),
    ("pipeline.ports", "[\"inside\", \"outside\"]"),
    ("pipeline.default", "\"drop\""),
    ("pipeline.non_ip", "\"drop\""),
    ("pipeline.malformed", "\"forward\""),
    ("pipeline.pass", "[\"nd\"]"),
    ("pipeline.router", "[\"inside\"]"),
    ("pipeline.hash", "\"outer\""),
    ("pipeline.tunnel_ports", "[\"vxlan=8472\"]"),
    ("pipeline.keep", "[]"),
    ("pipeline.rules", "\"/other\""),
    ("set.name", "\"other\""),
    ("set.source", "\"https://example.net/other\""),
    ("set.ca_file", "\"/other\""),
    ("set.action", "\"block\""),
    ("set.sides", "\"source\""),
    ("set.match", "\"inner\""),
    ("set.ports", "[\"inside\"]"),
    ("set.refresh", "\"7m\""),
    ("set.required", "true"),
    ("set.max_age", "\"77m\""),
    ("set.max_change", "0.125"),
    ("set.max_change_floor", "7"),
    ("set.allow_empty", "true"),
    ("set.allow_private", "true"),
    ("set.column", "\"src_ip\""),
    ("set.columns", "\"1/2\""),
    ("set.json_path", "\"a[].ip\""),
    ("set.skip_bad_lines", "true"),
    ("set.source.command", "[\"/usr/bin/true\"]"),
    ("set.source.timeout", "\"77s\""),
    ("set.on.port", "\"outside\""),
    ("set.on.sides", "\"destination\""),
    ("set.on.action", "\"allow\""),
    ("stateful.allow_new", "[\"outside\"]"),
    ("stateful.flows", "1000"),
    ("stateful.full", "\"evict\""),
    ("stateful.answers_from_any", "true"),
    ("stateful.flow_log", "\"/var/log/other.jsonl\""),
    ("stateful.flow_log_interval", "\"7s\""),
    ("fragments.follow", "false"),
    ("fragments.datagrams", "1000"),
    ("fragments.pieces", "16"),
    ("fragments.held", "9"),
    ("fragments.timeout", "\"3s\""),
    ("fragments.source_part", "2"),
    ("workers.count", "1"),
    ("workers.cpus", "\"2-3\""),
    ("workers.idle", "\"spin\""),
    ("workers.pin_irqs", "true"),
    ("workers.burst", "16"),
    ("workers.dispatch", "\"deferred\""),
    ("workers.dispatch_limit", "64"),
    ("workers.balance", "false"),
    ("memory.stride", "4096"),
    ("memory.pool", "8192"),
    ("limits.list_bytes", "1024"),
    ("limits.set_entries", "7"),
    ("limits.list_time", "\"7s\""),
    ("limits.connections", "7"),
    ("control.socket", "\"/run/other.sock\""),
    ("control.group", "\"other\""),
    ("metrics.address", "\"127.0.0.1:9178\""),
    ("state.keep", "false"),
    ("state.dir", "\"/other\""),
    ("crowdsec.url", "\"http://127.0.0.1:8081/\""),
    ("crowdsec.key_file", "\"/other\""),
    ("crowdsec.set", "\"feed\""),
    ("crowdsec.interval", "\"7s\""),
    ("crowdsec.resync", "\"7h\""),
    ("crowdsec.types", "[\"captcha\"]"),
    ("crowdsec.origins", "[\"cscli\"]"),
    ("crowdsec.scopes", "[\"range\"]"),
    ("crowdsec.ca_file", "\"/other\""),
    ("log.level", "\"debug\""),
    ("log.format", "\"human\""),
    ("user.name", "\"other\""),
];

/// Of these the configuration refuses another value alone: there is one kind of pipeline,
/// workers are as many as their CPUs, where no fragment waits there are no bounds, and two
/// workers cannot find the answers of anybody.
const AGREE: &[&str] = &[
    "pipeline.kind",
    "workers.count",
    "fragments.follow",
    "stateful.answers_from_any",
];

fn parse(text: &str) -> Config {
    let read = Config::parse(Path::new("/etc/linerate/a.toml"), text);
    read.unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The whole text with one line changed, and which key that was.
fn changed(text: &str, number: usize) -> Option<(String, String)> {
    let mut section = "";
    for line in text.lines().take(number + 1) {
        if line.starts_with('[') {
            section = line.trim_matches(['[', ']']);
        }
    }
    let line = text.lines().nth(number)?;
    let key = line.split_once(" = ").map(|(key, _)| key)?;
    let name = format!("{section}.{key}");
    let other = OTHERS.iter().find(|(known, _)| *known == name);
    let (_, other) = other.unwrap_or_else(|| panic!("no other value is known for {name}"));
    let lines = text.lines().enumerate();
    let lines = lines.map(|(at, line)| match at == number {
        true => format!("{key} = {other}\n"),
        false => format!("{line}\n"),
    });
    Some((name, lines.collect()))
}

/// Whether what a reload does sees the difference.
fn is_applied(old: &Config, new: &Config) -> bool {
    let sources = |config: &Config| Sources::planned(config).expect("sources");
    keep::sets(old) != keep::sets(new)
        || old.rules_file() != new.rules_file()
        || sources(old) != sources(new)
        || old.log.level != new.log.level
}

/// Without this a key is taken over by name and nothing happens.
#[test]
fn every_key_is_applied_or_refused() {
    let old = parse(ALL);
    let text = old.resolved();
    let mut seen = Vec::new();
    for number in 0..text.lines().count() {
        let Some((name, other)) = changed(&text, number) else {
            continue;
        };
        seen.push(name.clone());
        // Names are spoken of elsewhere: a set or port of another name is another.
        if name == "port.name" || name == "set.name" || name == "crowdsec.set" {
            continue;
        }
        if AGREE.contains(&&name[..]) {
            let read = Config::parse(Path::new("/etc/linerate/a.toml"), &other);
            assert!(read.is_err(), "{name} has another value after all");
            continue;
        }
        let new = parse(&other);
        if new == old {
            // The other of two sections had this value already.
            assert!(
                seen.iter().filter(|one| **one == name).count() > 1,
                "{name}"
            );
            continue;
        }
        let refused = fixed(&old, &new);
        let at_start = name == "set.required" && !changes::of_sources(&old, &new).is_empty();
        let done = refused.is_some() || is_applied(&old, &new) || at_start;
        assert!(done, "{name} is neither applied nor refused");
    }
    for (name, _) in OTHERS {
        assert!(seen.iter().any(|one| one == name), "{name} is no key");
    }
}

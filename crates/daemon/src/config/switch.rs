//! `[[pipeline]]` with `kind = "switch"`: its keys are the words of the options.

use std::time::Duration;

use plane::Ports;
use plane::switch::{SwitchTable, VlanMode};

use super::error::{ConfigError, Faults, Wrong};
use super::ports::{PortConfig, choice, known_port, word};
use super::resolved::Writer;
use super::section::{Section, split_sentence};
use crate::switch::{NamedPort, PortNames, SwitchWords, WordError};

/// Words for modes.
const MODES: [(&str, VlanMode); 3] = [
    ("default", VlanMode::Default),
    ("port", VlanMode::Port),
    ("dot1q", VlanMode::Dot1q),
];

/// Keys that are lists of words, and where they are kept.
type Lists<'w> = [(&'static str, &'w mut Vec<String>); 13];

/// The same in the order in which they are written.
fn lists(words: &mut SwitchWords) -> Lists<'_> {
    [
        ("vlan", &mut words.vlan),
        ("group", &mut words.group),
        ("pvid", &mut words.pvid),
        ("priority", &mut words.priority),
        ("accept", &mut words.accept),
        ("filter", &mut words.filter),
        ("tpid", &mut words.tpid),
        ("tunnel", &mut words.tunnel),
        ("isolated", &mut words.isolated),
        ("hairpin", &mut words.hairpin),
        ("storm", &mut words.storm),
        ("port_stations", &mut words.port_stations),
        ("static", &mut words.r#static),
    ]
}

/// Keys that a switch alone has.
pub(super) fn own_keys() -> impl Iterator<Item = &'static str> {
    let mut none = SwitchWords::default();
    let lists = lists(&mut none).map(|(key, _)| key);
    let others = [
        "vlan_mode",
        "age",
        "stations",
        "loop_quiet",
        "forward_reserved",
    ];
    lists.into_iter().chain(others)
}

/// Ports by the names of the configuration.
pub(super) fn names(ports: &[PortConfig]) -> Result<PortNames, String> {
    let named = |port: &PortConfig| NamedPort {
        name: Some(port.name.clone()),
        spec: port.spec.to_string(),
    };
    PortNames::new(ports.iter().map(named).collect())
}

/// The settings that words mean between these ports.
pub(super) fn table(
    words: &SwitchWords,
    ports: &[PortConfig],
) -> Result<SwitchTable, Vec<WordError>> {
    let unnamed = |sentence| WordError {
        key: None,
        index: None,
        sentence,
    };
    let names = names(ports).map_err(|sentence| vec![unnamed(sentence)])?;
    words.table(&names)
}

/// Reads the keys of a switch.
pub(super) fn read(section: &Section<'_>, faults: &mut Faults) -> SwitchWords {
    let mut words = SwitchWords::default();
    for (key, list) in lists(&mut words) {
        let read = section.texts(key, |text| Ok(text.to_owned()));
        *list = faults.take(read).flatten().unwrap_or_default();
    }
    let mode = section.parsed("vlan_mode", "vlan_mode = \"dot1q\"", |text| {
        choice(text, &MODES)
    });
    words.vlan_mode = faults.take(mode).flatten();
    let ages = Duration::from_secs(1)..=Duration::from_secs(1_000_000);
    words.age = faults.take(section.duration("age", ages.clone())).flatten();
    words.loop_quiet = faults.take(section.duration("loop_quiet", ages)).flatten();
    let stations = section.number("stations", 1..=i64::from(u32::MAX));
    words.stations = faults.take(stations).flatten();
    let reserved = section.flag("forward_reserved");
    words.forward_reserved = faults.take(reserved).flatten().unwrap_or(false);
    words
}

/// Finds what is wrong with the words between these ports. After other faults it reads each word
/// alone: what does not go together may do so once those are mended.
pub(super) fn check(
    words: &SwitchWords,
    section: &Section<'_>,
    ports: &[PortConfig],
    faults: &mut Faults,
) {
    let found = match faults.is_empty() {
        true => table(words, ports).err(),
        false => names(ports)
            .ok()
            .and_then(|names| words.config(&names).err()),
    };
    for error in found.into_iter().flatten() {
        faults.take::<()>(Err(located(section, &error)));
    }
}

/// Says where a word stands.
pub(super) fn located(section: &Section<'_>, error: &WordError) -> ConfigError {
    let wrong = split_sentence(&error.sentence);
    match (error.key, error.index) {
        (Some(key), Some(index)) => section.error_in(key, index, wrong),
        (Some(key), None) => section.error_at(key, wrong),
        (None, _) => section.error(wrong),
    }
}

/// The names of its ports: all that there are, each once, `least` or more.
pub(super) fn read_ports(
    section: &Section<'_>,
    ports: &[PortConfig],
    least: usize,
) -> Result<Vec<String>, ConfigError> {
    let all = || ports.iter().map(|port| port.name.clone()).collect();
    let names: Vec<String> = section
        .texts("ports", |name| known_port(name, ports))?
        .unwrap_or_else(all);
    let times = |name: &String| names.iter().filter(|other| *other == name).count();
    if let Some(twice) = names.iter().find(|name| times(name) > 1) {
        let what = format!("port '{twice}' is named twice in [[pipeline]]");
        return Err(section.error_at("ports", Wrong::new(what, "leave one out")));
    }
    if let Some(missing) = ports.iter().find(|port| times(&port.name) == 0) {
        let what = format!("port '{}' is in no pipeline", missing.name);
        let remedy = "add it to ports, or leave its [[port]] out";
        return Err(section.error_at("ports", Wrong::new(what, remedy)));
    }
    if !(least..=Ports::MAX).contains(&names.len()) {
        let what = format!("{} ports are given", names.len());
        let remedy = format!("write {least} to {} [[port]] sections", Ports::MAX);
        return Err(section.error(Wrong::new(what, remedy)));
    }
    Ok(names)
}

/// Writes what was given.
pub(super) fn write(words: &SwitchWords, out: &mut Writer) {
    if let Some(mode) = words.vlan_mode {
        out.text("vlan_mode", word(mode, &MODES));
    }
    let mut words = words.clone();
    for (key, list) in lists(&mut words) {
        if !list.is_empty() {
            out.texts(key, list.iter().map(String::as_str));
        }
    }
    if let Some(age) = words.age {
        out.duration("age", age);
    }
    if let Some(stations) = words.stations {
        out.raw("stations", stations);
    }
    if let Some(lasts) = words.loop_quiet {
        out.duration("loop_quiet", lasts);
    }
    out.raw("forward_reserved", words.forward_reserved);
}

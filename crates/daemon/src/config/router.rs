//! `[[pipeline]]` with `kind = "router"`: its keys are the words of the options.

use std::path::PathBuf;

use plane::router::ReversePath;

use super::error::Faults;
use super::ports::{PortConfig, choice, word};
use super::resolved::Writer;
use super::section::Section;
use super::switch::{located, names};
use crate::router::{OnExit, RouterSettings, RouterWords};
use crate::switch::WordError;

/// Words for checks of the reverse path.
const REVERSE_PATHS: [(&str, ReversePath); 3] = [
    ("off", ReversePath::Off),
    ("loose", ReversePath::Loose),
    ("strict", ReversePath::Strict),
];

/// Words for the end of a router by the kernel's routes.
const ON_EXITS: [(&str, OnExit); 2] = [("closed", OnExit::Closed), ("open", OnExit::Open)];

/// Keys that a router alone has.
pub(super) const OWN_KEYS: [&str; 12] = [
    "kernel",
    "on_exit",
    "interface",
    "vrf",
    "route",
    "routes",
    "neighbour",
    "reverse_path",
    "icmp_rate",
    "neighbours",
    "nat",
    "punt",
];

/// The settings that words mean between these ports. Files of routes are read.
pub(super) fn settings(
    words: &RouterWords,
    ports: &[PortConfig],
) -> Result<RouterSettings, Vec<WordError>> {
    let unnamed = |sentence| WordError {
        key: None,
        index: None,
        sentence,
    };
    let names = names(ports).map_err(|sentence| vec![unnamed(sentence)])?;
    words.settings(&names)
}

/// Reads the keys of a router.
pub(super) fn read(section: &Section<'_>, faults: &mut Faults) -> RouterWords {
    let mut words = RouterWords::default();
    let lists = [
        ("interface", &mut words.interface),
        ("vrf", &mut words.vrf),
        ("route", &mut words.route),
        ("neighbour", &mut words.neighbour),
    ];
    for (key, list) in lists {
        let read = section.texts(key, |text| Ok(text.to_owned()));
        *list = faults.take(read).flatten().unwrap_or_default();
    }
    let mode = section.parsed("reverse_path", "reverse_path = \"strict\"", |text| {
        choice(text, &REVERSE_PATHS)
    });
    words.reverse_path = faults.take(mode).flatten().unwrap_or_default();
    words.kernel = faults
        .take(section.flag("kernel"))
        .flatten()
        .unwrap_or_default();
    let on_exit = section.parsed("on_exit", "on_exit = \"open\"", |text| {
        choice(text, &ON_EXITS)
    });
    words.on_exit = faults.take(on_exit).flatten().unwrap_or_default();
    let rate = section.number("icmp_rate", 0..=i64::from(u32::MAX));
    words.icmp_rate = faults.take(rate).flatten();
    let neighbours = section.number("neighbours", 1..=i64::from(u32::MAX));
    words.neighbours = faults.take(neighbours).flatten();
    let files: Result<Option<Vec<PathBuf>>, _> =
        section.texts("routes", |text| section.resolved(text));
    words.routes = faults.take(files).flatten().unwrap_or_default();
    let punt = section.parsed("punt", "punt = \"P\"", |text| Ok(text.to_owned()));
    words.punt = faults.take(punt).flatten();
    words.nat = faults.take(section.path("nat")).flatten();
    words
}

/// Finds what is wrong with the words between these ports, once nothing else is. Files are not
/// looked at.
pub(super) fn check(
    words: &RouterWords,
    section: &Section<'_>,
    ports: &[PortConfig],
    faults: &mut Faults,
) {
    if !faults.is_empty() {
        return;
    }
    let words = RouterWords {
        routes: Vec::new(),
        nat: None,
        ..words.clone()
    };
    for error in settings(&words, ports).err().into_iter().flatten() {
        faults.take::<()>(Err(located(section, &error)));
    }
}

/// Writes what was given.
pub(super) fn write(words: &RouterWords, out: &mut Writer) {
    if words.kernel {
        out.raw("kernel", true);
        out.text("on_exit", word(words.on_exit, &ON_EXITS));
    }
    let lists = [
        ("interface", &words.interface),
        ("vrf", &words.vrf),
        ("route", &words.route),
        ("neighbour", &words.neighbour),
    ];
    for (key, list) in lists {
        if !list.is_empty() {
            out.texts(key, list.iter().map(String::as_str));
        }
    }
    if !words.routes.is_empty() {
        let files = words.routes.iter().map(|file| file.display().to_string());
        let files: Vec<String> = files.collect();
        out.texts("routes", files.iter().map(String::as_str));
    }
    out.text("reverse_path", word(words.reverse_path, &REVERSE_PATHS));
    if let Some(rate) = words.icmp_rate {
        out.raw("icmp_rate", rate);
    }
    if let Some(neighbours) = words.neighbours {
        out.raw("neighbours", neighbours);
    }
    if let Some(punt) = &words.punt {
        out.text("punt", punt);
    }
    if let Some(nat) = &words.nat {
        out.path("nat", nat);
    }
}

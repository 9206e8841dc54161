//! From flags to the recipe of frames.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};

use list::ReadOptions;
use traffic::{Recipe, RecipeError, Stamp};

use crate::args::FrameArgs;
use crate::error::Error;
use daemon::Samples;

/// Properties of a recipe that are flags of the same name.
const KEYS: [&str; 15] = [
    "size",
    "protocol",
    "flags",
    "ipv6",
    "src",
    "dst",
    "sport",
    "dport",
    "smac",
    "dmac",
    "vlan",
    "flows",
    "new-flows",
    "hit",
    "cover",
];

/// Values of a file: more than any list of addresses that is worth drawing from one by one.
const VALUES_MAX: usize = 16 << 20;
/// The longest line of a file of values.
const LINE_BYTES_MAX: u64 = 64;

/// The recipe that the flags describe.
pub(crate) fn recipe(args: &FrameArgs, seed: u64) -> Result<Recipe, Error> {
    let mut recipe = Recipe {
        seed,
        stamp: (!args.unsigned).then(Stamp::default),
        ..Recipe::default()
    };
    let plain = [
        ("size", &args.size),
        ("protocol", &args.protocol),
        ("flags", &args.flags),
        ("ipv6", &args.ipv6),
        ("flows", &args.flows),
        ("new-flows", &args.new_flows),
        ("hit", &args.hit),
        ("cover", &args.cover),
        ("src", &args.src),
        ("dst", &args.dst),
        ("sport", &args.sport),
        ("dport", &args.dport),
        ("smac", &args.smac),
        ("dmac", &args.dmac),
        ("vlan", &args.vlan),
    ];
    for (key, value) in plain {
        match value.as_deref() {
            None => {}
            Some(value) => match value.strip_prefix('@') {
                Some(file) => set_from_file(&mut recipe, key, file)?,
                None => recipe.set(key, value).map_err(|error| flagged(&error))?,
            },
        }
    }
    choose_family(&mut recipe, args);
    if !args.hits.is_empty() {
        let samples = hits(&args.hits)?;
        (recipe.samples_v4, recipe.samples_v6) = (samples.v4, samples.v6);
    }
    recipe.validate().map_err(|error| flagged(&error))?;
    Ok(recipe)
}

/// Addresses of IPv6 and none of IPv4 ask for IPv6, where no share is given.
fn choose_family(recipe: &mut Recipe, args: &FrameArgs) {
    use traffic::Choice::Random;
    let v6 = recipe.src_v6 != Random || recipe.dst_v6 != Random;
    let v4 = recipe.src_v4 != Random || recipe.dst_v4 != Random;
    if args.ipv6.is_none() && v6 && !v4 {
        recipe.ipv6 = traffic::Share::ALL;
    }
}

/// The same sentence with the names of flags.
fn flagged(error: &RecipeError) -> Error {
    let sentence = error.to_string();
    let words = sentence.split(' ').map(|word| match word.split_once('=') {
        Some((key, value)) if KEYS.contains(&key) => format!("--{key} {value}").trim_end().into(),
        _ => word.to_owned(),
    });
    Error::refused(words.collect::<Vec<String>>().join(" "))
}

/// The addresses and networks of lists, which hits are drawn from.
fn hits(files: &[String]) -> Result<Samples, Error> {
    let mut lists = Vec::new();
    for file in files {
        lists.push(read_list(file)?);
    }
    let lists: Vec<_> = lists.iter().collect();
    Ok(Samples::of(&lists))
}

fn read_list(file: &str) -> Result<table::Entries, Error> {
    let input = crate::load::open(file)?;
    let loaded = list::read(file, input, &ReadOptions::default(), &mut |_| {});
    loaded
        .map(|loaded| loaded.entries)
        .map_err(|error| Error::refused(error.to_string()))
}

/// Sets a field to the values of a file, evenly drawn.
fn set_from_file(recipe: &mut Recipe, key: &str, file: &str) -> Result<(), Error> {
    if matches!(key, "src" | "dst") {
        return set_addresses(recipe, key, file);
    }
    let values = lines_of(key, file)?;
    let mut merged: Vec<Recipe> = Vec::new();
    for (number, value) in values {
        let mut one = Recipe::default();
        one.set(key, &value).map_err(|error| {
            let said = flagged(&error);
            Error::refused(format!("--{key} @{file}, line {number}: {said}"))
        })?;
        merged.push(one);
    }
    use traffic::Choice::List;
    match key {
        "sport" => recipe.src_port = List(fixed(key, file, &merged, |one| &one.src_port)?.into()),
        "dport" => recipe.dst_port = List(fixed(key, file, &merged, |one| &one.dst_port)?.into()),
        "smac" => recipe.src_mac = List(fixed(key, file, &merged, |one| &one.src_mac)?.into()),
        "dmac" => recipe.dst_mac = List(fixed(key, file, &merged, |one| &one.dst_mac)?.into()),
        "vlan" => {
            let first = |one: &Recipe| one.vlan.first().cloned();
            let ids: Option<Vec<_>> = merged.iter().map(first).collect();
            let ids = ids.unwrap_or_default();
            recipe.vlan = vec![List(fixed(key, file, &ids, |id| id)?.into())];
        }
        _ => return Err(Error::refused(format!("--{key} takes no file of values"))),
    }
    Ok(())
}

/// Every value by itself: a range in a file would be drawn as often as one value.
fn fixed<T, V: Copy>(
    key: &str,
    file: &str,
    all: &[T],
    of: impl Fn(&T) -> &traffic::Choice<V>,
) -> Result<Vec<V>, Error> {
    let one = |choice: &traffic::Choice<V>| match choice {
        traffic::Choice::Fixed(value) => Some(*value),
        _ => None,
    };
    let values: Option<Vec<V>> = all.iter().map(|item| one(of(item))).collect();
    values.filter(|values| !values.is_empty()).ok_or_else(|| {
        Error::refused(format!(
            "--{key} @{file}: a file of values has one a line, no ranges; there must be at least \
             one"
        ))
    })
}

/// Addresses of a list, of both families; of networks the first and the last.
fn set_addresses(recipe: &mut Recipe, key: &str, file: &str) -> Result<(), Error> {
    use traffic::Choice::List;
    let entries = read_list(file)?;
    let samples = Samples::of(&[&entries]);
    let (v4, v6) = match key {
        "src" => (&mut recipe.src_v4, &mut recipe.src_v6),
        _ => (&mut recipe.dst_v4, &mut recipe.dst_v6),
    };
    if samples.v4.is_empty() && samples.v6.is_empty() {
        return Err(Error::refused(format!(
            "--{key} @{file}: the list holds no address; give one with at least one"
        )));
    }
    if !samples.v4.is_empty() {
        *v4 = List(samples.v4);
    }
    if !samples.v6.is_empty() {
        *v6 = List(samples.v6);
    }
    Ok(())
}

/// Lines that are not empty and no comments, with their numbers.
fn lines_of(key: &str, file: &str) -> Result<Vec<(usize, String)>, Error> {
    let refused = |what: String| Error::refused(format!("--{key} @{file}: {what}"));
    let opened = File::open(file)
        .map_err(|error| refused(format!("{error}; check the path and its permissions")))?;
    let mut input = BufReader::new(opened);
    let mut values = Vec::new();
    for number in 1.. {
        let mut line = Vec::new();
        let mut bounded = (&mut input).take(LINE_BYTES_MAX);
        let read = bounded
            .read_until(b'\n', &mut line)
            .map_err(|error| refused(format!("{error}; check the file")))?;
        if read == 0 {
            break;
        }
        let text = String::from_utf8_lossy(&line);
        let value = text.split('#').next().unwrap_or_default().trim();
        let whole = line.ends_with(b"\n") || (read as u64) < LINE_BYTES_MAX;
        if !whole || values.len() == VALUES_MAX {
            return Err(refused(format!(
                "line {number} is none of a file of values: give one value a line, {VALUES_MAX} \
                 at most"
            )));
        }
        if !value.is_empty() {
            values.push((number, value.to_owned()));
        }
    }
    Ok(values)
}

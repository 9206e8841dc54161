//! Networks: a whole routing table dealt over 16 lists, so that no two neighbours share an answer.

use std::fs::File;
use std::path::Path;
use std::rc::Rc;

use table::{CompiledLists, Entries, Network};

use super::set::{Facts, Keys, Ours, Set, boxed, contestant};
use super::{BURSTS, ROUTES_VARIABLE, Scale, generated, limits};
use crate::contest::{Contestant, refused};
use crate::experiment::{LabError, Outcome};
use crate::key::{Key, Stream};
use crate::places::Placed;
use crate::shuffle::Seeded;

/// Lists that networks are dealt over.
const LISTS: usize = 16;

/// Networks from one place.
pub(crate) struct Source {
    pub(crate) name: &'static str,
    pub(crate) entries: Entries,
}

/// The generated table, and the file of the environment if one is named.
pub(crate) fn sources(seed: u64, outcome: &mut Outcome) -> Result<Vec<Source>, LabError> {
    let mut sources = vec![Source {
        name: "generated",
        entries: generated::entries(seed),
    }];
    match std::env::var_os(ROUTES_VARIABLE) {
        Some(path) => sources.push(named(Path::new(&path), outcome)?),
        None => outcome.skipped.push(format!(
            "a real list or routing table: {ROUTES_VARIABLE} names no file of prefixes, one a line"
        )),
    }
    Ok(sources)
}

/// The file at `path`, without the lines that are no entries.
pub(super) fn named(path: &Path, outcome: &mut Outcome) -> Result<Source, LabError> {
    let said = |error: &dyn std::fmt::Display| {
        LabError(format!(
            "{ROUTES_VARIABLE} must name a file of addresses or networks, one a line, and '{}' is \
             none: {error}",
            path.display()
        ))
    };
    let file = File::open(path).map_err(|error| said(&error))?;
    let options = list::ReadOptions {
        skip_bad_lines: true,
        ..list::ReadOptions::default()
    };
    let name = path.file_name().unwrap_or_default();
    let loaded = list::read(&name.to_string_lossy(), file, &options, &mut |_| {});
    let loaded = loaded.map_err(|error| said(&error))?;
    if loaded.entry_count == 0 {
        // Not what a list says of them, which names options that are not here.
        return Err(said(&match loaded.bad.first() {
            Some(bad) => format!(
                "no line is one that a list takes, from line {} on; 'linerate set check' says why",
                bad.line
            ),
            None => "nothing in it is one".to_owned(),
        }));
    }
    if let Some(bad) = loaded.bad.first() {
        outcome.skipped.push(format!(
            "{} of {} lines of the file that {ROUTES_VARIABLE} names, which are no entries: the \
             first is {bad}",
            loaded.bad_count, loaded.lines
        ));
    }
    Ok(Source {
        name: "file",
        entries: loaded.entries,
    })
}

/// The list that an entry goes to.
fn list_of(first: u128, last: u128) -> usize {
    let half = |word: u128| word as u64 ^ (word >> 64) as u64;
    let word = Seeded::new(half(first).rotate_left(32) ^ half(last)).next();
    word as usize % LISTS
}

/// What a family of a source needs to be dealt and looked up.
pub(crate) trait Dealt: Key {
    /// First and last address of every entry.
    fn spans(entries: &Entries) -> Vec<(Self, Self)>;
    /// The entries of this family, dealt.
    fn dealt(entries: &Entries) -> Vec<Entries>;
    /// Any address of the family.
    fn uniform(seeded: &mut Seeded) -> Self;
    /// An address between two.
    fn between(span: (Self, Self), seeded: &mut Seeded) -> Self;
}

macro_rules! dealt {
    ($key:ty, $family:ident, $uniform:expr) => {
        impl Dealt for $key {
            fn spans(entries: &Entries) -> Vec<(Self, Self)> {
                let given = &entries.$family;
                let addresses = given.addresses.iter().map(|&one| (one, one));
                let network = |network: &Network<Self>| (network.first(), network.last());
                let networks = given.networks.iter().map(network);
                let ranges = given.ranges.iter().map(|r| (r.first(), r.last()));
                addresses.chain(networks).chain(ranges).collect()
            }

            fn dealt(entries: &Entries) -> Vec<Entries> {
                let given = &entries.$family;
                let mut lists = vec![Entries::default(); LISTS];
                let list = |first: Self, last: Self| list_of(first.into(), last.into());
                for &one in &given.addresses {
                    lists[list(one, one)].$family.addresses.push(one);
                }
                for &network in &given.networks {
                    let list = list(network.first(), network.last());
                    lists[list].$family.networks.push(network);
                }
                for &range in &given.ranges {
                    lists[list(range.first(), range.last())]
                        .$family
                        .ranges
                        .push(range);
                }
                lists
            }

            fn uniform(seeded: &mut Seeded) -> Self {
                $uniform(seeded)
            }

            fn between((first, last): (Self, Self), seeded: &mut Seeded) -> Self {
                let any = u128::from(seeded.next()) << 64 | u128::from(seeded.next());
                match (last - first).checked_add(1) {
                    Some(count) => first + any as Self % count,
                    None => any as Self,
                }
            }
        }
    };
}
dealt!(u32, v4, |seeded: &mut Seeded| seeded.next() as u32);
dealt!(u128, v6, |seeded: &mut Seeded| {
    let any = u128::from(seeded.next()) << 64 | u128::from(seeded.next());
    any >> 3 | 1 << 125
});

fn streams<K: Dealt>(entries: &Entries, seed: u64) -> Result<[Keys<K>; 4], LabError> {
    let mut seeded = Seeded::new(seed);
    let uniform = Rc::new(Stream::drawn(|| K::uniform(&mut seeded))?);
    let spans = K::spans(entries);
    let from_table = Rc::new(Stream::drawn(|| {
        let span = spans[seeded.next() as usize % spans.len()];
        K::between(span, &mut seeded)
    })?);
    let keys = |name, stream: &Rc<Stream<K>>, each| Keys {
        name,
        stream: Rc::clone(stream),
        each,
    };
    Ok([
        keys("uniform", &uniform, 1),
        keys("from_table", &from_table, 1),
        keys("uniform_pair", &uniform, 2),
        keys("from_table_pair", &from_table, 2),
    ])
}

/// One family of a source; nothing where it has no entries.
fn family<K: Dealt>(
    source: &Source,
    scale: &Scale,
    all: &mut Vec<Contestant>,
) -> Result<Option<Ours>, LabError>
where
    CompiledLists: Set<K>,
{
    let lists = K::dealt(&source.entries);
    let entries = lists.iter().map(Entries::count).sum();
    if entries == 0 {
        return Ok(None);
    }
    let lists: Vec<&Entries> = lists.iter().collect();
    let compile = || CompiledLists::compile(&lists).map_err(refused);
    let compiled = Placed::make(compile, CompiledLists::bytes)?;
    let facts = Facts {
        design: "ours",
        family: K::FAMILY,
        kind: "networks",
        entries,
        lists: Some(LISTS),
        bytes: compiled.first().bytes(),
        heads: None,
        source: Some(source.name),
    };
    let sets = boxed(compiled);
    for keys in &streams::<K>(&source.entries, scale.seed)? {
        for burst in BURSTS {
            all.push(contestant(&facts, &sets, keys, (burst, burst), scale.trial));
        }
    }
    Ok(Some(Ours::new(&facts, &sets)))
}

/// Every contestant of one source.
pub(super) fn contestants(source: &Source, scale: &Scale) -> Result<Vec<Contestant>, LabError> {
    let mut all = Vec::new();
    let mut ours = Vec::new();
    ours.extend(family::<u32>(source, scale, &mut all)?);
    ours.extend(family::<u128>(source, scale, &mut all)?);
    all.extend(limits(&ours, scale.seed)?);
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Entries {
        let mut entries = Entries::default();
        entries.v4.addresses = vec![1, 2, 0xffff_ffff];
        entries.v4.networks.extend(Network::holding(0x0a00_0000, 8));
        entries.v4.networks.extend(Network::holding(0, 0));
        entries
            .v6
            .networks
            .extend(Network::holding(1u128 << 125, 48));
        entries
    }

    #[test]
    fn every_entry_is_dealt_to_one_list() {
        let lists = u32::dealt(&some());
        assert_eq!(lists.len(), LISTS);
        assert_eq!(lists.iter().map(Entries::count).sum::<usize>(), 5);
        assert_eq!(
            u128::dealt(&some())
                .iter()
                .map(Entries::count)
                .sum::<usize>(),
            1
        );
        let many = generated::entries(1);
        let counts = u32::dealt(&many).iter().map(Entries::count).min();
        assert!(counts.unwrap_or(0) > many.v4.networks.len() / LISTS * 9 / 10);
    }

    #[test]
    fn keys_from_the_table_lie_in_the_network_drawn() {
        let mut seeded = Seeded::new(1);
        for span in u32::spans(&some()) {
            for _ in 0..100 {
                let key = u32::between(span, &mut seeded);
                assert!((span.0..=span.1).contains(&key));
            }
        }
        assert!((0..100).all(|_| u128::uniform(&mut seeded) >> 125 == 1));
        let key = u128::between((0, u128::MAX), &mut seeded);
        assert_ne!(key, 0);
    }
}

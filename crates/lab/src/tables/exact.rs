//! Sets of exact addresses: ours over one list and over 16, and the other designs.

use std::rc::Rc;

use table::{AddressSetV4, AddressSetV6, CompiledLists, Entries};

use super::set::{Facts, Keys, Other, Ours, Sets, boxed, contestant};
use super::{BURSTS, Scale, limits};
use crate::contest::{Contestant, memory_bytes, refused};
use crate::design::Design;
use crate::design::array::{ArrayTable, Batched, HEADS, HEADS_MORE};
use crate::design::bitmap::Bitmap;
use crate::design::bucket16::Buckets16;
use crate::design::list::ListTable;
use crate::design::map8::Map8;
use crate::experiment::{LabError, Outcome};
use crate::key::{Key, Share, Stream};
use crate::places::Placed;

/// Lists that entries are dealt over.
const LISTS: usize = 16;
/// Keys that the other designs are handed at a time.
const BURST_OTHERS: usize = 256;
/// Frames handled together by the published table at its best.
const BATCH: usize = 32;
/// IPv6 sets and linked lists end here: beyond it they take gigabytes and show nothing new.
const ENTRIES_MIDDLE: usize = 6_000_000;
/// What an entry takes in all designs and while they are built, and what does not depend on them.
const ENTRY_BYTES: u64 = 65;
const HELD_BYTES: u64 = (1 << 30) + (1 << 28);

type Made<K> = (Facts, Rc<Sets<K>>);

fn facts<K: Key>(design: &'static str, entries: usize, lists: usize, bytes: usize) -> Facts {
    Facts {
        design,
        family: K::FAMILY,
        kind: "addresses",
        entries,
        lists: Some(lists),
        bytes,
        heads: None,
        source: None,
    }
}

/// Every contestant of one number of entries.
pub(super) fn contestants(
    entries: usize,
    scale: &Scale,
    outcome: &mut Outcome,
) -> Result<Vec<Contestant>, LabError> {
    if entries as u64 * ENTRY_BYTES + HELD_BYTES > memory_bytes() {
        outcome.skipped.push(format!(
            "{entries} entries: the designs together take more than a quarter of the memory that \
             is free"
        ));
        return Ok(Vec::new());
    }
    let mut all = Vec::new();
    let mut ours = Vec::new();
    let streams_v4 = streams::<u32>(entries, scale.seed)?;
    let v4 = ours_v4(entries, scale.seed)?;
    add(&v4, &streams_v4, scale, &mut all, &mut ours);
    if entries <= ENTRIES_MIDDLE {
        let streams = streams::<u128>(entries, scale.seed)?;
        add(
            &ours_v6(entries, scale.seed)?,
            &streams,
            scale,
            &mut all,
            &mut ours,
        );
    } else {
        outcome.skipped.push(format!(
            "{entries} entries in IPv6 and in linked lists: gigabytes for nothing new"
        ));
    }
    all.extend(limits(&ours, scale.seed)?);
    all.extend(others(entries, &streams_v4, scale)?);
    Ok(all)
}

/// The streams of a set, in the order of the rows.
fn streams<K: Key>(entries: usize, seed: u64) -> Result<[Keys<K>; 3], LabError> {
    let keys = |name, share, each| {
        let stream = Stream::of_set(entries, seed, share, seed ^ each as u64)?;
        Ok(Keys {
            name,
            stream: Rc::new(stream),
            each,
        })
    };
    Ok([
        keys("hit", Share::Hit, 1)?,
        keys("miss", Share::Miss, 1)?,
        keys("pair", Share::Half, 2)?,
    ])
}

fn add<K: Key>(
    made: &[Made<K>],
    streams: &[Keys<K>],
    scale: &Scale,
    all: &mut Vec<Contestant>,
    ours: &mut Vec<Ours>,
) {
    for (facts, set) in made {
        for keys in streams {
            for burst in BURSTS {
                all.push(contestant(facts, set, keys, (burst, burst), scale.trial));
            }
        }
        ours.push(Ours::new(facts, set));
    }
}

/// Numbers of a list: every 16th where there are 16.
fn dealt<K: Key>(entries: usize, list: usize, seed: u64) -> Vec<K> {
    let numbers = (list..entries).step_by(LISTS);
    numbers.map(|number| K::nth(number as u32, seed)).collect()
}

fn whole<K: Key>(entries: usize, seed: u64) -> Vec<K> {
    let numbers = 0..entries as u32;
    numbers.map(|number| K::nth(number, seed)).collect()
}

fn ours_v4(entries: usize, seed: u64) -> Result<Vec<Made<u32>>, LabError> {
    let addresses = whole(entries, seed);
    let one = || AddressSetV4::new(&addresses).map_err(refused);
    let one = Placed::make(one, AddressSetV4::bytes)?;
    let many = compiled(|list| {
        let mut given = Entries::default();
        given.v4.addresses = dealt(entries, list, seed);
        given
    })?;
    let facts = |lists, bytes| facts::<u32>("ours", entries, lists, bytes);
    Ok(vec![
        (facts(1, one.first().bytes()), boxed(one)),
        (facts(LISTS, many.first().bytes()), boxed(many)),
    ])
}

fn ours_v6(entries: usize, seed: u64) -> Result<Vec<Made<u128>>, LabError> {
    let addresses = whole(entries, seed);
    let one = || AddressSetV6::new(&addresses).map_err(refused);
    let one = Placed::make(one, AddressSetV6::bytes)?;
    let many = compiled(|list| {
        let mut given = Entries::default();
        given.v6.addresses = dealt(entries, list, seed);
        given
    })?;
    let facts = |lists, bytes| facts::<u128>("ours", entries, lists, bytes);
    Ok(vec![
        (facts(1, one.first().bytes()), boxed(one)),
        (facts(LISTS, many.first().bytes()), boxed(many)),
    ])
}

fn compiled(list: impl Fn(usize) -> Entries) -> Result<Placed<CompiledLists>, LabError> {
    let lists: Vec<Entries> = (0..LISTS).map(list).collect();
    let lists: Vec<&Entries> = lists.iter().collect();
    let compile = || CompiledLists::compile(&lists).map_err(refused);
    Placed::make(compile, CompiledLists::bytes)
}

/// The other designs, with what their rows say as burst.
fn other_sets(entries: usize, seed: u64) -> Result<Vec<(Made<u32>, usize)>, LabError> {
    let addresses = || (0..entries as u32).map(|number| u32::nth(number, seed));
    let mut made: Vec<(Made<u32>, usize)> = Vec::new();
    for heads in [HEADS, HEADS_MORE] {
        let table = Rc::new(ArrayTable::new(addresses(), heads)?);
        for batch in [1, BATCH] {
            let table = Rc::clone(&table);
            let set = Batched { table, batch };
            made.push((other("array", entries, Some(heads), set), batch));
        }
    }
    if entries <= ENTRIES_MIDDLE {
        let set = ListTable::new(addresses(), HEADS);
        made.push((other("list", entries, Some(HEADS), set), 1));
    }
    let set = Buckets16::new(addresses())?;
    made.push((other("bucket16", entries, None, set), BURST_OTHERS));
    let set = Map8::new(addresses())?;
    made.push((other("map8", entries, None, set), BURST_OTHERS));
    let set = Bitmap::new(addresses())?;
    made.push((other("bitmap", entries, None, set), BURST_OTHERS));
    Ok(made)
}

fn other<D: Design + 'static>(
    name: &'static str,
    entries: usize,
    heads: Option<usize>,
    set: D,
) -> Made<u32> {
    let facts = Facts {
        heads,
        ..facts::<u32>(name, entries, 1, set.bytes())
    };
    (facts, boxed(Placed::once(Other(set))))
}

fn others(
    entries: usize,
    streams: &[Keys<u32>],
    scale: &Scale,
) -> Result<Vec<Contestant>, LabError> {
    let mut all = Vec::new();
    for ((facts, set), named) in other_sets(entries, scale.seed)? {
        for keys in streams {
            let burst = (BURST_OTHERS, named);
            all.push(contestant(&facts, &set, keys, burst, scale.trial));
        }
    }
    Ok(all)
}

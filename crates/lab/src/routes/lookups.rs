//! The FIB of workers against DIR-24-8 and the lines that memory gives.

use std::hint::black_box;
use std::num::NonZeroU32;
use std::rc::Rc;

use table::Network;
use table::fib::{Fib, Routes};

use super::Scale;
use super::traffic::{Zipf, destinations, prefixes};
use crate::contest::{Contestant, refused};
use crate::design::dir24::Dir24;
use crate::experiment::LabError;
use crate::key::Stream;
use crate::places::Placed;
use crate::shuffle::Seeded;
use crate::tables::limits;
use crate::tables::routes::{Dealt, Source};
use crate::tables::set::{Answers, Facts, Keys, Ours, Set, boxed, contestant};

/// Next hops that routes are dealt over, where they do not have one each.
const HOPS: u32 = 64;
/// Keys handed over at a time.
const BURST: usize = super::scheme::BURST;

impl Set<u32> for Fib<u32> {
    fn lookup(&self, keys: &[u32], answers: &mut Answers) {
        self.lookup_burst(keys, &mut answers.masks);
        black_box(&answers.masks);
    }
}

impl Set<u32> for Dir24 {
    fn lookup(&self, keys: &[u32], answers: &mut Answers) {
        self.lookup_burst(keys, &mut answers.masks);
        black_box(&answers.masks);
    }
}

/// Which next hop a prefix has.
fn hop(network: Network<u32>) -> u32 {
    let word = u64::from(network.first()) << 8 | u64::from(network.prefix_len());
    1 + Seeded::new(word).next() as u32 % HOPS
}

fn hops(prefixes: &[Network<u32>]) -> Vec<(Network<u32>, u32)> {
    prefixes.iter().map(|&one| (one, hop(one))).collect()
}

fn fib(routes: &[(Network<u32>, u32)]) -> Result<Fib<u32>, LabError> {
    let route = |&(network, answer)| Some((network, NonZeroU32::new(answer)?));
    let routes = Routes::new(routes.iter().filter_map(route));
    Ok(routes.map_err(refused)?.fib())
}

/// Destinations that are drawn alike, by Zipf's law, and any addresses of the prefixes.
fn traffic(prefixes: &[Network<u32>], scale: &Scale) -> Result<[Keys<u32>; 3], LabError> {
    let mut seeded = Seeded::new(scale.seed ^ 2);
    let some = destinations(prefixes, scale.destinations, scale.seed);
    let uniform = Stream::with_len(scale.keys, || some[seeded.next() as usize % some.len()])?;
    let law = Zipf::new(some.len());
    let zipf = Stream::with_len(scale.keys, || some[law.draw(&mut seeded)])?;
    let from_table = Stream::with_len(scale.keys, || {
        let network = prefixes[seeded.next() as usize % prefixes.len()];
        u32::between((network.first(), network.last()), &mut seeded)
    })?;
    let keys = |name, stream| Keys {
        name,
        stream: Rc::new(stream),
        each: 1,
    };
    Ok([
        keys("uniform", uniform),
        keys("zipf", zipf),
        keys("from_table", from_table),
    ])
}

/// What rows say of a table.
fn facts(
    design: &'static str,
    family: u32,
    source: &Source,
    (entries, bytes): (usize, usize),
) -> Facts {
    Facts {
        design,
        family,
        kind: "routes",
        entries,
        lists: None,
        bytes,
        heads: None,
        source: Some(source.name),
    }
}

/// The bytes of a table by its prefixes: no measurement, and so the same in every round.
fn size(facts: &Facts, next_hops: usize) -> Contestant {
    let mut variant = facts.variant(None);
    variant.push(("next_hops", next_hops.into()));
    let bytes = facts.bytes as f64 / facts.entries as f64;
    Contestant {
        variant,
        metric: "bytes_per_prefix",
        measure: Box::new(move |_| bytes),
    }
}

/// The bytes of IPv6 routes; none where there are none.
fn size_v6(source: &Source) -> Result<Option<Contestant>, LabError> {
    let networks = &source.entries.v6.networks;
    if networks.is_empty() {
        return Ok(None);
    }
    let numbers = (0..HOPS)
        .cycle()
        .map(|number| NonZeroU32::MIN.saturating_add(number));
    let routes = Routes::new(networks.iter().copied().zip(numbers)).map_err(refused)?;
    let facts = facts("fib", 6, source, (routes.len(), routes.fib().bytes()));
    Ok(Some(size(&facts, HOPS as usize)))
}

/// Every contestant over the prefixes of one source.
pub(super) fn contestants(source: &Source, scale: &Scale) -> Result<Vec<Contestant>, LabError> {
    let prefixes = prefixes(&source.entries)?;
    let routes = hops(&prefixes);
    let made = Placed::make(|| fib(&routes), Fib::bytes)?;
    let ours = facts("fib", 4, source, (routes.len(), made.first().bytes()));
    let plain = Dir24::new(&routes)?;
    let beside = facts("dir_24_8", 4, source, (routes.len(), plain.bytes()));
    let (made, plain) = (boxed::<u32, _>(made), boxed::<u32, _>(Placed::once(plain)));
    let mut all = Vec::new();
    for keys in &traffic(&prefixes, scale)? {
        for (facts, sets) in [(&ours, &made), (&beside, &plain)] {
            all.push(contestant(facts, sets, keys, (BURST, BURST), scale.trial));
        }
    }
    all.extend(limits(
        &[Ours::new(&ours, &made), Ours::new(&beside, &plain)],
        scale.seed,
    )?);
    all.push(size(&ours, HOPS as usize));
    all.push(size(&beside, HOPS as usize));
    let own: Vec<_> = prefixes.iter().copied().zip(1..).collect();
    let bytes = fib(&own)?.bytes();
    all.push(size(
        &facts("fib", 4, source, (own.len(), bytes)),
        own.len(),
    ));
    all.extend(size_v6(source)?);
    Ok(all)
}

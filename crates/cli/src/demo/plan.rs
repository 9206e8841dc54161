//! What the demo runs.

use engine::{IdleMode, Limits, Machine, Plan};
use frame::PortId;
use plane::{Action, Policy, SetRule, Sides};
use port::{OpenContext, Port, PortSpec};
use std::time::Duration;

use super::Set;
use crate::args::DemoArgs;
use crate::error::Error;
use crate::report::number::{bytes, count};
use daemon::Layout;

/// Addresses unless fewer fit or other numbers are asked for.
const ENTRIES: u64 = 6_000_000;

/// What an address takes at the most while the set is built: as given, as a sample for the
/// generator, while it is sorted, and in the table.
const BYTES_AN_ENTRY: u64 = 40;

/// 64-byte frames, a tenth of them with an address of the set.
pub(super) const GENERATOR: &str = "gen:size=64,hit=0.1";

/// How many addresses, and a sentence when there are fewer than usual.
pub(super) fn entries(asked: Option<u64>, machine: &Machine) -> (u64, Option<String>) {
    if let Some(asked) = asked {
        return (asked, None);
    }
    let available = machine.memory_available_bytes;
    // Half of what is free: the rest is for the frames and for others.
    let fit = available / 2 / BYTES_AN_ENTRY;
    if available == 0 || fit >= ENTRIES {
        return (ENTRIES, None);
    }
    let entries = (fit / 1000 * 1000).max(1000);
    let sentence = format!(
        "only {} of memory are free, so the set is shrunk to {} addresses: --entries asks for more",
        bytes(available),
        count(entries)
    );
    (entries, Some(sentence))
}

/// Distinct random addresses: a seeded bijection of the numbers from 0 (the finisher of
/// MurmurHash3, each step of which can be undone).
pub(super) fn random_addresses(entries: u64, seed: u64) -> Vec<u32> {
    let salt = (seed ^ (seed >> 32)) as u32;
    let mix = |number: u32| {
        let mut mixed = number ^ salt.wrapping_mul(0x9E37_79B9);
        mixed = (mixed ^ (mixed >> 16)).wrapping_mul(0x85EB_CA6B);
        mixed = (mixed ^ (mixed >> 13)).wrapping_mul(0xC2B2_AE35);
        mixed ^ (mixed >> 16)
    };
    (0..entries).map(|number| mix(number as u32)).collect()
}

/// The generator's port.
pub(super) fn generator(args: &DemoArgs, set: &Set) -> Result<Box<dyn Port>, Error> {
    open(GENERATOR, PortId(0), args, set)
}

fn open(spec: &str, id: PortId, args: &DemoArgs, set: &Set) -> Result<Box<dyn Port>, Error> {
    let context = OpenContext {
        samples_v4: set.samples.clone(),
        seed: args.seed,
        ..OpenContext::default()
    };
    let spec = PortSpec::parse(spec).map_err(Error::refused)?;
    port::open(&spec, id, &context).map_err(Error::refused)
}

/// The bridge from the generator to nowhere, with the set in between.
pub(super) fn plan(args: &DemoArgs, layout: &Layout, set: &Set) -> Result<Plan, Error> {
    let rule = SetRule::new("demo", Action::Block, Sides::BOTH);
    Ok(Plan {
        ports: vec![generator(args, set)?, open("null:", PortId(1), args, set)?],
        policy: Policy::new(vec![rule]).map_err(Error::refused)?,
        lists: set.lists.clone(),
        cpus: layout.cpus.clone(),
        burst: layout.burst,
        stride_bytes: layout.stride_bytes(0),
        pool_frames: layout.pool_frames,
        dispatch: engine::DispatchSettings::default(),
        idle: IdleMode::default(),
        limits: Limits {
            duration: Some(Duration::from_secs(args.seconds)),
            frames: None,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn machine(memory_available_bytes: u64) -> Machine {
        Machine {
            cpu: String::new(),
            kernel: String::new(),
            cpus: 1,
            memory_available_bytes,
        }
    }

    #[test]
    fn a_small_machine_gets_a_smaller_set_and_is_told() {
        assert_eq!(entries(None, &machine(8 << 30)), (ENTRIES, None));
        assert_eq!(
            entries(None, &machine(0)),
            (ENTRIES, None),
            "unknown is not small"
        );
        let (fewer, sentence) = entries(None, &machine(64 << 20));
        assert_eq!(fewer, 838_000);
        assert!(sentence.is_some_and(|text| text.contains("64.0 MiB") && text.contains("838,000")));
        assert_eq!(entries(Some(7), &machine(1)).0, 7);
    }

    #[test]
    fn addresses_are_distinct_and_follow_the_seed() {
        let addresses = random_addresses(100_000, 1);
        let distinct: HashSet<u32> = addresses.iter().copied().collect();
        assert_eq!(distinct.len(), 100_000);
        assert_eq!(addresses, random_addresses(100_000, 1));
        assert_ne!(addresses, random_addresses(100_000, 2));
    }
}

//! The events that are counted, by name, and their numbers on each family of CPUs.
//!
//! Numbers of events come from the vendors' public lists: Intel's at github.com/intel/perfmon
//! (BSD-3-Clause) and the Software Developer's Manual, volume 3B; AMD's Processor Programming
//! References of families 17h, 19h and 1Ah. `source` of each line has the vendor's name of it.

use super::Family;
use crate::sys::perf_event::{Code, HARDWARE, RAW, SOFTWARE};

/// What counts an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The kernel.
    Software,
    /// A counter of the CPU.
    Hardware,
}

/// An event that can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// As metrics and JSON have it.
    pub name: &'static str,
    /// What counts it.
    pub kind: EventKind,
    /// Where its number comes from.
    pub source: &'static str,
    pub(super) code: Code,
}

/// Nanoseconds of CPU time.
pub(super) const TASK_CLOCK: &str = "task_clock_ns";

const fn software(name: &'static str, config: u64, source: &'static str) -> Event {
    Event {
        name,
        kind: EventKind::Software,
        source,
        code: Code {
            kind: SOFTWARE,
            config,
        },
    }
}

const fn architectural(name: &'static str, config: u64, source: &'static str) -> Event {
    Event {
        name,
        kind: EventKind::Hardware,
        source,
        code: Code {
            kind: HARDWARE,
            config,
        },
    }
}

/// An event by number: event and unit mask in the low 16 bits, as the registers have them.
const fn raw(name: &'static str, config: u64, source: &'static str) -> Event {
    Event {
        name,
        kind: EventKind::Hardware,
        source,
        code: Code { kind: RAW, config },
    }
}

/// Counts cycles in which the event happened at least so often (`cmask`).
const fn at_least(count: u64) -> u64 {
    count << 24
}

/// Counts changes from no to yes (`edge`).
const EDGE: u64 = 1 << 18;
/// Counts cycles in which `cmask` is not reached (`inv`).
const INVERTED: u64 = 1 << 23;
/// The upper four bits of an AMD event's number.
const AMD_1: u64 = 1 << 32;

const EVERYWHERE: [Event; 5] = [
    software(TASK_CLOCK, 1, "PERF_COUNT_SW_TASK_CLOCK"),
    software("context_switches", 3, "PERF_COUNT_SW_CONTEXT_SWITCHES"),
    software("migrations", 4, "PERF_COUNT_SW_CPU_MIGRATIONS"),
    software("minor_faults", 5, "PERF_COUNT_SW_PAGE_FAULTS_MIN"),
    software("major_faults", 6, "PERF_COUNT_SW_PAGE_FAULTS_MAJ"),
];

const ARCHITECTURAL: [Event; 6] = [
    architectural("cycles", 0, "PERF_COUNT_HW_CPU_CYCLES"),
    architectural("instructions", 1, "PERF_COUNT_HW_INSTRUCTIONS"),
    architectural("cache_references", 2, "PERF_COUNT_HW_CACHE_REFERENCES"),
    architectural("cache_misses", 3, "PERF_COUNT_HW_CACHE_MISSES"),
    architectural("branches", 4, "PERF_COUNT_HW_BRANCH_INSTRUCTIONS"),
    architectural("branch_misses", 5, "PERF_COUNT_HW_BRANCH_MISSES"),
];

const INTEL: [Event; 9] = [
    raw(
        "stalled_cycles",
        0x02c2 | INVERTED | at_least(1),
        "UOPS_RETIRED.STALL_CYCLES",
    ),
    raw(
        "memory_stalled_cycles",
        0x06a3 | at_least(6),
        "CYCLE_ACTIVITY.STALLS_L3_MISS",
    ),
    raw("l2_misses", 0x10d1, "MEM_LOAD_RETIRED.L2_MISS"),
    raw("llc_misses", 0x20d1, "MEM_LOAD_RETIRED.L3_MISS"),
    raw("split_loads", 0x41d0, "MEM_INST_RETIRED.SPLIT_LOADS"),
    raw("split_stores", 0x42d0, "MEM_INST_RETIRED.SPLIT_STORES"),
    raw(
        "contested_lines",
        0x04d2,
        "MEM_LOAD_L3_HIT_RETIRED.XSNP_HITM",
    ),
    raw("empty_slots", 0x019c, "IDQ_UOPS_NOT_DELIVERED.CORE"),
    raw(
        "clears",
        0x01c3 | EDGE | at_least(1),
        "MACHINE_CLEARS.COUNT",
    ),
];

const INTEL_TO_ICE_LAKE: [Event; 3] = [
    raw("page_walks", 0x0e08, "DTLB_LOAD_MISSES.WALK_COMPLETED"),
    raw("blocked_forwards", 0x0203, "LD_BLOCKS.STORE_FORWARD"),
    raw("page_aliases", 0x0107, "LD_BLOCKS_PARTIAL.ADDRESS_ALIAS"),
];

const INTEL_FROM_GOLDEN_COVE: [Event; 3] = [
    raw("page_walks", 0x0e12, "DTLB_LOAD_MISSES.WALK_COMPLETED"),
    raw("blocked_forwards", 0x8203, "LD_BLOCKS.STORE_FORWARD"),
    raw("page_aliases", 0x0403, "LD_BLOCKS.ADDRESS_ALIAS"),
];

const AMD: [Event; 5] = [
    raw(
        "stalled_cycles",
        0x00c1 | INVERTED | at_least(1),
        "ex_ret_ops, inverted",
    ),
    raw("l2_misses", 0x0864, "l2_cache_req_stat.ls_rd_blk_c"),
    raw(
        "llc_misses",
        0x4843,
        "ls_dmnd_fills_from_sys, memory near and far",
    ),
    raw("page_walks", 0xf045, "ls_l1_d_tlb_miss.all_l2_miss"),
    raw("blocked_forwards", 0x0224, "ls_bad_status2.stli_other"),
];

const AMD_FROM_ZEN3: [Event; 2] = [
    raw("split_loads", 0x0147, "ls_misal_loads.ma64"),
    raw(
        "contested_lines",
        0x1443,
        "ls_dmnd_fills_from_sys, caches of other cores",
    ),
];

const AMD_FROM_ZEN4: [Event; 2] = [
    raw(
        "empty_slots",
        AMD_1 | 0x01a0,
        "de_no_dispatch_per_slot.no_ops_from_frontend",
    ),
    raw("clears", 0x0096, "resyncs_or_nc_redirects"),
];

/// All events of a family.
pub(super) fn events(family: Family) -> Vec<Event> {
    let own: &[&[Event]] = match family {
        Family::IntelSkylake | Family::IntelIceLake => &[&INTEL, &INTEL_TO_ICE_LAKE],
        Family::IntelGoldenCove => &[&INTEL, &INTEL_FROM_GOLDEN_COVE],
        Family::AmdZen2 => &[&AMD],
        Family::AmdZen3 => &[&AMD, &AMD_FROM_ZEN3],
        Family::AmdZen4 | Family::AmdZen5 => &[&AMD, &AMD_FROM_ZEN3, &AMD_FROM_ZEN4],
        Family::Other => &[],
    };
    let known: [&[Event]; 2] = [&EVERYWHERE, &ARCHITECTURAL];
    known
        .iter()
        .chain(own)
        .flat_map(|events| events.iter().copied())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Family; 8] = [
        Family::IntelSkylake,
        Family::IntelIceLake,
        Family::IntelGoldenCove,
        Family::AmdZen2,
        Family::AmdZen3,
        Family::AmdZen4,
        Family::AmdZen5,
        Family::Other,
    ];

    #[test]
    fn an_event_of_a_family_has_one_name_and_one_number() {
        for family in ALL {
            let events = events(family);
            for (index, event) in events.iter().enumerate() {
                let before = &events[..index];
                let same = |other: &&Event| other.name == event.name || other.code == event.code;
                assert_eq!(before.iter().find(same), None, "{family:?}");
                assert!(!event.source.is_empty());
            }
        }
    }

    /// As the registers have them: event, unit mask, edge, inversion, mask of counts.
    #[test]
    fn numbers_are_those_of_the_registers() {
        let config = |family, name: &str| {
            let found = events(family).into_iter().find(|event| event.name == name);
            found.map(|event| event.code.config)
        };
        for (family, name, expected) in [
            (Family::IntelSkylake, "stalled_cycles", Some(0x0180_02c2)),
            (
                Family::IntelSkylake,
                "memory_stalled_cycles",
                Some(0x0600_06a3),
            ),
            (Family::IntelIceLake, "clears", Some(0x0104_01c3)),
            (Family::IntelIceLake, "page_aliases", Some(0x0107)),
            (Family::IntelGoldenCove, "page_aliases", Some(0x0403)),
            (Family::AmdZen4, "empty_slots", Some(0x1_0000_01a0)),
            (Family::AmdZen5, "blocked_forwards", Some(0x0224)),
            (Family::AmdZen2, "empty_slots", None),
            (Family::Other, "cycles", Some(0)),
            (Family::Other, "l2_misses", None),
        ] {
            assert_eq!(config(family, name), expected, "{family:?} {name}");
        }
    }
}

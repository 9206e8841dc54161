//! What the kernel's verifier says of the program, without the rights of root.

use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

use super::*;
use crate::xdp::KeepLocal;

const ROOM: Room = Room {
    queues_end: 4,
    sieve_words: 1024,
};

/// Settings that make other parts of the program reachable.
fn settings() -> Vec<Settings> {
    let plain = Settings {
        drop_unclaimed: false,
        keep_local: KeepLocal::Off,
        bypass: false,
        changed: 0,
        shortcut: false,
        asked: Asked::default(),
    };
    let asked = Asked {
        stamp: true,
        hash: true,
    };
    vec![
        plain,
        Settings {
            keep_local: KeepLocal::On,
            ..plain
        },
        Settings {
            keep_local: KeepLocal::Control,
            ..plain
        },
        Settings {
            bypass: true,
            ..plain
        },
        Settings {
            shortcut: true,
            ..plain
        },
        Settings { asked, ..plain },
        Settings {
            drop_unclaimed: true,
            keep_local: KeepLocal::On,
            bypass: true,
            changed: 1,
            shortcut: true,
            asked,
        },
    ]
}

/// What the unit of the package gives. Of this thread alone.
fn keep_what_the_service_has() -> bool {
    let kept = CapabilitySet::NET_ADMIN | CapabilitySet::NET_RAW | CapabilitySet::BPF;
    let sets = CapabilitySets {
        effective: kept,
        permitted: kept,
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, sets).is_ok()
}

#[test]
fn the_verifier_takes_the_program_without_cap_perfmon() {
    if !keep_what_the_service_has() || !crate::Rights::tried().bpf {
        println!("skipped: this needs root that may use BPF");
        return;
    }
    for settings in settings() {
        let loaded = Steering::load("eth0", ROOM, settings, None);
        assert!(loaded.is_ok(), "{settings:?}: {loaded:?}");
    }
}

//! What this process may do of what ports need, tried out: user namespaces give capabilities that
//! the kernel does not honour everywhere.

use std::fs;

use crate::sys::packet_socket::PacketSocket;
use crate::sys::xdp_maps::{Map, MapKind, MapShape};

/// The kernel's first user namespace (`PROC_USER_INIT_INO`).
const FIRST: &str = "user:[4026531837]";

/// Capabilities that an `xdp:` port needs (`CAP_NET_ADMIN`, `CAP_NET_RAW`, `CAP_BPF`).
const NEEDED: u64 = 1 << 12 | 1 << 13 | 1 << 39;
/// `CAP_PERFMON`, without which the verifier takes less.
const PERFMON: u64 = 1 << 38;

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rights {
    /// It can open packet sockets, which every port on an interface needs.
    pub packet_sockets: bool,
    /// It can use BPF, which `xdp:` needs.
    pub bpf: bool,
    /// It is in a user namespace of its own, where root is not the machine's; `None` where `/proc`
    /// does not say.
    pub in_user_namespace: Option<bool>,
}

impl Rights {
    /// Tries; what is made for it is gone again.
    #[must_use]
    pub fn tried() -> Self {
        let shape = MapShape::numbered(MapKind::Sockets, 4, 1);
        Self {
            packet_sockets: PacketSocket::new().is_ok(),
            bpf: Map::create("rights", shape).is_ok(),
            in_user_namespace: in_user_namespace(),
        }
    }
}

/// Whether root here is not the machine's.
pub(crate) fn in_user_namespace() -> Option<bool> {
    let link = fs::read_link("/proc/self/ns/user").ok()?;
    Some(link.to_str()? != FIRST)
}

/// What the kernel refused with `EPERM` or `EACCES`: what this thread lacks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lacking {
    /// One of the capabilities that every `xdp:` port needs, or nobody knows what.
    Needed,
    /// `CAP_PERFMON` alone.
    Perfmon,
    /// Nothing.
    Nothing,
}

impl Lacking {
    /// Of this thread.
    pub(crate) fn here() -> Self {
        let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
        Self::of_status(&status)
    }

    fn of_status(status: &str) -> Self {
        let effective = status
            .lines()
            .find_map(|line| line.strip_prefix("CapEff:"))
            .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        match effective.unwrap_or(0) {
            mask if mask & NEEDED != NEEDED => Self::Needed,
            mask if mask & PERFMON == 0 => Self::Perfmon,
            _ => Self::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lacking_is_read_from_the_mask() {
        for (status, lacking) in [
            ("Name:\tx\nCapEff:\t000001ffffffffff\n", Lacking::Nothing),
            ("CapEff:\t000000c000003000\n", Lacking::Nothing),
            ("CapEff:\t0000008000003000\n", Lacking::Perfmon),
            ("CapEff:\t0000004000003000\n", Lacking::Needed),
            ("CapEff:\t0000000000000000\n", Lacking::Needed),
            ("CapPrm:\t000001ffffffffff\n", Lacking::Needed),
            ("CapEff:\tnonsense\n", Lacking::Needed),
            ("", Lacking::Needed),
        ] {
            assert_eq!(Lacking::of_status(status), lacking, "{status}");
        }
    }

    #[test]
    fn what_is_tried_agrees_with_who_we_are() {
        let rights = Rights::tried();
        let root = fs::read_to_string("/proc/self/uid_map").is_ok_and(|map| {
            let words: Vec<&str> = map.split_whitespace().collect();
            words == ["0", "0", "4294967295"]
        });
        if root {
            assert_eq!(rights.in_user_namespace, Some(false));
        }
        if rights.bpf && rights.in_user_namespace == Some(true) {
            println!("this user namespace was given a BPF token");
        }
    }
}

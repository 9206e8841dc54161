//! What this process may do of what ports need, tried out: user namespaces give capabilities that
//! the kernel does not honour everywhere.

use std::fs;

use crate::sys::packet_socket::PacketSocket;
use crate::sys::xdp_maps::{Map, MapKind, MapShape};

/// The kernel's first user namespace (`PROC_USER_INIT_INO`).
const FIRST: &str = "user:[4026531837]";

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

#[cfg(test)]
mod tests {
    use super::*;

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

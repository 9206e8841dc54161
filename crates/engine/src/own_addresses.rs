//! The addresses that a block list had better not cover: this machine's own, its gateways' and
//! its resolvers', from what the kernel shows in `/proc` and from the resolver's configuration.

use std::collections::BTreeMap;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What an address is to this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// On one of its interfaces.
    Address,
    /// A router that it sends by.
    Gateway,
    /// A name server that it asks.
    Resolver,
}

impl Role {
    /// For sentences: `an address of this machine`, `its gateway`, `its resolver`.
    #[must_use]
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Address => "an address of this machine",
            Self::Gateway => "its gateway",
            Self::Resolver => "its resolver",
        }
    }
}

/// One address and what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnAddress {
    /// The address.
    pub address: IpAddr,
    /// What it is to this machine.
    pub role: Role,
}

/// Reads them, sorted by address, each once (an address with several roles keeps the first).
/// What cannot be read adds nothing; loopback and unspecified addresses are left out.
#[must_use]
pub fn own_addresses() -> Vec<OwnAddress> {
    let text = |path| fs::read_to_string(path).unwrap_or_default();
    let mut roles = BTreeMap::new();
    let mut add = |role, addresses: Vec<IpAddr>| {
        for address in addresses {
            if !address.is_loopback() && !address.is_unspecified() {
                roles.entry(address).or_insert(role);
            }
        }
    };
    add(Role::Address, local_v4(&text("/proc/net/fib_trie")));
    add(Role::Address, local_v6(&text("/proc/net/if_inet6")));
    add(Role::Gateway, gateways_v4(&text("/proc/net/route")));
    add(Role::Gateway, gateways_v6(&text("/proc/net/ipv6_route")));
    add(Role::Resolver, resolvers(&text("/etc/resolv.conf")));
    roles
        .into_iter()
        .map(|(address, role)| OwnAddress { address, role })
        .collect()
}

/// `fib_trie` names a leaf by a line `|-- ADDRESS` and says `/32 host LOCAL` under it.
fn local_v4(text: &str) -> Vec<IpAddr> {
    let mut leaf: Option<Ipv4Addr> = None;
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(address) = line.strip_prefix("|-- ") {
            leaf = address.parse().ok();
        } else if line == "/32 host LOCAL" {
            found.extend(leaf.map(IpAddr::V4));
        }
    }
    found
}

/// `if_inet6`: 32 hexadecimal digits, then interface fields.
fn local_v6(text: &str) -> Vec<IpAddr> {
    text.lines()
        .filter_map(|line| hex_v6(line.split_whitespace().next()?))
        .collect()
}

/// `route`: the third column is the gateway, in the byte order of the machine.
fn gateways_v4(text: &str) -> Vec<IpAddr> {
    let gateway = |line: &str| {
        let raw = u32::from_str_radix(line.split_whitespace().nth(2)?, 16).ok()?;
        Some(IpAddr::V4(Ipv4Addr::from(raw.to_ne_bytes())))
    };
    text.lines().skip(1).filter_map(gateway).collect()
}

/// `ipv6_route`: the fifth column is the next hop.
fn gateways_v6(text: &str) -> Vec<IpAddr> {
    text.lines()
        .filter_map(|line| hex_v6(line.split_whitespace().nth(4)?))
        .collect()
}

fn hex_v6(digits: &str) -> Option<IpAddr> {
    let whole = digits.len() == 32;
    let bits = u128::from_str_radix(digits, 16).ok().filter(|_| whole)?;
    Some(IpAddr::V6(Ipv6Addr::from(bits)))
}

fn resolvers(text: &str) -> Vec<IpAddr> {
    let server = |line: &str| {
        let mut words = line.split_whitespace();
        (words.next()? == "nameserver").then_some(())?;
        words.next()?.split('%').next()?.parse().ok()
    };
    text.lines().filter_map(server).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v4(text: &str) -> IpAddr {
        IpAddr::V4(text.parse().expect("an address"))
    }

    #[test]
    fn local_addresses_from_fib_trie() {
        let text = "Local:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 10.1.2.3\n        /32 host LOCAL\n     \
                    |-- 10.1.2.255\n        /32 link BROADCAST\n";
        assert_eq!(local_v4(text), [v4("10.1.2.3")]);
    }

    #[test]
    fn gateways_are_in_machine_order() {
        let raw = u32::from_ne_bytes([10, 1, 2, 1]);
        let text = format!("Iface Destination Gateway\neth0 00000000 {raw:08X} 0003\nbad\n");
        assert_eq!(gateways_v4(&text), [v4("10.1.2.1")]);
    }

    #[test]
    fn version_six_is_hexadecimal() {
        let line = "fe800000000000000000000000000001 02 40 20 80 eth0";
        assert_eq!(
            local_v6(line),
            ["fe80::1".parse::<IpAddr>().expect("an address")]
        );
        assert!(local_v6("fe80 02\n\n").is_empty());
        let route = "0 00 0 00 20010db8000000000000000000000001 00000400";
        assert_eq!(
            gateways_v6(route),
            ["2001:db8::1".parse::<IpAddr>().expect("an address")]
        );
    }

    #[test]
    fn resolvers_may_carry_a_zone() {
        let text =
            "# nameserver 9.9.9.9\nnameserver 192.0.2.1\nnameserver fe80::1%eth0\nsearch x\n";
        let zoned: IpAddr = "fe80::1".parse().expect("an address");
        assert_eq!(resolvers(text), [v4("192.0.2.1"), zoned]);
    }

    #[test]
    fn this_machine_answers_without_loopback() {
        assert!(own_addresses().iter().all(|own| !own.address.is_loopback()));
    }
}

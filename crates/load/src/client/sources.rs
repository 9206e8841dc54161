//! Addresses that clients have.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};

use crate::LoadError;

/// The first port that is given to a client.
const PORT_FIRST: u64 = 1024;
const PORTS: u64 = 65_536 - PORT_FIRST;

/// A range of addresses of one family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sources {
    first: u128,
    /// How many.
    count: u128,
    is_v4: bool,
}

impl Sources {
    /// Reads `10.0.0.1`, `10.0.0.0/24` or `10.0.0.1-10.0.0.9`, of either family.
    ///
    /// # Errors
    /// A sentence for anything else.
    pub fn parse(text: &str) -> Result<Self, LoadError> {
        let refuse = || {
            LoadError::new(format!(
                "{text}: write client addresses as 10.0.0.1, 10.0.0.0/24 or 10.0.0.1-10.0.0.9"
            ))
        };
        let (low, high) = if let Some((address, length)) = text.split_once('/') {
            prefix(address.parse().map_err(|_| refuse())?, length).ok_or_else(refuse)?
        } else {
            let (low, high) = text.split_once('-').unwrap_or((text, text));
            (
                low.parse().map_err(|_| refuse())?,
                high.parse().map_err(|_| refuse())?,
            )
        };
        let (first, last) = (number(low), number(high));
        if low.is_ipv4() != high.is_ipv4() || first > last {
            return Err(refuse());
        }
        let count = (last - first).saturating_add(1);
        Ok(Self {
            first,
            count,
            is_v4: low.is_ipv4(),
        })
    }

    /// Whether these are of the family of a server.
    #[must_use]
    pub const fn fit(&self, server: SocketAddr) -> bool {
        self.is_v4 == server.is_ipv4()
    }

    /// Refuses addresses that this host does not have: requests from there would be counted as
    /// `unreachable`, as if the server were at fault. The first and the last one stand for all.
    /// Of IPv6 nothing can be told: to an address of a local route, Linux binds only what it lets
    /// bind to any address.
    ///
    /// # Errors
    /// The address, why nothing can be bound there, and what helps.
    pub(super) fn check(&self) -> Result<(), LoadError> {
        let ends = [self.first, self.first + (self.count - 1)];
        for number in ends.into_iter().filter(|_| self.is_v4) {
            let address = self.address(number);
            TcpListener::bind((address, 0)).map_err(|error| {
                LoadError::new(format!(
                    "no client can have the address {address}: {error}: 'ip address' shows the \
                     addresses of this host, and a whole prefix becomes one of them by 'ip route \
                     add local PREFIX dev lo'"
                ))
            })?;
        }
        Ok(())
    }

    fn address(&self, number: u128) -> IpAddr {
        match self.is_v4 {
            true => IpAddr::V4(Ipv4Addr::from(number as u32)),
            false => IpAddr::V6(Ipv6Addr::from(number)),
        }
    }

    /// One of the pairs of address and port, each address once before any port changes. The
    /// kernel's own choice would be held to the range of `ip_local_port_range`, and to one server.
    pub(super) fn pair(&self, number: u64) -> SocketAddr {
        let (index, turn) = (
            u128::from(number) % self.count,
            u128::from(number) / self.count,
        );
        let port = PORT_FIRST + (turn % u128::from(PORTS)) as u64;
        SocketAddr::new(self.address(self.first + index), port as u16)
    }
}

fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u32::from(address).into(),
        IpAddr::V6(address) => address.into(),
    }
}

fn prefix(address: IpAddr, length: &str) -> Option<(IpAddr, IpAddr)> {
    let bits: u32 = if address.is_ipv4() { 32 } else { 128 };
    let length: u32 = length.parse().ok().filter(|length| *length <= bits)?;
    let free = match bits - length {
        128 => u128::MAX,
        free => (1 << free) - 1,
    };
    let (low, high) = (number(address) & !free, number(address) | free);
    Some(match address {
        IpAddr::V4(_) => (
            Ipv4Addr::from(low as u32).into(),
            Ipv4Addr::from(high as u32).into(),
        ),
        IpAddr::V6(_) => (Ipv6Addr::from(low).into(), Ipv6Addr::from(high).into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_their_pairs() {
        for (text, pairs) in [
            ("10.0.0.7", vec!["10.0.0.7:1024", "10.0.0.7:1025"]),
            (
                "10.0.0.9/31",
                vec!["10.0.0.8:1024", "10.0.0.9:1024", "10.0.0.8:1025"],
            ),
            (
                "10.0.0.255-10.0.1.0",
                vec!["10.0.0.255:1024", "10.0.1.0:1024", "10.0.0.255:1025"],
            ),
            (
                "fd00::1-fd00::2",
                vec!["[fd00::1]:1024", "[fd00::2]:1024", "[fd00::1]:1025"],
            ),
            ("::/0", vec!["[::]:1024", "[::1]:1024"]),
        ] {
            let sources = Sources::parse(text).expect(text);
            for (index, pair) in pairs.iter().enumerate() {
                assert_eq!(sources.pair(index as u64).to_string(), *pair, "{text}");
            }
        }
        let one = Sources::parse("10.0.0.7").expect("one");
        assert_eq!(one.pair(PORTS - 1).port(), 65_535);
        assert_eq!(one.pair(PORTS).port(), 1024);
        for text in [
            "",
            "10.0.0",
            "10.0.0.0/33",
            "10.0.0.2-10.0.0.1",
            "10.0.0.1-::1",
            "a/b",
            "::/129",
        ] {
            assert!(Sources::parse(text).is_err(), "{text}");
        }
    }
}

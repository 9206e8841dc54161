//! The ends of a connection as the key of a table.

use std::hash::{Hash, Hasher};
use std::net::IpAddr;

use super::Pair;

/// A [`Pair`] in 40 bytes instead of 64. It is hashed by two words (IPv4) or five (IPv6) where a
/// pair of socket addresses takes ten short writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ends {
    local: [u64; 2],
    remote: [u64; 2],
    ports: [u16; 2],
    is_v6: bool,
}

impl From<&Pair> for Ends {
    fn from(pair: &Pair) -> Self {
        Self {
            local: words(pair.local.ip()),
            remote: words(pair.remote.ip()),
            ports: [pair.local.port(), pair.remote.port()],
            is_v6: pair.local.is_ipv6(),
        }
    }
}

/// Spreads ports over a word, so that they do not meet the bits of addresses under a small key, as
/// tests have: the golden ratio, as a fraction of 2^64.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

impl Hash for Ends {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let [local, remote] = self.ports.map(u64::from);
        match self.is_v6 {
            true => {
                let words = [self.local, self.remote];
                words
                    .into_iter()
                    .flatten()
                    .for_each(|word| state.write_u64(word));
            }
            false => state.write_u64(self.local[1] << 32 | self.remote[1]),
        }
        let ports = u64::from(self.is_v6) << 32 | local << 16 | remote;
        state.write_u64(ports.wrapping_mul(SPREAD));
    }
}

fn words(ip: IpAddr) -> [u64; 2] {
    match ip {
        IpAddr::V4(ip) => [0, ip.to_bits().into()],
        IpAddr::V6(ip) => [(ip.to_bits() >> 64) as u64, ip.to_bits() as u64],
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::net::SocketAddr;

    use super::*;
    use crate::KeyedHash;

    /// Each differs from the first in one field; the last is the first in IPv6.
    #[test]
    fn every_field_tells_pairs_apart_and_families_do_not_meet() {
        let pairs = [
            ("192.0.2.1:80", "198.18.0.1:9"),
            ("192.0.2.2:80", "198.18.0.1:9"),
            ("192.0.2.1:81", "198.18.0.1:9"),
            ("192.0.2.1:80", "198.18.0.2:9"),
            ("192.0.2.1:80", "198.18.0.1:8"),
            ("198.18.0.1:9", "192.0.2.1:80"),
            ("[::192.0.2.1]:80", "[::198.18.0.1]:9"),
            ("[::ffff:192.0.2.1]:80", "[::ffff:198.18.0.1]:9"),
            ("[1::192.0.2.1]:80", "[::198.18.0.1]:9"),
            ("[::192.0.2.1]:80", "[1::198.18.0.1]:9"),
        ];
        let end = |text: &str| text.parse::<SocketAddr>().expect("an address and a port");
        let pairs = pairs.map(|(local, remote)| Pair {
            local: end(local),
            remote: end(remote),
        });
        let mut known = HashSet::with_hasher(KeyedHash([1, 7]));
        for pair in &pairs {
            assert!(known.insert(Ends::from(pair)), "{pair:?}");
        }
        assert!(pairs.iter().all(|pair| known.contains(&Ends::from(pair))));
        assert!(size_of::<Ends>() <= 40);
    }
}

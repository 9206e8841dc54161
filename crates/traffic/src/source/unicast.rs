//! Random addresses that a router forwards: global unicast ones, of which none is set aside for a
//! special purpose (the IANA registries of RFC 6890).

use crate::random::scale;

/// First octets of networks that are set aside in whole or in part: private, loopback, shared
/// (100.64.0.0/10), link-local, documentation, benchmarking, relays. 0 and 224 to 255 are beside
/// them. An octet is left out as a whole: what is left are 215 of 256, without a look at the rest.
const SET_ASIDE: [u8; 8] = [10, 100, 127, 169, 172, 192, 198, 203];
const OCTETS_COUNT: usize = 223 - SET_ASIDE.len();

/// First octets that are drawn from, in order.
static OCTETS: [u8; OCTETS_COUNT] = octets();

const fn octets() -> [u8; OCTETS_COUNT] {
    let mut octets = [0; OCTETS_COUNT];
    let (mut count, mut octet, mut aside) = (0, 1, 0);
    while octet < 224 {
        if aside < SET_ASIDE.len() && octet == SET_ASIDE[aside] {
            aside += 1;
        } else {
            octets[count] = octet;
            count += 1;
        }
        octet += 1;
    }
    octets
}

/// The address that 32 random bits choose, all of them as likely as any other.
#[inline(always)]
pub(super) fn v4(random: u32) -> u32 {
    let chosen = scale(random.into(), (OCTETS_COUNT as u64) << 24) as u32;
    u32::from(OCTETS[(chosen >> 24) as usize]) << 24 | chosen & 0xff_ffff
}

/// The same of source and destination, in the upper and the lower half.
#[inline(always)]
pub(super) fn v4_pair(random: u64) -> u64 {
    u64::from(v4((random >> 32) as u32)) << 32 | u64::from(v4(random as u32))
}

/// The address of 2000::/3 (RFC 4291 section 2.4) that random bits choose. Where the first 16 are
/// those of 2001::/16 (protocols, documentation), 2002::/16 (6to4) or 3fff::/16 (documentation),
/// another bit is set or cleared.
#[inline]
pub(super) fn v6(random: u128) -> u128 {
    let address = random & (!0 >> 3) | 1 << 125;
    match address >> 112 {
        0x2001 | 0x2002 | 0x3fff => address ^ 1 << 120,
        _ => address,
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use super::*;
    use crate::Random;

    /// What the registries of special-purpose addresses hold, as networks.
    const SPECIAL_V4: [([u8; 4], u32); 17] = [
        ([0, 0, 0, 0], 8),
        ([10, 0, 0, 0], 8),
        ([100, 64, 0, 0], 10),
        ([127, 0, 0, 0], 8),
        ([169, 254, 0, 0], 16),
        ([172, 16, 0, 0], 12),
        ([192, 0, 0, 0], 24),
        ([192, 0, 2, 0], 24),
        ([192, 31, 196, 0], 24),
        ([192, 52, 193, 0], 24),
        ([192, 88, 99, 0], 24),
        ([192, 168, 0, 0], 16),
        ([192, 175, 48, 0], 24),
        ([198, 18, 0, 0], 15),
        ([198, 51, 100, 0], 24),
        ([203, 0, 113, 0], 24),
        ([224, 0, 0, 0], 3),
    ];

    fn is_special_v4(address: u32) -> bool {
        SPECIAL_V4.iter().any(|&(network, len)| {
            let network = u32::from(Ipv4Addr::from(network));
            (address ^ network) >> (32 - len) == 0
        })
    }

    #[test]
    fn no_address_is_set_aside() {
        // All first 16 bits, and the ends of what is behind them.
        for high in 0..=u16::MAX {
            for low in [0, 1, 0x7fff, u16::MAX] {
                let address = v4(u32::from(high) << 16 | u32::from(low));
                let shown = Ipv4Addr::from(address);
                assert!(!is_special_v4(address), "{shown}");
            }
            let address = v6(u128::from(high) << 112 | 0x0db8 << 96);
            let shown = Ipv6Addr::from(address);
            let first = shown.segments()[0];
            assert!((0x2000..0x4000).contains(&first), "{shown}");
            assert!(![0x2001, 0x2002, 0x3fff].contains(&first), "{shown}");
        }
    }

    #[test]
    fn every_first_octet_that_is_left_is_as_likely() {
        const DRAWS: u32 = 215_000;
        let (mut random, mut counts) = (Random::new(3, 0), [0_u32; 256]);
        for _ in 0..DRAWS {
            counts[(v4(random.next() as u32) >> 24) as usize] += 1;
        }
        let drawn = counts.iter().filter(|&&count| count != 0);
        assert_eq!(drawn.clone().count(), OCTETS_COUNT);
        for &count in drawn {
            assert!(count.abs_diff(1_000) < 200, "{count}");
        }
    }

    #[test]
    fn a_pair_is_two_addresses() {
        let pair = v4_pair(0x0102_0304_ffff_ffff);
        assert_eq!((pair >> 32) as u32, v4(0x0102_0304));
        assert_eq!(pair as u32, v4(u32::MAX));
    }
}

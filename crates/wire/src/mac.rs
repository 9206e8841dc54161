//! Ethernet addresses.

use core::fmt;
use core::str::FromStr;

/// A 48-bit Ethernet address, in the order of the wire.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct MacAddress(pub [u8; 6]);

impl MacAddress {
    /// All stations.
    pub const BROADCAST: Self = Self([0xFF; 6]);

    /// True for multicast addresses, broadcast among them: the group bit is set.
    #[inline]
    #[must_use]
    pub const fn is_multicast(self) -> bool {
        self.0[0] & 1 != 0
    }

    /// True for 01-80-C2-00-00-00 to 0F, which bridges do not pass on (IEEE 802.1Q-2022, 8.6.3).
    #[inline]
    #[must_use]
    pub const fn is_bridge_reserved(self) -> bool {
        matches!(self.0, [0x01, 0x80, 0xC2, 0, 0, 0..=0x0F])
    }
}

impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl fmt::Debug for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Text that is not six pairs of hexadecimal digits between colons.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotAMacAddress;

impl fmt::Display for NotAMacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an Ethernet address is written like 02:00:00:00:00:01")
    }
}

impl core::error::Error for NotAMacAddress {}

impl FromStr for MacAddress {
    type Err = NotAMacAddress;

    fn from_str(text: &str) -> Result<Self, NotAMacAddress> {
        let mut address = [0; 6];
        let mut parts = text.split(':');
        for byte in &mut address {
            let part = parts.next().ok_or(NotAMacAddress)?;
            if part.len() != 2 || !part.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                return Err(NotAMacAddress);
            }
            *byte = u8::from_str_radix(part, 16).map_err(|_| NotAMacAddress)?;
        }
        if parts.next().is_some() {
            Err(NotAMacAddress)
        } else {
            Ok(Self(address))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MacAddress, NotAMacAddress};

    #[test]
    fn text_there_and_back() {
        let address = MacAddress([2, 0, 0xAB, 0xCD, 0xEF, 1]);
        assert_eq!(address.to_string(), "02:00:ab:cd:ef:01");
        assert_eq!(address.to_string().parse(), Ok(address));
        for bad in [
            "",
            "02:00:ab:cd:ef",
            "02:00:ab:cd:ef:01:02",
            "2:0:ab:cd:ef:01",
            "+2:00:ab:cd:ef:01",
        ] {
            assert_eq!(bad.parse::<MacAddress>(), Err(NotAMacAddress), "{bad}");
        }
    }

    #[test]
    fn group_bit() {
        assert!(MacAddress::BROADCAST.is_multicast());
        assert!(MacAddress([1, 0, 0x5E, 0, 0, 1]).is_multicast());
        assert!(!MacAddress([2, 0, 0, 0, 0, 1]).is_multicast());
    }

    #[test]
    fn addresses_that_bridges_keep() {
        for (address, is_kept) in [
            ([1, 0x80, 0xC2, 0, 0, 0], true),
            ([1, 0x80, 0xC2, 0, 0, 0x0F], true),
            ([1, 0x80, 0xC2, 0, 0, 0x10], false),
            ([1, 0x80, 0xC2, 0, 1, 0], false),
            ([0, 0x80, 0xC2, 0, 0, 0], false),
        ] {
            assert_eq!(MacAddress(address).is_bridge_reserved(), is_kept);
        }
    }
}

//! Whom an entry is about.

use std::hash::{Hash, Hasher};
use std::net::IpAddr;

/// An address on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The interface's number.
    pub interface: u16,
    /// The address.
    pub address: IpAddr,
}

impl Hash for Key {
    /// Few words: every packet that is routed is looked up.
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        let interface = u64::from(self.interface);
        match self.address {
            IpAddr::V4(address) => {
                state.write_u64(interface << 32 | u64::from(address.to_bits()));
            }
            IpAddr::V6(address) => {
                let bits = address.to_bits();
                state.write_u64(interface << 32 | 1 << 63);
                state.write_u64((bits >> 64) as u64);
                state.write_u64(bits as u64);
            }
        }
    }
}

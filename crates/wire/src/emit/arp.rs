//! ARP for IPv4 over Ethernet (RFC 826).

use super::writer::Writer;
use crate::MacAddress;

/// An ARP message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Arp {
    /// 1 asks, 2 answers.
    pub operation: u16,
    /// Ethernet address of the sender.
    pub sender_mac: MacAddress,
    /// IPv4 address of the sender.
    pub sender: u32,
    /// Ethernet address of the target; zero in a question.
    pub target_mac: MacAddress,
    /// IPv4 address of the target.
    pub target: u32,
}

impl Arp {
    /// Length of a message in bytes.
    pub const BYTES: usize = 28;

    pub(super) fn write(&self, out: &mut Writer<'_>) {
        // Ethernet, IPv4, addresses of 6 and 4 bytes.
        out.put(&[0, 1, 8, 0, 6, 4]);
        out.put_be16(self.operation);
        out.put(&self.sender_mac.0);
        out.put_be32(self.sender);
        out.put(&self.target_mac.0);
        out.put_be32(self.target);
    }
}

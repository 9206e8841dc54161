//! The five-tuple of a packet: what a flow is told apart by.

/// The family of the addresses a frame carries.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(u8)]
pub enum Family {
    /// No IP packet in the frame (ARP, LLC, MPLS and everything else).
    #[default]
    None,
    /// IPv4, by the ether type: the packet itself may contradict it and is malformed then.
    V4,
    /// IPv6, by the ether type.
    V6,
}

/// Addresses, ports and protocol of a packet, in host byte order.
///
/// All fragments of a datagram have the same key: their ports are 0, also in the first one, which
/// carries them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FlowKey {
    /// Source address; an IPv4 address in the low 32 bits.
    pub src: u128,
    /// Destination address; an IPv4 address in the low 32 bits.
    pub dst: u128,
    /// Source port of TCP, UDP, UDP-Lite, SCTP and DCCP, 0 for the rest and for fragments.
    pub src_port: u16,
    /// Destination port, with the same rule.
    pub dst_port: u16,
    /// Protocol number of the transport header (IANA assigned Internet protocol numbers).
    pub protocol: u8,
    /// [`Family::V4`] or [`Family::V6`].
    pub family: Family,
}

impl FlowKey {
    /// The key of an IPv4 flow.
    #[inline]
    #[must_use]
    pub const fn v4(src: u32, dst: u32, src_port: u16, dst_port: u16, protocol: u8) -> Self {
        let (src, dst) = (src as u128, dst as u128);
        Self {
            src,
            dst,
            src_port,
            dst_port,
            protocol,
            family: Family::V4,
        }
    }

    /// The key of an IPv6 flow.
    #[inline]
    #[must_use]
    pub const fn v6(src: u128, dst: u128, src_port: u16, dst_port: u16, protocol: u8) -> Self {
        Self {
            src,
            dst,
            src_port,
            dst_port,
            protocol,
            family: Family::V6,
        }
    }

    /// The key of the other direction of the same flow.
    #[inline]
    #[must_use]
    pub const fn reversed(self) -> Self {
        Self {
            src: self.dst,
            dst: self.src,
            src_port: self.dst_port,
            dst_port: self.src_port,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FlowKey;

    #[test]
    fn reversed_twice_is_the_same_key() {
        let key = FlowKey::v4(1, 2, 3, 4, 17);
        assert_eq!(key.reversed(), FlowKey::v4(2, 1, 4, 3, 17));
        assert_eq!(key.reversed().reversed(), key);
    }
}

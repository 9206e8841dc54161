//! What rules look at, and what a packet has there.

/// A field of a packet, or of how it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// 4 or 6.
    Family,
    /// The source address of an IPv4 packet.
    SrcV4,
    /// The destination address of an IPv4 packet.
    DstV4,
    /// The source address of an IPv6 packet.
    SrcV6,
    /// The destination address of an IPv6 packet.
    DstV6,
    /// The protocol number of the transport header.
    Protocol,
    /// The source port.
    SrcPort,
    /// The destination port.
    DstPort,
    /// The flags of TCP, FIN in bit 0.
    TcpFlags,
    /// The type of an ICMP or ICMPv6 message.
    IcmpType,
    /// The code of an ICMP or ICMPv6 message.
    IcmpCode,
    /// The number of the port that the frame came in by.
    InPort,
    /// The VLAN number of the outermost tag.
    Vlan,
    /// 0 of a whole packet, 1 of a first fragment, 2 of a later one.
    Fragment,
    /// What the flow table knows of the packet: 0 new, 1 established, 2 related.
    FlowState,
    /// The differentiated services code point.
    Dscp,
    /// Whether the source address is in the list of this number: 0 or 1.
    SrcSet(u8),
    /// Whether the destination address is in the list of this number: 0 or 1.
    DstSet(u8),
}

impl Field {
    /// The largest value that the field can have.
    #[must_use]
    pub fn value_max(self) -> u128 {
        match self {
            Self::SrcV4 | Self::DstV4 => u32::MAX.into(),
            Self::SrcV6 | Self::DstV6 => u128::MAX,
            Self::SrcPort | Self::DstPort => u16::MAX.into(),
            Self::Vlan => 4095,
            Self::Dscp => 63,
            Self::Fragment | Self::FlowState => 2,
            Self::SrcSet(_) | Self::DstSet(_) => 1,
            _ => u8::MAX.into(),
        }
    }
}

/// Values of a field as ranges, both ends included.
pub type Values = Vec<(u128, u128)>;

/// A field must have one of these values. A packet without the field does not match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// What is looked at.
    pub field: Field,
    /// What it may be.
    pub values: Values,
}

/// What a rule does with a packet that matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Lets it pass: no later rule is asked.
    Accept,
    /// Stops it: no later rule is asked.
    Drop,
    /// Counts it: the next rule is asked.
    Continue,
}

/// One rule as it is tried: jumps are resolved, so that one rule may be several entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// All of them must hold.
    pub conditions: Vec<Condition>,
    /// The index of the rule that it was made of, where matches are counted.
    pub rule: u32,
    /// What is done.
    pub then: Then,
}

/// What a packet has in each field; `None` where it has none, or where it cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Key {
    /// 4 or 6; 0 of what is not IP.
    pub family: u8,
    /// The source address, of IPv4 in the low 32 bits.
    pub src: Option<u128>,
    /// The destination address.
    pub dst: Option<u128>,
    /// The protocol number.
    pub protocol: Option<u8>,
    /// The source port.
    pub src_port: Option<u16>,
    /// The destination port.
    pub dst_port: Option<u16>,
    /// The flags of TCP.
    pub tcp_flags: Option<u8>,
    /// The type of an ICMP message.
    pub icmp_type: Option<u8>,
    /// The code of an ICMP message.
    pub icmp_code: Option<u8>,
    /// The port that it came in by.
    pub in_port: Option<u8>,
    /// The VLAN number.
    pub vlan: Option<u16>,
    /// The part of a packet it is.
    pub fragment: Option<u8>,
    /// What is known of its flow.
    pub flow_state: Option<u8>,
    /// Its DSCP.
    pub dscp: Option<u8>,
    /// The lists that the source address is in, a bit each.
    pub src_sets: u32,
    /// The lists that the destination address is in.
    pub dst_sets: u32,
}

impl Key {
    /// The value of a field.
    #[must_use]
    #[inline]
    pub fn get(&self, field: Field) -> Option<u128> {
        match field {
            Field::Family => Some(self.family.into()).filter(|_| self.family != 0),
            Field::SrcV4 => self.src.filter(|_| self.family == 4),
            Field::DstV4 => self.dst.filter(|_| self.family == 4),
            Field::SrcV6 => self.src.filter(|_| self.family == 6),
            Field::DstV6 => self.dst.filter(|_| self.family == 6),
            Field::Protocol => self.protocol.map(u128::from),
            Field::SrcPort => self.src_port.map(u128::from),
            Field::DstPort => self.dst_port.map(u128::from),
            Field::TcpFlags => self.tcp_flags.map(u128::from),
            Field::IcmpType => self.icmp_type.map(u128::from),
            Field::IcmpCode => self.icmp_code.map(u128::from),
            Field::InPort => self.in_port.map(u128::from),
            Field::Vlan => self.vlan.map(u128::from),
            Field::Fragment => self.fragment.map(u128::from),
            Field::FlowState => self.flow_state.map(u128::from),
            Field::Dscp => self.dscp.map(u128::from),
            Field::SrcSet(list) => self.src.map(|_| in_list(self.src_sets, list)),
            Field::DstSet(list) => self.dst.map(|_| in_list(self.dst_sets, list)),
        }
    }
}

#[inline]
fn in_list(sets: u32, list: u8) -> u128 {
    u128::from(sets >> (list % 32) & 1)
}

//! Link types: what the bytes of a captured frame begin with.

/// A number of the registry of link types that pcap and pcapng share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LinkType(pub u16);

impl LinkType {
    /// IEEE 802.3 Ethernet (LINKTYPE_ETHERNET): what frames are; [`super::LinkHeader`] makes
    /// others so.
    pub const ETHERNET: Self = Self(1);

    /// IP packets without a link header (LINKTYPE_RAW).
    pub const RAW: Self = Self(101);

    /// What the frames of this type are, for those met in practice.
    #[must_use]
    pub const fn name(self) -> Option<&'static str> {
        Some(match self.0 {
            0 => "BSD loopback (NULL)",
            1 => "Ethernet",
            6 => "Token Ring",
            9 => "PPP",
            50 => "PPP in HDLC framing",
            51 => "PPP over Ethernet",
            12 | 14 | 101 => "raw IP",
            104 => "Cisco HDLC",
            105 => "IEEE 802.11 wireless",
            107 => "Frame Relay",
            108 => "OpenBSD loopback",
            113 => "Linux cooked (SLL)",
            117 => "OpenBSD pflog",
            119 => "IEEE 802.11 with a Prism header",
            127 => "IEEE 802.11 with radiotap",
            147..=162 => "a private type (USER)",
            189 => "USB",
            192 => "PPI",
            195 => "IEEE 802.15.4",
            201 => "Bluetooth HCI",
            220 => "Linux USB",
            227 => "SocketCAN",
            228 => "raw IPv4",
            229 => "raw IPv6",
            239 => "Linux NFLOG",
            240 => "NetAnalyzer",
            249 => "USBPcap",
            253 => "Linux netlink",
            276 => "Linux cooked, version 2 (SLL2)",
            _ => return None,
        })
    }
}

impl core::fmt::Display for LinkType {
    /// The name with the number, or the number alone.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{name}, link type {}", self.0),
            None => write!(f, "link type {}", self.0),
        }
    }
}

//! Microsoft's verification suite of the RSS hash.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A flow and its hashes by [`Key::MICROSOFT`](super::Key::MICROSOFT).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vector {
    /// Source address and port.
    pub src: (IpAddr, u16),
    /// Destination address and port.
    pub dst: (IpAddr, u16),
    /// The hash of the addresses alone.
    pub addresses: u32,
    /// The hash of addresses and TCP ports.
    pub ports: u32,
}

/// All of "Verifying the RSS hash calculation", Microsoft.
pub const VECTORS: [Vector; 8] = [
    Vector {
        src: (v4(66, 9, 149, 187), 2794),
        dst: (v4(161, 142, 100, 80), 1766),
        addresses: 0x323E_8FC2,
        ports: 0x51CC_C178,
    },
    Vector {
        src: (v4(199, 92, 111, 2), 14230),
        dst: (v4(65, 69, 140, 83), 4739),
        addresses: 0xD718_262A,
        ports: 0xC626_B0EA,
    },
    Vector {
        src: (v4(24, 19, 198, 95), 12898),
        dst: (v4(12, 22, 207, 184), 38024),
        addresses: 0xD2D0_A5DE,
        ports: 0x5C2B_394A,
    },
    Vector {
        src: (v4(38, 27, 205, 30), 48228),
        dst: (v4(209, 142, 163, 6), 2217),
        addresses: 0x8298_9176,
        ports: 0xAFC7_327F,
    },
    Vector {
        src: (v4(153, 39, 163, 191), 44251),
        dst: (v4(202, 188, 127, 2), 1303),
        addresses: 0x5D18_09C5,
        ports: 0x10E8_28A2,
    },
    Vector {
        src: (v6([0x3FFE, 0x2501, 0x200, 0x1FFF, 0, 0, 0, 0x7]), 2794),
        dst: (v6([0x3FFE, 0x2501, 0x200, 0x3, 0, 0, 0, 0x1]), 1766),
        addresses: 0x2CC1_8CD5,
        ports: 0x4020_7D3D,
    },
    Vector {
        src: (
            v6([0x3FFE, 0x501, 0x8, 0, 0x260, 0x97FF, 0xFE40, 0xEFAB]),
            14230,
        ),
        dst: (v6([0xFF02, 0, 0, 0, 0, 0, 0, 0x1]), 4739),
        addresses: 0x0F0C_461C,
        ports: 0xDDE5_1BBF,
    },
    Vector {
        src: (
            v6([0x3FFE, 0x1900, 0x4545, 0x3, 0x200, 0xF8FF, 0xFE21, 0x67CF]),
            44251,
        ),
        dst: (v6([0xFE80, 0, 0, 0, 0x200, 0xF8FF, 0xFE21, 0x67CF]), 38024),
        addresses: 0x4B61_E985,
        ports: 0x02D1_FEEF,
    },
];

const fn v4(a: u8, b: u8, c: u8, d: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(a, b, c, d))
}

const fn v6(words: [u16; 8]) -> IpAddr {
    let [a, b, c, d, e, f, g, h] = words;
    IpAddr::V6(Ipv6Addr::new(a, b, c, d, e, f, g, h))
}

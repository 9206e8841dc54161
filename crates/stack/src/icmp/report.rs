//! Errors as they are sent.

use std::net::IpAddr;

use wire::emit::{EmitError, Icmp, Ipv4, Ipv6, Network, Recipe, Transport};
use wire::view::{Ipv4View, Ipv6View};

/// Bytes of an error's IPv4 packet at most (RFC 1812 section 4.3.2.3).
const V4_BYTES_MAX: usize = 576;
/// The same of IPv6: what every link carries (RFC 4443 section 2.4 c).
const V6_BYTES_MAX: usize = 1280;
const LINK_BYTES: usize = 14;
/// Precedence 6, internetwork control (RFC 1812 section 4.3.2.5).
const INTERNETWORK_CONTROL: u8 = 0xC0;
/// The bits of the TOS byte that an error takes from the packet that it is about.
const TOS_KEPT: u8 = 0x1E;

/// Room for every frame that [`write_report`] writes, bytes.
pub const REPORT_BYTES_MAX: usize = LINK_BYTES + V6_BYTES_MAX;

/// What an error says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// There is no route to the destination.
    NoRoute,
    /// The route says that the destination cannot be reached.
    Unreachable,
    /// An administrator forbids it.
    Prohibited,
    /// The destination, or the router on the way, does not answer on the link.
    HostUnreachable,
    /// Nobody here speaks the protocol; the field is where the packet names it.
    ProtocolUnreachable {
        /// Bytes from the start of the packet.
        at: u32,
    },
    /// Nobody here listens at the port.
    PortUnreachable,
    /// The packet is longer than the link takes.
    TooBig {
        /// What the link takes, bytes.
        mtu: u16,
    },
    /// The hop limit ran out.
    TimeExceeded,
    /// A field of the header is wrong; the field is where.
    ParameterProblem {
        /// Bytes from the start of the packet.
        at: u32,
    },
}

impl Report {
    /// Type, code and second word of ICMP.
    fn v4(self) -> Icmp {
        let (kind, code, rest) = match self {
            Self::NoRoute => (3, 0, 0),
            Self::Unreachable | Self::HostUnreachable => (3, 1, 0),
            Self::ProtocolUnreachable { .. } => (3, 2, 0),
            Self::PortUnreachable => (3, 3, 0),
            Self::TooBig { mtu } => (3, 4, mtu.into()),
            Self::Prohibited => (3, 13, 0),
            Self::TimeExceeded => (11, 0, 0),
            Self::ParameterProblem { at } => (12, 0, at << 24),
        };
        Icmp { kind, code, rest }
    }

    /// Type, code and second word of ICMPv6.
    fn v6(self) -> Icmp {
        let (kind, code, rest) = match self {
            Self::NoRoute | Self::Unreachable => (1, 0, 0),
            Self::Prohibited => (1, 1, 0),
            Self::HostUnreachable => (1, 3, 0),
            Self::PortUnreachable => (1, 4, 0),
            Self::TooBig { mtu } => (2, 0, mtu.into()),
            Self::TimeExceeded => (3, 0, 0),
            Self::ParameterProblem { at } => (4, 0, at),
            Self::ProtocolUnreachable { at } => (4, 1, at),
        };
        Icmp { kind, code, rest }
    }
}

/// Writes a frame with an error about `packet`, from the address `from` to the packet's source; the
/// link header is left to the caller, 14 bytes. Returns the length of the frame. `packet` begins
/// with its IP header and ends where it ends, or where it is cut.
///
/// # Errors
/// See [`EmitError`]: [`REPORT_BYTES_MAX`] bytes are room enough. Addresses of two families write
/// nothing.
pub fn write_report(
    report: Report,
    from: IpAddr,
    packet: &[u8],
    out: &mut [u8],
) -> Result<usize, EmitError> {
    let network = match from {
        IpAddr::V4(from) => Ipv4View::new_checked(packet).ok().map(|about| {
            let header = Ipv4 {
                src: from.to_bits(),
                dst: about.src(),
                tos: about.tos() & TOS_KEPT | INTERNETWORK_CONTROL,
                ..Ipv4::default()
            };
            (
                Network::Ipv4(header, Transport::Icmp(report.v4())),
                V4_BYTES_MAX - 28,
            )
        }),
        IpAddr::V6(from) => Ipv6View::new_checked(packet).ok().map(|about| {
            let header = Ipv6 {
                src: from.to_bits(),
                dst: about.src(),
                ..Ipv6::default()
            };
            (
                Network::Ipv6(header, Transport::Icmpv6(report.v6())),
                V6_BYTES_MAX - 48,
            )
        }),
    };
    let Some((network, quoted_max)) = network else {
        return Ok(0);
    };
    Recipe {
        network,
        payload: packet.get(..quoted_max).unwrap_or(packet),
        ..Recipe::default()
    }
    .emit(out)
}

#[cfg(test)]
mod tests;

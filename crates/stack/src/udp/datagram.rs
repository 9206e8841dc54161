//! A datagram as it is read and written: header, checksum, payload (RFC 768, RFC 8200 section 8.1).

use std::net::{IpAddr, SocketAddr};

use wire::view::UdpView;
use wire::{Malformed, checksum, protocol};

/// Bytes of the header.
pub const HEADER_BYTES: usize = 8;

/// Why a datagram is not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadDatagram {
    /// Its header is cut.
    Header(Malformed),
    /// Its length is below that of its header, or above that of its packet.
    Length,
    /// The checksum is wrong.
    Checksum,
    /// It has no checksum, and came in IPv6.
    NoChecksum,
    /// An address is that of a group or of nobody, or families differ.
    Address,
    /// The destination port is 0, which nobody can have.
    Port,
}

/// A datagram that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram<'a> {
    /// Who sent it. Port 0 says that no answer is expected (RFC 768).
    pub source: SocketAddr,
    /// To whom.
    pub destination: SocketAddr,
    /// What it carries.
    pub payload: &'a [u8],
}

impl<'a> Datagram<'a> {
    /// Reads the transport part of a packet from `source` to `destination`. Bytes beyond the
    /// datagram's own length are not part of it.
    ///
    /// # Errors
    /// See [`BadDatagram`].
    pub fn read(source: IpAddr, destination: IpAddr, bytes: &'a [u8]) -> Result<Self, BadDatagram> {
        if !is_one_host(source) || !is_one_host(destination) {
            return Err(BadDatagram::Address);
        }
        let view = UdpView::new_checked(bytes).map_err(BadDatagram::Header)?;
        let len = usize::from(view.datagram_len());
        let whole = bytes.get(..len).filter(|_| len >= HEADER_BYTES);
        let whole = whole.ok_or(BadDatagram::Length)?;
        check(source, destination, whole, view.checksum())?;
        if view.dst_port() == 0 {
            return Err(BadDatagram::Port);
        }
        Ok(Self {
            source: SocketAddr::new(source, view.src_port()),
            destination: SocketAddr::new(destination, view.dst_port()),
            payload: &whole[HEADER_BYTES..],
        })
    }
}

/// A checksum that is not there is right in IPv4 alone (RFC 1122 section 4.1.3.4).
fn check(
    source: IpAddr,
    destination: IpAddr,
    datagram: &[u8],
    given: u16,
) -> Result<(), BadDatagram> {
    let pseudo = pseudo(source, destination, datagram.len()).ok_or(BadDatagram::Address)?;
    match given {
        0 if source.is_ipv4() => Ok(()),
        0 => Err(BadDatagram::NoChecksum),
        _ if checksum::transport(pseudo, datagram) == 0 => Ok(()),
        _ => Err(BadDatagram::Checksum),
    }
}

/// Writes the header in front of a payload that stands behind [`HEADER_BYTES`] bytes of `datagram`
/// already, with its checksum; false where addresses are of two families, or the datagram is longer
/// than its length field can say.
pub fn fill_header(source: SocketAddr, destination: SocketAddr, datagram: &mut [u8]) -> bool {
    let Ok(len) = u16::try_from(datagram.len()) else {
        return false;
    };
    let Some(pseudo) = pseudo(source.ip(), destination.ip(), datagram.len()) else {
        return false;
    };
    let Some(header) = datagram.first_chunk_mut::<HEADER_BYTES>() else {
        return false;
    };
    header[..2].copy_from_slice(&source.port().to_be_bytes());
    header[2..4].copy_from_slice(&destination.port().to_be_bytes());
    header[4..6].copy_from_slice(&len.to_be_bytes());
    header[6..].fill(0);
    let sum = checksum::udp_nonzero(checksum::transport(pseudo, datagram));
    datagram[6..HEADER_BYTES].copy_from_slice(&sum.to_be_bytes());
    true
}

/// Whether an address can be that of one host.
fn is_one_host(address: IpAddr) -> bool {
    let is_all = address == IpAddr::V4(std::net::Ipv4Addr::BROADCAST);
    !address.is_unspecified() && !address.is_multicast() && !is_all
}

/// The sum of the pseudo header; none between families.
fn pseudo(source: IpAddr, destination: IpAddr, len: usize) -> Option<u16> {
    match (source, destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            let len = u16::try_from(len).ok()?;
            let (source, destination) = (source.to_bits(), destination.to_bits());
            Some(checksum::pseudo_v4(source, destination, protocol::UDP, len))
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            let (source, destination) = (source.to_bits(), destination.to_bits());
            let len = u32::try_from(len).ok()?;
            Some(checksum::pseudo_v6(source, destination, protocol::UDP, len))
        }
        _ => None,
    }
}

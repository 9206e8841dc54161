//! Attributes of messages: type and value, and values as numbers and addresses.

use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::unix::ffi::OsStringExt;

use netlink_packet_core::NlasIterator;
use wire::MacAddress;

use super::fault::Reason;

/// `AF_INET`.
pub(super) const INET: u8 = 2;
/// `AF_INET6`.
pub(super) const INET6: u8 = 10;

/// The attributes behind the fixed part of a message, which has `skip` bytes.
pub(super) fn attributes(
    body: &[u8],
    skip: usize,
) -> Result<impl Iterator<Item = Result<(u16, &[u8]), Reason>>, Reason> {
    let rest = body.get(skip..).ok_or(Reason::Truncated)?;
    Ok(nested(rest))
}

/// The attributes of which a value consists.
pub(super) fn nested(value: &[u8]) -> impl Iterator<Item = Result<(u16, &[u8]), Reason>> {
    NlasIterator::new(value).map(|found| {
        let attribute = found.map_err(|_| Reason::Attribute)?;
        let end = usize::from(attribute.length());
        let value = attribute.into_inner().get(4..end);
        Ok((attribute.kind(), value.ok_or(Reason::Attribute)?))
    })
}

/// The byte at this position of a message's fixed part.
pub(super) fn byte(body: &[u8], at: usize) -> Result<u8, Reason> {
    body.get(at).copied().ok_or(Reason::Truncated)
}

/// A number of the machine's byte order at this position of a message's fixed part.
pub(super) fn word(body: &[u8], at: usize) -> Result<u32, Reason> {
    number(body.get(at..at + 4).unwrap_or_default()).map_err(|_| Reason::Truncated)
}

/// A value that is a number of the machine's byte order.
pub(super) fn number(value: &[u8]) -> Result<u32, Reason> {
    let bytes = value.try_into().map_err(|_| Reason::Value)?;
    Ok(u32::from_ne_bytes(bytes))
}

/// A value that is a 16-bit number of the machine's byte order.
pub(super) fn short(value: &[u8]) -> Result<u16, Reason> {
    let bytes = value.try_into().map_err(|_| Reason::Value)?;
    Ok(u16::from_ne_bytes(bytes))
}

/// A value that is an address; its length says of which family.
pub(super) fn address(value: &[u8]) -> Result<IpAddr, Reason> {
    if let Ok(bytes) = <[u8; 4]>::try_from(value) {
        return Ok(Ipv4Addr::from(bytes).into());
    }
    let bytes = <[u8; 16]>::try_from(value).map_err(|_| Reason::Value)?;
    Ok(Ipv6Addr::from(bytes).into())
}

/// A value that is an address of this family.
pub(super) fn address_of(family: u8, value: &[u8]) -> Result<IpAddr, Reason> {
    let address = address(value)?;
    match address.is_ipv4() == (family == INET) {
        true => Ok(address),
        false => Err(Reason::Value),
    }
}

/// A value that is an Ethernet address; `None` for link layers with longer or shorter ones.
pub(super) fn mac(value: &[u8]) -> Option<MacAddress> {
    value.try_into().ok().map(MacAddress)
}

/// A value that is a name, of any bytes.
pub(super) fn name(value: &[u8]) -> Result<OsString, Reason> {
    let name = value.strip_suffix(&[0]).unwrap_or(value);
    match name.is_empty() || name.contains(&0) {
        true => Err(Reason::Value),
        false => Ok(OsString::from_vec(name.to_vec())),
    }
}

/// The address whose bits are all zero, of this family.
pub(super) fn unspecified(family: u8) -> IpAddr {
    match family {
        INET => Ipv4Addr::UNSPECIFIED.into(),
        _ => Ipv6Addr::UNSPECIFIED.into(),
    }
}

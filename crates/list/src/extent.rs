//! What a field beside an address says of how far the address reaches: the end of a range, a
//! netmask, a prefix length, a count of addresses. Left out, an address would be loaded that
//! means more than it says.

use crate::columns::Columns;
use crate::entry::{Entry, parse_address, parse_prefix_len};
use crate::fault::Fault;
use crate::ipv4;
use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr};

/// Fields of a line that are looked at for a hint.
const FIELDS_MAX: usize = 64;

/// How far an address reaches, by a field beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// An address of the same family that is not before it.
    Last(IpAddr),
    /// A netmask, as a prefix length.
    Mask(u8),
    /// A wildcard mask (`0.0.0.255`), as a prefix length where it is one.
    Wildcard(Option<u8>),
    /// A number that is a prefix length the address is aligned to; it may be something else.
    Length(u8),
    /// A number of addresses, of a block that begins there.
    Count,
}

impl Extent {
    /// What `field` says of `address`, if anything.
    pub(crate) fn of(address: IpAddr, field: &[u8]) -> Option<Self> {
        match (address, parse_address(field).or_else(|| hex_mask(field))) {
            (IpAddr::V4(_), Some(IpAddr::V4(mask))) if is_netmask(mask.to_bits()) => {
                Some(Self::Mask(mask.to_bits().leading_ones() as u8))
            }
            (IpAddr::V4(of), Some(IpAddr::V4(mask))) if mask < of && mask.octets()[0] == 0 => {
                Some(Self::Wildcard(ipv4::prefix_of_wildcard(mask.to_bits())))
            }
            (_, Some(last)) if last.is_ipv4() == address.is_ipv4() && address <= last => {
                Some(Self::Last(last))
            }
            (_, Some(_)) => None,
            (_, None) => Self::of_number(address, field.strip_prefix(b"/").unwrap_or(field)),
        }
    }

    fn of_number(address: IpAddr, digits: &[u8]) -> Option<Self> {
        let aligned = match address {
            IpAddr::V4(v4) => Aligned {
                bits: 32,
                zeros: v4.to_bits().trailing_zeros(),
            },
            IpAddr::V6(v6) => Aligned {
                bits: 128,
                zeros: v6.to_bits().trailing_zeros(),
            },
        };
        let is_number = digits.len() <= 10 && digits.iter().all(u8::is_ascii_digit);
        let number = std::str::from_utf8(digits).ok().filter(|_| is_number);
        let number: u64 = number?.parse().ok()?;
        if let Ok(length) = u8::try_from(number)
            && aligned.may_have(u32::from(length))
        {
            return Some(Self::Length(length));
        }
        let of_blocks = number != 0 && number.is_multiple_of(256) && aligned.zeros >= 8;
        (address.is_ipv4() && of_blocks).then_some(Self::Count)
    }
}

/// How an address lies.
struct Aligned {
    /// Of an address of its family.
    bits: u32,
    /// Low bits that are zero.
    zeros: u32,
}

impl Aligned {
    /// Whether a network of this prefix length, and of more than one address, begins there.
    fn may_have(&self, prefix_len: u32) -> bool {
        prefix_len < self.bits && self.zeros >= self.bits - prefix_len
    }
}

/// True when `prefix_len` may be one of `address`: the same as [`Extent::of`] says, for the path
/// that is fast.
#[inline]
pub(crate) fn may_be_length_v4(address: u32, number: u32) -> bool {
    (number < 32 && address.trailing_zeros() >= 32 - number)
        || (number != 0 && number.is_multiple_of(256) && address.trailing_zeros() >= 8)
}

/// True when `field` is a prefix length or a netmask, under a heading for one, that makes more of
/// `address` than itself.
pub(crate) fn is_length_of(address: IpAddr, field: &[u8]) -> bool {
    let bits = if address.is_ipv4() { 32 } else { 128 };
    let digits = field.strip_prefix(b"/").unwrap_or(field);
    hex_mask(field).is_some() || parse_prefix_len(digits).is_some_and(|length| length < bits)
}

/// Whether two addresses may be the ends of a range: they are not far from each other.
pub(crate) fn may_be_ends(one: IpAddr, other: IpAddr) -> bool {
    match (one, other) {
        (IpAddr::V4(one), IpAddr::V4(other)) => {
            one != other && (one.to_bits() ^ other.to_bits()).leading_zeros() >= 8
        }
        (IpAddr::V6(one), IpAddr::V6(other)) => {
            one != other && (one.to_bits() ^ other.to_bits()).leading_zeros() >= 16
        }
        _ => false,
    }
}

/// Whether a block of so many addresses may begin at this one.
pub(crate) fn may_have_count(address: IpAddr, count: u64) -> bool {
    let zeros = match address {
        IpAddr::V4(v4) => v4.to_bits().trailing_zeros(),
        IpAddr::V6(v6) => v6.to_bits().trailing_zeros(),
    };
    count > 1 && count.is_power_of_two() && count.trailing_zeros() <= zeros
}

/// A mask as `ifconfig` of BSD prints it: `0xffffff00`.
pub(crate) fn hex_mask(field: &[u8]) -> Option<IpAddr> {
    let digits = field.strip_prefix(b"0x").or(field.strip_prefix(b"0X"))?;
    let digits = std::str::from_utf8(digits).ok()?;
    let is_whole = digits.len() == 8 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let bits = u32::from_str_radix(digits, 16).ok().filter(|_| is_whole)?;
    Some(IpAddr::V4(Ipv4Addr::from_bits(bits)))
}

/// The entry that two columns make: an address, and its prefix length or netmask.
pub(crate) fn network(address: &[u8], length: &[u8]) -> Result<Entry, Fault> {
    let address = parse_address(address).ok_or_else(|| crate::diagnosis::of_address(address))?;
    let digits = length.strip_prefix(b"/").unwrap_or(length);
    if let Some(length) = parse_prefix_len(digits) {
        return Entry::network(address, length);
    }
    match (address, parse_address(length).or_else(|| hex_mask(length))) {
        (IpAddr::V4(of), Some(IpAddr::V4(mask))) => {
            if let Some(Extent::Wildcard(prefix_len)) = Extent::of(of.into(), length)
                && mask.to_bits() != 0
            {
                return Err(Fault::Wildcard(prefix_len));
            }
            let (ones, zeros) = (
                mask.to_bits().leading_ones(),
                mask.to_bits().trailing_zeros(),
            );
            if ones + zeros < 32 {
                return Err(Fault::Netmask(None));
            }
            Entry::network(address, ones as u8)
        }
        _ => Err(Fault::LengthColumn),
    }
}

/// The entry that two columns make: the first and the last address of a range.
pub(crate) fn range(first: &[u8], last: &[u8]) -> Result<Entry, Fault> {
    let end = |field| parse_address(field).ok_or_else(|| crate::diagnosis::of_address(field));
    Entry::range(end(first)?, end(last)?)
}

/// The columns that hold what is meant on a line of `fields`; `None` when no field is an entry.
pub(crate) fn hint(fields: &[Cow<'_, [u8]>]) -> Option<Columns<u16>> {
    let fields = &fields[..fields.len().min(FIELDS_MAX)];
    let is_entry = |field: &Cow<'_, [u8]>| Entry::parse(field).is_ok();
    let at = fields.iter().position(is_entry)?;
    let filled = fields.iter().filter(|field| !field.is_empty()).count();
    let entries = fields.iter().filter(|field| is_entry(field)).count();
    let is_wildcard = |field| {
        let address = parse_address(&fields[at]);
        let extent = address.and_then(|address| Extent::of(address, field));
        matches!(extent, Some(Extent::Wildcard(_)))
    };
    if fields.iter().any(|field| is_wildcard(field)) {
        return None;
    }
    if entries == filled && entries > 2 {
        return Some(Columns::All);
    }
    let number = |index: usize| index as u16 + 1;
    let found = parse_address(&fields[at]).and_then(|address| {
        let others = fields.iter().enumerate().skip(at + 1);
        let mut extents = others.filter_map(|(place, field)| {
            let extent = Extent::of(address, field)?;
            // A number means nothing further off.
            let is_beside = beside(fields, at) == Some(place);
            (is_beside || !matches!(extent, Extent::Length(_) | Extent::Count))
                .then_some((place, extent))
        });
        extents.next()
    });
    match found {
        Some((place, Extent::Last(_))) => Some(Columns::Range(number(at), number(place))),
        Some((place, Extent::Mask(_) | Extent::Length(_))) => {
            Some(Columns::Network(number(at), number(place)))
        }
        Some((_, Extent::Count | Extent::Wildcard(_))) => None,
        None if entries == filled && entries > 1 => Some(Columns::All),
        None if entries == 1 => Some(Columns::One(number(at))),
        None => None,
    }
}

/// The next column that is not empty.
pub(crate) fn beside(fields: &[Cow<'_, [u8]>], at: usize) -> Option<usize> {
    (at + 1..fields.len()).find(|&next| !fields[next].is_empty())
}

/// The columns of two fields of which both hold an address, if they make one entry.
pub(crate) fn hint_of_pair(
    fields: &[Cow<'_, [u8]>],
    [first, second]: [usize; 2],
) -> Option<Columns<u16>> {
    let number = |index: usize| u16::try_from(index + 1).ok();
    let (a, b) = (number(first)?, number(second)?);
    // Of an address with a port and the like there is no option to read it.
    match Extent::of(parse_address(&fields[first])?, &fields[second])? {
        Extent::Last(_) => Some(Columns::Range(a, b)),
        Extent::Mask(_) | Extent::Length(_) => Some(Columns::Network(a, b)),
        Extent::Count | Extent::Wildcard(_) => None,
    }
}

/// Eight ones or more, then zeros.
fn is_netmask(bits: u32) -> bool {
    bits.leading_ones() >= 8 && bits.leading_ones() + bits.trailing_zeros() >= 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Separator;

    #[test]
    fn what_a_field_says_of_the_address_before_it() {
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        for (first, field, extent) in [
            (
                "198.51.100.0",
                "198.51.100.255",
                Some(Extent::Last(address("198.51.100.255"))),
            ),
            (
                "198.51.100.9",
                "198.51.100.9",
                Some(Extent::Last(address("198.51.100.9"))),
            ),
            ("198.51.100.9", "198.51.100.8", None),
            (
                "198.51.100.0",
                "0.0.0.255",
                Some(Extent::Wildcard(Some(24))),
            ),
            ("198.51.100.7", "0.0.0.0", Some(Extent::Wildcard(Some(32)))),
            ("198.51.100.0", "0.0.255.0", Some(Extent::Wildcard(None))),
            (
                "0.0.0.0",
                "0.255.255.255",
                Some(Extent::Last(address("0.255.255.255"))),
            ),
            ("198.51.100.0", "2001:db8::", None),
            ("198.51.100.0", "255.255.255.0", Some(Extent::Mask(24))),
            ("198.51.100.7", "255.255.255.255", Some(Extent::Mask(32))),
            ("198.51.100.0", "24", Some(Extent::Length(24))),
            ("198.51.100.0", "/24", Some(Extent::Length(24))),
            ("198.51.100.0", "23", Some(Extent::Length(23))),
            ("198.51.100.0", "21", None),
            ("198.51.100.4", "24", None),
            ("198.51.100.4", "32", None),
            ("198.51.100.0", "256", Some(Extent::Count)),
            ("198.51.100.1", "256", None),
            ("198.51.100.0", "443", None),
            ("2001:db8::", "32", Some(Extent::Length(32))),
            ("2001:db8::", "4096", None),
            ("198.51.100.0", "024", Some(Extent::Length(24))),
            ("198.51.100.0", "", None),
            ("198.51.100.0", "US", None),
            ("198.51.100.0", "99999999999999999999", None),
        ] {
            assert_eq!(
                Extent::of(address(first), field.as_bytes()),
                extent,
                "{first} {field}"
            );
        }
    }

    #[test]
    fn the_fast_path_sees_the_same_numbers() {
        for address in [
            0,
            0x0a00_0000,
            0xc633_6400,
            0xc633_6404,
            0xc633_6401,
            1 << 31,
        ] {
            for number in (0..600).chain([1024, 65_536, 999_999]) {
                let text = number.to_string();
                let slow = Extent::of(IpAddr::V4(address.into()), text.as_bytes());
                assert_eq!(
                    may_be_length_v4(address, number),
                    slow.is_some(),
                    "{address} {text}"
                );
            }
        }
    }

    #[test]
    fn hints_by_the_shape_of_a_line() {
        for (line, expected) in [
            ("198.51.100.0,198.51.100.255,US", Some("1-2")),
            ("198.51.100.0,US,198.51.100.255", Some("1-3")),
            ("192.0.2.0\t192.0.2.255\t24\t4201", Some("1-2")),
            ("198.51.100.0\t24\t64500", Some("1/2")),
            ("2001:db8::\t32\t64500_64501", Some("1/2")),
            ("ip;198.51.100.0;255.255.255.0", Some("2/3")),
            ("2026-11-01,198.51.100.1", Some("2")),
            ("\"198.51.100.1\",\"x\"", Some("1")),
            ("198.51.100.1,198.51.100.2,198.51.100.3", Some("all")),
            ("198.51.100.0/24 203.0.113.0/24", Some("all")),
            ("198.51.100.9,198.51.100.2", Some("all")),
            ("198.51.100.0 0.0.0.255", None),
            ("198.51.100.0,0.0.0.255,x", None),
            ("198.51.100.0,0.0.0.255,203.0.113.0", None),
            ("198.51.100.0,,24", Some("1/3")),
            ("198.51.100.0;24", Some("1/2")),
            ("apnic|AU|ipv4|198.51.100.0|256|2011", None),
            ("start_ip,end_ip", None),
            ("x,198.51.100.9,198.51.100.2", None),
        ] {
            let fields = Separator::of(line.as_bytes())
                .fields(line.as_bytes())
                .unwrap();
            let shown = hint(&fields).map(|columns| columns.to_string());
            assert_eq!(shown.as_deref(), expected, "{line}");
        }
    }
}

//! What a driver says it can do for XDP: the kernel's generic netlink family `netdev`
//! (`linux/netdev.h`, since Linux 6.3), asked and read as bytes.

use std::io;

use super::netlink::{Attributes, u16_at, u32_at};
use crate::sys::xdp_netlink::ask_generic_netlink;

/// Bytes of `struct nlmsghdr` and `struct genlmsghdr`.
const HEADER_BYTES: usize = 16 + 4;
const NLMSG_ERROR: u16 = 2;
const NLM_F_REQUEST: u16 = 1;
/// The family that knows the numbers of all others.
const CONTROLLER: u16 = 16;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;
const GET_DEVICE: u8 = 1;
const DEVICE_INDEX: u16 = 1;
const DEVICE_XDP_FEATURES: u16 = 3;
const DEVICE_TELLS: u16 = 5;

const BASIC: u32 = 1 << 0;
const REDIRECT: u32 = 1 << 1;
const TRANSMIT: u32 = 1 << 2;
const ZERO_COPY: u32 = 1 << 3;
const SEVERAL_PIECES: u32 = 1 << 5;

/// Bits of what it tells (`NETDEV_XDP_RX_METADATA_...`).
const TELLS_STAMP: u32 = 1 << 0;

/// Whether the driver of an interface tells a program in it when a frame came. `None` where the
/// kernel does not say, as those before Linux 6.7.
pub(crate) fn tells_stamps(interface: u32) -> Option<bool> {
    stamps_told(&about(interface).ok()?)
}

fn stamps_told(answer: &[u8]) -> Option<bool> {
    let bits = low_half(value(answer, DEVICE_TELLS).ok()?).ok()?;
    Some(bits & TELLS_STAMP != 0)
}

/// All that the kernel says of an interface's driver.
fn about(interface: u32) -> io::Result<Vec<u8>> {
    let name = question(CONTROLLER, GET_FAMILY, FAMILY_NAME, b"netdev\0");
    let answer = ask_generic_netlink(&name)?;
    let family = value(&answer, FAMILY_ID)?;
    let family = u16_at(family, 0).ok_or(io::ErrorKind::InvalidData)?;
    let device = question(family, GET_DEVICE, DEVICE_INDEX, &interface.to_ne_bytes());
    ask_generic_netlink(&device)
}

/// Of a number of 64 bits, whose low half holds all there are.
fn low_half(bits: &[u8]) -> io::Result<u32> {
    let low = if cfg!(target_endian = "big") { 4 } else { 0 };
    u32_at(bits, low).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// What the driver of an interface can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct XdpSupport {
    /// It runs an XDP program itself, which can give frames to sockets.
    pub native: bool,
    /// It receives into and sends from the memory of an AF_XDP socket.
    pub zero_copy: bool,
    /// It sends frames that a program on another interface redirects to it.
    pub transmit: bool,
    /// It hands long frames to XDP in several pieces.
    pub several_pieces: bool,
}

impl XdpSupport {
    /// Asks the kernel.
    pub(crate) fn of(interface: u32) -> io::Result<Self> {
        Self::read(&about(interface)?)
    }

    fn read(answer: &[u8]) -> io::Result<Self> {
        let bits = low_half(value(answer, DEVICE_XDP_FEATURES)?)?;
        let has = |wanted| bits & wanted == wanted;
        Ok(Self {
            native: has(BASIC | REDIRECT),
            zero_copy: has(BASIC | REDIRECT | ZERO_COPY),
            transmit: has(TRANSMIT),
            several_pieces: has(SEVERAL_PIECES),
        })
    }
}

/// One command with one attribute.
fn question(family: u16, command: u8, attribute: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 4];
    bytes.extend(family.to_ne_bytes());
    bytes.extend(NLM_F_REQUEST.to_ne_bytes());
    bytes.extend([0; 8]); // sequence number and sender
    bytes.extend([command, 1, 0, 0]); // version 1
    bytes.extend(((4 + value.len()) as u16).to_ne_bytes());
    bytes.extend(attribute.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let length = (bytes.len() as u32).to_ne_bytes();
    bytes[..4].copy_from_slice(&length);
    bytes
}

/// The value of an attribute of an answer.
fn value(answer: &[u8], wanted: u16) -> io::Result<&[u8]> {
    if u16_at(answer, 4) == Some(NLMSG_ERROR) {
        let code = u32_at(answer, 16).unwrap_or_default().cast_signed();
        return Err(io::Error::from_raw_os_error(code.saturating_neg()));
    }
    let attributes = answer.get(HEADER_BYTES..).unwrap_or_default();
    let found = Attributes(attributes).find(|&(kind, _)| kind == wanted);
    found
        .map(|(_, value)| value)
        .ok_or_else(|| io::ErrorKind::InvalidData.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(bits: u64) -> Vec<u8> {
        question(30, GET_DEVICE, DEVICE_XDP_FEATURES, &bits.to_ne_bytes())
    }

    #[test]
    fn bits_are_read_and_cuts_are_errors() {
        let copy = XdpSupport::read(&answer(0b0000_0111)).unwrap();
        assert!(copy.native && copy.transmit && !copy.zero_copy && !copy.several_pieces);
        let all = XdpSupport::read(&answer(0b0111_1111)).unwrap();
        assert!(all.native && all.zero_copy && all.several_pieces);
        let none = XdpSupport::read(&answer(0)).unwrap();
        assert!(!none.native && !none.transmit && !none.zero_copy);
        let whole = answer(7);
        for end in 0..whole.len() {
            assert!(XdpSupport::read(&whole[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn whether_times_are_told_is_read_and_cuts_are_not_known() {
        let told = |bits: u64| question(30, GET_DEVICE, DEVICE_TELLS, &bits.to_ne_bytes());
        assert_eq!(stamps_told(&told(0b111)), Some(true));
        assert_eq!(stamps_told(&told(0b110)), Some(false));
        // A kernel that does not say.
        assert_eq!(stamps_told(&answer(7)), None);
        let whole = told(7);
        for end in 0..whole.len() {
            assert_eq!(stamps_told(&whole[..end]), None, "{end}");
        }
    }

    #[test]
    fn refusals_are_errors() {
        let mut refusal = vec![0; 16];
        refusal[4..6].copy_from_slice(&NLMSG_ERROR.to_ne_bytes());
        refusal.extend((-libc::ENODEV).to_ne_bytes());
        let error = XdpSupport::read(&refusal).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENODEV));
    }

    #[test]
    fn this_kernel_answers_or_refuses() {
        let loopback = super::super::Interface::named("lo").unwrap();
        match XdpSupport::of(loopback.index().unwrap()) {
            Ok(support) => assert!(!support.zero_copy, "the loopback has no driver"),
            Err(error) => println!("skipped: this kernel does not say: {error}"),
        }
        assert!(XdpSupport::of(i32::MAX as u32).is_err());
    }
}

//! Which XDP programs an interface has: a question and its answer in route netlink
//! (`linux/rtnetlink.h`, `linux/if_link.h`), read as bytes from a stranger.

use std::io;

use super::netlink::{Attributes, u16_at, u32_at};
use crate::sys::xdp_bpf::Program;
use crate::sys::xdp_netlink::ask_route_netlink;

pub(super) const HEADER_BYTES: usize = 16;
/// `struct ifinfomsg`.
pub(super) const INFO_BYTES: usize = 16;
pub(super) const RTM_NEWLINK: u16 = 16;
pub(super) const RTM_GETLINK: u16 = 18;
const NLMSG_ERROR: u16 = 2;
const NLM_F_REQUEST: u16 = 1;
const IFLA_XDP: u16 = 43;
/// Ids of programs within `IFLA_XDP`: of the only one, in the driver, behind it, in hardware.
const IFLA_XDP_IDS: std::ops::RangeInclusive<u16> = 4..=7;

/// The names and ids of the XDP programs on an interface, none in most cases. Names may be asked by
/// root alone.
pub(crate) fn programs_on(interface: u32) -> io::Result<Vec<(u32, Option<String>)>> {
    let ids = program_ids(&ask_route_netlink(&question(interface))?)?;
    Ok(ids
        .into_iter()
        .map(|id| (id, Program::name_of(id).ok()))
        .collect())
}

pub(super) fn question(interface: u32) -> Vec<u8> {
    question_with(interface, &[])
}

/// The same with attributes, which name the interface where its number is 0.
pub(super) fn question_with(interface: u32, attributes: &[u8]) -> Vec<u8> {
    let length = HEADER_BYTES + INFO_BYTES + attributes.len();
    let mut bytes = Vec::with_capacity(length);
    bytes.extend((length as u32).to_ne_bytes());
    bytes.extend(RTM_GETLINK.to_ne_bytes());
    bytes.extend(NLM_F_REQUEST.to_ne_bytes());
    bytes.extend([0; 8]); // sequence number and sender
    bytes.extend([0; 4]); // family and type of device: any
    bytes.extend(interface.to_ne_bytes());
    bytes.extend([0; 8]); // flags and their mask
    bytes.extend(attributes);
    bytes
}

/// What the kernel's answer says of an interface: `struct ifinfomsg`, and attributes behind it.
pub(super) fn information(answer: &[u8]) -> io::Result<&[u8]> {
    let kind = u16_at(answer, 4).ok_or(io::ErrorKind::InvalidData)?;
    let body = answer.get(HEADER_BYTES..).unwrap_or_default();
    if kind == NLMSG_ERROR {
        let code = u32_at(body, 0).unwrap_or_default().cast_signed();
        return Err(io::Error::from_raw_os_error(code.saturating_neg()));
    }
    if kind != RTM_NEWLINK {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(body)
}

/// The distinct ids in the kernel's answer.
fn program_ids(answer: &[u8]) -> io::Result<Vec<u32>> {
    let attributes = information(answer)?.get(INFO_BYTES..).unwrap_or_default();
    let mut ids = Vec::new();
    for (_, inner) in Attributes(attributes).filter(|&(kind, _)| kind == IFLA_XDP) {
        let named = Attributes(inner).filter(|(kind, _)| IFLA_XDP_IDS.contains(kind));
        ids.extend(named.filter_map(|(_, value)| u32_at(value, 0)));
    }
    ids.retain(|&id| id != 0);
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface::netlink::made::{attribute, message as answer};

    #[test]
    fn ids_are_found_among_other_attributes() {
        let mut xdp = attribute(2, &[1]);
        xdp.extend(attribute(4, &77_u32.to_ne_bytes()));
        xdp.extend(attribute(5, &77_u32.to_ne_bytes()));
        xdp.extend(attribute(6, &78_u32.to_ne_bytes()));
        let mut body = vec![0; INFO_BYTES];
        body.extend(attribute(3, b"eth0\0"));
        body.extend(attribute(IFLA_XDP | 0x8000, &xdp));
        let answer = answer(RTM_NEWLINK, &body);
        assert_eq!(program_ids(&answer).unwrap(), [77, 78]);
        // Cut anywhere it gives an error or fewer ids, never a panic.
        for end in 0..answer.len() {
            let _cut = program_ids(&answer[..end]);
        }
    }

    #[test]
    fn refusals_of_the_kernel_are_errors() {
        let refused = answer(NLMSG_ERROR, &(-libc::ENODEV).to_ne_bytes());
        let error = program_ids(&refused).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENODEV));
        let worst = answer(NLMSG_ERROR, &i32::MIN.to_ne_bytes());
        assert!(program_ids(&worst).is_err());
        assert!(program_ids(&[]).is_err());
    }

    #[test]
    fn the_kernel_understands_the_question() {
        let loopback = crate::interface::Interface::named("lo")
            .unwrap()
            .index()
            .unwrap();
        let answer = ask_route_netlink(&question(loopback)).unwrap();
        assert!(program_ids(&answer).is_ok());
        let nobody = ask_route_netlink(&question(i32::MAX as u32)).unwrap();
        assert!(program_ids(&nobody).is_err());
    }
}

//! Interfaces as route netlink lists them (`linux/if_link.h`), whatever `/sys` shows: number,
//! names, and to which others they belong.

use std::io;

use super::addresses::all;
use super::attached::{INFO_BYTES, RTM_GETLINK, RTM_NEWLINK, information, question, question_with};
use super::netlink::{Attributes, u32_at};
use crate::sys::ioctl::InterfaceName;
use crate::sys::xdp_netlink::ask_route_netlink;

const IFLA_ADDRESS: u16 = 1;
const IFLA_IFNAME: u16 = 3;
const IFLA_LINK: u16 = 5;
const IFLA_MASTER: u16 = 10;
const IFLA_PROMISCUITY: u16 = 30;
const IFLA_LINK_NETNSID: u16 = 37;
const IFLA_ALT_IFNAME: u16 = 53;

/// One interface of this network namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) index: u32,
    pub(crate) name: InterfaceName,
    /// Its hardware address; empty where it has none.
    pub(crate) address: Vec<u8>,
    /// The number of its other end, or of the one below it; its own where there is none.
    pub(crate) link: u32,
    /// That number is one of another network namespace, and may be that of anything here.
    pub(crate) links_outside: bool,
    /// The number of the one that it is a part of: a bridge, a bond.
    pub(crate) master: Option<u32>,
    /// How often somebody asked for frames to every address; `None` where the kernel does not say.
    pub(crate) promiscuity: Option<u32>,
}

impl Listed {
    /// All there are, by their numbers.
    pub(crate) fn all() -> io::Result<Vec<Self>> {
        let mut listed = all(RTM_GETLINK, INFO_BYTES, RTM_NEWLINK, Self::read)?;
        listed.sort_by_key(|interface| interface.index);
        Ok(listed)
    }

    /// The one of this number.
    pub(crate) fn of(index: u32) -> io::Result<Self> {
        Self::answered(&question(index))
    }

    /// The one that has this other name (`ip link property add dev IFACE altname NAME`).
    pub(crate) fn also_called(name: &[u8]) -> io::Result<Self> {
        let length = 4 + name.len() + 1;
        let mut attribute = (length as u16).to_ne_bytes().to_vec();
        attribute.extend(IFLA_ALT_IFNAME.to_ne_bytes());
        attribute.extend(name);
        attribute.resize((length + 1).next_multiple_of(4), 0);
        Self::answered(&question_with(0, &attribute))
    }

    /// The other end of a pair, where it is in this network namespace too.
    pub(crate) fn peer(&self) -> Option<Self> {
        if self.links_outside || self.link == self.index {
            return None;
        }
        let peer = Self::of(self.link).ok()?;
        (peer.link == self.index && !peer.links_outside).then_some(peer)
    }

    fn answered(question: &[u8]) -> io::Result<Self> {
        let answer = ask_route_netlink(question)?;
        let read = Self::read(information(&answer)?);
        read.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// From `struct ifinfomsg` and the attributes behind it.
    fn read(body: &[u8]) -> Option<Self> {
        let index = u32_at(body, 4)?;
        let mut listed = Self {
            index,
            link: index,
            ..Self::default()
        };
        let mut name = None;
        for (kind, value) in Attributes(body.get(INFO_BYTES..)?) {
            match kind {
                IFLA_ADDRESS => listed.address = value.to_vec(),
                IFLA_IFNAME => name = InterfaceName::new(value.strip_suffix(&[0])?),
                IFLA_LINK => listed.link = u32_at(value, 0)?,
                IFLA_LINK_NETNSID => listed.links_outside = true,
                IFLA_MASTER => listed.master = u32_at(value, 0),
                IFLA_PROMISCUITY => listed.promiscuity = u32_at(value, 0),
                _ => {}
            }
        }
        listed.name = name?;
        Some(listed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface::netlink::made::{attribute, message};

    fn body(attributes: &[(u16, &[u8])]) -> Vec<u8> {
        let mut body = vec![0; INFO_BYTES];
        body[4..8].copy_from_slice(&7_u32.to_ne_bytes());
        for (kind, value) in attributes {
            body.extend(attribute(*kind, value));
        }
        body
    }

    #[test]
    fn what_the_kernel_says_is_read_and_cuts_are_nothing_or_less() {
        let whole = body(&[
            (IFLA_IFNAME, b"bad\xff\0"),
            (IFLA_ADDRESS, &[2, 0, 0, 0, 0, 1]),
            (IFLA_PROMISCUITY, &2_u32.to_ne_bytes()),
            (IFLA_LINK, &9_u32.to_ne_bytes()),
            (IFLA_LINK_NETNSID, &0_u32.to_ne_bytes()),
            (IFLA_MASTER, &4_u32.to_ne_bytes()),
        ]);
        let listed = Listed::read(&whole).unwrap();
        assert_eq!((listed.index, listed.name.bytes()), (7, &b"bad\xff"[..]));
        assert_eq!(listed.address, [2, 0, 0, 0, 0, 1]);
        assert_eq!((listed.link, listed.links_outside), (9, true));
        assert_eq!((listed.master, listed.promiscuity), (Some(4), Some(2)));
        assert_eq!(listed.peer(), None, "its number is one of over there");
        for end in 0..whole.len() {
            let _no_panic = Listed::read(&whole[..end]);
        }
    }

    #[test]
    fn one_without_a_name_or_with_an_impossible_one_is_none() {
        for name in [&b""[..], b"\0", b"no end", b"sixteen-letters-\0", b"a\0b\0"] {
            assert_eq!(
                Listed::read(&body(&[(IFLA_IFNAME, name)])),
                None,
                "{name:?}"
            );
        }
        assert_eq!(Listed::read(&body(&[])), None);
        let alone = Listed::read(&body(&[(IFLA_IFNAME, b"lo\0")])).unwrap();
        assert_eq!((alone.link, alone.links_outside), (7, false));
        assert_eq!(alone.peer(), None, "it links to itself");
    }

    #[test]
    fn the_kernel_lists_the_loopback_and_knows_no_such_other_name() {
        let all = Listed::all().unwrap();
        let loopback = all.iter().find(|listed| listed.name.bytes() == b"lo");
        let loopback = loopback.unwrap();
        assert_eq!(Listed::of(loopback.index).as_ref().ok(), Some(loopback));
        for name in [&b"no-such-name-of-an-interface"[..], &[b'x'; 127]] {
            let error = Listed::also_called(name).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::ENODEV));
        }
        assert!(Listed::of(i32::MAX as u32).is_err());
        let refused = message(2, &(-libc::EPERM).to_ne_bytes());
        assert!(information(&refused).is_err());
    }
}

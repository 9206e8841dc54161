//! What the kernel tells of an interface between two looks at it: where it went when it is gone,
//! and that its link was not up for a moment.

use std::io;
use std::thread::sleep;
use std::time::Duration;

use super::Link;
use super::addresses::take;
use super::attached::INFO_BYTES;
use super::netlink::{Attributes, u32_at};
use crate::sys::xdp_netlink::RouteNews;

const RTM_NEWLINK: u16 = 16;
const RTM_DELLINK: u16 = 17;
/// The network namespace that it is in from now on.
const IFLA_NEW_NETNSID: u16 = 45;

/// An interface is looked for in vain a moment before the kernel tells why.
const TOLD_WITHIN: u32 = 10;
const NAP: Duration = Duration::from_millis(5);

/// Listens for interfaces that go.
#[derive(Debug)]
pub(crate) struct Departure {
    news: RouteNews,
    /// Whether the last one that went, of those that were listened for, went to another namespace.
    moved: Option<bool>,
    /// The least that the link was, by what was heard last.
    blink: Option<Link>,
}

impl Departure {
    /// From now on.
    pub(crate) fn heard() -> io::Result<Self> {
        Ok(Self {
            news: RouteNews::of(libc::RTMGRP_LINK as u32)?,
            moved: None,
            blink: None,
        })
    }

    /// Hears what was told of the interface of this number, which was there at the last look.
    pub(crate) fn hear(&mut self, index: u32) {
        (self.moved, self.blink) = (None, None);
        self.take(index);
    }

    /// That the link was not up at a moment of what was heard last.
    pub(crate) fn blink(&self) -> Option<Link> {
        self.blink
    }

    /// That interface is gone. The kernel may need a moment to tell why.
    pub(crate) fn wait(&mut self, index: u32) {
        for _ in 0..TOLD_WITHIN {
            if self.moved.is_some() {
                return;
            }
            sleep(NAP);
            self.take(index);
        }
    }

    fn take(&mut self, index: u32) {
        let (moved, blink) = (&mut self.moved, &mut self.blink);
        let _lost = !self.news.each(|datagram| {
            // What is no message of the kernel's tells nothing.
            let _understood = take(datagram, RTM_DELLINK, |body| {
                *moved = departed(body, index).or(*moved);
            });
            let _understood = take(datagram, RTM_NEWLINK, |body| {
                *blink = worse(*blink, told_link(body, index));
            });
        });
    }

    /// Whether it is in another network namespace, as far as was told.
    pub(crate) fn is_move(&self) -> bool {
        self.moved == Some(true)
    }
}

/// The link that this tells of the interface, where it is not up.
fn told_link(body: &[u8], index: u32) -> Option<Link> {
    let whole = body.first() == Some(&(libc::AF_UNSPEC as u8));
    if !whole || u32_at(body, 4)? != index {
        return None;
    }
    let link = Link::of_flags(index, u32_at(body, 8)?);
    (!link.is_up()).then_some(link)
}

/// One that was set down loses its carrier by that.
fn worse(one: Option<Link>, other: Option<Link>) -> Option<Link> {
    match (one, other) {
        (Some(down @ Link::Down(_)), _) | (_, Some(down @ Link::Down(_))) => Some(down),
        (one, other) => one.or(other),
    }
}

/// Whether this tells that the interface went, and then whether to another namespace.
fn departed(body: &[u8], index: u32) -> Option<bool> {
    // Of other families come ports that leave a bridge.
    let whole = body.first() == Some(&(libc::AF_UNSPEC as u8));
    if !whole || u32_at(body, 4)? != index {
        return None;
    }
    let mut attributes = Attributes(body.get(INFO_BYTES..)?);
    Some(attributes.any(|(kind, _)| kind == IFLA_NEW_NETNSID))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface::netlink::made::attribute;

    #[test]
    fn a_move_is_told_from_a_removal_and_from_what_concerns_others() {
        let body = |family: i32, index: u32, attributes: &[u8]| {
            let mut body = vec![0; INFO_BYTES];
            body[0] = family as u8;
            body[4..8].copy_from_slice(&index.to_ne_bytes());
            body.extend(attributes);
            body
        };
        let stays = attribute(3, b"eth0\0");
        let there = attribute(IFLA_NEW_NETNSID, &1_u32.to_ne_bytes());
        let moves = [&stays[..], &there].concat();
        let (none, bridge) = (libc::AF_UNSPEC, libc::AF_BRIDGE);
        let table = [
            (body(none, 7, &stays), Some(false)),
            (body(none, 7, &moves), Some(true)),
            (body(none, 8, &moves), None),
            (body(bridge, 7, &moves), None),
            (Vec::new(), None),
        ];
        for (body, expect) in table {
            assert_eq!(departed(&body, 7), expect, "{body:?}");
            for end in 0..body.len() {
                let _no_panic = departed(&body[..end], 7);
            }
        }
    }

    #[test]
    fn a_link_that_was_down_for_a_moment_is_heard_of() {
        let body = |index: u32, flags: i32| {
            let mut body = vec![0; INFO_BYTES];
            body[4..8].copy_from_slice(&index.to_ne_bytes());
            body[8..12].copy_from_slice(&(flags as u32).to_ne_bytes());
            body
        };
        let up = libc::IFF_UP | libc::IFF_RUNNING;
        let (down, none) = (Some(Link::Down(7)), Some(Link::NoCarrier(7)));
        for (told, expect) in [
            (vec![(7, up)], None),
            (vec![(7, 0), (7, up)], down),
            (vec![(7, libc::IFF_UP), (7, up)], none),
            (
                vec![(7, libc::IFF_UP), (7, 0), (7, libc::IFF_UP), (7, up)],
                down,
            ),
            (vec![(8, 0), (7, up)], None),
        ] {
            let heard = told
                .iter()
                .map(|&(index, flags)| told_link(&body(index, flags), 7));
            assert_eq!(heard.fold(None, worse), expect, "{told:?}");
        }
    }

    #[test]
    fn one_that_nobody_told_of_did_not_move() {
        let mut departure = Departure::heard().unwrap();
        departure.hear(i32::MAX as u32);
        departure.wait(i32::MAX as u32);
        assert!(!departure.is_move());
    }
}

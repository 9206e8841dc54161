//! What the kernel and the driver counted at an interface: `struct rtnl_link_stats64` of route
//! netlink (`linux/if_link.h`), and the counters that the driver names by queue.

use std::collections::BTreeMap;
use std::io;

use super::attached::{HEADER_BYTES, INFO_BYTES, RTM_NEWLINK, question};
use super::netlink::{Attributes, u16_at, u64_at};
use crate::sys::xdp_netlink::ask_route_netlink;

const IFLA_STATS64: u16 = 23;

/// Frames of an interface since it was made, whoever's they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounts {
    /// Received, those among them that were dropped later.
    pub rx_packets: u64,
    /// Transmitted.
    pub tx_packets: u64,
    /// Broken, and not received.
    pub rx_errors: u64,
    /// Not transmitted because something broke.
    pub tx_errors: u64,
    /// Received and dropped by the driver or behind it.
    pub rx_dropped: u64,
    /// Meant to be transmitted and dropped by the driver.
    pub tx_dropped: u64,
    /// Not received for want of a place in the interface's own ring.
    pub rx_missed: u64,
}

impl LinkCounts {
    /// Those of the interface of this number.
    pub(crate) fn of(interface: u32) -> io::Result<Self> {
        let answer = ask_route_netlink(&question(interface))?;
        Self::in_answer(&answer).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    fn in_answer(answer: &[u8]) -> Option<Self> {
        if u16_at(answer, 4)? != RTM_NEWLINK {
            return None;
        }
        let attributes = answer.get(HEADER_BYTES + INFO_BYTES..)?;
        let counts = Attributes(attributes).find(|&(kind, _)| kind == IFLA_STATS64);
        let counts = counts?.1;
        let count = |place: usize| u64_at(counts, 8 * place);
        Some(Self {
            rx_packets: count(0)?,
            tx_packets: count(1)?,
            rx_errors: count(4)?,
            tx_errors: count(5)?,
            rx_dropped: count(6)?,
            tx_dropped: count(7)?,
            rx_missed: count(15)?,
        })
    }
}

/// What a driver counted on one receive queue, where it counts by queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounts {
    /// Frames that came on it.
    pub rx_frames: Option<u64>,
    /// Of those, frames that the driver dropped, or that found no place behind an XDP program.
    pub rx_drops: Option<u64>,
}

/// By number of the queue, from the names that veth, virtio, ena and many others give.
pub(super) fn by_queue(driver: &[(String, u64)]) -> BTreeMap<u32, QueueCounts> {
    let mut queues = BTreeMap::new();
    for (name, count) in driver {
        let Some((queue, what)) = rx_queue(name) else {
            continue;
        };
        let counts: &mut QueueCounts = queues.entry(queue).or_default();
        match what {
            // veth counts frames under the first name, which virtio has for some of them.
            "xdp_packets" => {
                counts.rx_frames.get_or_insert(*count);
            }
            "packets" => counts.rx_frames = Some(*count),
            "drops" => counts.rx_drops = Some(*count),
            _ => {}
        }
    }
    queues
}

/// The queue and the rest of names like `rx_queue_3_drops`, `rx3_drops` and `rx-3.drops`.
fn rx_queue(name: &str) -> Option<(u32, &str)> {
    let rest = name.strip_prefix("rx")?;
    let rest = rest.strip_prefix("_queue_").unwrap_or(rest);
    let rest = rest.strip_prefix('-').unwrap_or(rest);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (number, what) = rest.split_at_checked(digits)?;
    Some((number.parse().ok()?, what.strip_prefix(['_', '.'])?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface::netlink::made::{attribute, message};

    #[test]
    fn counts_are_found_among_other_attributes() {
        let numbers: Vec<u8> = (100..125_u64).flat_map(u64::to_ne_bytes).collect();
        let mut body = vec![0; INFO_BYTES];
        body.extend(attribute(3, b"eth0\0"));
        body.extend(attribute(IFLA_STATS64, &numbers));
        let answer = message(RTM_NEWLINK, &body);
        let counts = LinkCounts::in_answer(&answer).unwrap();
        assert_eq!((counts.rx_packets, counts.tx_packets), (100, 101));
        assert_eq!((counts.rx_dropped, counts.tx_dropped), (106, 107));
        assert_eq!(counts.rx_missed, 115);
        for end in 0..answer.len() {
            assert_eq!(LinkCounts::in_answer(&answer[..end]), None);
        }
        assert_eq!(LinkCounts::in_answer(&message(2, &body)), None);
    }

    #[test]
    fn the_kernel_says_what_passed_the_loopback() {
        let loopback = crate::interface::Interface::named("lo").unwrap();
        let index = loopback.index().unwrap();
        let before = LinkCounts::of(index).unwrap();
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let to = socket.local_addr().unwrap();
        socket.send_to(b"one", to).unwrap();
        let after = LinkCounts::of(index).unwrap();
        assert!(after.tx_packets > before.tx_packets);
        assert!(LinkCounts::of(i32::MAX as u32).is_err());
    }

    #[test]
    fn queues_are_told_from_names() {
        let cases = [
            ("rx_queue_3_drops", Some((3, "drops"))),
            ("rx_queue_11_xdp_packets", Some((11, "xdp_packets"))),
            ("rx0_packets", Some((0, "packets"))),
            ("rx-2.packets", Some((2, "packets"))),
            ("rx_packets", None),
            ("rx_queue_x_drops", None),
            ("rx99999999999_drops", None),
            ("tx_queue_0_drops", None),
            ("rx", None),
            ("rx7", None),
            ("rx\u{e9}7_", None),
        ];
        for (name, expect) in cases {
            assert_eq!(rx_queue(name), expect, "{name}");
        }
        let named = |name: &str, count| (name.to_owned(), count);
        let virtio = [
            named("rx_queue_0_packets", 9),
            named("rx_queue_0_xdp_packets", 4),
            named("rx_queue_1_drops", 2),
        ];
        let queues = by_queue(&virtio);
        assert_eq!(queues[&0].rx_frames, Some(9));
        assert_eq!((queues[&1].rx_frames, queues[&1].rx_drops), (None, Some(2)));
    }
}

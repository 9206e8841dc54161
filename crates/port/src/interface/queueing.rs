//! What the queueing disciplines of an interface let through and dropped: a question to route
//! netlink (`linux/rtnetlink.h`, `linux/gen_stats.h`), answered by bytes from a stranger.

use std::io;

use super::addresses::all;
use super::netlink::{Attributes, u32_at, u64_at};

const RTM_NEWQDISC: u16 = 36;
const RTM_GETQDISC: u16 = 38;
/// `struct tcmsg`.
const BODY_BYTES: usize = 20;
const TCA_KIND: u16 = 1;
const TCA_STATS2: u16 = 7;
const TCA_STATS_BASIC: u16 = 1;
const TCA_STATS_QUEUE: u16 = 3;
const TCA_STATS_PKT64: u16 = 8;
/// The place of the outermost one.
const ROOT: u32 = u32::MAX;
/// The kind that keeps nothing, drops nothing and counts nothing.
const NONE: &str = "noqueue";

/// Counts of one queueing discipline since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueingCounts {
    /// Frames it gave to the driver, of this program's and of others'.
    pub sent: u64,
    /// Frames it dropped.
    pub dropped: u64,
    /// Frames it holds.
    pub backlog: u64,
}

/// The queueing disciplines of an interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queueing {
    /// The outermost one, those under it included; `None` where nothing queues.
    pub root: Option<QueueingCounts>,
    /// Where there is one for each transmit queue: the queue, and its.
    pub queues: Vec<(u32, QueueingCounts)>,
}

/// One, as the kernel tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Told {
    interface: u32,
    handle: u32,
    parent: u32,
    kind: String,
    counts: QueueingCounts,
}

impl Queueing {
    /// Of the interface of this number.
    pub(super) fn of(interface: u32) -> io::Result<Self> {
        let told = all(RTM_GETQDISC, BODY_BYTES, RTM_NEWQDISC, told)?;
        Ok(Self::among(&told, interface))
    }

    fn among(told: &[Told], interface: u32) -> Self {
        let own = || told.iter().filter(|told| told.interface == interface);
        let root = own().find(|told| told.parent == ROOT && told.kind != NONE);
        let Some(root) = root else {
            return Self::default();
        };
        let each = root.kind == "mq" || root.kind == "mqprio";
        let below = own().filter(|told| each && told.parent >> 16 == root.handle >> 16);
        let queues = below.filter_map(|told| {
            let queue = (told.parent & 0xffff).checked_sub(1)?;
            Some((queue, told.counts))
        });
        Self {
            root: Some(root.counts),
            queues: queues.collect(),
        }
    }
}

fn told(body: &[u8]) -> Option<Told> {
    let mut told = Told {
        interface: u32_at(body, 4)?,
        handle: u32_at(body, 8)?,
        parent: u32_at(body, 12)?,
        kind: String::new(),
        counts: QueueingCounts::default(),
    };
    for (kind, value) in Attributes(body.get(BODY_BYTES..)?) {
        match kind {
            TCA_KIND => {
                let text = value.split(|&byte| byte == 0).next().unwrap_or_default();
                told.kind = String::from_utf8_lossy(text).into_owned();
            }
            TCA_STATS2 => told.counts = counts(value),
            _ => {}
        }
    }
    Some(told)
}

fn counts(attributes: &[u8]) -> QueueingCounts {
    let mut counts = QueueingCounts::default();
    let mut sent_64 = None;
    for (kind, value) in Attributes(attributes) {
        match kind {
            // Bytes, then packets of 32 bits; all 64 come by themselves where they are needed.
            TCA_STATS_BASIC => counts.sent = u32_at(value, 8).unwrap_or(0).into(),
            TCA_STATS_PKT64 => sent_64 = u64_at(value, 0),
            TCA_STATS_QUEUE => {
                counts.backlog = u32_at(value, 0).unwrap_or(0).into();
                counts.dropped = u32_at(value, 8).unwrap_or(0).into();
            }
            _ => {}
        }
    }
    counts.sent = sent_64.unwrap_or(counts.sent);
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface::netlink::made::attribute;

    fn body(interface: u32, handle: u32, parent: u32, kind: &str, dropped: u32) -> Vec<u8> {
        let mut bytes = vec![0; 4];
        for word in [interface, handle, parent, 0] {
            bytes.extend(word.to_ne_bytes());
        }
        let mut basic = 9_000_u64.to_ne_bytes().to_vec();
        basic.extend(90_u32.to_ne_bytes());
        let queue: Vec<u8> = [7, 700, dropped, 0, 0]
            .into_iter()
            .flat_map(u32::to_ne_bytes)
            .collect();
        let stats = [
            attribute(TCA_STATS_BASIC, &basic),
            attribute(TCA_STATS_QUEUE, &queue),
        ];
        bytes.extend(attribute(TCA_KIND, format!("{kind}\0").as_bytes()));
        bytes.extend(attribute(TCA_STATS2 | 0x8000, &stats.concat()));
        bytes
    }

    #[test]
    fn the_root_and_its_queues_are_told_apart() {
        let bodies = [
            body(3, 0x1_0000, ROOT, "mq", 50),
            body(3, 0x2_0000, 0x1_0001, "fq_codel", 20),
            body(3, 0x3_0000, 0x1_0002, "fq_codel", 30),
            body(4, 0x1_0000, ROOT, "pfifo", 1),
            body(5, 0, ROOT, "noqueue", 0),
        ];
        let told: Vec<Told> = bodies.iter().filter_map(|body| told(body)).collect();
        let counts = |dropped| QueueingCounts {
            sent: 90,
            dropped,
            backlog: 7,
        };
        let many = Queueing::among(&told, 3);
        assert_eq!(many.root, Some(counts(50)));
        assert_eq!(many.queues, [(0, counts(20)), (1, counts(30))]);
        let one = Queueing::among(&told, 4);
        assert_eq!((one.root, one.queues.len()), (Some(counts(1)), 0));
        assert_eq!(Queueing::among(&told, 5), Queueing::default());
        for end in 0..bodies[0].len() {
            let _cut = super::told(&bodies[0][..end]);
        }
    }

    #[test]
    fn the_kernel_understands_the_question() {
        let loopback = crate::interface::Interface::named("lo").unwrap();
        assert!(Queueing::of(loopback.index().unwrap()).is_ok());
    }
}

//! NAT as it would be written without a thought of speed: one list of flows, searched from its
//! begin. It takes the port that was chosen as given, and says whether it may be.

use super::packet::{ACK, FIN, ICMP, Packet, RST, SYN, TCP, UDP};
use super::*;

/// An address and a port.
type End = (u32, u16);

#[derive(Clone, Debug)]
struct Known {
    protocol: u8,
    /// Who began it, and where it was sent to.
    from: End,
    to: End,
    /// With what it leaves.
    new_from: End,
    new_to: End,
    out: u16,
    hairpin: bool,
    state: &'static str,
    answered: bool,
    closed: [bool; 2],
    seen: u64,
}

/// What should become of a packet.
#[derive(Debug)]
pub(super) enum Wanted {
    Dropped(DropReason),
    /// It is for the router itself.
    Own,
    Left(Packet),
    /// It leaves with a source of these, and this destination.
    NewSource {
        first: u32,
        last: u32,
        ports: (u16, u16),
        to: End,
        hairpin: bool,
    },
}

pub(super) struct Model {
    config: NatConfig,
    flows: Vec<Known>,
    /// Who began flows that are over lately, and until when they may have their records.
    lately: Vec<(u32, u64)>,
}

impl Model {
    pub(super) fn new(config: NatConfig) -> Self {
        Self {
            config,
            flows: Vec::new(),
            lately: Vec::new(),
        }
    }

    pub(super) fn flows(&self) -> usize {
        self.flows.len()
    }

    /// Whether records of flows that are over may be in the way: of an address, or of all.
    pub(super) fn has_lately(&self, address: Option<u32>) -> bool {
        let mut lately = self.lately.iter();
        lately.any(|(host, _)| address.is_none_or(|address| address == *host))
    }

    /// The answer that a flow waits for.
    pub(super) fn answer(&self, flow: usize) -> Packet {
        let known = &self.flows[flow];
        Packet {
            protocol: known.protocol,
            src: known.new_to.0,
            dst: known.new_from.0,
            src_port: known.new_to.1,
            dst_port: known.new_from.1,
            flags: SYN,
            is_reply: known.protocol == ICMP,
            payload: vec![1],
        }
    }

    pub(super) fn forget_those_over(&mut self, now: u64) {
        let times = self.config.timeouts;
        self.lately.retain(|(_, until)| now < *until);
        let lately = &mut self.lately;
        self.flows.retain(|known| {
            let lasts = match (known.protocol, known.state) {
                (TCP, "new") => times.tcp_new,
                (TCP, "closing") => times.tcp_closing,
                (TCP, _) => times.tcp,
                (UDP, "new") => times.udp_new,
                (UDP, _) => times.udp,
                _ => times.icmp,
            };
            let lasts = lasts.as_nanos() as u64;
            // An eighth more, and until somebody polls.
            let until = known.seen + lasts / 8 * 9 + (200 << TICK_BITS);
            let is_there = now - known.seen < lasts;
            if !is_there && now < until {
                lately.push((known.from.0, until));
            }
            is_there
        });
    }

    /// What should become of a packet that comes by an interface.
    pub(super) fn wanted(&mut self, from: u16, sent: &Packet, now: u64) -> Wanted {
        let [src, dst] = [(sent.src, sent.src_port), (sent.dst, sent.dst_port)];
        let is_of = |known: &Known, ends: (End, End), is_reply: bool| {
            known.protocol == sent.protocol
                && ends == (src, dst)
                && (sent.protocol != ICMP || sent.is_reply == is_reply)
        };
        let mut flows = self.flows.iter_mut();
        let own = flows.find(|one| is_of(one, (one.from, one.to), false));
        if let Some(own) = own {
            own.packet(sent, false, now);
            return Wanted::Left(moved(sent, own.new_from, own.new_to));
        }
        let mut flows = self.flows.iter_mut();
        let own = flows.find(|one| is_of(one, (one.new_to, one.new_from), true));
        if let Some(own) = own {
            own.packet(sent, true, now);
            return Wanted::Left(moved(sent, own.to, own.from));
        }
        self.wanted_of_new(from, sent)
    }

    fn wanted_of_new(&self, from: u16, sent: &Packet) -> Wanted {
        let dst = (sent.dst, sent.dst_port);
        let mut rules = self.config.destinations.iter();
        let rule = rules.find(|rule| {
            let ports = &rule.matches.destination_ports[0];
            sent.protocol == TCP
                && sent.dst == own(rule.from)
                && (ports.first..=ports.last).contains(&sent.dst_port)
        });
        let target = rule.and_then(|rule| rule.to);
        let target = target.map(|to| (to.address, to.port.unwrap_or(sent.dst_port)));
        let hairpin = target.is_some() && from != WAN;
        let target = target.filter(|_| !hairpin || self.config.hairpin);
        let to = target.unwrap_or(dst);
        if [LAN, DMZ, WAN].map(own).contains(&to.0) {
            return Wanted::Own;
        }
        let pool = self.pool();
        let is_of_pool = (pool.0..=pool.1).contains(&sent.dst) && sent.dst != own(WAN);
        if target.is_none() && (is_of_pool || from == WAN) {
            return Wanted::Dropped(DropReason::NatUnknown);
        }
        let out = behind(to.0);
        if out != WAN && !hairpin {
            return match target {
                None => Wanted::Left(sent.clone()),
                Some(to) => Wanted::Left(moved(sent, (sent.src, sent.src_port), to)),
            };
        }
        if sent.protocol == ICMP && sent.is_reply {
            return Wanted::Dropped(DropReason::NatUnknown);
        }
        if self.flows.len() >= self.config.flows_max as usize {
            return Wanted::Dropped(DropReason::NatFull);
        }
        let of_host = self
            .flows
            .iter()
            .filter(|one| one.from.0 == sent.src && one.is_given());
        if of_host.count() >= self.config.flows_per_address as usize {
            return Wanted::Dropped(DropReason::NatLimit);
        }
        let usual = match (sent.protocol, sent.src_port) {
            (ICMP, _) => (0, u16::MAX),
            (_, 0..1024) => (1, 1023),
            _ => (1024, u16::MAX),
        };
        match hairpin {
            true => Wanted::NewSource {
                first: sent.dst,
                last: sent.dst,
                ports: usual,
                to,
                hairpin,
            },
            false => Wanted::NewSource {
                first: pool.0,
                last: pool.1,
                ports: pool.2.unwrap_or(usual),
                to,
                hairpin,
            },
        }
    }

    /// The outside addresses, and the ports where they are limited.
    fn pool(&self) -> (u32, u32, Option<(u16, u16)>) {
        let SourceAction::To(pool) = self.config.sources[0].action else {
            panic!("the tests give sources");
        };
        let addresses = pool.addresses.unwrap_or(NatRange::one(own(WAN)));
        let ports = pool.ports.map(|ports| (ports.first, ports.last));
        (addresses.first, addresses.last, ports)
    }

    /// Whether a source is free for packets to `to`.
    pub(super) fn is_free(&self, protocol: u8, source: End, to: End) -> bool {
        let mut flows = self.flows.iter();
        !flows.any(|one| {
            one.protocol == protocol
                && one.new_from == source
                && one.new_to == same(protocol, to, source)
        })
    }

    /// A flow began, with this packet and what left of it.
    pub(super) fn begin(&mut self, sent: &Packet, left: &Packet, hairpin: bool, now: u64) {
        self.flows.push(Known {
            protocol: sent.protocol,
            from: (sent.src, sent.src_port),
            to: (sent.dst, sent.dst_port),
            new_from: (left.src, left.src_port),
            new_to: (left.dst, left.dst_port),
            out: behind(left.dst),
            hairpin,
            state: "new",
            answered: false,
            closed: [false; 2],
            seen: now,
        });
    }
}

/// The other end of an echo has its identifier.
fn same(protocol: u8, to: End, source: End) -> End {
    match protocol {
        ICMP => (to.0, source.1),
        _ => to,
    }
}

impl Known {
    /// Its source was given to it.
    fn is_given(&self) -> bool {
        self.hairpin || self.out == WAN
    }

    fn packet(&mut self, sent: &Packet, is_reply: bool, now: u64) {
        self.seen = now;
        self.answered |= is_reply;
        let has = |flag| sent.flags & flag != 0;
        if self.protocol != TCP {
            self.state = if self.answered { "established" } else { "new" };
        } else if has(RST) {
            self.state = "closing";
        } else if has(SYN) && !has(ACK) && self.state == "closing" {
            self.state = "new";
            self.closed = [false; 2];
            self.answered = is_reply;
        } else {
            self.closed[usize::from(is_reply)] |= has(FIN);
            if self.closed == [true; 2] {
                self.state = "closing";
            } else if self.state == "new" && self.answered && !is_reply && has(ACK) {
                self.state = "established";
            }
        }
    }
}

fn moved(sent: &Packet, from: End, to: End) -> Packet {
    // An echo has one identifier, that of the side that is translated.
    let (src_port, dst_port) = match (sent.protocol, sent.is_reply) {
        (ICMP, false) => (from.1, from.1),
        (ICMP, true) => (to.1, to.1),
        _ => (from.1, to.1),
    };
    Packet {
        src: from.0,
        dst: to.0,
        src_port,
        dst_port,
        ..sent.clone()
    }
}

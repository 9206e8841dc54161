//! What is known of one flow.

use wire::protocol;
use wire::view::{Ipv4View, TcpView};

use super::rewrite::{Delta, Rewrite};
use super::tuple::{NatProtocol, Tuple};
use super::{NatTable, NatTimeouts};

/// No flow.
pub(super) const NONE: u32 = u32::MAX;

/// In which state a flow is: each has a timeout of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Class {
    TcpNew,
    Tcp,
    TcpClosing,
    UdpNew,
    Udp,
    Icmp,
}

/// What the flow came of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Origin {
    /// Rules for the interfaces that its first packet came and left by.
    Rules,
    /// A rule for the interface whose address an inside host sent to.
    Hairpin,
    /// It is no flow, but one inside address and port with those that it has outside.
    Mapping,
}

/// One flow, or one mapping. A packet of a known flow needs the first cache line alone; the
/// second has what is needed when the flow moves in its list or ends.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Flow {
    /// What its first packet was, as it came. Of a mapping the destination is 0.
    pub(super) original: Tuple,
    /// What answers are, as they come. Of a mapping the source is 0.
    pub(super) reply: Tuple,
    /// The tick of its last packet.
    pub(super) seen: u32,
    /// The tick at which it got its place in its list; [`NONE`] in a free record.
    pub(super) placed: u32,
    /// Flows of a mapping.
    pub(super) flows: u32,
    /// By which version of the rules it was last found right.
    pub(super) version: u32,
    /// What the rewriting of [`Self::original`] adds to checksums.
    pub(super) delta: Delta,
    /// The interface that its first packet left by.
    pub(super) out: u16,
    pub(super) class: Class,
    pub(super) origin: Origin,
    pub(super) is_answered: bool,
    /// Who has closed: the side that began, the other.
    pub(super) closed: [bool; 2],
    /// It counts for the inside address that began it.
    pub(super) is_counted: bool,
    /// Counts the flows that have had the record: a number of a flow is good for one of them.
    pub(super) life: u32,
    /// The mapping that it is of, or [`NONE`].
    pub(super) mapping: u32,
    pub(super) before: u32,
    pub(super) after: u32,
    /// The interface that its first packet came by.
    pub(super) from: u16,
}

/// What comes before the mapping is in the first line, and there is no third one.
const _: () = assert!(std::mem::offset_of!(Flow, mapping) == 64 && size_of::<Flow>() == 128);

/// A packet of a flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    pub(super) flow: u32,
    /// It goes against the direction of the first packet.
    pub(super) is_reply: bool,
}

impl Class {
    pub(super) const COUNT: usize = 6;
    pub(super) const ALL: [Self; Self::COUNT] = [
        Self::TcpNew,
        Self::Tcp,
        Self::TcpClosing,
        Self::UdpNew,
        Self::Udp,
        Self::Icmp,
    ];

    pub(super) fn first(protocol: NatProtocol) -> Self {
        match protocol {
            NatProtocol::Tcp => Self::TcpNew,
            NatProtocol::Udp => Self::UdpNew,
            _ => Self::Icmp,
        }
    }

    /// The class of a mapping, which lasts as long after its last flow.
    pub(super) fn of_mapping(protocol: NatProtocol) -> Self {
        match protocol {
            NatProtocol::Tcp => Self::TcpClosing,
            NatProtocol::Udp => Self::Udp,
            _ => Self::Icmp,
        }
    }

    /// As `show nat` names it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::TcpNew | Self::UdpNew => "new",
            Self::Tcp | Self::Udp => "established",
            Self::TcpClosing => "closing",
            Self::Icmp => "echo",
        }
    }

    /// Ticks without packets after which a flow is over.
    pub(super) fn timeout_of(self, timeouts: &NatTimeouts) -> u32 {
        let timeout = match self {
            Self::TcpNew => timeouts.tcp_new,
            Self::Tcp => timeouts.tcp,
            Self::TcpClosing => timeouts.tcp_closing,
            Self::UdpNew => timeouts.udp_new,
            Self::Udp => timeouts.udp,
            Self::Icmp => timeouts.icmp,
        };
        let ticks = timeout.as_nanos().div_ceil(1 << super::TICK_BITS);
        u32::try_from(ticks).unwrap_or(u32::MAX / 4).max(1)
    }
}

impl Flow {
    /// What a packet of a direction becomes.
    #[inline]
    pub(super) fn rewrite(&self, is_reply: bool) -> Rewrite {
        let delta = match is_reply {
            false => self.delta,
            true => self.delta.reversed(),
        };
        Rewrite {
            from: *self.key(is_reply),
            to: self.key(!is_reply).inverse(),
            delta,
        }
    }

    /// Rewrites a packet of a direction.
    #[inline]
    pub(super) fn translate(&self, is_reply: bool, packet: &mut [u8]) {
        self.rewrite(is_reply).apply(packet);
    }

    #[inline]
    pub(super) fn key(&self, is_reply: bool) -> &Tuple {
        match is_reply {
            false => &self.original,
            true => &self.reply,
        }
    }

    /// Whether the record is of a flow, and not free.
    #[inline]
    pub(super) fn is_there(&self) -> bool {
        self.placed != NONE
    }

    /// Whether it is over, for want of packets.
    #[inline]
    pub(super) fn is_over(&self, table: &NatTable, tick: u32) -> bool {
        self.flows == 0 && tick.saturating_sub(self.seen) >= table.timeout(self.class)
    }

    /// The class that it has after a packet.
    #[inline]
    pub(super) fn class_after(&mut self, is_reply: bool, packet: &[u8]) -> Class {
        self.is_answered |= is_reply;
        match self.class {
            Class::UdpNew if self.is_answered => Class::Udp,
            Class::TcpNew | Class::Tcp | Class::TcpClosing => self.tcp_after(is_reply, packet),
            other => other,
        }
    }

    fn tcp_after(&mut self, is_reply: bool, packet: &[u8]) -> Class {
        let Some((flags, class)) = tcp_flags(packet).zip(Some(self.class)) else {
            return self.class;
        };
        if flags.rst {
            return Class::TcpClosing;
        }
        if flags.syn && !flags.ack && class == Class::TcpClosing {
            // The same ports again, for another connection.
            self.closed = [false; 2];
            self.is_answered = is_reply;
            return Class::TcpNew;
        }
        self.closed[usize::from(is_reply)] |= flags.fin;
        match class {
            _ if self.closed == [true; 2] => Class::TcpClosing,
            Class::TcpNew if self.is_answered && !is_reply && flags.ack => Class::Tcp,
            class => class,
        }
    }
}

struct TcpFlags {
    fin: bool,
    syn: bool,
    rst: bool,
    ack: bool,
}

/// The flags of a TCP segment, which later fragments do not have.
fn tcp_flags(packet: &[u8]) -> Option<TcpFlags> {
    let view = Ipv4View::new_checked(packet).ok()?;
    if view.fragment_offset() != 0 || view.protocol() != protocol::TCP {
        return None;
    }
    let flags = TcpView::new_checked(view.payload()).ok()?.flags();
    let has = |bit: u8| flags & bit != 0;
    Some(TcpFlags {
        fin: has(1),
        syn: has(2),
        rst: has(4),
        ack: has(16),
    })
}

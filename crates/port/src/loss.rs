//! What becomes of frames between an interface and a worker, by name: the one declaration from
//! which the ledger's text, its JSON and its page of the documentation derive.

macro_rules! losses {
    ($($variant:ident = $name:literal, $sentence:literal, $remedy:literal;)+) => {
        /// Where a frame went that was at one side of a port and not at the other.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Loss {
            $(#[doc = concat!($sentence, ".")] $variant,)+
        }

        impl Loss {
            /// All, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name in JSON, `snake_case`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// One sentence for people, without capital and full stop.
            #[must_use]
            pub fn sentence(self) -> &'static str {
                match self { $(Self::$variant => $sentence,)+ }
            }

            /// What helps, without capital and full stop.
            #[must_use]
            pub fn remedy(self) -> &'static str {
                match self { $(Self::$variant => $remedy,)+ }
            }
        }
    };
}

losses! {
    RxMissed = "rx_missed",
        "the interface had no free place in its own receive ring (rx_missed_errors)",
        "a longer ring (ethtool -G IFACE rx N), more queues, or workers with less to do";
    NoSocket = "no_socket",
        "it came on a receive queue that the port has no socket on, and went to the host, or \
         nowhere with unclaimed=drop",
        "leave out queues=, or have the interface use the port's queues alone (ethtool -X IFACE)";
    TagLost = "tag_lost",
        "its VLAN tag had no place before it, so it was dropped rather than cross to another VLAN",
        "use packet: on this interface";
    KeptLocal = "kept_local",
        "it is for the host itself, and keep-local leaves such frames to it",
        "none needed";
    Bypassed = "bypassed",
        "the kernel forwarded it past the workers, as bypass says",
        "none needed; see why no worker was at work";
    Shortcut = "shortcut",
        "the kernel forwarded it past the workers, because it is surely in no list",
        "none needed; shortcut=on asks for it";
    Stranded = "stranded",
        "neither a worker nor the other interface of the bypass was there",
        "see what took the other interface away";
    FillRingEmpty = "fill_ring_empty",
        "the kernel found no empty frame in the socket's fill ring",
        "longer rings (ring=), more workers, or CPUs with less to do";
    RxRingFull = "rx_ring_full",
        "the ring to the worker was full",
        "more workers, or CPUs with less to do";
    Merged = "merged",
        "it had been merged of several frames and was left out",
        "switch merging off where it is sent: ethtool -K SENDER tx off";
    TooLong = "too_long",
        "it is longer than a chunk of frame memory",
        "a new start where the MTU was raised meanwhile (state mtu_changed); a larger --stride";
    Unread = "unread",
        "it lay in the ring to the worker when the run ended",
        "none needed";
    RxDriver = "rx_driver_drop",
        "the driver, or the kernel before it came to us, dropped it (rx_dropped)",
        "see ethtool -S IFACE; net.core.netdev_max_backlog where frames come by a CPU's queue; \
         where full frames alone are lost by xdp:, a smaller MTU or mode=generic";
    StartOrEnd = "start_or_end",
        "it came while the run began or ended, between two looks at the counters",
        "begin the run before the traffic and end it after";
    LinkDown = "link_down",
        "the link of an interface on its way was down then, or the interface gone (state \
         link_down or absent)",
        "see the port's state: an interface that was set down, its cable, its other end";
    LongerThanMtu = "longer_than_mtu",
        "it is longer than the MTU of the interface that it was for",
        "the same MTU at both ends (ip link set dev IFACE mtu BYTES), or shorter frames";
    TxRingLeft = "tx_ring_left",
        "it lay in the transmit ring when the run ended",
        "see why the interface takes nothing: its link, its other end";
    TxInvalid = "tx_invalid",
        "the kernel refused its descriptor, which is a bug",
        "please report it";
    Qdisc = "qdisc",
        "the queueing discipline of the interface dropped it",
        "a longer limit (tc qdisc change), or packet: without qdisc";
    QdiscBacklog = "qdisc_backlog",
        "it waited in the queueing discipline of the interface when the run ended",
        "none needed";
    TxDriver = "tx_driver_drop",
        "the driver dropped it, its own ring or the other end being full or down (tx_dropped)",
        "an other end that keeps up; a longer ring (ethtool -G IFACE tx N)";
    OthersSent = "others_sent",
        "the host's own stack, or another program, sent it by this interface",
        "none needed; an address or IPv6 on the interface makes the host speak";
}

/// So many frames of one queue, or of all where the kernel does not tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLoss {
    /// What became of them.
    pub loss: Loss,
    /// The interface's receive queue, or the socket that shares its frames.
    pub queue: Option<u32>,
    /// How many.
    pub frames: u64,
}

impl QueueLoss {
    /// Those of which there are any.
    pub(crate) fn some(
        queue: Option<u32>,
        counts: impl IntoIterator<Item = (Loss, u64)>,
    ) -> impl Iterator<Item = Self> {
        let counts = counts.into_iter().filter(|&(_, frames)| frames != 0);
        counts.map(move |(loss, frames)| Self {
            loss,
            queue,
            frames,
        })
    }
}

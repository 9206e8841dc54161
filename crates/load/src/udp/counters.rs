//! What the kernel counted of UDP, and what it took of the machine.

use std::fs;
use std::net::SocketAddr;

/// Counters of the kernel. They never fall, but those of sockets end with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelCounters {
    /// Frames that came in by all interfaces of this network namespace, and that left.
    pub frames_in: u64,
    /// The same, of those that left.
    pub frames_out: u64,
    /// What was dropped, by who dropped it.
    pub drops: KernelDrops,
    /// Context switches of the whole machine.
    pub switches: u64,
    /// Time of all CPUs, and that of their softirqs, in ticks.
    pub ticks: u64,
    /// See `ticks`.
    pub softirq_ticks: u64,
}

/// Datagrams and frames that the kernel dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelDrops {
    /// A socket's receive buffer was full (RcvbufErrors of IPv4 and IPv6).
    pub receive_buffer: u64,
    /// A send buffer was full (SndbufErrors).
    pub send_buffer: u64,
    /// The checksum was wrong (InCsumErrors).
    pub checksum: u64,
    /// Nobody had the port (NoPorts).
    pub no_port: u64,
    /// What the sockets of the own port dropped, as SO_RXQ_OVFL counts it.
    pub sockets: u64,
    /// A CPU's queue of frames was full (softnet), of the whole machine.
    pub softnet: u64,
    /// How often a softirq ended with frames left, of the whole machine.
    pub squeezed: u64,
}

impl KernelCounters {
    /// What they are now. `own` is the end whose sockets are looked at.
    #[must_use]
    pub fn read(own: SocketAddr) -> Self {
        let file = |path| fs::read_to_string(path).unwrap_or_default();
        let (v4, v6) = (file("/proc/net/snmp"), file("/proc/net/snmp6"));
        let udp = |name: &str| snmp(&v4, name) + snmp6(&v6, name);
        let (dropped, squeezed) = softnet(&file("/proc/net/softnet_stat"));
        let (frames_in, frames_out) = interfaces(&file("/proc/net/dev"));
        let stat = file("/proc/stat");
        let (ticks, softirq_ticks) = cpu_ticks(&stat);
        let sockets =
            ["/proc/net/udp", "/proc/net/udp6"].map(|path| socket_drops(&file(path), own));
        Self {
            frames_in,
            frames_out,
            drops: KernelDrops {
                receive_buffer: udp("RcvbufErrors"),
                send_buffer: udp("SndbufErrors"),
                checksum: udp("InCsumErrors"),
                no_port: udp("NoPorts"),
                sockets: sockets.iter().sum(),
                softnet: dropped,
                squeezed,
            },
            switches: number_behind(&stat, "ctxt"),
            ticks,
            softirq_ticks,
        }
    }

    /// What came since `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let less = u64::saturating_sub;
        let (now, then) = (&self.drops, &before.drops);
        Self {
            frames_in: less(self.frames_in, before.frames_in),
            frames_out: less(self.frames_out, before.frames_out),
            drops: KernelDrops {
                receive_buffer: less(now.receive_buffer, then.receive_buffer),
                send_buffer: less(now.send_buffer, then.send_buffer),
                checksum: less(now.checksum, then.checksum),
                no_port: less(now.no_port, then.no_port),
                sockets: less(now.sockets, then.sockets),
                softnet: less(now.softnet, then.softnet),
                squeezed: less(now.squeezed, then.squeezed),
            },
            switches: less(self.switches, before.switches),
            ticks: less(self.ticks, before.ticks),
            softirq_ticks: less(self.softirq_ticks, before.softirq_ticks),
        }
    }
}

/// A counter of UDP in `/proc/net/snmp`: a line of names, and a line of numbers.
pub(super) fn snmp(text: &str, name: &str) -> u64 {
    let mut lines = text.lines().filter(|line| line.starts_with("Udp: "));
    let (Some(names), Some(numbers)) = (lines.next(), lines.next()) else {
        return 0;
    };
    let mut both = names.split_whitespace().zip(numbers.split_whitespace());
    let found = both.find(|(known, _)| *known == name);
    found
        .and_then(|(_, number)| number.parse().ok())
        .unwrap_or(0)
}

/// The same in `/proc/net/snmp6`: a line a counter.
pub(super) fn snmp6(text: &str, name: &str) -> u64 {
    number_behind(text, &format!("Udp6{name}"))
}

/// The first number behind a word that begins a line.
fn number_behind(text: &str, word: &str) -> u64 {
    let numbers = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        (words.next() == Some(word)).then(|| words.next()?.parse::<u64>().ok())?
    });
    numbers.take(1).sum()
}

/// Dropped frames and times out of budget, of all CPUs, in `/proc/net/softnet_stat`.
pub(super) fn softnet(text: &str) -> (u64, u64) {
    let column = |line: &str, at: usize| {
        let word = line.split_whitespace().nth(at).unwrap_or("0");
        u64::from_str_radix(word, 16).unwrap_or(0)
    };
    let dropped = text.lines().map(|line| column(line, 1)).sum();
    (dropped, text.lines().map(|line| column(line, 2)).sum())
}

/// Frames received and sent by all interfaces, in `/proc/net/dev`.
pub(super) fn interfaces(text: &str) -> (u64, u64) {
    let rows = text.lines().filter_map(|line| {
        let (_, numbers) = line.split_once(':')?;
        let mut numbers = numbers.split_whitespace();
        let received: u64 = numbers.nth(1)?.parse().ok()?;
        Some((received, numbers.nth(7)?.parse::<u64>().ok()?))
    });
    rows.fold((0, 0), |(all_in, all_out), (one_in, one_out)| {
        (all_in + one_in, all_out + one_out)
    })
}

/// Ticks of all CPUs, and those of softirqs, in `/proc/stat`.
pub(super) fn cpu_ticks(text: &str) -> (u64, u64) {
    let line = text.lines().find(|line| line.starts_with("cpu "));
    let words = line.unwrap_or_default().split_whitespace().skip(1);
    // The last two are in the first two already.
    let ticks: Vec<u64> = words
        .take(8)
        .map(|word| word.parse().unwrap_or(0))
        .collect();
    (ticks.iter().sum(), ticks.get(6).copied().unwrap_or(0))
}

/// What the sockets of a port dropped, in `/proc/net/udp`: its last column.
pub(super) fn socket_drops(text: &str, own: SocketAddr) -> u64 {
    let port = format!(":{:04X}", own.port());
    let rows = text.lines().skip(1).filter_map(|line| {
        let mut words = line.split_whitespace();
        let is_own = words.nth(1)?.ends_with(&port);
        is_own.then(|| words.last()?.parse::<u64>().ok())?
    });
    rows.sum()
}

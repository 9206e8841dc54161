//! Limits of the kernel that decide what a run finds, judged before it.

use std::fs;

use super::socket::RECEIVE_BUFFER;
use crate::files::open_files_max;

/// Frames that wait for a CPU's softirq at least.
const BACKLOG_MIN: u64 = 4096;

/// What a run needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitsAsked {
    /// Sockets of all threads.
    pub sockets: usize,
}

/// What the kernel allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Allowed {
    pub(super) files: usize,
    pub(super) receive_buffer: Option<u64>,
    pub(super) backlog: Option<u64>,
    /// Flows that conntrack may follow, where it follows any.
    pub(super) conntrack: Option<u64>,
}

/// A sentence for each limit that is too low, with what helps.
#[must_use]
pub fn limits(asked: &LimitsAsked) -> Vec<String> {
    let number = |path: &str| {
        let text = fs::read_to_string(path).ok()?;
        text.trim().parse().ok()
    };
    let is_tracked = number("/proc/sys/net/netfilter/nf_conntrack_count").is_some_and(|n| n > 0);
    let allowed = Allowed {
        files: open_files_max(),
        receive_buffer: number("/proc/sys/net/core/rmem_max"),
        backlog: number("/proc/sys/net/core/netdev_max_backlog"),
        conntrack: number("/proc/sys/net/netfilter/nf_conntrack_max").filter(|_| is_tracked),
    };
    judge(asked, &allowed)
}

pub(super) fn judge(asked: &LimitsAsked, allowed: &Allowed) -> Vec<String> {
    let mut found = Vec::new();
    if asked.sockets > allowed.files {
        found.push(format!(
            "{} sockets are asked for and {} files may be open: raise the limit with 'ulimit -n', \
             or ask for fewer addresses",
            asked.sockets, allowed.files
        ));
    }
    let buffer = RECEIVE_BUFFER as u64;
    if let Some(most) = allowed.receive_buffer.filter(|most| *most < buffer) {
        found.push(format!(
            "a socket keeps at most {most} bytes that wait for its thread, and more are dropped \
             (RcvbufErrors): 'sysctl -w net.core.rmem_max={buffer}' lets it keep more"
        ));
    }
    if let Some(most) = allowed.backlog.filter(|most| *most < BACKLOG_MIN) {
        found.push(format!(
            "at most {most} frames wait for a softirq on veth and lo, and more are dropped \
             (softnet): 'sysctl -w net.core.netdev_max_backlog={BACKLOG_MIN}' lets more wait"
        ));
    }
    if let Some(most) = allowed.conntrack {
        found.push(format!(
            "conntrack follows flows of this network namespace, {most} at most, and takes time for \
             each datagram: a 'notrack' rule of nftables keeps it from UDP"
        ));
    }
    found
}

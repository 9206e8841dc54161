//! What a host counts, and under which names.

use stack::tcp::{StateCounts, Tcp};

use super::udp::UdpEnd;

/// How many counts there are.
const COUNT: usize = NAMES.len();

/// Their names, in the order of [`HostCounts::all`].
pub(super) const NAMES: &[&str] = &[
    "queries",
    "begun",
    "established",
    "refused",
    "reset",
    "timed_out",
    "overdue",
    "wrong_length",
    "no_port",
    "no_room",
    "segments_in",
    "segments_out",
    "retransmitted",
    "bad_segments",
    "resets_sent",
    "cookies",
    "syns_dropped",
    "neighbour_requests",
    "neighbour_answers",
    "echo_replies",
    "unresolved",
    "no_frame",
    "open",
    "time_waits",
    "untimed",
    "in_syn_sent",
    "in_syn_received",
    "in_established",
    "in_fin_wait_1",
    "in_fin_wait_2",
    "in_close_wait",
    "in_closing",
    "in_last_ack",
    "datagrams_in",
    "bad_datagrams",
    "no_socket",
    "unreachables_sent",
    "datagrams_refused",
    "datagram_errors",
    "strange_errors",
    "datagrams_taken",
    "datagram_bytes",
    "datagrams_answered",
    "datagrams_unanswered",
    "generated",
    "back",
    "repeated",
    "late",
    "foreign",
];

/// What became of queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct QueryCounts {
    /// Queries that were done whole.
    pub(super) done: u64,
    /// Connections that were asked for, by this end or by others.
    pub(super) begun: u64,
    pub(super) established: u64,
    /// Failures: the other end refused or reset it, or no longer acknowledged.
    pub(super) refused: u64,
    pub(super) reset: u64,
    pub(super) timed_out: u64,
    /// It took longer than a query may.
    pub(super) overdue: u64,
    /// The other end sent fewer or more bytes than it should.
    pub(super) wrong_length: u64,
    /// It did not begin: no source port was free, or there were as many as there may be.
    pub(super) no_port: u64,
    pub(super) no_room: u64,
    /// Done, and nobody was told how long it took.
    pub(super) untimed: u64,
    /// Going on now.
    pub(super) open: u64,
}

/// What a host did beside TCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct HostCounts {
    pub(super) requests: u64,
    pub(super) answers: u64,
    pub(super) echo_replies: u64,
    /// Packets that did not leave: their next hop is not known, or no frame was free.
    pub(super) unresolved: u64,
    pub(super) no_frame: u64,
}

impl HostCounts {
    pub(super) fn all(&self, queries: &QueryCounts, tcp: &Tcp, end: &UdpEnd) -> [u64; COUNT] {
        let time_waits = tcp.time_waits() as u64;
        let states = tcp.states();
        let in_state = |at: usize| u64::from(states.of(StateCounts::STATES[at]));
        let tcp = tcp.counts();
        let (udp, echoes) = (end.udp.counts(), end.echo_counts());
        [
            queries.done,
            queries.begun,
            queries.established,
            queries.refused,
            queries.reset,
            queries.timed_out,
            queries.overdue,
            queries.wrong_length,
            queries.no_port,
            queries.no_room,
            tcp.received,
            tcp.sent,
            tcp.retransmitted,
            tcp.bad,
            tcp.resets,
            tcp.cookies,
            tcp.no_room,
            self.requests,
            self.answers,
            self.echo_replies,
            self.unresolved,
            self.no_frame,
            queries.open,
            time_waits,
            queries.untimed,
            in_state(0),
            in_state(1),
            in_state(2),
            in_state(3),
            in_state(4),
            in_state(5),
            in_state(6),
            in_state(7),
            udp.received,
            udp.bad,
            udp.no_socket,
            udp.unreachable,
            udp.refused,
            udp.errors,
            udp.strange_errors,
            end.counts.taken,
            end.counts.bytes,
            end.counts.answered,
            end.counts.unanswered,
            echoes.sent,
            echoes.back,
            echoes.repeated,
            echoes.late,
            echoes.foreign,
        ]
    }
}

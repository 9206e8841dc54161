//! What a queue says at its end.

use super::XdpQueue;
use crate::interface::CUTTING;
use crate::xdp::maps::Counted;
use crate::xdp::member::Member;

impl XdpQueue {
    /// A sentence each.
    pub(super) fn warnings(&self) -> Vec<String> {
        let interface = &self.origin.spec.interface;
        let mut warnings = Vec::new();
        let mut warn = |times: u64, what: &str| {
            if times != 0 {
                warnings.push(format!("xdp:{interface}: {times} {what}"));
            }
        };
        warn(
            self.refused,
            "frames sent here were too long or too short for it; compare the MTUs of both ports",
        );
        warn(
            self.stranded,
            "frames were dropped because the interface was not there to send them",
        );
        warn(
            self.lost,
            "frames that were sent by redirection were not taken: the link was down, its other end \
             was full, without a program and GRO, or of a smaller MTU; transmit=socket needs none",
        );
        let now: u64 = self.members.iter().map(Member::too_long).sum();
        let why = self.origin.signal.outgrown(interface);
        let why = why.unwrap_or_else(|| {
            format!(
                "they are longer than its MTU allows, so that their sender has a larger one, or \
                 left segments merged, which ends with `ethtool -K SENDER {CUTTING}` there"
            )
        });
        let what = format!("received frames fitted no chunk and were left out: {why}");
        warn(self.too_long + now, &what);
        let now: u64 = self.members.iter().map(Member::misunderstood).sum();
        warn(
            self.misunderstood + now,
            "entries of the kernel's rings were not understood, which is a bug; please report it",
        );
        warn(
            self.finisher.finished(),
            "frames came with a checksum left to the receiver, and were finished here",
        );
        if self.speaks {
            for (times, what) in self.of_port() {
                warn(times, what);
            }
        }
        if self.speaks {
            warnings.extend(self.origin.steering.troubles());
        }
        if let Some(failure) = &self.failure {
            warnings.push(match self.members.is_empty() {
                true => format!("xdp:{interface}: it has not come back: {failure}"),
                false => format!("xdp:{interface}: queues it got are not used: {failure}"),
            });
        }
        warnings
    }

    /// What concerns the whole port, which one queue says: how often, and what.
    fn of_port(&self) -> [(u64, &'static str); 6] {
        let counted = |what| self.origin.steering.counted(what);
        [
            (
                counted(Counted::Unclaimed),
                "frames came on queues that this port does not have, or before it was ready; give \
                 it all queues of the interface",
            ),
            (
                counted(Counted::TagLost),
                "frames were dropped whose VLAN tag had no place before them; use packet: here",
            ),
            (
                counted(Counted::Bypassed),
                "frames passed unfiltered, as bypass says, while no worker was at work",
            ),
            (
                counted(Counted::Stranded),
                "frames were dropped while neither a worker nor the other interface was there",
            ),
            (self.losses, "times the interface went away"),
            (self.returns, "times it came back and was taken up again"),
        ]
    }
}

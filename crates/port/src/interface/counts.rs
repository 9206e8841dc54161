//! What passed a queue of an interface, and what did not.

use super::peer::CUTTING;
use super::{Link, Signal};
use crate::PortStatistics;

/// What helps where chunks are too short.
pub(crate) const LONGER_STRIDE: &str = "give --stride more bytes";

/// The counts of one queue.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) passed: PortStatistics,
    /// Received and merged of several.
    pub(crate) merged: u64,
    /// Received and too long.
    pub(crate) too_long: u64,
    /// Received with a checksum that was finished here.
    pub(crate) checksums: u64,
    /// Left in a ring when its interface went or the run ended.
    pub(crate) unread: u64,
    /// Given up while frames could not pass, and what the interface was then.
    pub(crate) unsent: u64,
    pub(crate) unsent_while: Option<Link>,
    /// Not sent and never will be, by the error: the number of frames, and the last error.
    pub(crate) refused: u64,
    pub(crate) refusal: Option<i32>,
    /// Times the interface went down, and times it was found anew.
    pub(crate) downs: u64,
    pub(crate) returns: u64,
    /// Times that coming back was tried in vain, and why the last time.
    pub(crate) failures: u64,
    pub(crate) failure: Option<String>,
}

impl Counts {
    /// A frame was given up for good while the interface was in this state, by this error.
    #[cold]
    pub(crate) fn refuse_while(&mut self, link: Link, error: &std::io::Error) {
        if link.is_up() {
            return self.refuse(error);
        }
        self.unsent += 1;
        // One that was made anew is without a carrier for a moment; what counts is that it went.
        if self.unsent_while != Some(Link::Absent) {
            self.unsent_while = Some(link);
        }
    }

    /// A frame was given up for good, by this error.
    #[cold]
    pub(crate) fn refuse(&mut self, error: &std::io::Error) {
        self.refused += 1;
        self.refusal = error.raw_os_error();
    }

    /// A frame was received that is longer than a chunk.
    #[cold]
    pub(crate) fn too_long(&mut self) {
        self.too_long += 1;
    }

    /// With the frames that did not get through counted as missed, those dropped by the kernel
    /// among them.
    pub(crate) fn statistics(&self, dropped: u64) -> PortStatistics {
        PortStatistics {
            missed: dropped + self.merged + self.too_long + self.unread,
            missed_merged: self.merged,
            missed_too_long: self.too_long,
            ..self.passed
        }
    }

    /// What the user should know at the end of a port on an interface of the kernel's.
    pub(crate) fn explained(&self, name: &str, dropped: u64, signal: &Signal) -> Vec<String> {
        let known = signal.outgrown(name);
        let why = known.unwrap_or_else(|| {
            format!(
                "they are longer than its MTU allows, so that their sender has a larger one; to \
                 take them {LONGER_STRIDE}"
            )
        });
        self.warnings(name, dropped, &why)
    }

    /// What the user should know at the end, a sentence each. `name` is the interface, `why` what
    /// is to be said of frames that were too long.
    pub(crate) fn warnings(&self, name: &str, dropped: u64, why: &str) -> Vec<String> {
        let mut warnings = Vec::new();
        let mut warn = |count: u64, sentence: &dyn Fn() -> String| {
            if count > 0 {
                warnings.push(sentence());
            }
        };
        warn(self.merged, &|| {
            let count = self.merged;
            format!(
                "{name}: {count} received frames were merged of several and left out; switch that \
                 off where they are sent: ethtool -K SENDER {CUTTING}, and ethtool -K {name} gro \
                 off lro off"
            )
        });
        warn(self.too_long, &|| {
            let count = self.too_long;
            format!("{name}: {count} received frames fitted no chunk and were left out: {why}")
        });
        warn(self.unsent, &|| {
            let count = self.unsent;
            let link = self.unsent_while.unwrap_or(Link::Absent);
            format!("{name}: {count} frames could not be sent: the interface was {link}")
        });
        warn(self.refused, &|| {
            let (count, error) = (self.refused, self.refusal.unwrap_or(0));
            let error = std::io::Error::from_raw_os_error(error);
            let remedy = match self.refusal {
                Some(libc::EMSGSIZE) => {
                    "; they are longer than its MTU allows: ip link set dev IFACE mtu BYTES, 4 \
                     more for each VLAN tag but a first of 802.1Q"
                }
                Some(libc::ENOBUFS) => {
                    "; the driver dropped them each time, while its link was up: why is unknown; \
                     the other end of a veth pair drops those that are longer than its MTU allows"
                }
                _ => "",
            };
            format!("{name}: {count} frames could not be sent ({error}){remedy}")
        });
        warn(self.checksums, &|| {
            let count = self.checksums;
            format!(
                "{name}: {count} received frames came without a finished checksum and got it here"
            )
        });
        warn(self.downs + self.returns, &|| {
            let (downs, returns) = (self.downs, self.returns);
            format!(
                "{name}: the interface went down {downs} times and was made anew {returns} times"
            )
        });
        warn(self.failures, &|| {
            let (count, why) = (self.failures, self.failure.as_deref().unwrap_or(""));
            format!("{name}: coming back was tried {count} times in vain, the last time: {why}")
        });
        warn(dropped, &|| {
            format!(
                "{name}: the kernel dropped {dropped} frames because the receive ring was full; \
                 give the bridge more workers or its CPUs less to do"
            )
        });
        warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of frames that were lost is what the interface's state explains.
    #[test]
    fn the_cause_of_a_loss_is_the_one_that_is_known() {
        let error = std::io::Error::from_raw_os_error(libc::ENOBUFS);
        let lost = |link| {
            let mut counts = Counts::default();
            counts.refuse_while(link, &error);
            counts
        };
        let long = || Counts {
            too_long: 1,
            ..Counts::default()
        };
        let raised = |mtu| {
            let signal = Signal::default();
            signal.takes_mtu(1834);
            signal.saw_mtu(mtu);
            signal
        };
        for (counts, mtu, said) in [
            (
                lost(Link::NoCarrier(3)),
                1500,
                "the interface was without a carrier",
            ),
            (lost(Link::Down(3)), 1500, "the interface was down"),
            (lost(Link::Absent), 1500, "the interface was gone"),
            (
                lost(Link::Up(3)),
                1500,
                "while its link was up: why is unknown",
            ),
            (long(), 1500, "their sender has a larger one"),
            (
                long(),
                9000,
                "its MTU was 9000, and frame memory has room for 1834",
            ),
        ] {
            let warnings = counts.explained("eth1", 0, &raised(mtu));
            assert!(
                warnings.len() == 1 && warnings[0].contains(said),
                "{warnings:?}"
            );
        }
    }
}

//! What passed a queue, and what did not.

use crate::PortStatistics;

use super::receive::Unfit;

/// The counts of one queue.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) passed: PortStatistics,
    /// Received and merged of several.
    pub(super) merged: u64,
    /// Received and too long.
    pub(super) too_long: u64,
    /// Received with a checksum that was finished here.
    pub(super) checksums: u64,
    /// Left in a ring when its interface went or the run ended.
    pub(super) unread: u64,
    /// Not sent and never will be, by the error: the number of frames, and the last error.
    pub(super) refused: u64,
    pub(super) refusal: Option<i32>,
    /// Times the interface went down, and times it was found anew.
    pub(super) downs: u64,
    pub(super) returns: u64,
    /// Times that coming back was tried in vain, and why the last time.
    pub(super) failures: u64,
    pub(super) failure: Option<String>,
}

impl Counts {
    #[cold]
    pub(super) fn unfit(&mut self, why: Unfit) {
        match why {
            Unfit::Merged => self.merged += 1,
            Unfit::TooLong => self.too_long += 1,
            Unfit::Outgoing => {}
        }
    }

    /// What the user should know at the end, a sentence each. `name` is the interface.
    pub(super) fn warnings(&self, name: &str, dropped: u64) -> Vec<String> {
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
                 off where they are sent: ethtool -K SENDER tso off gso off, and ethtool -K {name} \
                 gro off lro off"
            )
        });
        warn(self.too_long, &|| {
            let count = self.too_long;
            format!(
                "{name}: {count} received frames are longer than a chunk and were left out; give \
                 --stride more bytes"
            )
        });
        warn(self.refused, &|| {
            let (count, error) = (self.refused, self.refusal.unwrap_or(0));
            let error = std::io::Error::from_raw_os_error(error);
            let remedy = match self.refusal {
                Some(libc::EMSGSIZE) => {
                    "; they are longer than its MTU allows: ip link set dev IFACE mtu BYTES, 4 \
                     more for each VLAN tag but the first"
                }
                _ => "",
            };
            format!("{name}: {count} frames could not be sent ({error}){remedy}")
        });
        warn(self.checksums, &|| {
            let count = self.checksums;
            format!(
                "{name}: {count} received frames came with their checksum left to the receiver and \
                 got it here; ethtool -K SENDER tx off saves that work"
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

//! The report's part about packets in fragments, as JSON and in words.

use daemon::rpc::answers::{FragmentCounts, FragmentTotals};
use engine::FragmentReport;
use serde::Serialize;

use super::number::count;

/// Packets in fragments, of a bridge that followed them. The names are a contract.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Fragments(FragmentTotals);

impl Fragments {
    pub(crate) fn of(report: &FragmentReport) -> Self {
        Self(FragmentCounts::from(report).totals)
    }

    /// One line for people; nothing where no packet was in fragments.
    pub(crate) fn line(&self) -> Option<String> {
        if self.0.begun == 0 {
            return None;
        }
        let (begun, complete) = (count(self.0.begun), count(self.0.complete));
        let mut line = format!("{begun} packets came in fragments, {complete} whole");
        for (packets, what) in [
            (self.0.timed_out, "ran out of time"),
            (self.0.evicted, "made room for others"),
            (self.0.flawed, "were bad"),
            (self.0.waited, "fragments waited"),
        ] {
            if packets > 0 {
                line += &format!(", {} {what}", count(packets));
            }
        }
        Some(line)
    }
}

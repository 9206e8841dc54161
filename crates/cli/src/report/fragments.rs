//! The report's part about packets in fragments, as JSON and in words.

use engine::FragmentReport;
use serde::Serialize;

use super::number::count;

/// Packets in fragments, of a bridge that followed them. The names are a contract.
#[derive(Debug, Serialize)]
pub(crate) struct Fragments {
    /// Packets that began.
    pub(crate) begun: u64,
    /// Of those, packets of which all fragments came.
    pub(crate) complete: u64,
    /// Of those, given up when their time was over.
    pub(crate) timed_out: u64,
    /// Of those, given up for want of room.
    pub(crate) evicted: u64,
    /// Of those, found bad, and of the bad ones those whose identification another packet had.
    pub(crate) flawed: u64,
    pub(crate) reused: u64,
    /// Fragments that came again, and fragments that had to wait.
    pub(crate) duplicates: u64,
    pub(crate) waited: u64,
    /// The most that waited at a time, at each worker.
    pub(crate) waited_most: u64,
}

impl Fragments {
    pub(crate) fn of(report: &FragmentReport) -> Self {
        Self {
            begun: report.begun,
            complete: report.complete,
            timed_out: report.timed_out,
            evicted: report.evicted,
            flawed: report.flawed,
            reused: report.reused,
            duplicates: report.duplicates,
            waited: report.waited,
            waited_most: report.waited_most,
        }
    }

    /// One line for people; nothing where no packet was in fragments.
    pub(crate) fn line(&self) -> Option<String> {
        if self.begun == 0 {
            return None;
        }
        let (begun, complete) = (count(self.begun), count(self.complete));
        let mut line = format!("{begun} packets came in fragments, {complete} whole");
        for (packets, what) in [
            (self.timed_out, "ran out of time"),
            (self.evicted, "made room for others"),
            (self.flawed, "were bad"),
            (self.waited, "fragments waited"),
        ] {
            if packets > 0 {
                line += &format!(", {} {what}", count(packets));
            }
        }
        Some(line)
    }
}

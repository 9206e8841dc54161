//! The report's part about flows, as JSON and in words.

use engine::FlowReport;
use serde::Serialize;

use super::number::count;

/// Flows of a bridge that remembered them. The names are a contract.
#[derive(Debug, Serialize)]
pub(crate) struct Flows {
    /// How many could be known at most, of IPv4 and as many of IPv6.
    pub(crate) most: u64,
    /// Known at the end.
    pub(crate) known_v4: u64,
    pub(crate) known_v6: u64,
    pub(crate) begun: u64,
    /// Of those, whose time was over.
    pub(crate) expired: u64,
    /// Of those, ended to make room.
    pub(crate) evicted: u64,
    /// Those that could not begin for want of room.
    pub(crate) refused: u64,
    /// Records that were written down, and those that found no room on the way.
    pub(crate) records: u64,
    pub(crate) records_lost: u64,
}

impl Flows {
    pub(crate) fn of(report: &FlowReport) -> Self {
        Self {
            most: report.most,
            known_v4: report.known[0],
            known_v6: report.known[1],
            begun: report.begun,
            expired: report.expired,
            evicted: report.evicted,
            refused: report.refused,
            records: report.records,
            records_lost: report.records_lost,
        }
    }

    /// One line for people.
    pub(crate) fn line(&self) -> String {
        let known = count(self.known_v4 + self.known_v6);
        let mut line = format!("{} flows began, {known} go on", count(self.begun));
        for (frames, what) in [
            (self.evicted, "made room for others"),
            (self.refused, "found no room"),
            (self.records_lost, "records were not written down"),
        ] {
            if frames > 0 {
                line += &format!(", {} {what}", count(frames));
            }
        }
        line
    }
}

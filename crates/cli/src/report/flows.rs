//! The report's part about flows, as JSON and in words.

use daemon::rpc::answers::FlowCounts;
use engine::FlowReport;
use serde::Serialize;

use super::number::count;

/// Flows of a bridge that remembered them. The names are a contract.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Flows(FlowCounts);

impl Flows {
    pub(crate) fn of(report: &FlowReport) -> Self {
        Self(report.into())
    }

    /// One line for people.
    pub(crate) fn line(&self) -> String {
        let known = count(self.0.known_v4 + self.0.known_v6);
        let mut line = format!("{} flows began, {known} go on", count(self.0.begun));
        for (frames, what) in [
            (self.0.evicted, "made room for others"),
            (self.0.refused, "found no room"),
            (self.0.records_lost, "records were not written down"),
        ] {
            if frames > 0 {
                line += &format!(", {} {what}", count(frames));
            }
        }
        line
    }
}

//! Flows under the daemon: what the policy is told of them, and where they are written.

use engine::Running;
use plane::Policy;

use super::StartError;
use crate::config::Config;
use crate::rpc::answers;
use crate::{FlowLogCounts, FlowLogFile, FlowLogWriter};

/// The policy, with the memory that the configuration asks for.
pub(super) fn remembering(policy: &Policy, config: &Config) -> Policy {
    let stateful = config.stateful.as_ref();
    let mut policy = policy.clone();
    policy.stateful = stateful.map(|section| section.policy(&config.ports));
    policy.fragments = config.fragments.and_then(|section| section.limits);
    policy
}

/// Opens the log, if there is to be one, before frames are let in.
pub(super) fn open(config: &Config) -> Result<Option<FlowLogFile>, StartError> {
    let path = config.stateful.as_ref().and_then(|section| section.log());
    let opened = path.map(|path| {
        FlowLogFile::open(path).map_err(|error| {
            let path = path.display();
            StartError::Other(format!(
                "{path} cannot be opened for flows ({error}): check the folder, or leave \
                 flow_log out"
            ))
        })
    });
    opened.transpose()
}

/// Begins to write.
pub(super) fn write(
    file: Option<FlowLogFile>,
    running: &mut Running,
    config: &Config,
) -> Result<Option<FlowLogWriter>, StartError> {
    let Some((file, reader)) = file.zip(running.take_flow_log()) else {
        return Ok(None);
    };
    let name = |place: usize| config.ports.get(place).map(|port| port.name.clone());
    let names = [0, 1].map(|place| name(place).unwrap_or_default());
    let writer = file.write(reader, names).map_err(|error| {
        StartError::Other(format!(
            "flows cannot be written down ({error}): raise the limits on threads"
        ))
    });
    writer.map(Some)
}

/// Waits until all is written; says what is not.
pub(super) fn finish(writer: Option<FlowLogWriter>) {
    let Some(end) = writer.map(FlowLogWriter::finish) else {
        return;
    };
    if let Some(error) = end.error {
        let lines = end.unwritten;
        tracing::error!("{lines} flows could not be written down ({error})");
    }
}

/// What `show.flows` answers.
pub(super) fn answer(status: &engine::Status, log: Option<&FlowLogCounts>) -> answers::Flows {
    let Some(known) = &status.flows else {
        return answers::Flows {
            seconds: status.seconds,
            ..answers::Flows::default()
        };
    };
    answers::Flows {
        seconds: status.seconds,
        remembers: true,
        counts: known.into(),
        records_unwritten: log.map_or(0, FlowLogCounts::unwritten),
        fragments: status.fragments.as_ref().map(Into::into),
    }
}

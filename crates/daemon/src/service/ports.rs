//! Opening the ports of a configuration.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use frame::PortId;
use port::interface::Claims;
use port::{OpenContext, Port};

use super::StartError;
use crate::Samples;
use crate::config::{Config, Source};

/// Opens all ports with one context, so that they notice when they would harm each other's files.
/// Generators draw their hits from `samples`.
pub(super) fn open(config: &Config, samples: Samples) -> Result<Vec<Box<dyn Port>>, StartError> {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
    let context = OpenContext {
        samples_v4: samples.v4,
        samples_v6: samples.v6,
        seed: 1,
        start_time_ns: u64::try_from(since_1970.unwrap_or_default().as_nanos()).unwrap_or(0),
        looks_up: !config.sets.is_empty(),
        interfaces: Claims::of_bridge(),
        ..OpenContext::default()
    };
    for set in &config.sets {
        if let Some(Source::File(file)) = &set.source
            && let Ok(metadata) = fs::metadata(file)
        {
            context
                .files
                .protect(&file.display().to_string(), &metadata)?;
        }
    }
    let ports = config.ports.iter().zip(0..);
    let ports = ports.map(|(port, id)| port::open(&port.spec, PortId(id), &context));
    Ok(ports.collect::<Result<_, _>>()?)
}

//! The switch of each worker, and the rings over which they tell each other where stations are.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;

use plane::Links;
use plane::switch::{Switch, SwitchTable};
use table::CompileError;

/// Sightings that wait between two workers; one that finds no room is told at the station's next
/// frame.
const SIGHTINGS_MAX: usize = 4096;

/// One switch a worker, each with a key of its own, drawn from the system's random source.
///
/// # Errors
///
/// The memory for the stations is not there.
pub(crate) fn switches(
    table: &Arc<SwitchTable>,
    workers: usize,
) -> Result<Vec<Switch>, CompileError> {
    let workers = u16::try_from(workers).unwrap_or(u16::MAX);
    let links = Links::mesh(workers, SIGHTINGS_MAX);
    let key = || [(); 2].map(|()| RandomState::new().hash_one(()));
    links
        .into_iter()
        .map(|links| Switch::new(Arc::clone(table), key(), links))
        .collect()
}

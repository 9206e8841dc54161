//! Sources of sets on the control socket: how they fare, and to be read now.

use std::time::Duration;

use crate::rpc::answers::{RefreshParams, SourceFacts};
use crate::rpc::{ErrorKind, RpcError};
use crate::sources::{Answered, Asking, Kind, SourceState};

use super::sets::seconds;

/// A list is fetched, which has a limit of its own, and compiled.
const READ_WITHIN: Duration = Duration::from_secs(600);

/// How the sources of a set fare. A set whose list was there before a reload is not without it.
pub(super) fn of_set(states: &[SourceState], set: &str, has_list: bool) -> Vec<SourceFacts> {
    let of_set = states.iter().filter(|state| &*state.set == set);
    of_set.map(|state| facts(state, has_list)).collect()
}

/// Whether a source gives the list of a set: then what is loaded by hand stands until it does.
pub(super) fn has_source(asking: &Asking, set: &str) -> bool {
    let states = asking.states();
    let mut states = states.iter();
    states.any(|state| &*state.set == set && state.kind != Kind::CrowdSec)
}

fn facts(state: &SourceState, has_list: bool) -> SourceFacts {
    SourceFacts {
        source: state.name.clone(),
        kind: state.kind.name().to_owned(),
        never_read: state.is_never_read() && !(has_list && state.kind != Kind::CrowdSec),
        from_copy: state.from_copy,
        confirmed_at: state.last_success.map(seconds),
        failed_in_a_row: state.failed_in_a_row,
        failing_since: state.failing_since.map(seconds),
        next_try_at: state.next_try.map(seconds),
        error: state.last_error.as_ref().map(|error| error.text.clone()),
        unwatched: state.unwatched.clone(),
    }
}

/// Has the sources of a set read; their names.
pub(super) fn refresh(asking: &Asking, params: &RefreshParams) -> Result<Vec<String>, RpcError> {
    let set = &params.set;
    let states = match asking.ask(set, params.force, READ_WITHIN) {
        Answered::Read(states) => states,
        Answered::NoSource => {
            let message = format!(
                "set '{set}' has no source that could be read: name a file, as in linerate set \
                 load {set} FILE"
            );
            return Err(RpcError::new(ErrorKind::Refused, message));
        }
        Answered::Late => {
            let message = format!(
                "the source of set '{set}' is still being read: see 'linerate set show {set}'"
            );
            return Err(RpcError::new(ErrorKind::Busy, message));
        }
        Answered::Ended => {
            let message = format!("the source of set '{set}' was replaced meanwhile: try again");
            return Err(RpcError::new(ErrorKind::Busy, message));
        }
    };
    if let Some(error) = states.iter().find_map(|state| state.last_error.as_ref()) {
        let kind = match error.refused {
            true => ErrorKind::Guarded,
            false => ErrorKind::Refused,
        };
        return Err(RpcError::new(kind, &error.text));
    }
    tracing::info!(set, force = params.force, "its source was read by hand");
    Ok(states.into_iter().map(|state| state.name).collect())
}

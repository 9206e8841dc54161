//! How many files, and so how many connections, the process may have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files that are no connections: standard streams, epoll instances, listeners and what libraries
/// open.
const OTHERS: u64 = 64;

/// Raises the limit as far as it goes without privileges; returns the connections that may be open.
pub(crate) fn open_files_max() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    // Where it cannot be raised, what there was still holds.
    let _ = setrlimit(Resource::Nofile, raised);
    let now = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(now.saturating_sub(OTHERS))
        .unwrap_or(usize::MAX)
        .clamp(1, 1 << 30)
}

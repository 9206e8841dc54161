//! What the arguments mean here: the second step, which asks the machine. Lists are not yet read
//! and ports not yet opened; `--dry-run` prints what comes out of this.

mod bridge;
pub(crate) mod ports;
mod sets;

pub(crate) use bridge::{BridgeSettings, layout_facts};
pub(crate) use sets::{SetPlan, Source, check_file, keep_name, stdin_count};

//! A router as users ask for it: words of options or of the configuration, read into
//! [`plane::router::RouterConfig`].

mod facts;
mod faults;
mod interfaces;
mod kernel;
mod nat;
mod on_exit;
mod punt;
mod routes;
mod start;
mod vrfs;
mod words;
mod workers;

pub(crate) use facts::name_of;
pub use facts::route_facts;
pub use kernel::{KernelFollowing, KernelRouter, Shared as KernelShared, leave_control};
pub use nat::NatFile;
pub use on_exit::OnExit;
pub(crate) use start::started;
pub use words::{PortFacts, RouterSettings, RouterWords};

//! A switch as users ask for it: words of options or of the configuration, read into
//! [`plane::switch::SwitchConfig`], and the switches of the workers made of that.

mod kernel_path;
mod names;
mod words;
mod workers;

pub use kernel_path::kernel_path;
pub use names::{NamedPort, PortNames};
pub(crate) use words::Faults;
pub use words::{SwitchWords, WordError};
pub(crate) use workers::switches;

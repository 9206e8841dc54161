//! A switch as users ask for it: words of options or of the configuration, read into
//! [`plane::switch::SwitchConfig`], and the switches of the workers made of that.

mod names;
mod words;
mod workers;

pub use names::{NamedPort, PortNames};
pub use words::{SwitchWords, WordError};
pub use workers::switches;

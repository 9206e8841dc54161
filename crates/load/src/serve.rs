//! The server: paths that say what the answer is to be like.

mod answer;
mod counters;
mod folder;
mod path;
mod peer;
mod run;
mod worker;

pub use answer::Answer;
pub use counters::ServeCounters;
pub use folder::{Folder, NoPage, Page};
pub use path::Order;
pub use peer::Peer;
pub use run::{ServeOptions, Serving};

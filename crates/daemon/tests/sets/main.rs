//! The keeper of sets as those who ask it see it; workers are stood for by a place that remembers
//! what was published.

mod answers;
mod full_disk;
mod guards;
mod kept;
mod killed;
mod model;
mod pauses;
mod saved;
mod world;

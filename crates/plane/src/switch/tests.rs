//! The switch, held against a model, and what the model has no word for: chunks, links, limits.

mod bench;
mod checks;
mod combinations;
mod histories;
mod links;
mod loops;
mod model;
mod resources;

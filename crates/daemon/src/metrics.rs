//! Metrics: what a running daemon counts, as Prometheus reads it, over HTTP.
//!
//! Something that knows the daemon gives an [`Observation`] ([`Observe`]); [`render`] writes it as
//! text format 0.0.4, each family declared once in [`FAMILIES`]; [`Server`] answers `GET /metrics`
//! with it ([`Pages`]), and `GET /healthz` and `/readyz` with a verdict. Nothing of this runs on a
//! worker's CPU, and no worker waits for it: an observation is a copy of counters that workers show
//! anyway. A client that sends requests has families of its own ([`LOAD_FAMILIES`]).

mod document;
mod exposition;
mod family;
mod observation;
mod observe;
mod request;
mod server;
mod write;

#[cfg(test)]
mod tests;

pub use document::markdown;
pub use exposition::{Exposition, Number, Samples};
pub use family::{
    FAMILIES, Family, Kind, LOAD_BYTES, LOAD_CONNECTIONS, LOAD_ERRORS, LOAD_FAMILIES, LOAD_LATENCY,
    LOAD_REQUESTS,
};
pub use observation::{
    BurstSizes, Captured, Hits, Observation, Observe, Pool, Port, Refreshes, Reloads, RuleFigure,
    RuleFigures, Set, Worker,
};
pub use observe::{Around, seconds as since_1970};
pub use request::{Answer, Made, Page, REQUEST_BYTES_MAX, answer};
pub use server::{Pages, Server, ServerError};
pub use write::{build_info, render};

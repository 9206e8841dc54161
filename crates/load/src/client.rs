//! The client: pools of connections, requests that are due by a schedule, and what became of each.

mod books;
mod dial;
mod exchange;
mod fault;
mod hidden;
mod limit;
mod objective;
mod pace;
mod pool;
mod profile;
mod replay;
mod run;
mod schedule;
mod slot;
mod sources;
mod spec;
mod template;
mod timings;
mod url;
mod worker;

pub use books::{Books, ErrorKind};
pub use limit::Limit;
pub use objective::{Expectation, Judged, Wish};
pub use pace::{Pace, Rates, parse_rate};
pub use profile::{Asked, PROFILE_BYTES_MAX, read_profile};
pub use replay::read_replay;
pub use run::{Interval, LoadReport, LoadRun, PoolReport};
pub use schedule::{Arrivals, Part, Schedule};
pub use sources::Sources;
pub use spec::{Load, PoolSpec, RequestSpec, RunSpec, header};
pub use template::Template;
pub use timings::Timings;
pub use url::Url;

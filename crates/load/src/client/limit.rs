//! What held a run back that is no fault of the server.

use super::{Books, ErrorKind, Timings};

/// From this share of a CPU on, a thread is said to be busy.
const BUSY_SHARE: f64 = 0.95;
/// From this share of requests on, it is worth a word that they waited.
const WAITED_SHARE: f64 = 0.01;
/// From so late on, at the 99th percentile, the client is said to be late.
const LATE_NANOS: u64 = 1_000_000;

/// A limit of the client.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// Threads that had no processor time left.
    Cpu {
        /// How many.
        threads: usize,
    },
    /// The machine did not let the client run when requests were due and connections were idle.
    Late {
        /// How late, ns, at the 99th percentile.
        nanos: u64,
    },
    /// All connections were in use.
    Connections {
        /// The share of requests that waited for one, or never got one.
        share: f64,
    },
    /// There was no free source port.
    Ports,
    /// No more files could be open.
    Files,
}

impl Limit {
    /// All that show in these figures. `busy` is each thread's share of a CPU.
    pub(super) fn find(busy: &[f64], books: &Books, timings: &Timings) -> Vec<Self> {
        let mut limits = Vec::new();
        let threads = busy.iter().filter(|share| **share >= BUSY_SHARE).count();
        if threads > 0 {
            limits.push(Self::Cpu { threads });
        }
        let nanos = timings.own_delay.quantile(0.99);
        if timings.own_delay.count() > 0 && nanos >= LATE_NANOS {
            limits.push(Self::Late { nanos });
        }
        let share = (books.waited + books.not_sent) as f64 / books.due.max(1) as f64;
        if share >= WAITED_SHARE {
            limits.push(Self::Connections { share });
        }
        if books.errors_of(ErrorKind::NoPort) > 0 {
            limits.push(Self::Ports);
        }
        if books.errors_of(ErrorKind::NoFile) > 0 {
            limits.push(Self::Files);
        }
        limits
    }

    /// Its name in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu { .. } => "cpu",
            Self::Late { .. } => "late",
            Self::Connections { .. } => "connections",
            Self::Ports => "ports",
            Self::Files => "files",
        }
    }

    /// What it means and what helps.
    #[must_use]
    pub fn sentence(self) -> String {
        match self {
            Self::Cpu { threads } => format!(
                "the CPU of this client was busy ({threads} of its threads): the rate may be its \
                 limit and not the server's; more threads (-t) or a second machine help"
            ),
            Self::Late { nanos } => format!(
                "this client was late by itself ({:.1} ms at p99) though connections were idle: \
                 other programs use its CPU",
                nanos as f64 / 1e6
            ),
            Self::Connections { share } => format!(
                "all connections were in use for {:.1} % of the requests: more of them (-c) tell \
                 whether that is the server's limit",
                share * 100.0
            ),
            Self::Ports => ErrorKind::NoPort.sentence().to_owned(),
            Self::Files => ErrorKind::NoFile.sentence().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_show_where_they_are() {
        let quiet = Books {
            due: 1000,
            sent: 1000,
            answered: 1000,
            ..Books::default()
        };
        let with = |kind: ErrorKind| {
            let mut books = quiet.clone();
            books.errors[kind as usize] = 1;
            books
        };
        let on_time = Timings::default();
        let mut late = Timings::default();
        late.own_delay.record_many(5_000_000, 100);
        let waited = Books {
            waited: 8,
            not_sent: 2,
            ..quiet.clone()
        };
        let cases: [(&[f64], &Books, &Timings, &[&str]); 7] = [
            (&[0.5, 0.94], &quiet, &on_time, &[]),
            (&[0.5, 0.96], &quiet, &on_time, &["cpu"]),
            (&[0.1], &quiet, &late, &["late"]),
            (&[0.1], &waited, &on_time, &["connections"]),
            (&[0.1], &with(ErrorKind::NoPort), &on_time, &["ports"]),
            (&[0.1], &with(ErrorKind::NoFile), &on_time, &["files"]),
            (&[0.1], &with(ErrorKind::Timeout), &on_time, &[]),
        ];
        for (busy, books, timings, names) in cases {
            let found = Limit::find(busy, books, timings);
            let found: Vec<&str> = found.iter().map(|limit| limit.name()).collect();
            assert_eq!(found, names);
        }
    }
}

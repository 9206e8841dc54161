//! All events of one measurement.

use std::io;

use super::events::{Event, TASK_CLOCK, events};
use super::missing::Missing;
use super::{Count, Family};
use crate::sys::perf_event::{Counter, Reading, Scope};

/// Events that count nothing where only work outside of the kernel may be counted.
const IN_THE_KERNEL: [&str; 2] = ["context_switches", "migrations"];

/// Counters of every event that can be had, over the same scopes.
#[derive(Debug)]
pub(super) struct Session {
    counters: Vec<(Event, Vec<Counter>)>,
    missing: Missing,
}

impl Session {
    /// Opens what can be opened.
    pub(super) fn open(family: Family, scopes: &[Scope]) -> Self {
        let mut session = Self {
            counters: Vec::new(),
            missing: Missing::default(),
        };
        let by_cpu = scopes.iter().any(|scope| matches!(scope, Scope::Cpu(_)));
        for event in events(family) {
            // On a CPU this one counts the time that passed, busy or not.
            if !(by_cpu && event.name == TASK_CLOCK) {
                session.add(event, scopes);
            }
        }
        session
    }

    fn add(&mut self, event: Event, scopes: &[Scope]) {
        let all = open(event, scopes, false);
        let refused = all.as_ref().is_err_and(is_refusal);
        match (all, refused && IN_THE_KERNEL.contains(&event.name)) {
            (Ok(counters), _) => self.counters.push((event, counters)),
            (Err(_), true) => self.missing.add_kernel_only(event.name),
            (Err(error), false) => match open(event, scopes, true) {
                Ok(counters) if refused => self.counters.push((event, counters)),
                _ => self.missing.add(event.name, event.kind, &error),
            },
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.counters.is_empty()
    }

    /// Begins to count, where no start of a program does.
    pub(super) fn begin(&self) {
        for counter in self.counters.iter().flat_map(|(_, counters)| counters) {
            // What does not begin has a count of 0 over a time of 0, which is left out.
            let _ = counter.begin();
        }
    }

    /// What was counted so far.
    pub(super) fn counts(&self) -> Vec<Count> {
        let counted = self.counters.iter().filter_map(|(event, counters)| {
            let readings = counters.iter().filter_map(|counter| counter.read().ok());
            scaled(*event, readings)
        });
        counted.collect()
    }

    pub(super) fn missing(&self) -> Vec<String> {
        self.missing.sentences()
    }
}

/// A counter for each scope. Threads that have just ended have none.
fn open(event: Event, scopes: &[Scope], user_only: bool) -> io::Result<Vec<Counter>> {
    let mut counters = Vec::with_capacity(scopes.len());
    let mut ended = None;
    for &scope in scopes {
        match Counter::open(event.code, scope, user_only) {
            Ok(counter) => counters.push(counter),
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => ended = Some(error),
            Err(error) => return Err(error),
        }
    }
    match ended {
        Some(error) if counters.is_empty() => Err(error),
        _ => Ok(counters),
    }
}

fn is_refusal(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EACCES)
}

/// The sum of counters, each scaled up to the time for which it was wanted; none where none of them
/// counted for any time.
fn scaled(event: Event, readings: impl Iterator<Item = Reading>) -> Option<Count> {
    let (mut value, mut enabled, mut running) = (0.0, 0u64, 0u64);
    for reading in readings.filter(|reading| reading.running_ns > 0) {
        value += reading.value as f64 * reading.enabled_ns as f64 / reading.running_ns as f64;
        enabled = enabled.saturating_add(reading.enabled_ns);
        running = running.saturating_add(reading.running_ns);
    }
    (running > 0).then(|| Count {
        event,
        value,
        counted: running as f64 / enabled as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_that_took_turns_are_scaled_up() {
        let event = events(Family::Other)[0];
        let reading = |value, enabled_ns, running_ns| Reading {
            value,
            enabled_ns,
            running_ns,
        };
        for (readings, expected) in [
            (vec![reading(100, 10, 10)], Some((100.0, 1.0))),
            (vec![reading(100, 10, 5)], Some((200.0, 0.5))),
            (
                vec![reading(100, 10, 5), reading(50, 30, 5)],
                Some((500.0, 0.25)),
            ),
            (vec![reading(0, 10, 10)], Some((0.0, 1.0))),
            (vec![reading(7, 10, 0), reading(1, 4, 4)], Some((1.0, 1.0))),
            (vec![reading(7, 10, 0)], None),
            (vec![], None),
        ] {
            let found = scaled(event, readings.into_iter());
            let found = found.map(|count| (count.value, count.counted));
            assert_eq!(found, expected);
        }
    }

    /// The plumbing, by an event that needs no CPU counter: this thread's own faults.
    #[test]
    fn faults_of_this_thread_are_counted() {
        let thread = rustix::thread::gettid().as_raw_nonzero().get();
        let session = Session::open(Family::Other, &[Scope::Thread(thread)]);
        if session.is_empty() {
            eprintln!("skipped: {:?}", session.missing());
            return;
        }
        session.begin();
        let pages = 512;
        let mut memory = vec![0u8; pages * 4096];
        memory.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
        std::hint::black_box(&memory);
        let counts = session.counts();
        let count = |name: &str| counts.iter().find(|count| count.event.name == name);
        let faults = count("minor_faults").map_or(0.0, |count| count.value);
        // Memory of 2 MiB may come as one huge page.
        assert!(faults >= 1.0, "{counts:?}");
        assert!(
            count(TASK_CLOCK).is_some_and(|count| count.value > 0.0),
            "{counts:?}"
        );
    }
}

//! What the CPUs were busy with besides this program.

use std::fs;
use std::thread;
use std::time::Duration;

/// How long the machine is watched before and after a run: 20 ticks of `/proc/stat`.
const WATCH: Duration = Duration::from_millis(200);

/// A look at the kernel's accounts, in ticks since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ticks {
    busy: u64,
    idle: u64,
    steal: u64,
    /// This process alone.
    own: u64,
    cpus: u64,
    /// How often a quota of CPU time stopped this process's group.
    throttled: u64,
}

/// The load between two looks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// CPUs that others kept busy: 1.5 is one and a half.
    pub others_cpus: f64,
    /// The share of all CPU time that the hypervisor gave to somebody else, 0 to 1.
    pub steal: f64,
    /// How often a quota of CPU time stopped this program.
    pub throttled: u64,
}

/// The load around and during a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoadRecord {
    /// Before it, for a fifth of a second.
    pub before: Load,
    /// While it ran; what it used itself is left out.
    pub during: Load,
    /// After it, for a fifth of a second.
    pub after: Load,
}

/// Watches the load of a run.
#[derive(Debug)]
pub struct LoadWatch {
    before: Load,
    begun: Ticks,
}

impl LoadWatch {
    /// Looks at the machine for a fifth of a second; the run begins when this returns.
    #[must_use]
    pub fn begin() -> Self {
        let before = watch();
        Self {
            before,
            begun: Ticks::read(),
        }
    }

    /// The run has ended; looks at the machine for another fifth of a second.
    #[must_use]
    pub fn end(self) -> LoadRecord {
        let during = Ticks::read().since(&self.begun);
        LoadRecord {
            before: self.before,
            during,
            after: watch(),
        }
    }
}

fn watch() -> Load {
    let begun = Ticks::read();
    thread::sleep(WATCH);
    Ticks::read().since(&begun)
}

impl Ticks {
    fn read() -> Self {
        let text = |path| fs::read_to_string(path).unwrap_or_default();
        Self {
            own: own(&text("/proc/self/stat")),
            throttled: throttled(&text("/sys/fs/cgroup/cpu.stat")),
            ..Self::of(&text("/proc/stat"))
        }
    }

    /// The sum over all CPUs in `/proc/stat`.
    fn of(text: &str) -> Self {
        let cpus = text.lines().filter(|line| line.starts_with("cpu")).count();
        let sum = text.lines().find(|line| line.starts_with("cpu "));
        let fields = sum.unwrap_or_default().split_whitespace().skip(1);
        // user nice system idle iowait irq softirq steal; guests are counted in user.
        let ticks: Vec<u64> = fields.map(|field| field.parse().unwrap_or(0)).collect();
        let at = |place: usize| ticks.get(place).copied().unwrap_or(0);
        Self {
            busy: at(0) + at(1) + at(2) + at(5) + at(6),
            idle: at(3) + at(4),
            steal: at(7),
            cpus: cpus.saturating_sub(1) as u64,
            ..Self::default()
        }
    }

    fn since(&self, begun: &Self) -> Load {
        let busy = self.busy.saturating_sub(begun.busy);
        let idle = self.idle.saturating_sub(begun.idle);
        let steal = self.steal.saturating_sub(begun.steal);
        let others = busy.saturating_sub(self.own.saturating_sub(begun.own));
        let all = busy + idle + steal;
        let share = |part: u64| {
            if all == 0 {
                0.0
            } else {
                part as f64 / all as f64
            }
        };
        Load {
            others_cpus: share(others) * self.cpus as f64,
            steal: share(steal),
            throttled: self.throttled.saturating_sub(begun.throttled),
        }
    }
}

/// User and system ticks of `/proc/self/stat`. The name in brackets may hold anything.
fn own(text: &str) -> u64 {
    let after = text.rsplit_once(')').map_or("", |(_, after)| after);
    let fields = after.split_whitespace().skip(11).take(2);
    fields.map(|field| field.parse().unwrap_or(0)).sum::<u64>()
}

fn throttled(text: &str) -> u64 {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("nr_throttled "));
    line.and_then(|count| count.trim().parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  100 10 50 800 40 1 2 7 5 0\ncpu0 1 2\ncpu1 1 2\nintr 5\n";

    #[test]
    fn accounts_of_the_kernel() {
        let ticks = Ticks::of(STAT);
        let expect = (163, 840, 7, 2);
        assert_eq!((ticks.busy, ticks.idle, ticks.steal, ticks.cpus), expect);
        assert_eq!(Ticks::of(""), Ticks::default());
        assert_eq!(own("7 (a ) b) S 1 1 1 0 -1 4 5 0 0 0 30 12 0 0 20"), 42);
        assert_eq!(own("nonsense"), 0);
        assert_eq!(throttled("nr_periods 5\nnr_throttled 3\n"), 3);
        assert_eq!(throttled("max"), 0);
    }

    #[test]
    fn what_this_program_used_is_nobody_elses() {
        let begun = Ticks {
            cpus: 2,
            ..Ticks::default()
        };
        let ended = Ticks {
            busy: 150,
            idle: 40,
            steal: 10,
            own: 100,
            cpus: 2,
            throttled: 1,
        };
        let load = ended.since(&begun);
        assert_eq!(
            load,
            Load {
                others_cpus: 0.5,
                steal: 0.05,
                throttled: 1
            }
        );
        assert_eq!(begun.since(&begun), Load::default());
    }
}

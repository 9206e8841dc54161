//! What the kernel does to the CPUs meanwhile: context switches, interrupts, calls of one CPU by
//! another. Two looks, some time apart.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

/// Rows of `/proc/interrupts` that one CPU makes on another: rescheduling, calls of functions, TLB
/// shootdowns on x86; `IPI0` and so on elsewhere.
const IPI_ROWS: [&str; 3] = ["RES", "CAL", "TLB"];

/// Rates of one CPU, a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuActivity {
    /// Which CPU.
    pub cpu: u32,
    /// Interrupts of every kind, the timer's included.
    pub interrupts: f64,
    /// Of these, those that another CPU made.
    pub ipis: f64,
}

/// Rates over a short while.
#[derive(Clone, Debug, PartialEq)]
pub struct Activity {
    /// Context switches a second, over all CPUs: the kernel counts them together.
    pub context_switches: Option<f64>,
    /// One a CPU that is online; empty where the kernel does not say.
    pub cpus: Vec<CpuActivity>,
}

impl Activity {
    /// Looks, sleeps, and looks again.
    #[must_use]
    pub fn over(time: Duration) -> Self {
        let start = Instant::now();
        let before = Sample::read();
        thread::sleep(time);
        Self::between(&before, &Sample::read(), start.elapsed().as_secs_f64())
    }

    fn between(before: &Sample, after: &Sample, seconds: f64) -> Self {
        let rate = |before: u64, after: u64| after.saturating_sub(before) as f64 / seconds;
        let switches = before.context_switches.zip(after.context_switches);
        let pairs = before.cpus.iter().zip(&after.cpus);
        // A CPU that came or went in between moves the columns: such a pair says nothing.
        let same = pairs.filter(|(before, after)| before.cpu == after.cpu);
        let cpu = |(before, after): (&CpuSample, &CpuSample)| CpuActivity {
            cpu: after.cpu,
            interrupts: rate(before.interrupts, after.interrupts),
            ipis: rate(before.ipis, after.ipis),
        };
        Self {
            context_switches: switches.map(|(before, after)| rate(before, after)),
            cpus: same.map(cpu).collect(),
        }
    }
}

#[derive(Debug)]
struct Sample {
    context_switches: Option<u64>,
    cpus: Vec<CpuSample>,
}

#[derive(Debug, PartialEq, Eq)]
struct CpuSample {
    cpu: u32,
    interrupts: u64,
    ipis: u64,
}

impl Sample {
    fn read() -> Self {
        let text = |path| fs::read_to_string(path).unwrap_or_default();
        Self {
            context_switches: context_switches(&text("/proc/stat")),
            cpus: interrupts(&text("/proc/interrupts")),
        }
    }
}

fn context_switches(stat: &str) -> Option<u64> {
    let count = stat.lines().find_map(|line| line.strip_prefix("ctxt "))?;
    count.trim().parse().ok()
}

/// A heading names the CPUs; each row has a name, a count a CPU, and words.
fn interrupts(table: &str) -> Vec<CpuSample> {
    let mut lines = table.lines();
    let heading = lines.next().unwrap_or_default().split_whitespace();
    let cpus = heading.filter_map(|name| name.strip_prefix("CPU")?.parse().ok());
    let sample = |cpu| CpuSample {
        cpu,
        interrupts: 0,
        ipis: 0,
    };
    let mut cpus: Vec<CpuSample> = cpus.map(sample).collect();
    for line in lines {
        let Some((name, counts)) = line.split_once(':') else {
            continue;
        };
        let name = name.trim();
        let is_ipi = IPI_ROWS.contains(&name) || name.starts_with("IPI");
        let counts = counts
            .split_whitespace()
            .map_while(|word| word.parse::<u64>().ok());
        for (cpu, count) in cpus.iter_mut().zip(counts) {
            cpu.interrupts = cpu.interrupts.saturating_add(count);
            if is_ipi {
                cpu.ipis = cpu.ipis.saturating_add(count);
            }
        }
    }
    cpus
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "           CPU0       CPU2       \n 24:   1   20  IO-APIC   5-edge   x\n\
                         LOC:  100  200   Local timer interrupts\nRES:  7  8   Rescheduling\n\
                         ERR:  0\n";

    #[test]
    fn columns_are_summed_by_cpu() {
        let cpus = interrupts(TABLE);
        let expect = |cpu, interrupts, ipis| CpuSample {
            cpu,
            interrupts,
            ipis,
        };
        assert_eq!(cpus, [expect(0, 108, 7), expect(2, 228, 8)]);
        assert_eq!(interrupts(""), []);
        assert_eq!(context_switches("cpu 1\nctxt 77\n"), Some(77));
        assert_eq!(context_switches("ctxt many\n"), None);
    }

    #[test]
    fn rates_are_differences_by_time() {
        let sample = |switches, interrupts| Sample {
            context_switches: Some(switches),
            cpus: vec![CpuSample {
                cpu: 1,
                interrupts,
                ipis: 0,
            }],
        };
        let activity = Activity::between(&sample(10, 5), &sample(30, 105), 0.5);
        assert_eq!(activity.context_switches, Some(40.0));
        assert_eq!(activity.cpus[0].interrupts, 200.0);
    }

    #[test]
    fn this_machine_is_looked_at_twice() {
        let activity = Activity::over(Duration::from_millis(1));
        let sane = |cpu: &CpuActivity| cpu.interrupts >= cpu.ipis && cpu.ipis >= 0.0;
        assert!(activity.cpus.iter().all(sane), "{activity:?}");
    }
}

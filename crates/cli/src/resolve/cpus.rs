//! Which CPUs the workers get.

use std::fs;

use frame::CpuId;

use crate::args::WorkerArgs;
use crate::error::Error;
use crate::report::number::plural;

/// One CPU a worker: those asked for, or the best of those allowed.
pub(super) fn choose(args: &WorkerArgs, allowed: &[CpuId]) -> Result<Vec<CpuId>, Error> {
    let workers = args.workers.map(usize::from);
    let Some(asked) = args.cpus.as_ref().map(|list| list.0.as_slice()) else {
        return pick(workers.unwrap_or(1), allowed, core_of);
    };
    if let Some(cpu) = asked.iter().find(|cpu| !allowed.contains(cpu)) {
        return Err(Error::refused(format!(
            "CPU {cpu} is not among those this process may use: choose from {}",
            listed(allowed)
        )));
    }
    match workers {
        Some(workers) if workers != asked.len() => Err(Error::refused(format!(
            "--workers {workers} and --cpus {} disagree: each worker has one CPU, so leave out \
             --workers",
            listed(asked)
        ))),
        _ => Ok(asked.to_vec()),
    }
}

/// CPUs of different cores first, since two on one core share its caches and its units; CPU 0
/// last, since interrupts prefer it.
fn pick(
    workers: usize,
    allowed: &[CpuId],
    core_of: impl Fn(CpuId) -> String,
) -> Result<Vec<CpuId>, Error> {
    if workers > allowed.len() {
        return Err(Error::refused(format!(
            "{workers} workers need {workers} CPUs and this process may use {}: choose --workers \
             {} or fewer",
            allowed.len(),
            allowed.len()
        )));
    }
    let mut order = allowed.to_vec();
    order.sort_by_key(|cpu| (cpu.0 == 0, cpu.0));
    let mut cores = Vec::new();
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    for cpu in order {
        let core = core_of(cpu);
        if cores.contains(&core) {
            rest.push(cpu);
        } else {
            cores.push(core);
            first.push(cpu);
        }
    }
    first.extend(rest);
    first.truncate(workers);
    Ok(first)
}

/// The CPUs that share a core, as the kernel lists them; a CPU without such a file is a core.
fn core_of(cpu: CpuId) -> String {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    fs::read_to_string(path).unwrap_or_else(|_| cpu.to_string())
}

/// `0, 1 and 4`, shortened where there are many.
fn listed(cpus: &[CpuId]) -> String {
    let names: Vec<String> = cpus.iter().take(8).map(CpuId::to_string).collect();
    let more = cpus.len() - names.len();
    let more = if more == 0 {
        String::new()
    } else {
        format!(" and {} more", plural(more as u64, "CPU", "CPUs"))
    };
    names.join(",") + &more
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::CpuList;

    fn cpus(numbers: &[u16]) -> Vec<CpuId> {
        numbers.iter().copied().map(CpuId).collect()
    }

    fn args(workers: Option<u16>, list: Option<&[u16]>) -> WorkerArgs {
        let cpus = list.map(|numbers| CpuList(cpus(numbers)));
        WorkerArgs {
            workers,
            cpus,
            burst: None,
            stride: None,
            pool: None,
        }
    }

    #[test]
    fn cores_first_and_cpu_0_last() {
        // 0 and 1 share a core, 2 and 3 another.
        let core = |cpu: CpuId| (cpu.0 / 2).to_string();
        let allowed = cpus(&[0, 1, 2, 3]);
        let picked = |workers| pick(workers, &allowed, core).ok();
        assert_eq!(picked(1), Some(cpus(&[1])));
        assert_eq!(picked(2), Some(cpus(&[1, 2])));
        assert_eq!(picked(4), Some(cpus(&[1, 2, 3, 0])));
        assert_eq!(picked(5), None);
    }

    #[test]
    fn what_was_asked_for_is_checked() {
        let allowed = cpus(&[0, 1, 2]);
        assert_eq!(
            choose(&args(None, Some(&[2, 0])), &allowed).ok(),
            Some(cpus(&[2, 0]))
        );
        assert_eq!(
            choose(&args(Some(2), Some(&[2, 0])), &allowed).ok(),
            Some(cpus(&[2, 0]))
        );
        let sentence = |args| {
            choose(&args, &allowed)
                .map(|_| ())
                .map_err(|e| e.to_string())
        };
        let disagree = sentence(args(Some(3), Some(&[0])));
        assert!(disagree.is_err_and(|text| text.contains("disagree")));
        let absent = sentence(args(None, Some(&[7])));
        assert!(absent.is_err_and(|text| text.contains("CPU 7") && text.contains("0,1,2")));
        let many = sentence(args(Some(9), None));
        assert!(many.is_err_and(|text| text.contains("--workers 3")));
    }
}

//! Which CPUs the workers get.

use std::fs;

use frame::CpuId;

use super::{LayoutAsked, LayoutError};

/// One CPU a worker: those asked for, or the best of those allowed.
pub(super) fn choose(asked: &LayoutAsked, allowed: &[CpuId]) -> Result<Vec<CpuId>, LayoutError> {
    let workers = asked.workers;
    let Some(cpus) = &asked.cpus else {
        return pick(workers.unwrap_or(1), allowed, core_of);
    };
    if let Some(&cpu) = cpus.iter().find(|cpu| !allowed.contains(cpu)) {
        return Err(LayoutError::ForeignCpu {
            cpu,
            allowed: allowed.to_vec(),
        });
    }
    match workers {
        Some(workers) if workers != cpus.len() => Err(LayoutError::Disagree {
            workers,
            cpus: cpus.clone(),
        }),
        _ => Ok(cpus.clone()),
    }
}

/// CPUs of different cores first, since two on one core share its caches and its units; CPU 0
/// last, since interrupts prefer it.
fn pick(
    workers: usize,
    allowed: &[CpuId],
    core_of: impl Fn(CpuId) -> String,
) -> Result<Vec<CpuId>, LayoutError> {
    if workers > allowed.len() {
        return Err(LayoutError::TooMany {
            workers,
            cpus: allowed.len(),
        });
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
pub(super) fn listed(cpus: &[CpuId]) -> String {
    let names: Vec<String> = cpus.iter().take(8).map(CpuId::to_string).collect();
    let more = cpus.len() - names.len();
    let more = match more {
        0 => String::new(),
        1 => " and 1 CPU more".to_owned(),
        more => format!(" and {more} CPUs more"),
    };
    names.join(",") + &more
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpus(numbers: &[u16]) -> Vec<CpuId> {
        numbers.iter().copied().map(CpuId).collect()
    }

    fn args(workers: Option<usize>, list: Option<&[u16]>) -> LayoutAsked {
        LayoutAsked {
            workers,
            cpus: list.map(cpus),
            ..LayoutAsked::default()
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
        assert!(many.is_err_and(|text| text.contains("choose 3 or fewer")));
    }
}

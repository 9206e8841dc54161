//! Which CPUs the workers get.

use std::fs;

use engine::OtherWorker;
use frame::{CpuId, NodeId};

use super::{LayoutAsked, LayoutError};

/// One CPU a worker: those asked for, or the best of those allowed, the ones that `others` have
/// with the most workers of `others` last, and of the rest those near the ports' NICs first.
pub(super) fn choose(
    asked: &LayoutAsked,
    allowed: &[CpuId],
    others: &[OtherWorker],
    is_near: &dyn Fn(CpuId) -> bool,
) -> Result<Vec<CpuId>, LayoutError> {
    let workers = asked.workers;
    let Some(cpus) = &asked.cpus else {
        let mut order = allowed.to_vec();
        order.sort_by_key(|&cpu| (cpu.0 == 0, cpu.0));
        let rank = |cpu| (load(cpu, others), !is_near(cpu));
        return pick(workers.unwrap_or(1), &order, core_of, rank);
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

/// Workers that other processes have on a CPU.
fn load(cpu: CpuId, others: &[OtherWorker]) -> usize {
    others.iter().filter(|other| other.cpu == cpu).count()
}

/// The first of `order`: those with the least load, of these the ones near the NICs, and of these
/// CPUs of different cores, since two on one core share its caches and its units. CPU 0 is the last
/// in the order, since interrupts prefer it.
fn pick(
    workers: usize,
    order: &[CpuId],
    core_of: impl Fn(CpuId) -> String,
    rank: impl Fn(CpuId) -> (usize, bool),
) -> Result<Vec<CpuId>, LayoutError> {
    if workers > order.len() {
        return Err(LayoutError::TooMany {
            workers,
            cpus: order.len(),
        });
    }
    let mut cores = Vec::new();
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    for &cpu in order {
        let core = core_of(cpu);
        if cores.contains(&core) {
            rest.push(cpu);
        } else {
            cores.push(core);
            first.push(cpu);
        }
    }
    first.extend(rest);
    // Stable: a CPU on the far node is worse than half a core on the near one.
    first.sort_by_key(|&cpu| rank(cpu));
    first.truncate(workers);
    Ok(first)
}

/// The CPUs that share a core, as the kernel lists them; a CPU without such a file is a core.
fn core_of(cpu: CpuId) -> String {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    fs::read_to_string(path).unwrap_or_else(|_| cpu.to_string())
}

/// A sentence for each of `cpus` that other processes have, too. `chosen`: they were not asked for,
/// so that none was free.
pub(super) fn shared_with(cpus: &[CpuId], others: &[OtherWorker], chosen: bool) -> Vec<String> {
    let mut cpus = cpus.to_vec();
    cpus.sort();
    let shared = cpus.into_iter().filter_map(|cpu| {
        let here = others.iter().filter(|other| other.cpu == cpu);
        let mut processes: Vec<String> = here.map(|other| other.process.to_string()).collect();
        let workers = match processes.len() {
            0 => return None,
            1 => "a worker".to_owned(),
            many => format!("{many} workers"),
        };
        processes.dedup();
        let processes = match &processes[..] {
            [one] => format!("process {one}"),
            several => format!("processes {}", several.join(", ")),
        };
        let why = match chosen {
            true => " (no CPU is free, and none has fewer)",
            false => "",
        };
        Some(format!(
            "CPU {cpu} already runs {workers} of {processes}{why}: each gets a part of it, and \
             rates mean little; give each program CPUs of its own with --cpus (cpus in a \
             configuration)"
        ))
    });
    shared.collect()
}

/// A sentence on those of `cpus` that are on another memory node than the ports' NICs.
pub(super) fn far_from(
    nodes: &[NodeId],
    cpus: &[CpuId],
    is_near: &dyn Fn(CpuId) -> bool,
) -> Option<String> {
    let far: Vec<CpuId> = cpus.iter().copied().filter(|&cpu| !is_near(cpu)).collect();
    let names: Vec<String> = nodes.iter().map(NodeId::to_string).collect();
    (!far.is_empty()).then(|| {
        format!(
            "CPU {} is on another memory node than the NICs of the ports (node {}): every frame \
             crosses between the nodes; give CPUs of the NICs' node with --cpus (cpus in a \
             configuration), see /sys/devices/system/node/node{}/cpulist",
            listed(&far),
            names.join(" and "),
            names.first().map_or("0", String::as_str),
        )
    })
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
        let order = cpus(&[1, 2, 3, 0]);
        let picked = |workers| pick(workers, &order, core, |_| (0, false)).ok();
        assert_eq!(picked(1), Some(cpus(&[1])));
        assert_eq!(picked(2), Some(cpus(&[1, 2])));
        assert_eq!(picked(4), Some(cpus(&[1, 2, 3, 0])));
        assert_eq!(picked(5), None);
        // Half of a core is more than half of a CPU.
        let loads = |cpu: CpuId| ([0, 0, 1, 2][usize::from(cpu.0)], false);
        let picked = |workers| pick(workers, &order, core, loads).ok();
        assert_eq!(picked(2), Some(cpus(&[1, 0])));
        assert_eq!(picked(4), Some(cpus(&[1, 0, 2, 3])));
    }

    #[test]
    fn of_cpus_that_others_have_the_one_with_the_fewest_workers_is_taken_and_told() {
        let allowed = cpus(&[9000, 9001, 9002]);
        // CPUs of others' workers, one a process from 1 on; which is taken, and what is said.
        for (taken, chosen, said) in [
            (
                &[9000, 9001, 9002][..],
                9000,
                Some("a worker of process 1 ("),
            ),
            (
                &[9000, 9001, 9002, 9000],
                9001,
                Some("a worker of process 2 ("),
            ),
            (
                &[9000, 9000, 9001, 9001, 9002, 9002, 9002],
                9000,
                Some("2 workers of processes 1, 2 ("),
            ),
            (&[9000, 9000, 9001], 9002, None),
        ] {
            let others = taken.iter().zip(1..);
            let others = others.map(|(&cpu, process)| OtherWorker {
                process,
                cpu: CpuId(cpu),
            });
            let others: Vec<OtherWorker> = others.collect();
            let one = choose(&args(Some(1), None), &allowed, &others, &|_| true).ok();
            let one = one.expect("a CPU");
            assert_eq!(one, cpus(&[chosen]), "{taken:?}");
            let warnings = shared_with(&one, &others, true);
            assert_eq!(warnings.len(), usize::from(said.is_some()), "{warnings:?}");
            let told = format!("CPU {chosen} already runs {}", said.unwrap_or_default());
            assert!(
                warnings.iter().all(|own| own.starts_with(&told)),
                "{warnings:?}"
            );
        }
    }

    #[test]
    fn a_cpu_that_another_process_has_is_the_last_choice_and_is_told_of() {
        // Far beyond those of any machine, so that each is a core of its own here.
        let allowed = cpus(&[9000, 9001, 9002]);
        let other = OtherWorker {
            process: 77,
            cpu: CpuId(9000),
        };
        let chosen = |workers, others: &[OtherWorker]| {
            choose(&args(Some(workers), None), &allowed, others, &|_| true).ok()
        };
        assert_eq!(chosen(1, &[]), Some(cpus(&[9000])));
        assert_eq!(chosen(1, &[other]), Some(cpus(&[9001])));
        assert_eq!(chosen(3, &[other]), Some(cpus(&[9001, 9002, 9000])));
        assert!(shared_with(&cpus(&[9001, 9002]), &[other], false).is_empty());
        let said = shared_with(&cpus(&[9002, 9000]), &[other], false);
        assert_eq!(said.len(), 1);
        for part in ["CPU 9000", "process 77", "--cpus"] {
            assert!(said[0].contains(part), "{said:?}");
        }
    }

    #[test]
    fn cpus_near_the_nics_come_first_and_others_are_told_of() {
        // Far beyond those of any machine, so that each is a core of its own here; the last two are
        // on the NICs' node.
        let allowed = cpus(&[9000, 9001, 9002, 9003]);
        let near = |cpu: CpuId| cpu.0 >= 9002;
        let taken = |cpu| OtherWorker {
            process: 77,
            cpu: CpuId(cpu),
        };
        // Workers, CPUs asked for, those that others have, those chosen, and how many are far.
        type Row<'a> = (
            Option<usize>,
            Option<&'a [u16]>,
            &'a [u16],
            &'a [u16],
            usize,
        );
        let table: [Row; 5] = [
            (None, None, &[], &[9002], 0),
            (Some(2), None, &[], &[9002, 9003], 0),
            (Some(3), None, &[], &[9002, 9003, 9000], 1),
            (Some(2), None, &[9002], &[9003, 9000], 1),
            (None, Some(&[9001]), &[], &[9001], 1),
        ];
        for (workers, list, others, expected, far) in table {
            let others: Vec<OtherWorker> = others.iter().map(|&cpu| taken(cpu)).collect();
            let chosen = choose(&args(workers, list), &allowed, &others, &near);
            let chosen = chosen.expect("enough CPUs");
            assert_eq!(chosen, cpus(expected), "{workers:?} {list:?}");
            let said = far_from(&[NodeId(1)], &chosen, &near);
            assert_eq!(said.is_some(), far > 0, "{said:?}");
            assert!(said.is_none_or(|said| said.contains("node 1") && said.contains("--cpus")));
        }
    }

    #[test]
    fn what_was_asked_for_is_checked() {
        let allowed = cpus(&[0, 1, 2]);
        assert_eq!(
            choose(&args(None, Some(&[2, 0])), &allowed, &[], &|_| true).ok(),
            Some(cpus(&[2, 0]))
        );
        assert_eq!(
            choose(&args(Some(2), Some(&[2, 0])), &allowed, &[], &|_| true).ok(),
            Some(cpus(&[2, 0]))
        );
        let sentence = |args| {
            choose(&args, &allowed, &[], &|_| true)
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

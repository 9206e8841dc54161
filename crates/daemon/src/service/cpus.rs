//! CPUs that run no worker, for everything else.

use std::io;

use frame::CpuId;
use rustix::thread::{CpuSet, sched_setaffinity};

/// Ties the calling thread, and all that it starts from now on, to the CPUs that run no worker;
/// returns them. Where workers have all there are, it may go on running anywhere.
pub(super) fn leave_to(workers: &[CpuId], allowed: &[CpuId]) -> io::Result<Vec<CpuId>> {
    let free = allowed.iter().filter(|cpu| !workers.contains(cpu));
    let free: Vec<CpuId> = free.copied().collect();
    if free.is_empty() {
        return Ok(allowed.to_vec());
    }
    let mut set = CpuSet::new();
    free.iter().for_each(|cpu| set.set(usize::from(cpu.0)));
    sched_setaffinity(None, &set)?;
    Ok(free)
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::allowed_cpus;

    #[test]
    fn a_thread_leaves_the_workers_their_cpus() {
        let cpus = allowed_cpus();
        let (worker, rest) = cpus.split_first().expect("a CPU");
        let (worker, rest) = (*worker, rest.to_vec());
        let thread = std::thread::spawn(move || {
            let got = leave_to(&[worker], &cpus).expect("allowed CPUs");
            (got, allowed_cpus(), cpus)
        });
        let (got, may, cpus) = thread.join().expect("no panic");
        let expected = if rest.is_empty() { cpus } else { rest };
        assert_eq!((got, may), (expected.clone(), expected));
    }
}

//! CPUs: which ones this process may use, and tying a thread to one.

use std::io;

use frame::CpuId;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The CPUs that this process may run on, in ascending order.
#[must_use]
pub fn allowed_cpus() -> Vec<CpuId> {
    let Ok(set) = sched_getaffinity(None) else {
        return vec![CpuId(0)];
    };
    let places = u16::try_from(CpuSet::MAX_CPU).unwrap_or(u16::MAX);
    (0..places)
        .filter(|&cpu| set.is_set(usize::from(cpu)))
        .map(CpuId)
        .collect()
}

/// Ties the calling thread to one CPU.
///
/// # Errors
///
/// What the kernel says of a CPU that is not there or not allowed.
pub fn pin_to(cpu: CpuId) -> io::Result<()> {
    let mut set = CpuSet::new();
    if usize::from(cpu.0) >= CpuSet::MAX_CPU {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    set.set(usize::from(cpu.0));
    Ok(sched_setaffinity(None, &set)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_can_be_pinned_to_an_allowed_cpu_and_to_no_other() {
        let cpus = allowed_cpus();
        let last = *cpus.last().expect("at least one CPU");
        std::thread::spawn(move || {
            pin_to(last).expect("an allowed CPU");
            assert_eq!(allowed_cpus(), [last]);
            assert!(pin_to(CpuId(u16::MAX)).is_err());
        })
        .join()
        .expect("no panic");
    }
}

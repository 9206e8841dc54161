//! `--pin-irqs` and `pin_irqs`: the interrupt of each queue beside the worker that has the queue.

use std::fs;

use frame::CpuId;
use port::interface::{InterruptPins, Root, irq_balancer};
use port::{PortError, PortSpec, Queues};

use crate::config::parse_cpus;

/// Interrupts that were moved; dropped, they go back.
#[derive(Debug)]
pub struct Pinned {
    _pins: Vec<InterruptPins>,
    /// What was moved where, a sentence each.
    pub said: Vec<String>,
    /// What somebody should know, a sentence each.
    pub warnings: Vec<String>,
}

impl Pinned {
    /// Moves the interrupts of the ports' interfaces.
    ///
    /// # Errors
    ///
    /// An interrupt cannot be moved.
    pub fn pin(ports: &[PortSpec], workers: &[CpuId]) -> Result<Self, PortError> {
        let root = Root::machine();
        let cpus: Vec<u32> = workers
            .iter()
            .map(|&worker| u32::from(beside(worker, workers, siblings).0))
            .collect();
        let (mut pins, mut said, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
        for spec in ports {
            let Some(name) = interface(spec) else {
                continue;
            };
            let cpu = |queue| Some(cpus[worker_of(spec, queue, cpus.len())?]);
            let pinned = InterruptPins::pin(&root, name, cpu)?;
            said.extend(pinned.said().iter().map(ToString::to_string));
            warnings.extend(pinned.notes().iter().map(ToString::to_string));
            pins.push(pinned);
        }
        if let (false, Some(balancer)) = (said.is_empty(), irq_balancer(&root)) {
            warnings.push(format!(
                "{balancer} runs and may move pinned interrupts away again: systemctl stop \
                 {balancer}, or --banirq=N in its options"
            ));
        }
        Ok(Self {
            _pins: pins,
            said,
            warnings,
        })
    }
}

fn interface(spec: &PortSpec) -> Option<&str> {
    match spec {
        PortSpec::Xdp(xdp) => Some(&xdp.interface),
        PortSpec::Packet(packet) => Some(&packet.interface),
        PortSpec::Tap(tap) => Some(&tap.interface),
        _ => None,
    }
}

/// The worker that gets the frames of a queue of the interface. Packet sockets share frames by
/// flow, whatever queue they came by: there the interrupts are spread over the workers.
fn worker_of(spec: &PortSpec, queue: u32, workers: usize) -> Option<usize> {
    let (first, of) = match spec {
        PortSpec::Xdp(xdp) => match xdp.queues {
            Queues::All => (0, workers),
            Queues::Range(first, last) if (first..=last).contains(&queue) => (first, workers),
            Queues::Range(..) => return None,
        },
        PortSpec::Packet(packet) => {
            let most = packet.queues.map_or(usize::MAX, usize::from);
            (0, most.min(workers))
        }
        _ => (0, workers),
    };
    Some((queue - first) as usize % of.max(1))
}

/// A thread of the worker's core that runs no worker: the kernel's part of the work and the
/// worker's meet in one cache and take nothing from each other's instructions. Else the worker's
/// own CPU: frames are in its cache, and no other CPU is woken for them.
fn beside(
    worker: CpuId,
    workers: &[CpuId],
    siblings: impl Fn(CpuId) -> Option<Vec<CpuId>>,
) -> CpuId {
    let siblings = siblings(worker).unwrap_or_default();
    let free = siblings.into_iter().find(|cpu| !workers.contains(cpu));
    free.unwrap_or(worker)
}

/// The threads of a CPU's core, itself among them.
fn siblings(cpu: CpuId) -> Option<Vec<CpuId>> {
    let file = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    parse_cpus(fs::read_to_string(file).ok()?.trim()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(text: &str) -> PortSpec {
        PortSpec::parse(text).expect("a spec")
    }

    #[test]
    fn queues_go_to_the_workers_that_have_them() {
        let workers = |text: &str, of| {
            let spec = spec(text);
            (0..5).map(|queue| worker_of(&spec, queue, of)).collect()
        };
        let some = |places: [usize; 5]| places.map(Some).to_vec();
        let all: Vec<Option<usize>> = workers("xdp:e", 2);
        assert_eq!(all, some([0, 1, 0, 1, 0]));
        let range: Vec<_> = workers("xdp:e,queues=1-3", 2);
        assert_eq!(range, [None, Some(0), Some(1), Some(0), None]);
        let one: Vec<_> = workers("packet:e,queues=1", 2);
        assert_eq!(one, some([0; 5]));
    }

    #[test]
    fn a_free_thread_of_the_core_comes_before_the_workers_own_cpu() {
        let pairs = |cpu: CpuId| Some(vec![CpuId(cpu.0 & !1), CpuId(cpu.0 | 1)]);
        let workers = [CpuId(2), CpuId(4), CpuId(5)];
        assert_eq!(beside(CpuId(2), &workers, pairs), CpuId(3));
        assert_eq!(beside(CpuId(4), &workers, pairs), CpuId(4));
        assert_eq!(beside(CpuId(2), &workers, |_| None), CpuId(2));
    }
}

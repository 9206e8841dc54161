//! Workers that waited for their CPU while they had frames.

use engine::WorkerReport;

/// A sentence for each worker that waited for its CPU while it had frames.
pub(crate) fn starved(workers: &[WorkerReport]) -> impl Iterator<Item = String> {
    workers.iter().filter_map(|worker| {
        let seconds = worker.starved_seconds();
        (seconds > 0.0).then(|| {
            let WorkerReport { id, cpu, .. } = worker;
            format!(
                "worker {id} had frames and no CPU for {seconds:.2} s: something else ran on CPU \
                 {cpu}, and the rates here are too low; end it, or choose other CPUs with --cpus"
            )
        })
    })
}

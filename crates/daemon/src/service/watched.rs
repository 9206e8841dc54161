//! Whether workers go round, for whoever restarts a daemon that hangs.

use std::time::Instant;

use engine::Running;

use crate::health::SILENT_MAX;
use crate::notify::Notifier;

/// When workers were last looked at.
#[derive(Debug, Default)]
pub(super) struct Watched {
    looked: Option<Instant>,
}

impl Watched {
    /// Tells the service manager that all is well, when it is due and true.
    pub(super) fn look(&mut self, notifier: &Notifier, running: &Running) {
        let Some(every) = notifier.watchdog() else {
            return;
        };
        if self.looked.is_some_and(|looked| looked.elapsed() < every) {
            return;
        }
        self.looked = Some(Instant::now());
        let workers = running.status().workers;
        let silent_max = SILENT_MAX.min(every).as_secs_f64();
        match workers
            .iter()
            .find(|worker| worker.silent_seconds > silent_max)
        {
            None => notifier.alive(),
            Some(silent) => {
                let (worker, cpu) = (silent.id, silent.cpu);
                let seconds = silent.silent_seconds;
                tracing::error!(%worker, %cpu, seconds, "a worker does not go round");
                notifier.status(&format!("Worker {worker} on CPU {cpu} hangs"));
            }
        }
    }
}

//! Threads that work until they are stopped, and what each found.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use crate::LoadError;

/// Threads that run.
#[derive(Debug)]
pub struct Threads<T> {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<io::Result<T>>>,
}

impl<T: Send + 'static> Threads<T> {
    pub(super) fn new() -> Self {
        Self {
            stop: Arc::default(),
            threads: Vec::new(),
        }
    }

    /// Starts one more, which ends when its argument says so.
    pub(super) fn start(
        &mut self,
        work: impl FnOnce(&AtomicBool) -> io::Result<T> + Send + 'static,
    ) -> Result<(), LoadError> {
        let stop = Arc::clone(&self.stop);
        let name = format!("udp-{}", self.threads.len());
        let thread = thread::Builder::new().name(name).spawn(move || work(&stop));
        self.threads.push(thread.map_err(|error| {
            LoadError::new(format!("no thread: {error}: ask for fewer with --threads"))
        })?);
        Ok(())
    }

    /// Whether one ended by itself.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.threads.iter().any(JoinHandle::is_finished)
    }

    /// Stops them; what each found.
    ///
    /// # Errors
    /// A thread could not go on.
    pub fn stop(mut self) -> Result<Vec<T>, LoadError> {
        self.stop.store(true, Ordering::Relaxed);
        let ended = self.threads.drain(..).map(|thread| match thread.join() {
            Ok(Ok(found)) => Ok(found),
            Ok(Err(error)) => Err(LoadError::new(format!("a thread could not go on: {error}"))),
            Err(_) => Err(LoadError::new("a thread panicked")),
        });
        ended.collect()
    }
}

impl<T> Drop for Threads<T> {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

//! The workers, and what they are still to be told.

use std::collections::VecDeque;
use std::sync::Arc;

use engine::Observer;
use plane::router::{FOLLOWED_MAX, Followed, RouterRequest, RouterTable};

/// Tells all workers the same, in order, and once more what one of them did not take.
pub(super) struct Workers {
    observer: Observer,
    table: Option<Arc<RouterTable>>,
    neighbours: VecDeque<Followed>,
}

impl Workers {
    pub(super) fn new(observer: Observer) -> Self {
        Self {
            observer,
            table: None,
            neighbours: VecDeque::new(),
        }
    }

    /// Workers are to go by this table.
    pub(super) fn set_table(&mut self, table: Arc<RouterTable>) {
        self.table = Some(table);
    }

    /// Workers are to know this of a neighbour.
    pub(super) fn add_neighbour(&mut self, followed: Followed) {
        self.neighbours.push_back(followed);
    }

    /// Tells what is still to be told; false where a worker does not answer.
    pub(super) fn tell(&mut self) -> bool {
        if let Some(table) = self.table.clone() {
            if !self.ask_all(|| RouterRequest::Replace(Arc::clone(&table))) {
                return false;
            }
            self.table = None;
        }
        while !self.neighbours.is_empty() {
            let few = self.neighbours.len().min(FOLLOWED_MAX);
            let news: Vec<Followed> = self.neighbours.range(..few).copied().collect();
            if !self.ask_all(|| RouterRequest::Follow(news.clone())) {
                return false;
            }
            self.neighbours.drain(..few);
        }
        true
    }

    fn ask_all(&self, request: impl Fn() -> RouterRequest) -> bool {
        let mut workers = 0..self.observer.workers_len();
        workers.all(|worker| self.observer.ask_node(worker, request()).is_some())
    }
}

//! What the kernel forwards past the workers, kept in step with the lists they have.

use plane::{Otherwise, Ruleset};
use port::{Shortcut, SieveWords};
use table::Sieve;

/// The shortcuts of a run's ports.
#[derive(Debug, Default)]
pub(crate) struct Shortcuts(Vec<Shortcut>);

impl Shortcuts {
    pub(crate) fn new(all: impl Iterator<Item = Shortcut>) -> Self {
        Self(all.collect())
    }

    /// All frames are the workers' when this returns, so that they may get other lists.
    pub(crate) fn close(&self) {
        self.0.iter().for_each(Shortcut::close);
    }

    /// Opens them for what the workers have been given. Without a sieve they stay closed, and so
    /// they do where what is in no list is dropped.
    pub(crate) fn open(&self, ruleset: &Ruleset) {
        if ruleset.policy().default != Otherwise::Forward {
            return;
        }
        let Some(sieve) = ruleset.lists().sieve() else {
            return;
        };
        for shortcut in &self.0 {
            shortcut.open(&words(sieve));
        }
    }
}

fn words(sieve: &Sieve) -> SieveWords<'_> {
    SieveWords {
        key: sieve.key(),
        words: sieve.words(),
        networks: sieve.networks(),
        holds_v6: sieve.holds_v6(),
    }
}

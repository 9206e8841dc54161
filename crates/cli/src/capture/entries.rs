//! Which entry of a set holds an address: asked of the daemon, and remembered for a while.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use daemon::rpc::Client;
use daemon::rpc::answers::{TestAnswer, TestParams};

/// How long an answer is believed: sets change.
const KEPT: Duration = Duration::from_secs(10);
/// Addresses remembered at most; then all are forgotten.
const ADDRESSES_MAX: usize = 10_000;
/// How long an answer may take. Without one samples go out without entries.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);

/// Asks for entries.
pub(super) struct Entries {
    /// None when it answers no more.
    client: Option<Client>,
    /// Since when, and the entry by set.
    known: HashMap<IpAddr, (Instant, HashMap<String, String>)>,
}

impl Entries {
    pub(super) fn new(mut client: Client) -> Self {
        client.allow(ANSWER_WITHIN);
        Self {
            client: Some(client),
            known: HashMap::new(),
        }
    }

    #[cfg(test)]
    pub(super) fn none() -> Self {
        Self {
            client: None,
            known: HashMap::new(),
        }
    }

    /// The entry of `set` that holds `address`; none where that is not known.
    pub(super) fn of(&mut self, address: IpAddr, set: &str) -> Option<String> {
        let fresh = |(since, _): &&(Instant, _)| since.elapsed() < KEPT;
        if self.known.get(&address).filter(fresh).is_none() {
            let entries = self.ask(address)?;
            if self.known.len() >= ADDRESSES_MAX {
                self.known.clear();
            }
            self.known.insert(address, (Instant::now(), entries));
        }
        self.known.get(&address)?.1.get(set).cloned()
    }

    fn ask(&mut self, address: IpAddr) -> Option<HashMap<String, String>> {
        let client = self.client.as_mut()?;
        let Ok(answer) = client.call::<_, TestAnswer>("set.test", &TestParams { address }) else {
            // One that is late would answer the next question.
            self.client = None;
            return None;
        };
        let narrowest = answer.sets.into_iter().filter_map(|set| {
            let entry = set.matches.into_iter().next()?.entry;
            Some((set.set, entry))
        });
        Some(narrowest.collect())
    }
}

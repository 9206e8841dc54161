//! Which entry of a set holds an address: asked of the daemon, and remembered for a while.

use std::collections::HashMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use daemon::rpc::Client;
use daemon::rpc::answers::{TestAnswer, TestParams};

/// How long an answer is believed: sets change.
const KEPT: Duration = Duration::from_secs(10);
/// Addresses remembered at most; then all are forgotten.
const ADDRESSES_MAX: usize = 10_000;
/// How long after a failure it is tried again: meanwhile lines go out without entries.
const AGAIN: Duration = Duration::from_secs(1);
/// How long an answer may take. Without one samples go out without entries.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);

/// Asks for entries.
pub(super) struct Entries {
    /// None where nobody is to be asked.
    socket: Option<PathBuf>,
    /// None until it is needed, and after it failed: a daemon closes connections that were silent
    /// for long.
    client: Option<Client>,
    /// When the connection failed last.
    failed: Option<Instant>,
    /// Since when, and the entry by set.
    known: HashMap<IpAddr, (Instant, HashMap<String, String>)>,
}

impl Entries {
    pub(super) fn new(socket: PathBuf) -> Self {
        Self {
            socket: Some(socket),
            ..Self::none()
        }
    }

    /// Knows nothing.
    pub(super) fn none() -> Self {
        Self {
            socket: None,
            client: None,
            failed: None,
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
        let answer: Option<TestAnswer> = self.connected().and_then(|client| {
            let answer = client.call("set.test", &TestParams { address });
            answer.ok()
        });
        if answer.is_none() && self.client.is_some() {
            // An answer that is late would answer the next question.
            self.client = None;
            self.failed = Some(Instant::now());
        }
        let narrowest = answer?.sets.into_iter().filter_map(|set| {
            let entry = set.matches.into_iter().next()?.entry;
            Some((set.set, entry))
        });
        Some(narrowest.collect())
    }

    /// The connection, made anew where it was lost some time ago.
    fn connected(&mut self) -> Option<&mut Client> {
        let again = self.failed.is_none_or(|failed| failed.elapsed() > AGAIN);
        if self.client.is_none() && again {
            self.failed = Some(Instant::now());
            let mut client = Client::connect(self.socket.as_deref()?).ok()?;
            client.allow(ANSWER_WITHIN);
            self.client = Some(client);
        }
        self.client.as_mut()
    }
}

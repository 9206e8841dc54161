//! Asks the local API from time to time and hands on what changed.

use std::fs::File;
use std::io::Read;
use std::time::{Duration, Instant};

use flate2::read::GzDecoder;

use crate::config::KeyFrom;

use super::super::backoff::Backoff;
use super::super::bounded::Bounded;
use super::super::deliver::Change;
use super::super::error::SourceError;
use super::super::fetch::{Answer, Ask, Fetch, Whole};
use super::super::list_url::ListUrl;
use super::super::signal::Why;
use super::super::task::{Desk, Task};
use super::api::{self, Decisions, Wanted};
use super::spec::CrowdSecSpec;
use super::standing::Standing;

/// The longest wait while the API is away.
const WAIT_MAX: Duration = Duration::from_secs(300);

/// A doubt is resolved at once, but not more often than this: all decisions of a large
/// installation are some 30 MB.
const DOUBT_MIN: Duration = Duration::from_secs(600);

/// A key is 32 to 64 characters.
const KEY_BYTES_MAX: u64 = 4 << 10;

/// Decisions of a local API that feed a set.
pub(crate) struct BouncerTask {
    spec: CrowdSecSpec,
    standing: Standing,
    backoff: Backoff,
    /// Kept between polls for its connection; made anew, with the key, after a failure.
    session: Option<Session>,
    /// When all decisions were last fetched; none when they must be.
    synced: Option<Instant>,
    doubtful: bool,
    /// Versions before 1.3 answer a parameter that they do not know with an error.
    plain: bool,
}

struct Session {
    fetch: Fetch,
    key: String,
}

impl BouncerTask {
    pub(crate) fn new(spec: CrowdSecSpec) -> Self {
        Self {
            backoff: Backoff::new(spec.refresh, WAIT_MAX.max(spec.refresh)),
            spec,
            standing: Standing::default(),
            session: None,
            synced: None,
            doubtful: false,
            plain: false,
        }
    }

    fn poll(&mut self, desk: &Desk, why: Why) -> Result<(), SourceError> {
        desk.tried();
        let now = Instant::now();
        self.standing.expire(now);
        let age = self.synced.map(|at| now.duration_since(at));
        let everything = matches!(why, Why::Asked { .. })
            || age.is_none_or(|age| age >= self.spec.resync || self.doubtful && age >= DOUBT_MIN);
        // Taken back only when everything went well: what the server gave in vain is lost.
        let synced = self.synced.take();
        let (found, bytes) = self.ask(everything)?;
        let now = Instant::now();
        let change = if everything {
            self.doubtful = false;
            self.standing.replace(&found.new, now)
        } else {
            let step = self.standing.apply(&found, now);
            self.doubtful |= step.doubtful;
            step.change
        };
        self.hand_on(desk, change, &found, bytes)?;
        self.synced = if everything { Some(now) } else { synced };
        Ok(())
    }

    fn hand_on(
        &self,
        desk: &Desk,
        change: Change,
        found: &Decisions,
        bytes: u64,
    ) -> Result<(), SourceError> {
        let (added, deleted) = (change.added.len(), change.deleted.len());
        if let Some(told) = &found.first_bad {
            let bad = found.bad;
            tracing::warn!(set = &*self.spec.set, bad, "decisions left out: {told}");
        }
        if change == Change::default() {
            desk.note(|state| state.entries = self.standing.count() as u64);
            desk.unchanged();
            return Ok(());
        }
        let whole = change.replace;
        desk.keeper
            .change(&self.spec.set, change)
            .map_err(|refused| SourceError::Refused {
                set: self.spec.set.to_string(),
                refused,
            })?;
        desk.note(|state| {
            state.loads += 1;
            state.entries = self.standing.count() as u64;
            state.bytes = bytes;
            state.skipped = found.skipped + found.bad;
            state.succeeded();
            state.list_at = state.last_success;
        });
        tracing::info!(
            set = &*self.spec.set,
            added,
            deleted,
            whole,
            "decisions of CrowdSec"
        );
        Ok(())
    }

    fn ask(&mut self, everything: bool) -> Result<(Decisions, u64), SourceError> {
        let url = self.stream(everything)?;
        let session = match self.session.take() {
            Some(session) => session,
            None => self.session()?,
        };
        let end = Instant::now() + self.spec.limits.fetch_time_max;
        let ask = Ask {
            accept: "application/json",
            api_key: Some(&session.key),
            ..Ask::default()
        };
        let answer = session.fetch.get(&url, ask, end);
        if let Err(SourceError::Answer { status, .. }) = &answer {
            self.plain |= matches!(status, 400 | 500);
        }
        let Answer::Whole(whole) = answer.map_err(|error| self.explained(error))? else {
            return Err(self.protocol("it has not changed, which it was not asked"));
        };
        let read = self.read(*whole, everything)?;
        self.session = Some(session);
        Ok(read)
    }

    fn read(&self, whole: Whole, everything: bool) -> Result<(Decisions, u64), SourceError> {
        let limits = &self.spec.limits;
        let wanted = Wanted {
            types: &self.spec.types,
            scopes: &self.spec.scopes,
            decisions_max: limits.entries_max,
            deleted: !everything,
        };
        let gzip = whole.gzip;
        let mut body = whole.reader(limits.bytes_max);
        let read = if gzip {
            let text = Bounded::new(GzDecoder::new(&mut body), limits.bytes_max);
            api::read(text, wanted)
        } else {
            api::read(&mut body, wanted)
        };
        let read = read.map_err(|error| self.protocol(&error.to_string()))?;
        Ok((read, body.read))
    }

    fn protocol(&self, text: &str) -> SourceError {
        SourceError::Protocol {
            name: self.spec.url.shown().to_owned(),
            text: text.to_owned(),
        }
    }

    /// The remedy for what keys are refused with.
    fn explained(&self, error: SourceError) -> SourceError {
        match error {
            SourceError::Answer {
                status: 401 | 403, ..
            } => SourceError::Key(format!(
                "{} does not take the API key: make one by 'cscli bouncers add linerate' and put \
                 it where the configuration says",
                self.spec.url.shown()
            )),
            other => other,
        }
    }

    fn session(&self) -> Result<Session, SourceError> {
        let time_max = self.spec.limits.fetch_time_max;
        let fetch = Fetch::new(&self.spec.url, self.spec.ca_file.as_deref(), time_max)?;
        let key = key(&self.spec.key)?;
        Ok(Session { fetch, key })
    }

    fn stream(&self, everything: bool) -> Result<ListUrl, SourceError> {
        let base = self.spec.url.uri().to_string();
        let mut text = format!(
            "{}/v1/decisions/stream?startup={everything}&scopes={}",
            base.trim_end_matches('/'),
            self.spec.scopes.join(",")
        );
        if !self.plain {
            text.push_str("&dedup=false");
        }
        if !self.spec.origins.is_empty() {
            text.push_str("&origins=");
            text.push_str(&escaped(&self.spec.origins.join(",")));
        }
        self.spec.url.beside(&text).map_err(SourceError::Address)
    }
}

/// For a query: all but what needs no escape (RFC 3986 section 3.4) by its bytes.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~:,/".contains(&byte) {
            out.push(byte as char);
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

fn key(from: &KeyFrom) -> Result<String, SourceError> {
    let (place, text) = match from {
        KeyFrom::File(path) => {
            let mut text = String::new();
            let opened = File::open(path);
            let read =
                opened.and_then(|file| Bounded::new(file, KEY_BYTES_MAX).read_to_string(&mut text));
            read.map_err(|error| SourceError::io(path.display().to_string(), "be read", error))?;
            (path.display().to_string(), text)
        }
        KeyFrom::Environment(name) => {
            let text = std::env::var(name).unwrap_or_default();
            (format!("environment variable {name}"), text)
        }
    };
    let key = text.lines().next().unwrap_or_default().trim();
    if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(SourceError::Key(format!(
            "{place} holds no API key: put there what 'cscli bouncers add linerate' prints"
        )));
    }
    Ok(key.to_owned())
}

impl Task for BouncerTask {
    fn turn(&mut self, why: Why, desk: &Desk) -> Duration {
        match self.poll(desk, why) {
            Ok(()) => self.backoff.regular(self.spec.refresh),
            Err(SourceError::Stopped) => Duration::ZERO,
            Err(error) => {
                let count = desk.failed(&error);
                self.backoff.after_failures(count, error.retry_after())
            }
        }
    }
}

//! Requests to a cluster of etcd: one member after the other is asked until one answers.

use std::fs::File;
use std::io::{BufReader, Read};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::super::bounded::Bounded;
use super::super::error::SourceError;
use super::super::etcd_spec::{EtcdAt, range};
use super::super::fetch::{Fetch, Post, Posted};
use super::message::{
    Bytes, GatewayError, Header, KeyValue, LoginAnswer, LoginAsk, Number, RangeAnswer, RangeAsk,
    WatchAsk, WatchCreate,
};
use crate::config::{Held, Login};

/// How long one request may take. A member that is cut off from the others takes it and is silent.
const CALL_TIME_MAX: Duration = Duration::from_secs(5);

/// Bytes of an answer, but for what etcd has more of in one value.
const ANSWER_BYTES_MAX: u64 = 64 << 20;

/// Keys of one answer: etcd builds it in memory.
const PAGE_KEYS: u64 = 10_000;

/// Bytes of an answer that says what is wrong.
const FAULT_BYTES_MAX: u64 = 4 << 10;

/// A password is shorter.
const PASSWORD_BYTES_MAX: u64 = 4 << 10;

/// Speaks to one cluster.
#[derive(Debug)]
pub struct Client {
    at: EtcdAt,
    /// The member that is asked.
    member: usize,
    /// Made when it is needed, and forgotten when something went wrong.
    session: Option<Session>,
}

#[derive(Debug)]
struct Session {
    fetch: Fetch,
    token: Option<String>,
}

/// What a snapshot may hold at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct SnapshotMax {
    pub(super) keys: u64,
    pub(super) bytes: u64,
}

impl Client {
    /// Asks nobody yet.
    #[must_use]
    pub fn new(at: EtcdAt) -> Self {
        Self {
            at,
            member: 0,
            session: None,
        }
    }

    /// The member that is asked, for messages.
    fn name(&self) -> String {
        let endpoint = &self.at.endpoints[self.member];
        endpoint.shown().trim_end_matches('/').to_owned()
    }

    fn has_token(&self) -> bool {
        let session = self.session.as_ref();
        session.is_some_and(|session| session.token.is_some())
    }

    /// Asks another member from now on.
    pub(super) fn move_on(&mut self) {
        self.session = None;
        self.member = (self.member + 1) % self.at.endpoints.len();
    }

    /// Asks each member once, until one answers. A token may have run out, so that the first is
    /// asked again with another.
    pub(super) fn call<T: DeserializeOwned>(
        &mut self,
        path: &str,
        ask: &impl Serialize,
    ) -> Result<T, SourceError> {
        let (mut last, mut has_token) = (None, self.has_token());
        for _ in 0..self.at.endpoints.len() + usize::from(has_token) {
            let answer = self.post(path, ask, CALL_TIME_MAX);
            match answer.and_then(|posted| self.read(posted)) {
                Ok(answer) => return Ok(answer),
                Err(error) => {
                    match std::mem::take(&mut has_token) {
                        true => self.session = None,
                        false => self.move_on(),
                    }
                    last = Some(error);
                }
            }
        }
        Err(last.unwrap_or(SourceError::Stopped))
    }

    /// One request to the member at hand; what it answers with another status is an error.
    fn post(
        &mut self,
        path: &str,
        ask: &impl Serialize,
        time: Duration,
    ) -> Result<Posted, SourceError> {
        if self.session.is_none() {
            self.session = Some(self.session()?);
        }
        let Some(session) = &self.session else {
            return Err(SourceError::Stopped);
        };
        send(self, session, (path, ask), time)
    }

    fn session(&self) -> Result<Session, SourceError> {
        let endpoint = &self.at.endpoints[self.member];
        let fetch = Fetch::with(endpoint, &self.at.tls, CALL_TIME_MAX)?;
        let session = Session { fetch, token: None };
        let Some(login) = &self.at.login else {
            return Ok(session);
        };
        let password = password(login)?;
        let ask = LoginAsk {
            name: &login.user,
            password: &password,
        };
        let posted = send(
            self,
            &session,
            ("/v3/auth/authenticate", &ask),
            CALL_TIME_MAX,
        )?;
        let answer: LoginAnswer = self.read(posted)?;
        Ok(Session {
            token: Some(answer.token).filter(|token| !token.is_empty()),
            ..session
        })
    }

    fn read<T: DeserializeOwned>(&self, posted: Posted) -> Result<T, SourceError> {
        let body = posted.reader(ANSWER_BYTES_MAX);
        let read = serde_json::from_reader(BufReader::new(body));
        read.map_err(|error| self.garbled(&error.to_string()))
    }

    pub(super) fn garbled(&self, what: &str) -> SourceError {
        let name = self.name();
        SourceError::Etcd(format!(
            "{name} answered what is not etcd's JSON gateway: {what}; check the address"
        ))
    }

    /// What a member says is wrong.
    fn refused(&self, posted: Posted) -> SourceError {
        let status = posted.status;
        let mut body = posted.reader(FAULT_BYTES_MAX);
        let mut text = Vec::new();
        // What came is told, whole or not.
        let _ = body.by_ref().read_to_end(&mut text);
        let fault: GatewayError = serde_json::from_slice(&text).unwrap_or_default();
        let said = match fault.message.as_str() {
            "" => fault.error,
            _ => fault.message,
        };
        let said: String = said.chars().filter(|c| !c.is_control()).take(200).collect();
        let remedy = match status {
            401 | 403 => ": look at user and password_file, and at what the user may read",
            400 if said.contains("authentication failed") || said.contains("user name") => {
                ": look at user and password_file"
            }
            404 => ": is this etcd 3.4 or later?",
            _ => "",
        };
        SourceError::Etcd(format!(
            "{} refuses with status {status} ({said}){remedy}",
            self.name()
        ))
    }

    /// All keys of a list as of one revision.
    pub(super) fn snapshot(
        &mut self,
        held: &Held,
        max: SnapshotMax,
    ) -> Result<(Header, Vec<KeyValue>), SourceError> {
        let (first, end) = range(held);
        let (mut found, mut bytes, mut header) = (Vec::new(), 0, None);
        let mut ask = RangeAsk {
            key: Bytes(first),
            range_end: end.map(Bytes),
            limit: Number(PAGE_KEYS),
            ..RangeAsk::default()
        };
        loop {
            let page: RangeAnswer = self.call("/v3/kv/range", &ask)?;
            // Further pages are of the revision of the first one, from whichever member.
            let header = *header.get_or_insert(page.header);
            ask.revision = header.revision;
            let sizes = page.kvs.iter();
            bytes += sizes
                .map(|pair| pair.key.0.len() as u64 + pair.value.0.len() as u64)
                .sum::<u64>();
            found.extend(page.kvs);
            if found.len() as u64 > max.keys || bytes > max.bytes {
                return Err(too_many(held, max));
            }
            let Some(last) = found.last().filter(|_| page.more) else {
                return Ok((header, found));
            };
            let mut next = last.key.0.clone();
            next.push(0);
            if next <= ask.key.0 {
                return Err(self.garbled("a page of keys that does not go on"));
            }
            ask.key = Bytes(next);
        }
    }

    /// What the whole cluster is at now: a member that is cut off from it does not answer.
    pub(super) fn head(&mut self, held: &Held) -> Result<Header, SourceError> {
        let ask = RangeAsk {
            key: Bytes(range(held).0),
            limit: Number(1),
            keys_only: true,
            ..RangeAsk::default()
        };
        let answer: RangeAnswer = self.call("/v3/kv/range", &ask)?;
        Ok(answer.header)
    }

    /// Begins to watch a list from a revision; the stream ends after `time`.
    pub(super) fn watch(
        &mut self,
        held: &Held,
        revision: u64,
        time: Duration,
    ) -> Result<Bounded<Box<dyn Read + Send>>, SourceError> {
        let (first, end) = range(held);
        let ask = WatchAsk {
            create_request: WatchCreate {
                key: Bytes(first),
                range_end: end.map(Bytes),
                start_revision: Number(revision),
            },
        };
        let posted = self.post("/v3/watch", &ask, time);
        let posted = posted.inspect_err(|_| self.move_on())?;
        Ok(posted.reader(u64::MAX))
    }
}

fn send(
    client: &Client,
    session: &Session,
    (path, ask): (&str, &impl Serialize),
    time: Duration,
) -> Result<Posted, SourceError> {
    let endpoint = &client.at.endpoints[client.member];
    let base = endpoint.uri().to_string();
    let url = endpoint.beside(&format!("{}{path}", base.trim_end_matches('/')));
    let url = url.map_err(SourceError::Address)?;
    let body = serde_json::to_vec(ask).map_err(|error| client.garbled(&error.to_string()))?;
    let posted = session.fetch.post(
        &url,
        Post {
            body: &body,
            token: session.token.as_deref(),
            time,
        },
    )?;
    match posted.status {
        200 => Ok(posted),
        _ => Err(client.refused(posted)),
    }
}

pub(super) fn too_many(held: &Held, max: SnapshotMax) -> SourceError {
    SourceError::Etcd(format!(
        "{} in etcd has more than {} keys or {} bytes: raise set_entries or list_bytes in [limits]",
        held.text(),
        max.keys,
        max.bytes
    ))
}

fn password(login: &Login) -> Result<String, SourceError> {
    let path = &login.password_file;
    let cannot = |error| SourceError::io(path.display().to_string(), "be read", error);
    let mut text = String::new();
    let file = File::open(path).map_err(cannot)?;
    Bounded::new(file, PASSWORD_BYTES_MAX)
        .read_to_string(&mut text)
        .map_err(cannot)?;
    match text.lines().next().unwrap_or_default() {
        "" => Err(SourceError::Key(format!(
            "{} holds no password: put that of etcd user {} into its first line",
            path.display(),
            login.user
        ))),
        line => Ok(line.to_owned()),
    }
}

//! For tests: a local API that answers as CrowdSec's does, by its
//! `pkg/apiserver/controllers/v1/decisions.go` and `pkg/database/decisions.go`: what stands at a
//! start, what was made and what ended since the last call afterwards, in numbers of its own.

use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use flate2::{Compression, write::GzEncoder};
use serde_json::{Value, json};

use crate::sources::testserver::{Asked, Piece, TestServer, ok, raw};

pub(crate) const KEY: &str = "837be58e22a28738066de1be8f53636b";

/// The API and what it knows.
pub(crate) struct TestApi {
    db: Arc<Mutex<Db>>,
    pub(crate) server: TestServer,
}

#[derive(Default)]
pub(crate) struct Db {
    rows: Vec<Row>,
    last_pull: Option<Instant>,
    /// Answers all parameters but the first ones with an error, as versions before 1.3.
    pub(crate) old: bool,
    /// Packs its answers.
    pub(crate) gzip: bool,
    /// Takes no key any more.
    pub(crate) closed: bool,
    /// The next answer has so many bytes of its text at most; what it held is given out all the
    /// same.
    pub(crate) cut: Option<usize>,
}

#[derive(Clone)]
struct Row {
    id: i64,
    scope: &'static str,
    value: String,
    kind: &'static str,
    origin: &'static str,
    created: Instant,
    until: Instant,
}

impl TestApi {
    pub(crate) fn new() -> Self {
        let db = Arc::new(Mutex::new(Db::default()));
        let answering = Arc::clone(&db);
        let server = TestServer::new(move |asked| answering.lock().unwrap().answer(asked));
        Self { db, server }
    }

    pub(crate) fn db(&self) -> MutexGuard<'_, Db> {
        self.db.lock().unwrap()
    }

    /// Queries of the calls so far.
    pub(crate) fn calls(&self) -> Vec<String> {
        let asked = self.server.asked();
        asked.into_iter().map(|asked| asked.target).collect()
    }
}

impl Db {
    pub(crate) fn ban(&mut self, value: &str, left: Duration) -> i64 {
        let scope = if value.contains('/') { "Range" } else { "Ip" };
        self.decide(scope, value, "ban", left)
    }

    pub(crate) fn decide(
        &mut self,
        scope: &'static str,
        value: &str,
        kind: &'static str,
        left: Duration,
    ) -> i64 {
        let (id, now) = (self.rows.len() as i64 + 1, Instant::now());
        self.rows.push(Row {
            id,
            scope,
            value: value.to_owned(),
            kind,
            origin: "crowdsec",
            created: now,
            until: now + left,
        });
        id
    }

    /// `cscli decisions delete --id`: its time is over.
    pub(crate) fn take_back(&mut self, id: i64) {
        self.rows[id as usize - 1].until = Instant::now();
    }

    fn answer(&mut self, asked: &Asked) -> Vec<Piece> {
        let forbidden = "HTTP/1.1 403 Forbidden\r\nContent-Length: 30\r\n\r\n\
                         {\"message\":\"access forbidden\"}\n";
        if self.closed || asked.headers.get("x-api-key").map(String::as_str) != Some(KEY) {
            return raw(forbidden);
        }
        let (path, query) = asked.target.split_once('?').unwrap_or((&asked.target, ""));
        assert_eq!(path, "/v1/decisions/stream");
        if self.old && query.contains("dedup") {
            let told = "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 2\r\n\r\n{}";
            return raw(told);
        }
        let text = self.stream(query).to_string();
        self.last_pull = Some(Instant::now());
        if let Some(cut) = self.cut.take() {
            let length = text.len();
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
            return raw(&format!("{head}{}", &text[..cut.min(length)]));
        }
        if self.gzip {
            let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
            packer.write_all(text.as_bytes()).unwrap();
            return ok("Content-Encoding: gzip\r\n", &packer.finish().unwrap());
        }
        ok(
            "Content-Type: application/json; charset=utf-8\r\n",
            text.as_bytes(),
        )
    }

    fn stream(&self, query: &str) -> Value {
        let now = Instant::now();
        let startup = query.split('&').any(|part| part == "startup=true");
        // The API takes two seconds off for those that ended, so that none is missed.
        let since = self.last_pull.filter(|_| !startup);
        let overlapping = since.and_then(|since| since.checked_sub(Duration::from_secs(2)));
        let new = self
            .rows
            .iter()
            .filter(|row| row.until > now && since.is_none_or(|since| row.created > since));
        let ended = self
            .rows
            .iter()
            .filter(|row| row.until <= now && overlapping.is_none_or(|since| row.until > since));
        json!({
            "new": list(new.map(|row| row.json(now)).collect()),
            "deleted": list(ended.map(|row| row.json(now)).collect()),
        })
    }
}

/// An empty list is null, as Go writes a slice that was never made.
fn list(rows: Vec<Value>) -> Value {
    if rows.is_empty() {
        Value::Null
    } else {
        rows.into()
    }
}

impl Row {
    fn json(&self, now: Instant) -> Value {
        let duration = match self.until.checked_duration_since(now) {
            Some(left) => format!("{}m{}s", left.as_secs() / 60, left.as_secs_f64() % 60.0),
            None => format!("-{}s", (now - self.until).as_secs_f64()),
        };
        json!({
            "id": self.id,
            "uuid": format!("b0ab6879-99b0-4960-8e80-{:012}", self.id),
            "origin": self.origin,
            "scenario": "crowdsecurity/ssh-bf",
            "scope": self.scope,
            "type": self.kind,
            "value": self.value,
            "duration": duration,
        })
    }
}

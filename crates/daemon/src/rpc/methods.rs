//! From a request to its answer: each method is thin over [`Sets`] or [`Facts`].

use super::answers::{
    ActionParams, AddParams, Added, CancelParams, Cancelled, DeleteParams, Deleted, DrainParams,
    Drops, Hello, HelloParams, HitsParams, NoParams, Ports, Saved, SetParams, Sets as SetsAnswer,
    StreamBegun, TestParams, WatchParams, Workers,
};
use super::error::{ErrorKind, RpcError};
use super::facts::{Facts, Pending, Sets};
use super::limits::{ENTRIES_MAX, LINE_BYTES_MAX, PROTOCOL};
use super::loading::Loading;
use super::message::Request;
use super::sources::{LinesOfSet, Watching};
use super::streams::Streams;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Every method, in the order of the protocol's document.
pub const METHODS: [&str; 35] = [
    "hello",
    "set.list",
    "set.show",
    "set.test",
    "set.add",
    "set.delete",
    "set.flush",
    "set.load",
    "set.refresh",
    "set.save",
    "set.action",
    "rules.load",
    "show.status",
    "show.ports",
    "show.workers",
    "show.dispatch",
    "show.flows",
    "show.rss",
    "show.fdb",
    "show.vlans",
    "show.neighbours",
    "show.routes",
    "show.nat",
    "show.rules",
    "show.drops",
    "show.sets",
    "show.hits",
    "show.memory",
    "show.config",
    "health",
    "drain",
    "reload",
    "watch",
    "cancel",
    "capture.start",
];

/// Most addresses of `show.hits`.
const TOP_MAX: u32 = 1000;

/// Longest name of a client, bytes.
const CLIENT_BYTES_MAX: usize = 64;

/// An answer, or a change under way.
pub(super) enum Begun {
    Done(Answer),
    Adding(Pending<Added>),
    Deleting(Pending<Deleted>),
}

/// The result as JSON.
pub(super) type Answer = Result<Box<RawValue>, RpcError>;

impl Begun {
    /// The answer, when it is there.
    pub(super) fn wait(self) -> Answer {
        match self {
            Self::Done(answer) => answer,
            Self::Adding(pending) => json(pending()),
            Self::Deleting(pending) => json(pending()),
        }
    }
}

/// What all connections share.
pub(super) struct Services {
    sets: Arc<dyn Sets>,
    facts: Arc<dyn Facts>,
    loading: Loading,
}

impl Services {
    pub(super) fn new(sets: Arc<dyn Sets>, facts: Arc<dyn Facts>) -> Self {
        Self {
            sets,
            facts,
            loading: Loading::default(),
        }
    }

    /// Gives up what would hold up the end.
    pub(super) fn stop(&self) {
        self.loading.stop();
    }

    /// Whether requests of this method that came together may be on their way together.
    pub(super) fn is_queued(method: &str) -> bool {
        matches!(method, "set.add" | "set.delete")
    }

    /// Begins to answer. `file` came along with it or with a request before.
    pub(super) fn begin(
        self: &Arc<Self>,
        request: &Request<'_>,
        file: &mut Option<OwnedFd>,
        streams: &mut Streams,
    ) -> Begun {
        let begun = match request.method.as_ref() {
            "set.add" => request
                .params()
                .map(|p: AddParams| self.sets.add(p))
                .map(Begun::Adding),
            "set.delete" => {
                let params = request.params();
                params
                    .map(|p: DeleteParams| self.sets.delete(p))
                    .map(Begun::Deleting)
            }
            "set.load" => Ok(Begun::Done(self.load(request, file.take()))),
            "rules.load" => Ok(Begun::Done(self.load_rules(request, file.take()))),
            "set.save" => Ok(Begun::Done(self.save(request, streams))),
            "watch" => Ok(Begun::Done(self.watch(request, streams))),
            "capture.start" => Ok(Begun::Done(self.capture(request, streams))),
            "cancel" => Ok(Begun::Done(cancel(request, streams))),
            _ => Ok(Begun::Done(self.answer(request))),
        };
        begun.unwrap_or_else(|error| Begun::Done(Err(error)))
    }

    /// Methods that only answer.
    fn answer(&self, request: &Request<'_>) -> Answer {
        match request.method.as_ref() {
            "hello" => json(hello(&request.params()?)),
            "set.show" => json(self.sets.show(&request.params::<SetParams>()?.set)),
            "set.test" => json(self.sets.test(request.params::<TestParams>()?.address)),
            "set.flush" => json(self.sets.flush(&request.params()?)),
            "set.refresh" => json(self.loading.refresh(self.sets.as_ref(), &request.params()?)),
            "set.action" => json(self.sets.action(&request.params::<ActionParams>()?)),
            "drain" => json(Ok(self.facts.drain(request.params::<DrainParams>()?.on))),
            "reload" => {
                let NoParams {} = request.params()?;
                json(self.facts.reload())
            }
            _ => self.tell(request),
        }
    }

    /// Methods that change nothing and may be watched.
    pub(super) fn tell(&self, request: &Request<'_>) -> Answer {
        let nothing = || request.params::<NoParams>();
        match request.method.as_ref() {
            "show.hits" => {
                let top = request.params::<HitsParams>()?.top.min(TOP_MAX);
                json(self.facts.hits(top as usize))
            }
            "show.fdb" => json(self.facts.fdb(&request.params()?)),
            "show.neighbours" => json(self.facts.neighbours(&request.params()?)),
            "show.nat" => json(self.facts.nat(&request.params()?)),
            "show.rules" => json(self.facts.rules(&request.params()?)),
            "show.routes" => json(self.facts.routes(&request.params()?)),
            "set.list" => nothing().and_then(|_| json(self.sets.list())),
            "show.status" => nothing().and_then(|_| json(Ok(self.facts.status()))),
            "show.ports" => nothing().and_then(|_| json(Ok(self.ports()))),
            "show.workers" => nothing().and_then(|_| json(Ok(self.workers()))),
            "show.dispatch" => nothing().and_then(|_| json(Ok(self.facts.dispatch()))),
            "show.flows" => nothing().and_then(|_| json(Ok(self.facts.flows()))),
            "show.rss" => nothing().and_then(|_| json(Ok(self.facts.rss()))),
            "show.vlans" => nothing().and_then(|_| json(self.facts.vlans())),
            "show.drops" => nothing().and_then(|_| json(Ok(self.drops()))),
            "show.sets" => nothing().and_then(|_| json(self.sets())),
            "show.memory" => nothing().and_then(|_| json(Ok(self.facts.memory()))),
            "health" => nothing().and_then(|_| json(Ok(self.facts.health()))),
            "show.config" => nothing().and_then(|_| json(Ok(self.facts.config()))),
            method => Err(RpcError::new(
                ErrorKind::MethodNotFound,
                format!(
                    "there is no method {:?}",
                    method.chars().take(64).collect::<String>()
                ),
            )),
        }
    }

    fn ports(&self) -> Ports {
        let status = self.facts.status();
        Ports {
            seconds: status.seconds,
            ports: status.ports,
        }
    }

    fn workers(&self) -> Workers {
        let status = self.facts.status();
        Workers {
            seconds: status.seconds,
            workers: status.workers,
        }
    }

    fn drops(&self) -> Drops {
        let mut status = self.facts.status();
        status.drops.retain(|drop| drop.frames != 0);
        status
            .drops
            .sort_by_key(|drop| std::cmp::Reverse(drop.frames));
        Drops {
            seconds: status.seconds,
            drops: status.drops,
            passed: status.passed,
        }
    }

    fn sets(&self) -> Result<SetsAnswer, RpcError> {
        let status = self.facts.status();
        Ok(SetsAnswer {
            seconds: status.seconds,
            sets: self.sets.list()?.sets,
            hits: status.sets,
            would_drop: status.would_drop,
        })
    }

    fn load(&self, request: &Request<'_>, file: Option<OwnedFd>) -> Answer {
        let params = request.params()?;
        let file = along(request, file)?;
        json(self.loading.load(self.sets.as_ref(), &params, file))
    }

    fn load_rules(&self, request: &Request<'_>, file: Option<OwnedFd>) -> Answer {
        let params = request.params()?;
        let file = along(request, file)?;
        json(self.loading.rules(self.facts.as_ref(), &params, file))
    }

    fn save(&self, request: &Request<'_>, streams: &mut Streams) -> Answer {
        let params: SetParams = request.params()?;
        let lines = self.sets.save(&params.set)?;
        let entries = lines.entries;
        let stream = streams.begin(Box::new(LinesOfSet::new(lines)))?;
        json(Ok(Saved { stream, entries }))
    }

    fn watch(self: &Arc<Self>, request: &Request<'_>, streams: &mut Streams) -> Answer {
        let params: WatchParams = request.params()?;
        let watching = Watching::new(Arc::clone(self), params)?;
        let stream = streams.begin(Box::new(watching))?;
        json(Ok(StreamBegun { stream }))
    }

    fn capture(&self, request: &Request<'_>, streams: &mut Streams) -> Answer {
        let stream = streams.begin(self.facts.capture(request.params)?)?;
        json(Ok(StreamBegun { stream }))
    }
}

/// The file that came along.
fn along(request: &Request<'_>, file: Option<OwnedFd>) -> Result<OwnedFd, RpcError> {
    let method = &request.method;
    file.ok_or_else(|| {
        RpcError::params(format!(
            "params of {method}: an open file comes along with the line (SCM_RIGHTS)"
        ))
    })
}

fn hello(params: &HelloParams) -> Result<Hello, RpcError> {
    let version = env!("CARGO_PKG_VERSION");
    if params
        .client
        .as_ref()
        .is_some_and(|name| name.len() > CLIENT_BYTES_MAX)
    {
        let message = format!("params of hello: client has more than {CLIENT_BYTES_MAX} bytes");
        return Err(RpcError::params(message));
    }
    match params.protocol {
        Some(theirs) if theirs != PROTOCOL => Err(RpcError::new(
            ErrorKind::OtherVersion,
            format!(
                "linerate {version} speaks version {PROTOCOL} of the control protocol, and the \
                 client version {theirs}"
            ),
        )),
        _ => Ok(Hello {
            server: "linerate".to_owned(),
            version: version.to_owned(),
            protocol: PROTOCOL,
            pid: std::process::id(),
            line_bytes_max: LINE_BYTES_MAX as u64,
            entries_max: ENTRIES_MAX as u64,
        }),
    }
}

fn cancel(request: &Request<'_>, streams: &mut Streams) -> Answer {
    let params: CancelParams = request.params()?;
    let cancelled = streams.cancel(params.stream);
    json(Ok(Cancelled { cancelled }))
}

fn json(result: Result<impl Serialize, RpcError>) -> Answer {
    to_raw_value(&result?).map_err(|error| RpcError::new(ErrorKind::Internal, error))
}

//! Metrics and captures of a daemon that runs.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::error::StartError;
use super::inner::Inner;
use super::{health, packet_rules, sets, switch};
use crate::capture::{self, CaptureParams};
use crate::config::Config;
use crate::metrics::{Around, Observation, Observe, Pages, Server};
use crate::rpc::answers::Health;
use crate::rpc::{ErrorKind, RpcError, Stream};
use crate::sets::{Reply, Request};

/// Serves metrics at the address of the configuration, if it has one.
pub(super) fn serve(config: &Config, inner: &Arc<Inner>) -> Result<Option<Server>, StartError> {
    let Some(address) = config.metrics.as_ref().map(|metrics| metrics.address) else {
        return Ok(None);
    };
    if !address.ip().is_loopback() {
        tracing::warn!(
            %address,
            "metrics are open to whoever can connect: let a firewall say who that is"
        );
    }
    let pages: Arc<dyn Pages> = Arc::clone(inner) as _;
    let server = Server::start(address, pages);
    let server = server.map_err(|error| StartError::Other(error.to_string()))?;
    tracing::info!(address = %server.address(), "metrics are served");
    Ok(Some(server))
}

impl Observe for Inner {
    fn observe(&self) -> Observation {
        let sets = match sets::handle(&self.keeping).ask(Request::List) {
            Ok(Reply::Sets(sets)) => sets,
            _ => Vec::new(),
        };
        let sources = self.asking.states();
        let reloads = self.live().reloads;
        let around = Around {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: self.commit.clone(),
            health: health::judge(self),
            started: Some(self.started),
            port_names: self.ports.clone(),
            sets,
            sources,
            switch: switch::table(self).and_then(|_| switch::vlans(self).ok()),
            routes: self.router.get().is_some(),
            rules: packet_rules::figures(self),
            reloads,
            captured: self.captures.now(),
        };
        match self.observer.get() {
            Some(observer) => Observation::of(&observer.status(), &around),
            None => Observation::starting(&around),
        }
    }

    fn health(&self) -> Health {
        health::judge(self)
    }
}

/// Begins a capture.
pub(super) fn capture(
    inner: &Inner,
    params: Option<&RawValue>,
) -> Result<Box<dyn Stream>, RpcError> {
    let params = CaptureParams::read(params)?;
    let samples = inner.observer()?.samples(&params.spec());
    let samples = samples.map_err(|error| {
        let kind = match error {
            engine::SampleError::NoSet(_) => ErrorKind::NoSuchSet,
            engine::SampleError::TooMany(_) => ErrorKind::TooMany,
            _ => ErrorKind::InvalidParams,
        };
        RpcError::new(kind, error)
    })?;
    let names: Arc<[String]> = inner.ports.clone().into();
    Ok(capture::begin(
        Box::new(samples),
        names,
        Arc::clone(&inner.captures),
    ))
}

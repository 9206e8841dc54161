//! What `show.nat` answers.

use plane::nat::{NatEntry, NatProtocol};
use plane::router::RouterRequest;

use super::inner::Inner;
use super::router;
use crate::rpc::answers::{Nat, NatFlow, NatParams};
use crate::rpc::{ErrorKind, RpcError, no_router};

/// Totals, and a page of the worker's flows.
pub(super) fn nat(inner: &Inner, params: &NatParams) -> Result<Nat, RpcError> {
    let observer = inner.observer()?;
    let table = router::table(inner).ok_or_else(no_router)?;
    if table.config().nat.is_none() {
        return Err(RpcError::new(
            ErrorKind::Refused,
            "the router has no NAT: give its [[pipeline]] nat = \"FILE\"",
        ));
    }
    let from = usize::try_from(params.from.unwrap_or(0)).unwrap_or(usize::MAX);
    let answer = observer.ask_node(0, RouterRequest::nat(from));
    let Some(RouterRequest::Nat {
        from,
        entries,
        totals,
    }) = answer
    else {
        return Err(RpcError::new(
            ErrorKind::Busy,
            "the worker that knows the flows does not answer: try again",
        ));
    };
    Ok(Nat {
        seconds: observer.snapshot().seconds,
        flows: totals.flows,
        flows_max: totals.flows_max,
        begun: totals.begun,
        ended: totals.ended,
        revoked: totals.revoked,
        translated: totals.translated,
        entries: entries.iter().map(flow).collect(),
        next: from.map(|next| next as u64),
    })
}

fn flow(entry: &NatEntry) -> NatFlow {
    let protocol = match entry.protocol {
        NatProtocol::Tcp => "tcp",
        NatProtocol::Udp => "udp",
        NatProtocol::EchoRequest | NatProtocol::EchoReply => "icmp",
        NatProtocol::Other => "other",
    };
    NatFlow {
        protocol: protocol.to_owned(),
        from: entry.from.to_string(),
        to: entry.to.map(|to| to.to_string()),
        new_from: entry.new_from.to_string(),
        new_to: entry.new_to.map(|to| to.to_string()),
        state: entry.state.to_owned(),
        idle_seconds: entry.idle_seconds,
        left_seconds: entry.left_seconds,
    }
}

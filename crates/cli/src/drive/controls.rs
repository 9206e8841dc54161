//! What came about the link to the ports of a test, what was answered, and what was asked for in
//! vain: why a device may forward nothing.

use std::net::IpAddr;

use serde::{Serialize, Serializer};
use traffic::Controls;
use wire::IcmpErrorKind;

use crate::report::number::{count, plural};

/// Senders of ICMP errors of one kind that are named.
const ERRORS_FROM_SHOWN: usize = 3;

/// Both ports.
#[derive(Clone, Debug, Serialize)]
pub(super) struct LinkControls {
    /// Of the port that takes in; null where there is none.
    pub(super) rx: Option<PortControls>,
    /// Of the port that sends, as far as it is looked at what comes to it.
    pub(super) tx: Option<PortControls>,
}

/// One port.
#[derive(Clone, Debug, Serialize)]
pub(super) struct PortControls {
    /// Requests that were answered.
    pub(super) answered: u64,
    /// Times that the port announced itself.
    pub(super) announced: u64,
    /// Frames that came, by kind: `arp_request`, `neighbour_solicitation`, `stp` and others.
    pub(super) kinds: Vec<Kind>,
    /// Addresses that were asked for in vain, the first eight.
    pub(super) unanswered: Vec<Unanswered>,
    /// Requests for further addresses.
    pub(super) unanswered_others: u64,
    /// ICMP errors about frames from addresses of this port, by kind and who sent them, the first
    /// sixteen.
    pub(super) icmp_errors: Vec<IcmpErrors>,
    /// Such errors of further kinds and senders.
    pub(super) icmp_errors_others: u64,
}

/// ICMP errors of one kind and sender.
#[derive(Clone, Debug, Serialize)]
pub(super) struct IcmpErrors {
    /// As in `port_unreachable`.
    #[serde(serialize_with = "name_of")]
    pub(super) kind: IcmpErrorKind,
    pub(super) from: IpAddr,
    pub(super) frames: u64,
}

fn name_of<S: Serializer>(kind: &IcmpErrorKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.name())
}

/// Frames of one kind.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Kind {
    pub(super) kind: &'static str,
    pub(super) frames: u64,
    #[serde(skip)]
    title: &'static str,
}

/// An address that was asked for in vain.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Unanswered {
    pub(super) address: IpAddr,
    pub(super) frames: u64,
}

impl LinkControls {
    /// Of a trial's, in the order of its report.
    pub(super) fn of([rx, tx]: &[Option<Controls>; 2]) -> Self {
        Self {
            rx: rx.as_ref().map(PortControls::of),
            tx: tx.as_ref().map(PortControls::of),
        }
    }

    /// Sentences for people about what was asked for in vain, and about errors that came.
    pub(super) fn complaints(&self) -> Vec<String> {
        let ports = [&self.rx, &self.tx];
        let said = |own: &PortControls| own.complaint().into_iter().chain(own.errors());
        ports.into_iter().flatten().flat_map(said).collect()
    }
}

impl PortControls {
    fn of(controls: &Controls) -> Self {
        let kinds = controls.kinds().map(|(kind, frames)| Kind {
            kind: kind.name(),
            frames,
            title: kind.title(),
        });
        let unanswered = controls.unanswered().iter();
        Self {
            answered: controls.answered(),
            announced: controls.sent() - controls.answered(),
            kinds: kinds.collect(),
            unanswered: unanswered
                .map(|&(address, frames)| Unanswered { address, frames })
                .collect(),
            unanswered_others: controls.unanswered_others(),
            icmp_errors: controls
                .errors()
                .iter()
                .map(|&(kind, from, frames)| IcmpErrors { kind, from, frames })
                .collect(),
            icmp_errors_others: controls.errors_others(),
        }
    }

    /// A sentence for each kind of ICMP errors: how many, from whom, and what they likely mean.
    fn errors(&self) -> Vec<String> {
        let of = |kind: &IcmpErrorKind| {
            let own = || self.icmp_errors.iter().filter(|own| own.kind == *kind);
            let frames: u64 = own().map(|own| own.frames).sum();
            let shown = own()
                .take(ERRORS_FROM_SHOWN)
                .map(|own| own.from.to_string());
            let mut from = shown.collect::<Vec<_>>().join(", ");
            if own().nth(ERRORS_FROM_SHOWN).is_some() {
                from += " and others";
            }
            (frames != 0).then(|| {
                format!(
                    "{} ({}) came back from {from}: {}",
                    plural(frames, "ICMP error", "ICMP errors"),
                    kind.title(),
                    kind.meaning()
                )
            })
        };
        IcmpErrorKind::ALL.iter().filter_map(of).collect()
    }

    /// `ARP requests: 2, IGMP messages: 3`; empty where none came.
    pub(super) fn named(&self) -> String {
        let kinds = self.kinds.iter();
        let named = kinds.map(|own| format!("{}: {}", own.title, count(own.frames)));
        named.collect::<Vec<_>>().join(", ")
    }

    fn complaint(&self) -> Option<String> {
        let first = self.unanswered.first()?;
        let addresses = self.unanswered.iter().map(|own| own.address.to_string());
        let mut addresses = addresses.collect::<Vec<_>>().join(", ");
        if self.unanswered_others != 0 {
            addresses += " and others";
        }
        let frames: u64 = self.unanswered.iter().map(|own| own.frames).sum();
        let requests = match (first.address, frames + self.unanswered_others) {
            (IpAddr::V4(_), 1) => "1 ARP request".to_owned(),
            (IpAddr::V4(_), frames) => format!("{} ARP requests", count(frames)),
            (IpAddr::V6(_), 1) => "1 neighbour solicitation".to_owned(),
            (IpAddr::V6(_), frames) => format!("{} neighbour solicitations", count(frames)),
        };
        Some(format!(
            "{requests} for {addresses} came and nobody here answers: a device forwards nothing to \
             an address that does not answer. Where this test stands in for it, add --answer {}",
            first.address
        ))
    }
}

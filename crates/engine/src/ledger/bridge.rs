//! The ledger of a bridge: both interfaces, and what the workers decided in between.

use port::Loss;

use super::interface::PortCounts;
use super::meters::Meters;
use super::{Column, Ledger, OwnCause, Step};
use crate::Accounting;

/// How the ledger calls what is between the ports.
const BRIDGE: &str = "bridge";

/// Draws it of the books of all workers, of what ports counted and of their interfaces.
pub(crate) fn of_bridge(accounting: &Accounting, ports: &[PortCounts], meters: &Meters) -> Ledger {
    let mut ledger = Ledger::new();
    for counts in ports {
        ledger.state(&counts.place, Column::ReceivedByUs, counts.received);
        ledger.state(&counts.place, Column::SentByUs, counts.sent);
        meters.enter(counts, &mut ledger);
    }
    ledger.add(between(accounting));
    // What workers were given and gave, the ports count by themselves.
    let sum = |count: fn(&PortCounts) -> u64| ports.iter().map(count).sum();
    ledger.state(BRIDGE, Column::ReceivedByUs, sum(|port| port.received));
    ledger.state(BRIDGE, Column::Forwarded, sum(|port| port.sent));
    ledger
}

/// From what was received to what was forwarded.
fn between(accounting: &Accounting) -> Step {
    let mut step = Step::new(
        BRIDGE,
        (Column::ReceivedByUs, accounting.rx),
        (Column::Forwarded, accounting.tx),
    );
    for &(reason, frames) in &accounting.dropped {
        step = step.lost(reason, None, frames);
    }
    step.lost(OwnCause::Consumed, None, accounting.consumed)
        .lost(OwnCause::Punted, None, accounting.punted)
        .lost(OwnCause::Held, None, accounting.held)
        .gained(OwnCause::Originated, None, accounting.originated)
        .gained(OwnCause::Cloned, None, accounting.cloned)
}

/// Tells each port what came to it past the workers: of two, what the other one let by.
pub(crate) fn cross_bypassed(ports: &mut [PortCounts]) {
    if let [first, second] = ports {
        first.bypassed_here = second.of(Loss::Bypassed);
        first.shortcut_here = second.of(Loss::Shortcut);
        second.bypassed_here = first.of(Loss::Bypassed);
        second.shortcut_here = first.of(Loss::Shortcut);
    }
}

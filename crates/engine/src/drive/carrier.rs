//! Ports that lost their carrier by being opened.

use std::thread::sleep;
use std::time::{Duration, Instant};

use port::interface::Link;

use crate::finish::PortFacts;
use crate::states::Watched;

/// Many NICs lose their carrier while a program is attached or an offload is switched, and have it
/// again some seconds later.
const AWAITED: Duration = Duration::from_secs(5);

/// Waits until no port is without a carrier, for so long at most.
pub(super) fn await_carriers(ports: &mut [PortFacts]) {
    const LOOK_EVERY: Duration = Duration::from_millis(20);
    let begun = Instant::now();
    // The other end of what is no interface has no number.
    let waits = |facts: &mut PortFacts| {
        let link = facts.watched.as_mut().and_then(Watched::look_at_link);
        matches!(link, Some(Link::NoCarrier(number)) if number != 0)
    };
    while ports.iter_mut().any(waits) && begun.elapsed() < AWAITED {
        sleep(LOOK_EVERY);
    }
}

/// What to say of a port that has no carrier still.
pub(super) fn without_carrier(facts: &PortFacts) -> Option<String> {
    let link = facts.watched.as_ref().and_then(Watched::link)?;
    // What a peer of a memory ring or a tap lacks has no number, and comes when it comes.
    matches!(link, Link::NoCarrier(number) if number != 0).then(|| {
        let port = facts.spec.split(',').next().unwrap_or_default();
        format!(
            "{port} is without a carrier {} s after it was opened, and no frame passes before it \
             has one: see the cable, and whether the other end is up",
            AWAITED.as_secs()
        )
    })
}

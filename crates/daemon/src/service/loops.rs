//! Loops in the wires, as a switch notices them: told in the log.

use std::time::{Duration, Instant};

use plane::switch::{Looping, SwitchRequest};
use wire::MacAddress;

use super::inner::Inner;
use super::switch;

/// How often workers are asked, and so how often a loop is told of.
const ASK_EVERY: Duration = Duration::from_secs(10);

/// Asks now and then.
#[derive(Debug)]
pub(super) struct LoopWatch {
    due: Instant,
}

impl LoopWatch {
    pub(super) fn new() -> Self {
        Self {
            due: Instant::now() + ASK_EVERY,
        }
    }

    /// Tells of the worst loop that each worker noticed, where there is a switch.
    pub(super) fn look(&mut self, inner: &Inner) {
        if Instant::now() < self.due || switch::table(inner).is_none() {
            return;
        }
        self.due = Instant::now() + ASK_EVERY;
        let Some(observer) = inner.observer.get() else {
            return;
        };
        for worker in 0..observer.workers_len() {
            let answer = observer.ask_node(worker, SwitchRequest::Loop(None));
            if let Some(SwitchRequest::Loop(Some(looping))) = answer {
                tracing::warn!("{}", sentence(&looping, &inner.ports));
            }
        }
    }
}

fn sentence(looping: &Looping, names: &[String]) -> String {
    let name = |place: usize| {
        let port = looping.ports[place];
        let name = names.get(usize::from(port.0));
        name.map_or_else(|| port.to_string(), String::clone)
    };
    let vlan = match looping.vlan {
        0 => String::new(),
        vlan => format!(" of VLAN {vlan}"),
    };
    format!(
        "station {}{vlan} moved between the ports {} and {} {} times in a second: look for a loop \
         in the wires, or for two stations with this address",
        MacAddress(looping.mac),
        name(0),
        name(1),
        looping.moves
    )
}

#[cfg(test)]
mod tests {
    use frame::PortId;

    use super::*;

    #[test]
    fn a_loop_is_told_with_station_vlan_and_ports() {
        let looping = Looping {
            mac: [2, 0, 0, 0, 0, 1],
            vlan: 10,
            ports: [PortId(0), PortId(2)],
            moves: 12,
        };
        let names = ["A", "B", "C"].map(str::to_owned);
        let said = sentence(&looping, &names);
        let part = "02:00:00:00:00:01 of VLAN 10 moved between the ports A and C 12 times";
        assert!(said.contains(part), "{said}");
        let said = sentence(&Looping { vlan: 0, ..looping }, &names);
        assert!(!said.contains("VLAN"), "{said}");
    }
}

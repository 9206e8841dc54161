//! A station that moves between the same two ports many times a second: a loop in the wires.

use frame::{Nanos, PortId};

use super::Mac;

/// Moves within a second from which on they are no roaming: a person moves a station once.
const LOOP_MOVES: u32 = 10;
const SECOND: u64 = 1_000_000_000;

/// What moved between which ports, and how often within a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Looping {
    /// The station.
    pub mac: Mac,
    /// Its VLAN.
    pub vlan: u16,
    /// The two ports, the lower number first.
    pub ports: [PortId; 2],
    /// How often.
    pub moves: u32,
}

/// Counts the moves of one station at a time: in a loop each station moves, and the one that moves
/// most is most likely the next that is counted.
#[derive(Debug, Default)]
pub(super) struct Moves {
    counted: Option<(Looping, Nanos)>,
    worst: Option<Looping>,
}

impl Moves {
    /// A station moved. Whether that makes a loop of it.
    #[cold]
    pub(super) fn moved(&mut self, now: Nanos, station: (u16, Mac), ports: [PortId; 2]) -> bool {
        let [one, other] = ports;
        let moved = Looping {
            vlan: station.0,
            mac: station.1,
            ports: [one.min(other), one.max(other)],
            moves: 1,
        };
        match &mut self.counted {
            Some((counted, since)) if now.since(*since) < SECOND => {
                let same = Looping {
                    moves: counted.moves,
                    ..moved
                };
                if *counted != same {
                    return false;
                }
                counted.moves += 1;
                if counted.moves >= LOOP_MOVES {
                    let worst = self.worst.map_or(0, |worst| worst.moves);
                    self.worst = (counted.moves > worst).then_some(*counted).or(self.worst);
                }
                counted.moves == LOOP_MOVES
            }
            _ => {
                self.counted = Some((moved, now));
                false
            }
        }
    }

    /// The station that moved most since the last call, where that was a loop.
    pub(super) fn take_worst(&mut self) -> Option<Looping> {
        self.worst.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: PortId = PortId(0);
    const B: PortId = PortId(1);
    const C: PortId = PortId(2);

    #[test]
    fn many_moves_between_two_ports_are_a_loop() {
        let mac = |last| [2, 0, 0, 0, 0, last];
        // So many moves, milliseconds apart, of a station, between ports in turn.
        for (moves, apart, stations, ports, found) in [
            (9, 10, 1, [[A, B], [B, A]], None),
            (10, 10, 1, [[A, B], [B, A]], Some(10)),
            (40, 10, 1, [[B, A], [A, B]], Some(40)),
            (40, 10, 1, [[A, B], [B, C]], Some(20)),
            (40, 10, 2, [[A, B], [B, A]], Some(20)),
            (40, 10, 40, [[A, B], [B, A]], None),
            (1000, 500, 1, [[A, B], [B, A]], None),
        ] {
            let (mut own, mut loops) = (Moves::default(), 0);
            for number in 0..moves {
                let now = Nanos(number * apart * 1_000_000);
                let station = (10, mac((number % stations) as u8));
                loops += u32::from(own.moved(now, station, ports[(number % 2) as usize]));
            }
            let worst = own.take_worst();
            let said = format!("{moves} {apart} {stations} {ports:?}");
            assert_eq!(worst.map(|worst| worst.moves), found, "{said}");
            assert_eq!(
                loops,
                u32::from(found.is_some()),
                "{said}: it is noticed once"
            );
            let is_right =
                |worst: Looping| (worst.mac, worst.vlan, worst.ports) == (mac(0), 10, [A, B]);
            assert!(worst.is_none_or(is_right), "{said}: {worst:?}");
            assert_eq!(own.take_worst(), None, "{said}: it is told once");
        }
    }
}

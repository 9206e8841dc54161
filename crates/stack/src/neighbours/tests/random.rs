//! Random histories, held against the model.

use super::model::Model;
use super::*;

/// A sequence of numbers (splitmix64).
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ mixed >> 31) % bound
    }

    fn coin(&mut self) -> bool {
        self.below(2) == 0
    }

    /// One of eleven, of both families and two interfaces.
    fn key(&mut self) -> Key {
        let number = self.below(11) as u8;
        let address = match number % 2 {
            0 => IpAddr::from([10, 0, 0, number]),
            _ => IpAddr::from([0xFE80, 0, 0, 0, 0, 0, 0, number.into()]),
        };
        Key {
            interface: u16::from(number) % 4 / 2,
            address,
        }
    }

    fn heard(&mut self) -> Heard {
        let macs = [
            MAC,
            OTHER,
            MAC,
            OTHER,
            MacAddress::BROADCAST,
            MacAddress([0; 6]),
        ];
        let how = match self.below(3) {
            0 => How::Request { of_us: self.coin() },
            _ => How::Answer {
                solicited: self.coin(),
                overrides: self.coin(),
            },
        };
        Heard {
            key: self.key(),
            mac: macs.get(self.below(7) as usize).copied(),
            how,
        }
    }

    /// From nothing to what ends the longest state.
    fn pause(&mut self) -> u64 {
        let scale = [1, 100, 1000, 40_000][self.below(4) as usize];
        self.below(scale) * MS
    }
}

fn sorted(mut events: Vec<Event>) -> Vec<String> {
    let mut texts: Vec<_> = events.drain(..).map(|event| format!("{event:?}")).collect();
    texts.sort_unstable();
    texts
}

fn history(seed: u64) {
    let settings = NeighbourSettings {
        max: 16,
        requests_per_second: 1_000_000,
        ..NeighbourSettings::default()
    };
    let mut draw = Draw(seed);
    let (mut bench, mut model) = (Bench::new(settings), Model::new(settings));
    let mut now = Nanos::ZERO;
    for step in 0..300 {
        let case = format!("seed {seed}, step {step}, at {} ms", now.0 / MS);
        match draw.below(4) {
            0 => {
                let key = draw.key();
                assert_eq!(
                    bench.0.want(key, now),
                    model.want(key, now),
                    "{case}: {key:?}"
                );
            }
            1 => {
                let heard = draw.heard();
                bench.0.hear(&heard, now);
                model.hear(&heard, now);
            }
            2 => {
                let key = draw.key();
                assert_eq!(
                    bench.0.lookup(&key, now),
                    model.lookup(key, now),
                    "{case}: {key:?}"
                );
            }
            _ => now = now.after(draw.pause()),
        }
        if draw.coin() {
            let found = std::iter::from_fn(|| bench.0.poll(now)).collect();
            assert_eq!(sorted(found), sorted(model.poll(now)), "{case}");
        }
        let mut states: Vec<_> = bench.0.iter().map(|one| (*one.0, one.1)).collect();
        states.sort_unstable_by_key(|one| one.0);
        assert_eq!(states, model.states(), "{case}");
        if let Some(due) = bench.0.due() {
            assert!(due <= now.after(600_000 * MS), "{case}: due in {due:?}");
        }
    }
}

#[test]
fn random_histories_are_those_of_the_model() {
    (0..2000).for_each(history);
}

//! Random settings and traffic: the switch and the model say the same of every frame.

use std::time::Duration;

use frame::{Nanos, PortId};

use super::super::*;
use super::bench::{BROADCAST, Bench, MS, config, frame, ports, station};
use super::model::Model;
use crate::Ports;

/// SplitMix64.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ word >> 31) % end
    }

    fn is(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }

    fn among<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u64) as usize]
    }

    fn some_ports(&mut self, count: usize) -> Ports {
        let all = Ports::first(count);
        let drawn: Vec<PortId> = all.iter().filter(|_| self.is(2)).collect();
        ports(&drawn)
    }
}

const VLANS: [u16; 3] = [1, 20, 4094];

fn settings(draw: &mut Draw) -> SwitchConfig {
    let count = 1 + draw.below(5) as usize;
    let mode = draw.among(&[
        VlanMode::Default,
        VlanMode::Port,
        VlanMode::Dot1q,
        VlanMode::Dot1q,
    ]);
    let mut made = config(mode, count);
    made.age = Duration::from_secs(2);
    made.forward_reserved = draw.is(2);
    for port in &mut made.ports {
        port.isolated = draw.is(3);
        port.hairpin = draw.is(4);
    }
    match mode {
        VlanMode::Default => {}
        VlanMode::Port => {
            let groups = (0..3).map(|_| draw.some_ports(count));
            made.groups = groups.filter(|group| group.len() > 1).collect();
        }
        VlanMode::Dot1q => with_vlans(draw, &mut made),
    }
    with_statics(draw, &mut made);
    made
}

fn with_vlans(draw: &mut Draw, made: &mut SwitchConfig) {
    let count = made.ports.len();
    for id in VLANS {
        let (members, tagged) = (draw.some_ports(count), draw.some_ports(count));
        made.vlans.push(Vlan {
            id,
            untagged: members.minus(tagged),
            tagged: members.and(tagged),
        });
    }
    for port in &mut made.ports {
        port.pvid = Some(draw.among(&VLANS)).filter(|_| !draw.is(4));
        port.priority = draw.below(8) as u8;
        port.accept = draw.among(&[Accept::All, Accept::All, Accept::Tagged, Accept::Untagged]);
        port.ingress_filter = !draw.is(3);
        port.tpid = draw.among(&[0x8100, 0x8100, 0x88A8]);
        port.tunnel = draw.is(5);
    }
}

fn with_statics(draw: &mut Draw, made: &mut SwitchConfig) {
    let vlan = match made.mode {
        VlanMode::Dot1q => VLANS[0],
        _ => 0,
    };
    let entry = StaticStation {
        mac: station(0),
        vlan,
        port: PortId(draw.below(made.ports.len() as u64) as u8),
    };
    made.statics.push(entry);
    if made.check().is_err() {
        made.statics.clear();
    }
}

fn traffic(draw: &mut Draw) -> Vec<u8> {
    let reserved = [1, 0x80, 0xC2, 0, 0, draw.below(18) as u8];
    let group = [1, 0, 0x5E, 0, 0, 1];
    let to = station(draw.below(6) as u8);
    let to = draw.among(&[to, to, to, to, to, BROADCAST, group, reserved]);
    let source = station(draw.below(6) as u8);
    let source = draw.among(&[
        source, source, source, source, source, source, [0; 6], group,
    ]);
    let mut tags = Vec::new();
    for _ in 0..draw.below(3) {
        let tpid = draw.among(&[0x8100, 0x8100, 0x88A8, 0x9100]);
        let vid = draw.among(&[0, 1, 1, 20, 30, 4094, 4095]);
        tags.push([tpid, draw.below(16) as u16 * 0x1000 + vid]);
    }
    let mut bytes = frame(to, source, &tags);
    if draw.is(20) {
        bytes.truncate(draw.below(24) as usize);
    }
    bytes
}

#[test]
fn every_frame_fares_as_the_model_says() {
    for seed in 0..300 {
        println!("seed {seed}");
        let draw = &mut Draw(seed);
        let settings = settings(draw);
        let count = settings.ports.len() as u64;
        println!("{settings:?}");
        let (mut model, mut bench) = (Model::new(&settings), Bench::new(settings));
        let mut now_ms = 1_000;
        for _ in 0..60 {
            now_ms += draw.among(&[0, 1, 10, 500, 1_999, 2_000]);
            bench.now = Nanos(now_ms * MS);
            bench.switch.poll(bench.now);
            let from = PortId(draw.below(count) as u8);
            let frames: Vec<Vec<u8>> = (0..draw.below(8)).map(|_| traffic(draw)).collect();
            let fates = bench.burst(from, &frames);
            for (bytes, fate) in frames.iter().zip(fates) {
                assert_eq!(
                    fate,
                    model.forward(from, now_ms, bytes),
                    "{from:?} {bytes:02x?}"
                );
            }
        }
    }
}

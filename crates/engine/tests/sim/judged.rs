//! A switch of which every decision is held against the model.

use std::collections::HashMap;

use frame::Burst;
use plane::switch::Switch;
use plane::{Forwarding, Node, Outgoing, Ports, Verdict, Verdicts};

use crate::model::Asked;
use crate::world::{Shared, name_of};

pub(crate) struct Judged {
    pub(crate) switch: Switch,
    pub(crate) world: Shared,
}

impl Node for Judged {
    const COUNTS: &'static [&'static str] = Switch::COUNTS;

    fn process(&mut self, cx: &mut Forwarding<'_>, burst: &mut Burst, verdicts: &mut Verdicts) {
        let asked: Vec<(Vec<u8>, Verdict)> = burst
            .frames()
            .iter()
            .zip(verdicts.as_slice())
            .map(|(frame, &verdict)| (frame.bytes().to_vec(), verdict))
            .collect();
        let failed = self.switch.counts().copies_failed;
        self.switch.process(cx, burst, verdicts);
        let failed = self.switch.counts().copies_failed - failed;
        let mut copies: HashMap<usize, Ports> = HashMap::new();
        let outgoing: Vec<Outgoing> = cx.out.drain().collect();
        for one in outgoing {
            if let Verdict::Forward(port) = one.verdict {
                let ports = copies.entry(one.after).or_insert(Ports::NONE);
                *ports = ports.with(port);
            }
            assert!(cx.out.push(one).is_ok(), "there was room before");
        }
        let mut world = self.world.lock();
        let waits = world.shape.lossless;
        assert!(failed == 0 || !waits, "{failed} copies were not made");
        for (at, (bytes, before)) in asked.iter().enumerate() {
            let name = name_of(bytes);
            let passes = matches!(before, Verdict::Forward(_));
            assert_eq!(passes, world.model.passes(bytes), "{name:?} by the policy");
            if !passes {
                continue;
            }
            let expected = world.model.decide(&Asked {
                from: cx.from,
                now_ms: cx.now.0 / 1_000_000,
                bytes,
            });
            let mut ports = copies.get(&at).copied().unwrap_or(Ports::NONE);
            if let Verdict::Forward(port) = verdicts.as_slice()[at] {
                ports = ports.with(port);
            }
            assert!(
                failed != 0 || expected.allows(ports),
                "{name:?} came in by {} and leaves by {ports:?}, expected {expected:?}",
                cx.from
            );
            world.promise(name, ports);
        }
    }

    fn poll(&mut self, cx: &mut Forwarding<'_>) {
        Node::poll(&mut self.switch, cx);
    }

    fn counts(&self, out: &mut [u64]) {
        Node::counts(&self.switch, out);
    }
}

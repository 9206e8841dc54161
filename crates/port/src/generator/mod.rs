//! `gen:`: traffic without a network, and a sink for what comes back.
//!
//! UDP in IPv4 or IPv6 with valid checksums; random addresses and ports for every frame, or N
//! flows; sizes with FCS as Ethernet counts them; VLAN tags; a share of frames with an address from
//! given samples. A seed and a queue make the same frames each time. With several queues each makes
//! only frames that RSS would have delivered to it. Payloads are zeros.
//!
//! A frame of 64 bytes takes 4.8 ns on the reference machine (EPYC, family 26), of which allocating
//! and freeing it are 0.9; 6.4 ns with a tenth of hits out of six million samples, and 7.6 where
//! RSS must lead it to one of two queues as well (example `gen_rate`).
//!
//! A random address may lie in a set by chance: of 2^32 addresses a set of six million holds one
//! in 716. `hit=` counts only those drawn from samples.

mod draws;
mod flow;
mod queue;
mod samples;
mod sizes;
mod spec;
mod steering;
mod template;
#[cfg(test)]
mod tests;

use frame::{PortId, QueueId};

use draws::Draws;
use flow::FlowMaker;
use queue::GenQueue;
pub use sizes::Sizes;
pub use spec::{Addresses, GenSpec};
use steering::{BUCKETS, Steering};
use template::Template;

use crate::port::check_queue;
use crate::random::Random;
use crate::{OpenContext, Port, PortError, PortErrorKind, PortQueue, PortStatistics, Share};

/// The stream of random numbers that sizes come from, apart from those of the queues' draws.
const SIZES_STREAM: u64 = 1 << 32;

/// The traffic generator as a port.
pub struct GenPort {
    id: PortId,
    spec: GenSpec,
    spec_text: String,
    seed: u64,
    flows: FlowMaker,
    template: Template,
    warning: Option<String>,
}

impl GenPort {
    /// Prepares a generator. Its seed is the spec's or, where that names none, the context's mixed
    /// with the port's number, so that two generators differ.
    ///
    /// # Errors
    /// Sizes that no spec could name; a share of hits without samples to draw them from.
    pub fn open(spec: &GenSpec, id: PortId, context: &OpenContext) -> Result<Self, PortError> {
        check_sizes(spec)?;
        let warning = check_samples(spec, context)?;
        let seed = spec
            .seed
            .unwrap_or(context.seed.wrapping_add(u64::from(id.0)));
        let spec = GenSpec {
            seed: Some(seed),
            ..spec.clone()
        };
        Ok(Self {
            id,
            spec_text: spec.to_string(),
            flows: FlowMaker::new(
                spec.hit,
                spec.ipv6,
                &context.samples_v4,
                &context.samples_v6,
            ),
            template: Template::new(&spec.vlan),
            spec,
            seed,
            warning,
        })
    }

    fn draws(&self, queue: u64, of: u64) -> Draws {
        match self.spec.addresses {
            Addresses::Random => Draws::random(self.seed, queue, &self.flows),
            Addresses::Flows(count) => {
                let (first, count) = part(count.into(), queue, of);
                Draws::flows(self.seed, queue, first, count, &self.flows)
            }
        }
    }
}

/// The part of `whole` that falls to `queue`: where it begins and how much it is.
const fn part(whole: u64, queue: u64, of: u64) -> (u64, u64) {
    let (each, over) = (whole / of, whole % of);
    let (extra_before, extra) = if queue < over { (queue, 1) } else { (over, 0) };
    (each * queue + extra_before, each + extra)
}

/// Refuses sizes that did not come from a spec and that no frame can have.
fn check_sizes(spec: &GenSpec) -> Result<(), PortError> {
    if spec.size.is_legal() {
        return Ok(());
    }
    let sentence = format!(
        "gen: size={} is no Ethernet size; give 64 to 9216",
        spec.size
    );
    Err(PortError::new(PortErrorKind::Setting, sentence))
}

/// Refuses hits that can never be; tells of a family that has none.
fn check_samples(spec: &GenSpec, context: &OpenContext) -> Result<Option<String>, PortError> {
    if spec.hit == Share::NONE {
        return Ok(None);
    }
    let lacks_v4 = spec.ipv6 < Share::ALL && context.samples_v4.is_empty();
    let lacks_v6 = spec.ipv6 > Share::NONE && context.samples_v6.is_empty();
    let makes_v4_hits = spec.ipv6 < Share::ALL && !lacks_v4;
    let makes_v6_hits = spec.ipv6 > Share::NONE && !lacks_v6;
    if !makes_v4_hits && !makes_v6_hits {
        let hit = spec.hit;
        let sentence = format!(
            "gen: hit={hit} asks for addresses out of a set, and no set holds any of the family \
             it makes; name a set with such addresses, or leave hit= out"
        );
        return Err(PortError::new(PortErrorKind::Setting, sentence));
    }
    let family = if lacks_v4 { "IPv4" } else { "IPv6" };
    Ok((lacks_v4 || lacks_v6).then(|| {
        format!("no set holds {family} addresses, so that no generated {family} frame is a hit")
    }))
}

impl Port for GenPort {
    fn id(&self) -> PortId {
        self.id
    }

    fn spec(&self) -> &str {
        &self.spec_text
    }

    fn mode(&self) -> String {
        "memory".to_owned()
    }

    fn queues_max(&self) -> usize {
        match self.spec.addresses {
            Addresses::Random => BUCKETS,
            Addresses::Flows(count) => BUCKETS.min(count as usize),
        }
    }

    fn lossless(&self) -> bool {
        true
    }

    fn rx_source(&self) -> bool {
        true
    }

    fn tx_sink(&self) -> bool {
        true
    }

    fn frame_bytes_max_hint(&self) -> usize {
        let len = self.spec.size.frame_bytes_max();
        let v6 = self.spec.ipv6 != Share::NONE;
        let len = if v6 {
            len.max(self.template.frame_bytes_min_v6())
        } else {
            len
        };
        len.into()
    }

    fn open_queue(&mut self, queue: QueueId, of: usize) -> Result<Box<dyn PortQueue>, PortError> {
        check_queue(&self.spec_text, queue, of, self.queues_max())?;
        let (number, total) = (u64::from(queue.0), of as u64);
        let left = self
            .spec
            .frames
            .map_or(u64::MAX, |frames| part(frames, number, total).1);
        let steering = (of > 1).then(|| Box::new(Steering::new(queue.0.into(), of)));
        let mixed = self.spec.ipv6 != Share::NONE || !matches!(self.spec.size, Sizes::Fixed(_));
        Ok(Box::new(GenQueue {
            draws: self.draws(number, total),
            flows: self.flows.clone(),
            template: self.template.clone(),
            steering,
            sizes: self.spec.size,
            sizes_random: Random::new(self.seed, SIZES_STREAM | number),
            mixed,
            left,
            statistics: PortStatistics::default(),
            oversized: (0, 0),
            warnings: if number == 0 {
                Vec::from_iter(self.warning.take())
            } else {
                Vec::new()
            },
        }))
    }
}

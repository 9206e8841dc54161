//! `gen:`: traffic without a network, and a sink for what comes back.
//!
//! What [`traffic::Source`] makes of a small recipe: unsigned UDP in IPv4 or IPv6 with valid
//! checksums; random addresses and ports for every frame, or N flows; sizes with FCS as Ethernet
//! counts them; VLAN tags; a share of frames with an address from given samples. A seed and a queue
//! make the same frames each time. With several queues each makes only frames that RSS would have
//! delivered to it. Payloads are zeros.
//!
//! A random address may lie in a set by chance: of 2^32 addresses a set of six million holds one
//! in 716. `hit=` counts only those drawn from samples.

mod queue;
mod spec;
#[cfg(test)]
mod tests;

use frame::{PortId, QueueId};
pub use traffic::Sizes;
use traffic::{Choice, Flows, Recipe, RecipeError, Sources, part};

use queue::GenQueue;
pub use spec::{Addresses, GenSpec};

use crate::port::check_queue;
use crate::{OpenContext, Port, PortError, PortErrorKind, PortQueue, PortStatistics};

/// The traffic generator as a port.
pub struct GenPort {
    id: PortId,
    spec: GenSpec,
    spec_text: String,
    sources: Sources,
    warning: Option<String>,
}

impl GenPort {
    /// Prepares a generator. Its seed is the spec's or, where that names none, the context's mixed
    /// with the port's number, so that two generators differ.
    ///
    /// # Errors
    /// Sizes that no spec could name; a share of hits without samples to draw them from.
    pub fn open(spec: &GenSpec, id: PortId, context: &OpenContext) -> Result<Self, PortError> {
        let seed = spec
            .seed
            .unwrap_or(context.seed.wrapping_add(u64::from(id.0)));
        let spec = GenSpec {
            seed: Some(seed),
            ..spec.clone()
        };
        let recipe = recipe(&spec, seed, context);
        Ok(Self {
            id,
            spec_text: spec.to_string(),
            sources: Sources::new(&recipe).map_err(|error| refused(&error))?,
            spec,
            warning: warning(&recipe),
        })
    }
}

fn recipe(spec: &GenSpec, seed: u64, context: &OpenContext) -> Recipe {
    Recipe {
        sizes: spec.size.clone(),
        ipv6: spec.ipv6,
        vlan: spec.vlan.iter().copied().map(Choice::Fixed).collect(),
        flows: match spec.addresses {
            Addresses::Random => Flows::Endless,
            Addresses::Flows(count) => Flows::Fixed(count),
        },
        hit: spec.hit,
        samples_v4: context.samples_v4.clone(),
        samples_v6: context.samples_v6.clone(),
        seed,
        ..Recipe::default()
    }
}

fn refused(error: &RecipeError) -> PortError {
    PortError::new(PortErrorKind::Setting, format!("gen: {error}"))
}

/// Tells of a family that has no hits.
fn warning(recipe: &Recipe) -> Option<String> {
    let family = match recipe.lacks_samples() {
        (true, _) => "IPv4",
        (_, true) => "IPv6",
        _ => return None,
    };
    Some(format!(
        "no set holds {family} addresses, so that no generated {family} frame is a hit"
    ))
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
        self.sources.workers_max()
    }

    fn lossless(&self) -> bool {
        true
    }

    fn frame_bytes_max_hint(&self) -> usize {
        self.sources.frame_bytes_max()
    }

    fn open_queue(&mut self, queue: QueueId, of: usize) -> Result<Box<dyn PortQueue>, PortError> {
        check_queue(&self.spec_text, queue, of, self.queues_max())?;
        let number = usize::from(queue.0);
        let source = self.sources.source(number, of, true);
        let frames = self.spec.frames;
        let warning = if number == 0 {
            self.warning.take()
        } else {
            None
        };
        Ok(Box::new(GenQueue {
            source: source.map_err(|error| refused(&error))?,
            left: frames.map_or(u64::MAX, |frames| part(frames, number as u64, of as u64).1),
            statistics: PortStatistics::default(),
            warnings: Vec::from_iter(warning),
        }))
    }
}

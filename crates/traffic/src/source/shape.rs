//! Addresses and ports that are not any: fixed, of a range, of a list.

use super::flow::{FlowV4, FlowV6};
use super::unicast;
use crate::random::{mix, scale};
use crate::{Choice, Recipe};

/// What becomes of the random fields of a flow.
pub(super) struct Shape {
    src_v4: Choice<u32>,
    dst_v4: Choice<u32>,
    src_v6: Choice<u128>,
    dst_v6: Choice<u128>,
    src_port: Choice<u16>,
    dst_port: Choice<u16>,
}

impl Shape {
    /// Of a recipe; `None` where all fields are random.
    pub(super) fn of(recipe: &Recipe) -> Option<Self> {
        let is_plain = recipe.src_v4 == Choice::Random
            && recipe.dst_v4 == Choice::Random
            && recipe.src_v6 == Choice::Random
            && recipe.dst_v6 == Choice::Random
            && recipe.src_port == Choice::Random
            && recipe.dst_port == Choice::Random;
        (!is_plain).then(|| Self {
            src_v4: recipe.src_v4.clone(),
            dst_v4: recipe.dst_v4.clone(),
            src_v6: recipe.src_v6.clone(),
            dst_v6: recipe.dst_v6.clone(),
            src_port: recipe.src_port.clone(),
            dst_port: recipe.dst_port.clone(),
        })
    }

    /// The flow for a random one.
    #[inline]
    pub(super) fn v4(&self, flow: FlowV4) -> FlowV4 {
        FlowV4 {
            src: choose_u32(&self.src_v4, flow.src),
            dst: choose_u32(&self.dst_v4, flow.dst),
            ports: self.ports(flow.ports),
        }
    }

    /// The same for IPv6.
    pub(super) fn v6(&self, flow: FlowV6) -> FlowV6 {
        FlowV6 {
            src: choose_u128(&self.src_v6, flow.src),
            dst: choose_u128(&self.dst_v6, flow.dst),
            ports: self.ports(flow.ports),
        }
    }

    #[inline]
    fn ports(&self, ports: u32) -> u32 {
        let src = choose_u16(&self.src_port, ports >> 16);
        let dst = choose_u16(&self.dst_port, ports & 0xffff);
        u32::from(src) << 16 | u32::from(dst)
    }
}

#[inline]
fn choose_u32(choice: &Choice<u32>, random: u32) -> u32 {
    match choice {
        Choice::Random => unicast::v4(random),
        Choice::Fixed(value) => *value,
        Choice::Range(first, last) => {
            let count = u64::from(last - first) + 1;
            first + scale(random.into(), count) as u32
        }
        Choice::List(list) => {
            let index = scale(random.into(), list.len() as u64) as usize;
            list.get(index)
                .copied()
                .unwrap_or_else(|| unicast::v4(random))
        }
    }
}

/// Sixteen random bits are few to choose from many: they are spread over 32 first, so that every
/// value of the whole range is as likely as any other to one part in 65,536.
#[inline]
pub(super) fn choose_u16(choice: &Choice<u16>, random: u32) -> u16 {
    let spread = u64::from(random) << 16 | u64::from(random);
    match choice {
        Choice::Random => random as u16,
        Choice::Fixed(value) => *value,
        Choice::Range(first, last) => first + scale(spread, u64::from(last - first) + 1) as u16,
        Choice::List(list) => {
            let index = scale(spread, list.len() as u64) as usize;
            list.get(index).copied().unwrap_or(random as u16)
        }
    }
}

fn choose_u128(choice: &Choice<u128>, random: u128) -> u128 {
    // Random addresses have fixed bits on top; what chooses has none.
    let mixed = || {
        let (high, low) = ((random >> 64) as u64, random as u64);
        u128::from(mix(high, low)) << 64 | u128::from(mix(low, high))
    };
    match choice {
        Choice::Random => random,
        Choice::Fixed(value) => *value,
        // The remainder prefers none by more than count / 2^128.
        Choice::Range(first, last) => match (last - first).checked_add(1) {
            Some(count) => first + mixed() % count,
            None => mixed(),
        },
        Choice::List(list) => {
            let index = scale(mixed() as u64 >> 32, list.len() as u64) as usize;
            list.get(index).copied().unwrap_or(random)
        }
    }
}

//! The link layer of frames: MACs, tags, ether type.

use std::sync::Arc;

use wire::ether_type;

use super::shape::choose_u16;
use crate::random::{mix, scale};
use crate::{Choice, Recipe};

/// Addresses, two tags, ether type.
pub(super) const LINK_BYTES_MAX: usize = 22;
/// Identifiers a random tag has: 1 to 4094.
const RANDOM_IDS: (u16, u16) = (1, 4094);

/// MACs or tags that differ from flow to flow.
#[derive(Debug)]
pub(super) struct LinkChoices {
    dst: Choice<u64>,
    src: Choice<u64>,
    vlan: Vec<Choice<u16>>,
}

impl LinkChoices {
    /// Of a recipe; `None` where all are fixed.
    pub(super) fn of(recipe: &Recipe) -> Option<Arc<Self>> {
        let fixed_mac = |mac: &Choice<u64>| matches!(mac, Choice::Fixed(_));
        let fixed_id = |id: &Choice<u16>| matches!(id, Choice::Fixed(_));
        let is_fixed = fixed_mac(&recipe.dst_mac)
            && fixed_mac(&recipe.src_mac)
            && recipe.vlan.iter().all(fixed_id);
        let vlan = recipe.vlan.iter().map(|id| match id {
            Choice::Random => Choice::Range(RANDOM_IDS.0, RANDOM_IDS.1),
            other => other.clone(),
        });
        (!is_fixed).then(|| {
            Arc::new(Self {
                dst: recipe.dst_mac.clone(),
                src: recipe.src_mac.clone(),
                vlan: vlan.collect(),
            })
        })
    }

    /// Writes MACs and identifiers over those of a link header, as `random` chooses.
    pub(super) fn write(&self, link: &mut [u8], random: u64) {
        let number = |field| mix(random, field);
        let Some((macs, tags)) = link.split_first_chunk_mut::<12>() else {
            return;
        };
        macs[..6].copy_from_slice(&mac_bytes(choose_mac(&self.dst, number(1))));
        macs[6..].copy_from_slice(&mac_bytes(choose_mac(&self.src, number(2))));
        for (tag, (ids, field)) in tags.chunks_exact_mut(4).zip(self.vlan.iter().zip(3..)) {
            let id = choose_u16(ids, (number(field) >> 48) as u32);
            tag[2..].copy_from_slice(&id.to_be_bytes());
        }
    }
}

/// The first link header of a recipe with an ether type, and its length.
pub(super) fn link_header(recipe: &Recipe, ether_type: u16) -> ([u8; LINK_BYTES_MAX], usize) {
    let mut bytes = [0; LINK_BYTES_MAX];
    bytes[0..6].copy_from_slice(&mac_bytes(choose_mac(&recipe.dst_mac, 0)));
    bytes[6..12].copy_from_slice(&mac_bytes(choose_mac(&recipe.src_mac, 0)));
    let mut at = 12;
    let mut put = |value: u16| {
        bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
        at += 2;
    };
    let tags = &recipe.vlan[..recipe.vlan.len().min(2)];
    for (index, id) in tags.iter().enumerate() {
        let is_outer = index + 1 < tags.len();
        put(if is_outer {
            ether_type::VLAN_SERVICE
        } else {
            ether_type::VLAN
        });
        put(choose_u16(id, 0));
    }
    put(ether_type);
    (bytes, at)
}

fn mac_bytes(mac: u64) -> [u8; 6] {
    let [_, _, bytes @ ..] = mac.to_be_bytes();
    bytes
}

/// Random MACs are locally administered and of one station: the two low bits of the first byte.
fn choose_mac(choice: &Choice<u64>, random: u64) -> u64 {
    match choice {
        Choice::Random => random >> 16 & !(3 << 40) | 2 << 40,
        Choice::Fixed(mac) => *mac,
        Choice::Range(first, last) => {
            let count = u128::from(last - first) + 1;
            first + ((u128::from(random) * count) >> 64) as u64
        }
        Choice::List(list) => {
            let index = scale(random >> 32, list.len() as u64) as usize;
            list.get(index).copied().unwrap_or_default()
        }
    }
}

//! The link header: Ethernet II, tags, 802.3 with LLC or SNAP.

use super::writer::Writer;
use super::{EmitError, Recipe};
use crate::{Tag, ether_type};

/// How the link header names what it carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Framing<'a> {
    /// The ether type.
    #[default]
    Ethernet2,
    /// An 802.3 length, LLC AA-AA-03, the OUI, more tags, the ether type.
    Snap {
        /// 000000 or 0000F8 says that an ether type follows.
        oui: [u8; 3],
        /// VLAN tags behind the OUI.
        tags: &'a [Tag],
    },
    /// An 802.3 length and these three LLC bytes: DSAP, SSAP, control.
    Llc([u8; 3]),
}

pub(super) fn len(tags: &[Tag], framing: &Framing<'_>) -> usize {
    14 + 4 * tags.len() + llc_len(framing)
}

fn llc_len(framing: &Framing<'_>) -> usize {
    match framing {
        Framing::Ethernet2 => 0,
        Framing::Snap { tags, .. } => 8 + 4 * tags.len(),
        Framing::Llc(_) => 3,
    }
}

pub(super) fn check(framing: &Framing<'_>, inner: usize) -> Result<(), EmitError> {
    let length_max = usize::from(ether_type::LENGTH_MAX);
    if *framing != Framing::Ethernet2 && llc_len(framing) + inner > length_max {
        return Err(EmitError::TooLong("802.3 length"));
    }
    Ok(())
}

pub(super) fn write(out: &mut Writer<'_>, recipe: &Recipe<'_>, inner: usize) {
    out.put(&recipe.dst_mac.0);
    out.put(&recipe.src_mac.0);
    put_tags(out, recipe.tags);
    let length = (llc_len(&recipe.framing) + inner) as u16;
    match recipe.framing {
        Framing::Ethernet2 => out.put_be16(recipe.network.ether_type()),
        Framing::Snap { oui, tags } => {
            out.put_be16(length);
            out.put(&[0xAA, 0xAA, 0x03]);
            out.put(&oui);
            put_tags(out, tags);
            out.put_be16(recipe.network.ether_type());
        }
        Framing::Llc(header) => {
            out.put_be16(length);
            out.put(&header);
        }
    }
}

fn put_tags(out: &mut Writer<'_>, tags: &[Tag]) {
    for tag in tags {
        out.put(&tag.to_bytes());
    }
}

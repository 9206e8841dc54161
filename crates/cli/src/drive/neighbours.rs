//! Who the ports of a test are to the device between them: for which addresses they answer.
//!
//! The port that sends answers for the sources of the frames, the one that takes in for their
//! destinations and for what `--answer` names, and each for the addresses of its interface that the
//! host does not answer for itself.

use std::net::IpAddr;

use port::{Identity, Port};
use traffic::{Choice, Neighbour, Recipe};
use wire::MacAddress;

use crate::args::Answer;

/// The neighbours that a drive of these ports has, in the order of a plan: the port that sends,
/// then the one that takes in. A sink alone and a replay have no recipe.
pub(crate) fn neighbours(
    (tx, rx): (Option<&dyn Port>, Option<&dyn Port>),
    recipe: Option<&Recipe>,
    answer: &Answer,
) -> [Option<Neighbour>; 2] {
    let mut sender = tx.and_then(|port| sender(port, recipe));
    let mut sink = rx.and_then(|port| sink(port, recipe));
    let named = match (&mut sink, &mut sender) {
        (Some(sink), _) => Some(sink),
        (None, sender) => sender.as_mut(),
    };
    if let (Some(named), Answer::Also(ranges)) = (named, answer) {
        ranges
            .iter()
            .for_each(|&(first, last)| named.add(first, last));
    }
    if *answer == Answer::Off {
        // What comes about the link is read all the same, ICMP errors among it.
        for own in [&mut sender, &mut sink].into_iter().flatten() {
            (own.silent, own.announces) = (true, false);
        }
    }
    // A port that only sends looks at what comes where somebody could ask for its addresses, or
    // send an ICMP error to them.
    [sender.filter(Neighbour::has_sources), sink]
}

fn sender(port: &dyn Port, recipe: Option<&Recipe>) -> Option<Neighbour> {
    let plain = Recipe::default();
    let identity = port.identity()?;
    let of_frames = recipe.and_then(|recipe| fixed(&recipe.src_mac));
    let mac = of_frames.or(identity.mac).or(fixed(&plain.src_mac))?;
    // Nobody sends anything to an address of its link alone.
    let mut neighbour = neighbour(mac, identity, |address| !is_of_link(address));
    if let Some(recipe) = recipe {
        neighbour.add_choices(&recipe.src_v4, &recipe.src_v6);
    }
    Some(neighbour)
}

fn sink(port: &dyn Port, recipe: Option<&Recipe>) -> Option<Neighbour> {
    let plain = Recipe::default();
    let identity = port.identity()?;
    // Frames are addressed to the sink itself, unless another address was chosen for them.
    let to_itself = recipe.filter(|recipe| recipe.dst_mac == plain.dst_mac);
    let of_frames = to_itself.and_then(|recipe| fixed(&recipe.dst_mac));
    let mac = of_frames.or(identity.mac).or(fixed(&plain.dst_mac))?;
    let mut neighbour = neighbour(mac, identity, |_| true);
    neighbour.announces = true;
    if let Some(recipe) = recipe {
        neighbour.add_choices(&recipe.dst_v4, &recipe.dst_v6);
    }
    Some(neighbour)
}

/// One that answers for those of the interface's addresses that are wanted, unless the host does.
fn neighbour(mac: MacAddress, port: Identity, wanted: impl Fn(IpAddr) -> bool) -> Neighbour {
    let mut neighbour = Neighbour::new(mac);
    for address in port.addresses {
        if port.host_answers {
            neighbour.leave_out(address);
        } else if wanted(address) {
            neighbour.add(address, address);
        }
    }
    neighbour
}

fn is_of_link(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

/// A MAC in the low 48 bits, where there is only one.
fn fixed(choice: &Choice<u64>) -> Option<MacAddress> {
    let Choice::Fixed(bits) = choice else {
        return None;
    };
    let [_, _, mac @ ..] = bits.to_be_bytes();
    Some(MacAddress(mac))
}

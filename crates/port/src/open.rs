//! From a spec to a port.

use std::sync::Arc;

use frame::PortId;

use crate::generator::GenPort;
use crate::interface::Claims;
use crate::pcap::{OpenFiles, PcapPort};
use crate::{
    Listeners, MemifPort, NullPort, PacketPort, Port, PortError, PortSpec, RingPort, Rings,
    TapPort, Umems, XdpPort,
};

/// What ports need beyond their spec. The ports of one run share one context (clones share the
/// registries): it is how two ports notice that one would overwrite the other's input, and how
/// the two ends of a memory ring find each other.
#[derive(Clone, Default)]
pub struct OpenContext {
    /// IPv4 addresses, host order, that a generator draws its hits from.
    pub samples_v4: Arc<[u32]>,
    /// IPv6 addresses, host order, that a generator draws its hits from.
    pub samples_v6: Arc<[u128]>,
    /// Seed of generators that name none.
    pub seed: u64,
    /// The time, in nanoseconds since 1970, that captures give to frames that bring none
    /// (generated ones): the start of the run, or 0 for output that is the same each time.
    pub start_time_ns: u64,
    /// The memory rings of this run, by name.
    pub rings: Rings,
    /// The sockets at which this run waits for the peers of shared-memory ports.
    pub listeners: Listeners,
    /// Whether frames are looked up in lists: captures then tell which they cut within addresses.
    pub looks_up: bool,
    /// Words of the largest sieve that a shortcut of this run may be opened with.
    pub sieve_words: usize,
    /// What the AF_XDP ports of this run share.
    pub umems: Umems,
    /// The files this run reads and writes.
    pub files: OpenFiles,
    /// The network interfaces of this run.
    pub interfaces: Claims,
}

/// Opens a port.
///
/// # Errors
/// One sentence that names the thing and the remedy.
pub fn open(
    spec: &PortSpec,
    id: PortId,
    context: &OpenContext,
) -> Result<Box<dyn Port>, PortError> {
    Ok(match spec {
        PortSpec::Pcap(pcap) => Box::new(PcapPort::open(pcap, id, context)?),
        PortSpec::Gen(r#gen) => Box::new(GenPort::open(r#gen, id, context)?),
        PortSpec::Xdp(xdp) => {
            let claim = context.interfaces.claim("xdp", &xdp.interface)?;
            Box::new(XdpPort::open(xdp, id, context)?.claimed(claim))
        }
        PortSpec::Null => Box::new(NullPort::open(id)),
        PortSpec::Packet(packet) => {
            let claim = context.interfaces.claim("packet", &packet.interface)?;
            Box::new(PacketPort::open(packet, id)?.claimed(claim))
        }
        PortSpec::Tap(tap) => {
            let port = TapPort::open(tap, id)?;
            let claim = context.interfaces.claim("tap", &tap.interface)?;
            Box::new(port.claimed(claim))
        }
        PortSpec::Memif(memif) => Box::new(MemifPort::open(memif, id, context)?),
        PortSpec::Ring(ring) => Box::new(RingPort::open(ring, id, context)?),
    })
}

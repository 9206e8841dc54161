//! What of the packets to addresses of the host is for the workers, as `bpf/diversions.h` knows it.

use std::fmt;
use std::net::Ipv4Addr;
use std::sync::Arc;

use super::program::Steering;
use super::spec::{KeepLocal, XdpSpec};

/// Packets to one address of the host that are for the workers: NAT has translated what they
/// answer, or forwards them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Diversion {
    /// Their destination.
    pub address: Ipv4Addr,
    /// Which they are.
    pub kinds: DiversionKinds,
    /// The first destination port, or identifier of an echo reply.
    pub first: u16,
    /// The last.
    pub last: u16,
}

/// Kinds of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiversionKinds {
    /// TCP, and ICMP errors about what was sent from one of the ports.
    pub tcp: bool,
    /// UDP, and ICMP errors likewise.
    pub udp: bool,
    /// Echo replies with an identifier, and ICMP errors about their requests.
    pub echo_replies: bool,
    /// All echo requests, and ICMP errors about their replies.
    pub echo_requests: bool,
}

impl DiversionKinds {
    fn bits(self) -> u32 {
        let all = [self.tcp, self.udp, self.echo_replies, self.echo_requests];
        let numbered = (0..).zip(all);
        numbered.fold(0, |bits, (at, is)| bits | u32::from(is) << at)
    }
}

/// The diversions on one port's packets. Clones are the same.
#[derive(Clone)]
pub struct Diversions {
    name: String,
    steering: Arc<Steering>,
}

impl Diversions {
    /// Diversions at most (`DIVERSIONS_MAX` of the program).
    pub const MAX: usize = 64;

    /// Those of a port whose program leaves the host what is its own, whatever VLAN it came in.
    pub(super) fn of(spec: &XdpSpec, steering: &Arc<Steering>) -> Option<Self> {
        (spec.keep_local == KeepLocal::Control).then(|| Self {
            name: spec.interface.clone(),
            steering: Arc::clone(steering),
        })
    }

    /// These hold from now on, in place of those before; [`Diversions::MAX`] at most. Those that
    /// are asked first should be first.
    ///
    /// # Errors
    /// The kernel did not take them.
    pub fn put(&self, diversions: &[Diversion]) -> Result<(), String> {
        let done = self.steering.maps().put_diversions(&bytes(diversions));
        done.map_err(|error| {
            format!(
                "xdp:{}: packets of NAT could not be diverted: {error}",
                self.name
            )
        })
    }
}

impl fmt::Debug for Diversions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Diversions").field(&self.name).finish()
    }
}

/// Bytes of a diversion and of what stands before all of them (`struct diversions`).
const BYTES: usize = 16;
/// Bytes of all, and of one more, which is never filled.
pub(super) const DIVERSIONS_BYTES: usize = BYTES * (1 + Diversions::MAX + 1);

/// As the program reads them.
fn bytes(diversions: &[Diversion]) -> Vec<u8> {
    let diversions = &diversions[..diversions.len().min(Diversions::MAX)];
    let mut bytes = (diversions.len() as u32).to_ne_bytes().to_vec();
    bytes.resize(BYTES, 0);
    for diversion in diversions {
        bytes.extend(diversion.address.octets());
        bytes.extend(diversion.first.to_ne_bytes());
        bytes.extend(diversion.last.to_ne_bytes());
        bytes.extend(diversion.kinds.bits().to_ne_bytes());
        bytes.extend([0; 4]);
    }
    bytes.resize(DIVERSIONS_BYTES, 0);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_the_program() {
        let kinds = DiversionKinds {
            udp: true,
            echo_requests: true,
            ..DiversionKinds::default()
        };
        let diversion = Diversion {
            address: Ipv4Addr::new(192, 0, 2, 1),
            kinds,
            first: 1,
            last: 0x1234,
        };
        let bytes = bytes(&vec![diversion; Diversions::MAX + 1]);
        assert_eq!(bytes.len(), DIVERSIONS_BYTES);
        assert_eq!(
            bytes[..16],
            [64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        );
        let one = [192, 0, 2, 1, 1, 0, 0x34, 0x12, 0b1010, 0, 0, 0, 0, 0, 0, 0];
        assert!(
            bytes[16..DIVERSIONS_BYTES - 16]
                .chunks(16)
                .all(|chunk| chunk == one)
        );
    }
}

//! NAT, held against tables of what is right, and against a model.

mod cases;
mod diverted;
mod hostile;
mod icmp;
mod limits;
mod model;

mod packet;
mod random;

mod reload;
mod replaced;

use frame::Nanos;

use super::*;
use packet::Packet;

/// Interfaces of the tests: hosts 10.0.0.0/16 are behind the first, 10.1.0.0/16 behind the second,
/// all others behind the third, which is the outside.
const LAN: u16 = 0;
const DMZ: u16 = 1;
const WAN: u16 = 2;

fn ip(text: &str) -> u32 {
    text.parse::<std::net::Ipv4Addr>().expect(text).to_bits()
}

/// The interface that an address is behind.
fn behind(address: u32) -> u16 {
    match address >> 16 {
        0x0A00 => LAN,
        0x0A01 => DMZ,
        _ => WAN,
    }
}

/// NAT of a router with 10.0.0.1, 10.1.0.1 and 198.51.100.1.
struct Bench {
    nat: Nat,
    table: NatTable,
    now: Nanos,
}

impl Bench {
    fn new(config: NatConfig) -> Self {
        Self {
            nat: Nat::new(&config, [3, 5]).expect("memory"),
            table: table(config),
            now: Nanos(1 << 40),
        }
    }

    /// What leaves of the bytes of a packet that came by an interface.
    fn bytes(&mut self, from: u16, bytes: &[u8]) -> Result<Vec<u8>, DropReason> {
        let arrival = Arrival {
            from,
            now: self.now,
        };
        let arrived = self.nat.arrive(&self.table, &arrival, bytes);
        let says = u32::from_be_bytes(bytes[16..20].try_into().expect("four bytes"));
        let to = arrived.destination().unwrap_or(says);
        let departure = Departure {
            arrival,
            out: behind(to),
            own: &|| Some(own(behind(to))),
        };
        let mut left = bytes.to_vec();
        let is_translated = self
            .nat
            .leave(&self.table, &departure, &arrived, &mut left)?;
        let original = self.nat.original(&self.table, self.now, &left);
        if let Some(original) = original.filter(|_| is_translated) {
            let mut undone = left.clone();
            original.apply(&mut undone);
            assert_eq!(packet::without_sums(&undone), packet::without_sums(bytes));
        }
        Ok(left)
    }

    /// What leaves of a packet that came by an interface; its checksums are right.
    fn pass(&mut self, from: u16, sent: &Packet) -> Result<Packet, DropReason> {
        let bytes = self.bytes(from, &sent.bytes())?;
        Ok(Packet::read(&bytes))
    }

    /// Seconds go by, and the flows that are over end.
    fn wait(&mut self, seconds: u64) {
        self.now = Nanos(self.now.0 + seconds * 1_000_000_000);
        self.nat.poll(&self.table, self.now);
    }
}

/// The router's own address on an interface.
fn own(interface: u16) -> u32 {
    ip(["10.0.0.1", "10.1.0.1", "198.51.100.1"][usize::from(interface)])
}

fn table(config: NatConfig) -> NatTable {
    let own = [LAN, DMZ, WAN].map(|interface| vec![own(interface)]);
    let table = NatTable::new(config, own.to_vec());
    table.check().expect("right settings");
    table
}

/// `oif "wan" masquerade`.
fn masquerade() -> SourceRule {
    source_rule(SourcePool {
        addresses: None,
        ports: None,
        endpoint_independent: false,
    })
}

fn source_rule(pool: SourcePool) -> SourceRule {
    SourceRule {
        out: WAN,
        matches: NatMatch::default(),
        action: SourceAction::To(pool),
    }
}

/// `iif "wan" tcp dport PORT dnat to ADDRESS:TO`.
fn forward(port: u16, address: &str, to: u16) -> DestinationRule {
    DestinationRule {
        from: WAN,
        matches: NatMatch {
            protocol: Some(NatMatchProtocol::Tcp),
            destination_ports: vec![NatRange::one(port)],
            ..NatMatch::default()
        },
        to: Some(NatTarget {
            address: ip(address),
            port: Some(to),
        }),
    }
}

/// Masquerade, with TCP port 8080 forwarded to port 80 of 10.0.0.5.
fn gateway() -> NatConfig {
    NatConfig {
        sources: vec![masquerade()],
        destinations: vec![forward(8080, "10.0.0.5", 80)],
        ..NatConfig::default()
    }
}

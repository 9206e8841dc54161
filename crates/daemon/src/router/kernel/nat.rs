//! NAT beside the kernel: ports that are not the kernel's, and packets to addresses of the host
//! that workers get in place of it.

use std::fs;
use std::net::{IpAddr, Ipv4Addr};

use plane::nat::{Diverted, NatConfig, NatConfigError, NatProtocol, NatRange, SourceAction};
use plane::router::{RouterConfig, RouterInterface, RouterTable};
use port::{Diversion, DiversionKinds, Diversions, Port};

use super::super::nat::NatFile;

/// The first port of NAT, unless a rule names others: services of the host are below.
const FIRST: u16 = 16_384;
/// Identifiers of translated echo requests. The kernel counts those of its own pings from 1.
const IDENTIFIERS: NatRange<u16> = NatRange {
    first: 0xF000,
    last: u16::MAX,
};
/// Where the kernel says which ports it gives its own sockets, and what it says unless changed.
const KERNELS_PORTS: &str = "/proc/sys/net/ipv4/ip_local_port_range";
const KERNELS_USUAL: NatRange<u16> = NatRange {
    first: 32_768,
    last: 60_999,
};

/// The settings that a file means between the kernel's interfaces.
///
/// # Errors
/// A rule that cannot be beside the kernel, in a sentence.
pub(super) fn config(file: &NatFile, interfaces: &[RouterInterface]) -> Result<NatConfig, String> {
    let kernels = kernels_ports();
    let mut config = file.meant(interfaces)?;
    config.ports = Some(usual_ports(&kernels).ok_or_else(|| {
        format!(
            "NAT has no ports beside the kernel, which gives its own sockets {}-{}: change \
             net.ipv4.ip_local_port_range, as to 32768 60999",
            kernels.first, kernels.last
        )
    })?);
    config.identifiers = Some(IDENTIFIERS);
    for rule in &config.sources {
        let SourceAction::To(pool) = rule.action else {
            continue;
        };
        let is_shared = pool.addresses.is_none();
        let overlaps =
            |ports: &NatRange<u16>| ports.first <= kernels.last && kernels.first <= ports.last;
        if let Some(ports) = pool.ports.filter(overlaps).filter(|_| is_shared) {
            return Err(format!(
                "NAT cannot have the ports {}-{} beside the kernel, which gives its own sockets \
                 {}-{}: name others, or change net.ipv4.ip_local_port_range",
                ports.first, ports.last, kernels.first, kernels.last
            ));
        }
    }
    let router = RouterConfig {
        nat: Some(config.clone()),
        ..of_interfaces(interfaces)
    };
    let errors = router.nat_table().map_or(Ok(()), |table| table.check());
    // An address may come yet, as by DHCP.
    let is_wrong = |error: &NatConfigError| !matches!(error, NatConfigError::NoAddress { .. });
    match errors.err().into_iter().flatten().find(is_wrong) {
        Some(error) => Err(error.to_string()),
        None => Ok(config),
    }
}

/// Nothing but interfaces.
fn of_interfaces(interfaces: &[RouterInterface]) -> RouterConfig {
    RouterConfig {
        ports: 0,
        interfaces: interfaces.to_vec(),
        vrfs: Vec::new(),
        routes: Vec::new(),
        neighbours: Vec::new(),
        reverse_path: plane::router::ReversePath::Off,
        errors_per_second: 0,
        neighbours_max: 0,
        nat: None,
        punt: None,
        announces: false,
    }
}

/// The ports that the kernel gives its own sockets.
fn kernels_ports() -> NatRange<u16> {
    let text = fs::read_to_string(KERNELS_PORTS).unwrap_or_default();
    range_of(&text).unwrap_or(KERNELS_USUAL)
}

fn range_of(text: &str) -> Option<NatRange<u16>> {
    let mut words = text.split_whitespace().map(str::parse);
    let (first, last) = (words.next()?.ok()?, words.next()?.ok()?);
    (first <= last).then_some(NatRange { first, last })
}

/// Those between services and the kernel's, or those behind the kernel's where these are more.
fn usual_ports(kernels: &NatRange<u16>) -> Option<NatRange<u16>> {
    let below = (kernels.first > FIRST).then(|| NatRange {
        first: FIRST,
        last: kernels.first - 1,
    });
    let above = kernels.last.checked_add(1).map(|first| NatRange {
        first: first.max(FIRST),
        last: u16::MAX,
    });
    let both = below.into_iter().chain(above);
    both.max_by_key(|range| range.last - range.first)
}

/// What ports give workers, in place of the host.
#[derive(Debug, Default)]
pub(super) struct Diverting {
    ports: Vec<Diversions>,
    /// What was put last.
    put: Vec<Diversion>,
}

impl Diverting {
    /// That of ports, all of which can.
    ///
    /// # Errors
    /// One that cannot.
    pub(super) fn new(ports: &[Box<dyn Port>]) -> Result<Self, String> {
        let of_one = |port: &dyn Port| {
            port.diversions().ok_or_else(|| {
                format!(
                    "NAT beside the kernel cannot have the port {}: the kernel sees its frames \
                     too, and would reset translated connections; write xdp:",
                    port.spec()
                )
            })
        };
        Ok(Self {
            ports: ports
                .iter()
                .map(|port| of_one(port.as_ref()))
                .collect::<Result<_, _>>()?,
            put: Vec::new(),
        })
    }

    /// Has ports give workers what NAT must see by a table.
    ///
    /// # Errors
    /// There are too many rules and addresses, or the kernel refuses: what was before holds on.
    pub(super) fn put(&mut self, table: &RouterTable) -> Result<(), String> {
        let wanted = table.config().nat_table();
        let wanted = wanted.map_or_else(Vec::new, |nat| diversions(&nat.diverted()));
        if wanted == self.put {
            return Ok(());
        }
        if wanted.len() > Diversions::MAX {
            return Err(format!(
                "NAT beside the kernel can have {} ranges of ports at addresses of this host, and \
                 these rules have {}: name ranges in place of single ports",
                Diversions::MAX,
                wanted.len()
            ));
        }
        self.ports.iter().try_for_each(|port| port.put(&wanted))?;
        self.put = wanted;
        Ok(())
    }
}

/// One for all protocols with the same address and ports.
fn diversions(all: &[Diverted]) -> Vec<Diversion> {
    let mut diversions: Vec<Diversion> = Vec::new();
    for one in all {
        let is_beside = |known: &&mut Diversion| {
            (known.address, known.first, known.last)
                == (one.address, one.ports.first, one.ports.last)
        };
        let kinds = match diversions.iter_mut().find(is_beside) {
            Some(known) => &mut known.kinds,
            None => {
                diversions.push(Diversion {
                    address: one.address,
                    kinds: DiversionKinds::default(),
                    first: one.ports.first,
                    last: one.ports.last,
                });
                let last = diversions.len() - 1;
                &mut diversions[last].kinds
            }
        };
        match one.protocol {
            NatProtocol::Tcp => kinds.tcp = true,
            NatProtocol::Udp => kinds.udp = true,
            NatProtocol::EchoReply => kinds.echo_replies = true,
            NatProtocol::EchoRequest => kinds.echo_requests = true,
            NatProtocol::Other => {}
        }
    }
    diversions
}

/// Sentences on interfaces that masquerade and have other addresses than before.
pub(super) fn changes(before: &RouterConfig, after: &RouterConfig) -> Vec<String> {
    let rules = after.nat.iter().flat_map(|nat| &nat.sources);
    let masquerades = rules
        .filter(|rule| matches!(&rule.action, SourceAction::To(pool) if pool.addresses.is_none()));
    let mut interfaces: Vec<u16> = masquerades.map(|rule| rule.out).collect();
    interfaces.sort_unstable();
    interfaces.dedup();
    let sentences = interfaces.into_iter().filter_map(|number| {
        let [was, is] = [before, after].map(|config| addresses(config, number));
        let gone = was.iter().any(|own| !is.contains(own));
        let what = match (&is[..], gone) {
            _ if was == is => return None,
            ([], _) => "no IPv4 address any more: flows end, and what it would masquerade is \
                        dropped"
                .to_owned(),
            (is, true) => format!("{} now: flows with the addresses before end", words(is)),
            (is, false) => format!("{} now", words(is)),
        };
        let name = &after.interfaces.get(usize::from(number))?.name;
        Some(format!("NAT: {name} has {what}"))
    });
    sentences.collect()
}

fn addresses(config: &RouterConfig, interface: u16) -> Vec<Ipv4Addr> {
    let one = config.interfaces.get(usize::from(interface));
    let all = one.into_iter().flat_map(|one| &one.addresses);
    let v4 = all.filter_map(|own| match own.address {
        IpAddr::V4(own) => Some(own),
        IpAddr::V6(_) => None,
    });
    v4.collect()
}

fn words(addresses: &[Ipv4Addr]) -> String {
    let words: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_never_those_of_the_kernel() {
        let cases = [
            ("32768\t60999\n", Some((16_384, 32_767))),
            ("1024 20000", Some((20_001, 65_535))),
            ("20000 65535", Some((16_384, 19_999))),
            ("1024 2048", Some((16_384, 65_535))),
            ("1024 65535", None),
            ("none", Some((16_384, 32_767))),
            ("5 3", Some((16_384, 32_767))),
        ];
        for (text, wanted) in cases {
            let kernels = range_of(text).unwrap_or(KERNELS_USUAL);
            let found = usual_ports(&kernels).map(|range| (range.first, range.last));
            assert_eq!(found, wanted, "{text}");
        }
    }
}

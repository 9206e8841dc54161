//! The settings of a router in words: `lan=A.10,10.0.0.1/24` for an interface, `10.0.0.0/8 via
//! 10.0.0.2` for a route.

use std::fs::File;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use list::routes::{RouteText, RouteTexts, read_line};
use plane::nat::NatConfig;
use plane::router::{
    InterfaceId, ReversePath, Route, RouterConfig, RouterConfigError, RouterInterface,
    StaticNeighbours,
};
use wire::MacAddress;

use super::faults::key_of;
use super::interfaces::{Given, MTU, interface, mac_address, vrf_places};
use super::nat::NatFile;
use super::on_exit::OnExit;
use super::routes::{Known, meant, shown};
use super::vrfs::Vrfs;
use crate::switch::{Faults, PortNames, WordError};

/// ICMP errors a second, unless it is said otherwise: what Linux sends (`icmp_msgs_per_sec`).
const ERRORS_PER_SECOND: u32 = 1000;
/// Neighbours that are known at most, unless it is said otherwise.
const NEIGHBOURS: u32 = 65_536;
/// What a user wrote, by option or key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouterWords {
    /// `NAME=PORT[.VLAN[.INNER]],ADDRESS/LENGTH[,...][,mac=MAC][,mtu=BYTES][,vrf=NAME]`.
    pub interface: Vec<String>,
    /// `NAME=PORT[.VLAN[.INNER]][,...]`: interfaces with routes of their own.
    pub vrf: Vec<String>,
    /// `PREFIX via GATEWAY [dev INTERFACE]` and what else `ip route` prints.
    pub route: Vec<String>,
    /// Files of the same.
    pub routes: Vec<PathBuf>,
    /// `ADDRESS[-ADDRESS]=MAC@INTERFACE`.
    pub neighbour: Vec<String>,
    /// What must hold for the source of a packet.
    pub reverse_path: ReversePath,
    /// ICMP errors a second.
    pub icmp_rate: Option<u32>,
    /// Neighbours that are known at most.
    pub neighbours: Option<u32>,
    /// Interfaces, routes and neighbours are the kernel's.
    pub kernel: bool,
    /// What happens when such a router has ended.
    pub on_exit: OnExit,
    /// A file of rules for NAT.
    pub nat: Option<PathBuf>,
    /// The `tap:` port that takes what is for the router and it does not answer itself.
    pub punt: Option<String>,
}

/// What is known of a port once it is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortFacts {
    /// The Ethernet address of its interface, where it has one.
    pub mac: Option<MacAddress>,
    /// The MTU of its interface, bytes.
    pub mtu: Option<u32>,
}

/// What was read of words, before ports are open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouterSettings {
    config: RouterConfig,
    /// What of files was left out, a sentence each.
    pub notes: Vec<String>,
    /// Rules for NAT, where there are any.
    pub nat: Option<NatFile>,
    /// By interface.
    given: Vec<Given>,
    /// Where interfaces, routes and neighbours are the kernel's.
    kernel: Option<OnExit>,
}

impl RouterWords {
    /// The settings that are meant.
    ///
    /// # Errors
    /// All words that cannot be read, where interfaces can be; then all that is wrong with the
    /// whole.
    pub fn settings(&self, names: &PortNames) -> Result<RouterSettings, Vec<WordError>> {
        if self.kernel {
            return self.of_kernel(names);
        }
        if self.on_exit == OnExit::Open {
            return Err(vec![WordError {
                key: Some("on_exit"),
                index: None,
                sentence: "it is of a router by the kernel's routes: add kernel, or leave it out"
                    .to_owned(),
            }]);
        }
        let mut faults = Faults::default();
        let read = faults.take_all("interface", &self.interface, |text| interface(text, names));
        // What names an interface that could not be read is not at fault.
        faults.result()?;
        let (mut interfaces, given): (Vec<_>, Vec<_>) = read.into_iter().unzip();
        let vrfs = self.read_vrfs((&mut interfaces, &given), names, &mut faults);
        faults.result()?;
        let neighbours = faults.take_all("neighbour", &self.neighbour, |text| {
            neighbour(text, &interfaces)
        });
        let (routes, notes) = self.read_routes(
            Known {
                interfaces: &interfaces,
                vrfs: &vrfs,
            },
            &mut faults,
        );
        let of_nat = faults.take("nat", 0, self.read_nat(&interfaces)).flatten();
        let punt = self.read_punt(names, &interfaces);
        let punt = faults.take("punt", 0, punt).flatten();
        faults.result()?;
        let (nat, nat_config) = of_nat.unzip();
        let settings = RouterSettings {
            notes,
            nat,
            config: RouterConfig {
                ports: names.len(),
                vrfs,
                routes,
                neighbours,
                interfaces,
                reverse_path: self.reverse_path,
                errors_per_second: self.icmp_rate.unwrap_or(ERRORS_PER_SECOND),
                neighbours_max: self.neighbours.unwrap_or(NEIGHBOURS),
                nat: nat_config,
                punt,
                announces: true,
            },
            given,
            kernel: None,
        };
        let errors = settings.config(&[]).check().err().unwrap_or_default();
        match errors.is_empty() {
            true => Ok(settings),
            false => Err(errors.iter().map(|error| self.of_whole(error)).collect()),
        }
    }

    /// The settings beside what the kernel has.
    fn of_kernel(&self, names: &PortNames) -> Result<RouterSettings, Vec<WordError>> {
        let given = [
            ("interface", !self.interface.is_empty()),
            ("vrf", !self.vrf.is_empty()),
            ("route", !self.route.is_empty()),
            ("routes", !self.routes.is_empty()),
            ("neighbour", !self.neighbour.is_empty()),
        ];
        let refused = given.iter().filter(|(_, given)| *given);
        let errors: Vec<WordError> = refused
            .map(|(key, _)| WordError {
                key: Some(key),
                index: None,
                sentence: "interfaces, routes and neighbours are the kernel's, in one table: set \
                           them there (`ip address`, `ip route`, `ip neighbour`), or leave out \
                           kernel"
                    .to_owned(),
            })
            .collect();
        if !errors.is_empty() {
            return Err(errors);
        }
        if self.punt.is_some() {
            return Err(vec![WordError {
                key: Some("punt"),
                index: None,
                sentence: "the kernel takes what is for its addresses by itself: leave out punt, \
                           or kernel"
                    .to_owned(),
            }]);
        }
        let nat = self.nat.as_deref().map(NatFile::read).transpose();
        let nat = nat.map_err(|sentence| {
            vec![WordError {
                key: Some("nat"),
                index: None,
                sentence,
            }]
        })?;
        Ok(RouterSettings {
            notes: Vec::new(),
            nat,
            config: RouterConfig {
                ports: names.len(),
                vrfs: Vec::new(),
                routes: Vec::new(),
                neighbours: Vec::new(),
                interfaces: Vec::new(),
                reverse_path: self.reverse_path,
                errors_per_second: self.icmp_rate.unwrap_or(ERRORS_PER_SECOND),
                neighbours_max: self.neighbours.unwrap_or(NEIGHBOURS),
                nat: None,
                punt: None,
                announces: false,
            },
            given: Vec::new(),
            kernel: Some(self.on_exit),
        })
    }

    /// The names of VRFs, which interfaces have as they are said to.
    fn read_vrfs(
        &self,
        (interfaces, given): (&mut [RouterInterface], &[Given]),
        names: &PortNames,
        faults: &mut Faults,
    ) -> Vec<String> {
        let mut vrfs = Vrfs::default();
        for (index, (one, given)) in interfaces.iter_mut().zip(given).enumerate() {
            if let Some(name) = &given.vrf {
                faults.take("interface", index, vrfs.join(one, name));
            }
        }
        for (index, text) in self.vrf.iter().enumerate() {
            let read = vrf_places(text, names);
            let joined = read.and_then(|(name, places)| vrfs.join_all(interfaces, &name, &places));
            faults.take("vrf", index, joined);
        }
        vrfs.names
    }

    /// The routes of options and files, and notes on what of the files was left out.
    fn read_routes(&self, known: Known<'_>, faults: &mut Faults) -> (Vec<Route>, Vec<String>) {
        let read = |text: &str| {
            let read = read_line(text).map_err(|fault| format!("'{text}': {fault}"));
            meant(&[read?], known, |route| {
                format!("'{text}': {}", shown(route))
            })
        };
        let mut routes = faults.take_all("route", &self.route, read).concat();
        let mut notes = Vec::new();
        for (index, path) in self.routes.iter().enumerate() {
            let of_file = faults.take("routes", index, routes_of(path, known));
            let (more, of_file) = of_file.unwrap_or_default();
            routes.extend(more);
            notes.extend(of_file);
        }
        (routes, notes)
    }

    /// The interface of the port that takes what is for the router.
    fn read_punt(
        &self,
        names: &PortNames,
        interfaces: &[RouterInterface],
    ) -> Result<Option<InterfaceId>, String> {
        match &self.punt {
            Some(word) => super::punt::interface(word, names, interfaces).map(Some),
            None => Ok(None),
        }
    }

    /// The rules for NAT, as they stand in their file and as they are meant.
    fn read_nat(
        &self,
        interfaces: &[RouterInterface],
    ) -> Result<Option<(NatFile, NatConfig)>, String> {
        let Some(path) = &self.nat else {
            return Ok(None);
        };
        let file = NatFile::read(path)?;
        let config = file.meant(interfaces)?;
        Ok(Some((file, config)))
    }

    /// Says what is wrong with the whole. A route may be of a file, which then no key names.
    fn of_whole(&self, error: &RouterConfigError) -> WordError {
        let key = Some(key_of(error));
        WordError {
            key: key.filter(|key| *key != "route" || self.routes.is_empty()),
            index: None,
            sentence: error.to_string(),
        }
    }
}

/// The routes of a file, and notes on what was left out.
fn routes_of(path: &Path, known: Known<'_>) -> Result<(Vec<Route>, Vec<String>), String> {
    let name = path.display().to_string();
    let file = File::open(path)
        .map_err(|error| format!("{name} cannot be opened ({error}): check the name"))?;
    let texts = list::routes::read(&name, file).map_err(|error| error.to_string())?;
    let place = |route: &RouteText| format!("{name}:{}: {}", route.line, shown(route));
    let routes = meant(&texts.routes, known, place)?;
    Ok((routes, notes_on(&name, &texts)))
}

impl RouterSettings {
    /// Whether interfaces, routes and neighbours are the kernel's; then what happens at the end.
    #[must_use]
    pub fn kernel(&self) -> Option<OnExit> {
        self.kernel
    }

    /// The settings, with Ethernet addresses and MTUs of `ports` where none were written; a port
    /// without an Ethernet address has 02:00:00:00:00:01 and so on, by its number.
    #[must_use]
    pub fn config(&self, ports: &[PortFacts]) -> RouterConfig {
        let mut config = self.config.clone();
        for (interface, given) in config.interfaces.iter_mut().zip(&self.given) {
            let facts = ports.get(interface.port.index()).copied();
            let PortFacts { mac, mtu } = facts.unwrap_or_default();
            let numbered = MacAddress([2, 0, 0, 0, 0, interface.port.0.saturating_add(1)]);
            interface.mac = given.mac.or(mac).unwrap_or(numbered);
            let own = mtu.map(|mtu| u16::try_from(mtu).unwrap_or(u16::MAX));
            interface.mtu = given.mtu.or(own).unwrap_or(MTU);
        }
        config
    }
}

/// What of a file was left out, and whether it holds anything.
fn notes_on(name: &str, texts: &RouteTexts) -> Vec<String> {
    let mut notes: Vec<String> = texts.notes.iter().map(ToString::to_string).collect();
    let more = texts.note_count - texts.notes.len() as u64;
    if more != 0 {
        notes.push(format!("{name}: {more} more such routes are left out"));
    }
    if texts.routes.is_empty() {
        notes.push(format!("{name} holds no routes: is it the right file?"));
    }
    notes
}

/// `ADDRESS[-ADDRESS]=MAC@INTERFACE`.
fn neighbour(text: &str, interfaces: &[RouterInterface]) -> Result<StaticNeighbours, String> {
    let whole = || {
        let (addresses, rest) = text.split_once('=')?;
        let (mac, interface) = rest.split_once('@')?;
        Some((addresses, mac, interface))
    };
    let (addresses, mac, name) = whole().ok_or_else(|| {
        format!("'{text}' is no neighbour: write ADDRESS=MAC@INTERFACE or FIRST-LAST=MAC@INTERFACE")
    })?;
    let (first, last) = addresses.split_once('-').unwrap_or((addresses, addresses));
    let address = |text: &str| -> Result<IpAddr, String> {
        text.parse()
            .map_err(|_| format!("'{text}' is no IP address"))
    };
    Ok(StaticNeighbours {
        interface: interface_named(name, interfaces)?,
        first: address(first)?,
        last: address(last)?,
        mac: mac_address(mac)?,
    })
}

/// The interface that is called so.
pub(super) fn interface_named(
    name: &str,
    interfaces: &[RouterInterface],
) -> Result<InterfaceId, String> {
    let numbered = (0..=u16::MAX).map(InterfaceId).zip(interfaces);
    let mut own = numbered.filter(|(_, interface)| interface.name == name);
    own.next().map(|(id, _)| id).ok_or_else(|| {
        let all: Vec<&str> = interfaces.iter().map(|one| one.name.as_str()).collect();
        format!(
            "no interface is called '{name}': the interfaces are {}",
            all.join(", ")
        )
    })
}

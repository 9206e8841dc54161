//! All routes of a router, of which workers have versions.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::Arc;

use table::fib::{Fib, Routes};
use table::{Address, CompileError, Network};

use super::prefix::Prefix;
use super::{Hop, HopSet, Target};

/// What becomes of packets to a prefix.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// The router itself has the address.
    Local,
    /// All stations of one of its links.
    Broadcast,
    /// They go to one of these hops, by their weights from 1.
    Via(Vec<(Hop, u16)>),
    /// They are dropped in silence.
    Blackhole,
    /// They are dropped; the sender is told that the host cannot be reached.
    Unreachable,
    /// They are dropped; the sender is told that an administrator forbids it.
    Prohibited,
}

/// Prefixes and where they lead; the control side's.
#[derive(Debug)]
pub struct RouteBook {
    v4: Routes<u32>,
    v6: Routes<u128>,
    targets: Targets,
}

/// Changes of routes: none takes the route away.
pub type RouteChanges = BTreeMap<Prefix, Option<Way>>;

impl RouteBook {
    /// The routes given; of two for one prefix the later.
    ///
    /// # Errors
    /// [`CompileError::Memory`].
    pub fn new(given: impl IntoIterator<Item = (Prefix, Way)>) -> Result<Self, CompileError> {
        let mut targets = Targets::default();
        let (mut v4, mut v6) = (Vec::new(), Vec::new());
        for (prefix, way) in given {
            let answer = targets.number(&way);
            match prefix.first {
                IpAddr::V4(first) => push(&mut v4, first.to_bits(), prefix.len, answer),
                IpAddr::V6(first) => push(&mut v6, first.to_bits(), prefix.len, answer),
            }
        }
        let (v4, v6) = (Routes::new(v4)?, Routes::new(v6)?);
        v4.iter().for_each(|(_, answer)| targets.add_use(answer));
        v6.iter().for_each(|(_, answer)| targets.add_use(answer));
        targets.forget_unused();
        Ok(Self { v4, v6, targets })
    }

    /// Makes changes; returns how many of them changed a route.
    ///
    /// # Errors
    /// [`CompileError::Memory`]; then the routes are not to be used any more.
    pub fn apply(&mut self, changes: &RouteChanges) -> Result<usize, CompileError> {
        let (mut v4, mut v6, mut before) = (Vec::new(), Vec::new(), Vec::new());
        for (prefix, way) in changes {
            let answer = way.as_ref().map(|way| self.targets.number(way));
            answer
                .iter()
                .for_each(|&answer| self.targets.add_use(answer));
            before.extend(self.answer(*prefix));
            match prefix.first {
                IpAddr::V4(first) => v4.extend(change(first.to_bits(), prefix.len, answer)),
                IpAddr::V6(first) => v6.extend(change(first.to_bits(), prefix.len, answer)),
            }
        }
        let changed = self.v4.apply(v4)? + self.v6.apply(v6)?;
        before
            .iter()
            .for_each(|&answer| self.targets.drop_use(answer));
        self.targets.forget_unused();
        Ok(changed)
    }

    /// Where the route of one prefix leads, not that of those that hold it.
    #[must_use]
    pub fn way(&self, prefix: Prefix) -> Option<&Way> {
        self.targets.way(self.answer(prefix)?)
    }

    fn answer(&self, prefix: Prefix) -> Option<NonZeroU32> {
        match prefix.first {
            IpAddr::V4(first) => {
                let network = Network::holding(first.to_bits(), prefix.len).ok()?;
                self.v4.get(network)
            }
            IpAddr::V6(first) => {
                let network = Network::holding(first.to_bits(), prefix.len).ok()?;
                self.v6.get(network)
            }
        }
    }

    /// The route to an address: its prefix, and where it leads.
    #[must_use]
    pub fn route_to(&self, address: IpAddr) -> Option<(Prefix, &Target)> {
        let (prefix, answer) = match address {
            IpAddr::V4(address) => shown_v4(self.v4.longest(address.to_bits())?),
            IpAddr::V6(address) => shown_v6(self.v6.longest(address.to_bits())?),
        };
        Some((prefix, self.targets.target(answer)?))
    }

    /// Routes of IPv4 and of IPv6.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        (self.v4.len(), self.v6.len())
    }

    /// All routes by their first addresses, IPv4 first.
    pub fn routes(&self) -> impl Iterator<Item = (Prefix, &Target)> {
        let all = self.v4.iter().map(shown_v4);
        let all = all.chain(self.v6.iter().map(shown_v6));
        all.filter_map(|(prefix, answer)| Some((prefix, self.targets.target(answer)?)))
    }

    /// What workers look up.
    pub(super) fn fibs(&self) -> (Fib<u32>, Fib<u128>) {
        (self.v4.fib(), self.v6.fib())
    }

    /// The targets of this version, by answer, from 1.
    pub(super) fn targets(&self) -> Arc<[Target]> {
        self.targets
            .all
            .iter()
            .map(|used| used.target.clone())
            .collect()
    }
}

fn shown_v4((network, answer): (Network<u32>, NonZeroU32)) -> (Prefix, NonZeroU32) {
    let first = Ipv4Addr::from_bits(network.first()).into();
    let len = network.prefix_len();
    (Prefix { first, len }, answer)
}

fn shown_v6((network, answer): (Network<u128>, NonZeroU32)) -> (Prefix, NonZeroU32) {
    let first = Ipv6Addr::from_bits(network.first()).into();
    let len = network.prefix_len();
    (Prefix { first, len }, answer)
}

fn push<A: Address>(to: &mut Vec<(Network<A>, NonZeroU32)>, first: A, len: u8, answer: NonZeroU32) {
    to.extend(Network::holding(first, len).map(|network| (network, answer)));
}

/// The change of a prefix, where it is one.
fn change<A: Address>(
    first: A,
    len: u8,
    answer: Option<NonZeroU32>,
) -> Option<(Network<A>, Option<NonZeroU32>)> {
    Some((Network::holding(first, len).ok()?, answer))
}

/// Where routes lead, each way once. The number of one that no route uses any more is given to
/// another: a version has its own list.
#[derive(Debug, Default)]
struct Targets {
    all: Vec<Used>,
    numbers: HashMap<Way, NonZeroU32>,
    /// Indices of `all` that no way has.
    free: Vec<usize>,
    /// Indices whose last use may be gone.
    doubtful: Vec<usize>,
}

#[derive(Debug)]
struct Used {
    way: Way,
    target: Target,
    routes: usize,
}

impl Targets {
    /// The answer that stands for a way.
    fn number(&mut self, way: &Way) -> NonZeroU32 {
        if let Some(&number) = self.numbers.get(way) {
            return number;
        }
        let used = Used {
            target: Target::of(way),
            way: way.clone(),
            routes: 0,
        };
        let index = match self.free.pop() {
            Some(index) => {
                self.all[index] = used;
                index
            }
            None => {
                self.all.push(used);
                self.all.len() - 1
            }
        };
        self.doubtful.push(index);
        let number = NonZeroU32::MIN.saturating_add(index as u32);
        self.numbers.insert(way.clone(), number);
        number
    }

    fn used(&self, number: NonZeroU32) -> Option<&Used> {
        self.all.get(number.get() as usize - 1)
    }

    fn target(&self, number: NonZeroU32) -> Option<&Target> {
        self.used(number).map(|used| &used.target)
    }

    fn way(&self, number: NonZeroU32) -> Option<&Way> {
        self.used(number).map(|used| &used.way)
    }

    fn add_use(&mut self, number: NonZeroU32) {
        self.all[number.get() as usize - 1].routes += 1;
    }

    fn drop_use(&mut self, number: NonZeroU32) {
        let index = number.get() as usize - 1;
        let used = &mut self.all[index];
        used.routes -= 1;
        if used.routes == 0 {
            self.doubtful.push(index);
        }
    }

    fn forget_unused(&mut self) {
        for index in std::mem::take(&mut self.doubtful) {
            let used = &self.all[index];
            if used.routes == 0 && self.numbers.remove(&used.way).is_some() {
                self.free.push(index);
            }
        }
    }
}

impl Target {
    fn of(way: &Way) -> Self {
        match way {
            Way::Local => Self::Local,
            Way::Broadcast => Self::Broadcast,
            Way::Via(hops) => Self::Via(HopSet::new(hops)),
            Way::Blackhole => Self::Blackhole,
            Way::Unreachable => Self::Unreachable,
            Way::Prohibited => Self::Prohibited,
        }
    }
}

#[cfg(test)]
#[cfg(not(miri))]
mod tests {
    use super::*;
    use crate::router::InterfaceId;

    fn prefix(text: &str) -> Prefix {
        let (first, len) = text.split_once('/').unwrap();
        Prefix::holding(first.parse().unwrap(), len.parse().unwrap())
    }

    fn via(gateway: &str) -> Way {
        let hop = Hop {
            gateway: Some(gateway.parse().unwrap()),
            interface: InterfaceId(0),
        };
        Way::Via(vec![(hop, 1)])
    }

    #[test]
    fn numbers_of_ways_are_few_however_often_routes_change() {
        let mut book = RouteBook::new([]).unwrap();
        for step in 0..1000_u32 {
            let gateway = format!("10.0.{}.{}", step / 200, 1 + step % 200);
            let changes = RouteChanges::from([
                (prefix("10.9.0.0/16"), Some(via(&gateway))),
                (prefix("fd00::/16"), Some(via("fe80::1"))),
                (
                    prefix("10.8.0.0/16"),
                    (step % 2 == 0).then_some(Way::Blackhole),
                ),
            ]);
            assert_ne!(book.apply(&changes), Ok(0));
            let (_, target) = book.route_to("10.9.1.1".parse().unwrap()).unwrap();
            assert_eq!(*target, Target::of(&via(&gateway)));
            assert!(book.targets.all.len() <= 5, "{}", book.targets.all.len());
            let blackhole = book.way(prefix("10.8.0.0/16"));
            assert_eq!(blackhole.is_some(), step % 2 == 0);
        }
        assert_eq!(book.counts(), (1, 1));
    }

    #[test]
    fn what_is_given_twice_is_the_later_and_what_nobody_uses_is_forgotten() {
        let twice = [
            (prefix("10.0.0.0/8"), via("10.0.0.1")),
            (prefix("10.0.0.0/8"), Way::Prohibited),
        ];
        let book = RouteBook::new(twice).unwrap();
        assert_eq!(book.way(prefix("10.0.0.0/8")), Some(&Way::Prohibited));
        assert_eq!(book.targets.numbers.len(), 1);
    }
}

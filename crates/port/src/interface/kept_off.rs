//! Offloads that a port has off while it runs, and whether somebody switches them on meanwhile.

use super::{Feature, Interface};

#[derive(Debug)]
pub(crate) struct KeptOff {
    names: Vec<&'static str>,
    looked: bool,
    /// The interface that the rest is about.
    index: Option<u32>,
    /// On from the beginning: nothing can switch them off, as the start said. `None` until the port
    /// had the time to switch off what it can.
    stayed: Option<Vec<String>>,
    on: Vec<String>,
}

impl KeptOff {
    pub(crate) fn new(names: Vec<&'static str>) -> Self {
        Self {
            names,
            looked: false,
            index: None,
            stayed: None,
            on: Vec::new(),
        }
    }

    /// Those that are on and were off.
    pub(crate) fn switched_on(&self) -> &[String] {
        &self.on
    }

    /// Looks; `index` is the number of the interface that is there now.
    pub(crate) fn look(&mut self, interface: &Interface, index: Option<u32>) {
        let features = match self.names.is_empty() {
            false => interface.features().unwrap_or_default(),
            true => Vec::new(),
        };
        self.take(&features, index);
    }

    fn take(&mut self, features: &[Feature], index: Option<u32>) {
        let ours = |feature: &&Feature| feature.active && self.names.contains(&&feature.name[..]);
        let active = features.iter().filter(ours);
        let mut active: Vec<String> = active.map(|feature| feature.name.clone()).collect();
        self.on.clear();
        if self.index != index {
            // The port makes one that came ready within a second.
            let first = !std::mem::replace(&mut self.looked, true);
            self.index = index;
            self.stayed = first.then_some(active);
            return;
        }
        match &self.stayed {
            None => self.stayed = Some(active),
            Some(stayed) => {
                active.retain(|name| !stayed.contains(name));
                self.on = active;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feature(name: &str, active: bool) -> Feature {
        Feature {
            name: name.to_owned(),
            bit: 0,
            active,
            requested: active,
            changeable: true,
        }
    }

    #[test]
    fn only_what_was_off_and_came_on_is_told() {
        let mut kept = KeptOff::new(vec!["rx-gro", "rx-lro"]);
        let mut look = |index, gro, lro| {
            let features = [
                feature("rx-gro", gro),
                feature("rx-lro", lro),
                feature("tx", true),
            ];
            kept.take(&features, index);
            kept.switched_on().to_vec()
        };
        let none: [&str; 0] = [];
        // Of the start, LRO is fixed.
        assert_eq!(look(Some(3), false, true), none);
        assert_eq!(look(Some(3), true, true), ["rx-gro"]);
        assert_eq!(look(Some(3), false, true), none);
        // Made anew, and made ready by the port between two looks.
        assert_eq!(look(None, false, false), none);
        assert_eq!(look(Some(4), true, true), none);
        assert_eq!(look(Some(4), false, false), none);
        assert_eq!(look(Some(4), false, false), none);
        assert_eq!(look(Some(4), false, true), ["rx-lro"]);
    }
}

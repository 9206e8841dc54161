//! Puts back what a process changed on an interface and did not live to put back itself.

use super::found::{Found, Place};
use super::records::{Orphan, Records};
use super::{Interface, Root, RssAccess};
use crate::PortError;

/// What people are told of hash settings that are put back.
const PLACEMENT: &str = "key, table and types of its receive hash";

/// What people are told of a NIC's stamps that are put back.
const STAMPING: &str = "which frames its NIC stamps";

/// What became of one record of a dead process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Restored {
    /// Everything it names is again as it was found.
    Done {
        /// The interface.
        name: String,
        /// What was put back, as in `rx-gro on`; empty where it was so already.
        what: Vec<String>,
    },
    /// The interface is not the one it was: there is nothing to put back. A sentence.
    Nothing(String),
    /// It could not be done, or the record is not believed. A sentence with the remedy.
    Failed(String),
}

/// What a dead process changed on an interface, as it was before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftBehind {
    /// The number of the interface.
    pub index: u32,
    /// The process that left it, and what it had found, as in `rx-gro on`; or why its record is
    /// not believed, a sentence.
    pub found: Result<(u32, Vec<String>), String>,
}

/// What dead processes left changed in this network namespace; changes nothing.
#[must_use]
pub fn left_behind() -> Vec<LeftBehind> {
    let Some(here) = Place::here() else {
        return Vec::new();
    };
    let left = orphans(&here, None).into_iter().filter_map(|orphan| {
        let found = match &orphan.found {
            Ok(found) if found.place != here || listed(found).is_empty() => return None,
            Ok(found) => Ok((found.process, listed(found))),
            Err(why) => Err(not_believed(&orphan, why)),
        };
        let index = orphan.index;
        Some(LeftBehind { index, found })
    });
    left.collect()
}

/// Puts back what dead processes left changed on the interfaces of these names, or on all of this
/// network namespace where there is none.
///
/// # Errors
/// A name that no interface can have.
pub fn restore(names: &[String]) -> Result<Vec<Restored>, PortError> {
    let Some(here) = Place::here() else {
        return Ok(Vec::new());
    };
    if names.is_empty() {
        return Ok(all(orphans(&here, None), &here));
    }
    let mut restored = Vec::new();
    for name in names {
        restored.extend(Interface::named(name)?.restore());
    }
    Ok(restored)
}

impl Interface {
    /// Puts back what a dead process left changed on it.
    pub(crate) fn restore(&self) -> Vec<Restored> {
        let (Some(here), Ok(index)) = (Place::here(), self.index()) else {
            return Vec::new();
        };
        all(orphans(&here, Some(index)), &here)
    }
}

impl Restored {
    /// The sentence for people; nothing where nothing had to be done.
    #[must_use]
    pub fn sentence(&self) -> Option<String> {
        match self {
            Self::Done { what, .. } if what.is_empty() => None,
            Self::Done { name, what } => Some(format!(
                "{name}: a process that was killed had left it changed; it is as found again: {}",
                what.join(", ")
            )),
            Self::Nothing(sentence) | Self::Failed(sentence) => Some(sentence.clone()),
        }
    }
}

/// Records of dead processes, of this user and of those whom it believes.
fn orphans(here: &Place, index: Option<u32>) -> Vec<Orphan> {
    let all = Records::believed();
    let of = |records: &Records| records.orphans(here.namespace, index);
    all.iter().flat_map(of).collect()
}

fn all(orphans: Vec<Orphan>, here: &Place) -> Vec<Restored> {
    let each = orphans.into_iter().map(|orphan| {
        let restored = match &orphan.found {
            Ok(found) => put_back(found, here, &Root::machine()),
            Err(why) => return Restored::Failed(not_believed(&orphan, why)),
        };
        if !matches!(restored, Restored::Failed(_)) {
            orphan.forget();
        }
        restored
    });
    each.collect()
}

fn not_believed(orphan: &Orphan, why: &str) -> String {
    let path = orphan.path.display();
    let interface = Interface::at(orphan.index).map(|interface| interface.name().to_owned());
    let name = interface.unwrap_or_else(|| format!("interface {}", orphan.index));
    format!(
        "{name}: what a dead process found on it is not believed, since {path} is no record of \
         this program ({why}); see `ethtool -k {name}` and remove that file"
    )
}

fn listed(found: &Found) -> Vec<String> {
    let offloads = found.offloads.iter().map(|name| format!("{name} on"));
    let interrupts = found.interrupts.iter();
    let interrupts = interrupts.map(|(number, cpus)| format!("interrupt {number} on CPU {cpus}"));
    let placement = found.placement.iter().map(|_| PLACEMENT.to_owned());
    let stamping = found.stamping.iter().map(|_| STAMPING.to_owned());
    let changes = offloads.chain(interrupts).chain(placement);
    changes.chain(stamping).collect()
}

/// An interface is known by number and address; it may have another name by now.
fn put_back(found: &Found, here: &Place, root: &Root) -> Restored {
    let (index, old) = (found.index, &found.name);
    if listed(found).is_empty() {
        let (name, what) = (old.clone(), Vec::new());
        return Restored::Done { name, what };
    }
    if found.place != *here {
        return Restored::Nothing(format!(
            "{old}: what was found on it is from before this machine was started"
        ));
    }
    let Some(interface) = Interface::at(index) else {
        return Restored::Nothing(format!(
            "{old}: it is gone, and with it what had been changed"
        ));
    };
    let address = interface.hardware_address().ok();
    if address.is_none_or(|(_, address)| address != found.address) {
        return Restored::Nothing(format!(
            "{old}: the interface of its number has another address now, and is left as it is"
        ));
    }
    let name = interface.name().to_owned();
    match offloads(found, &interface).and_then(|mut what| {
        what.extend(interrupts(found, &interface, root)?);
        what.extend(placement(found, &interface)?);
        what.extend(stamping(found, &interface)?);
        Ok(what)
    }) {
        Ok(what) => Restored::Done { name, what },
        Err(error) => Restored::Failed(format!(
            "{name}: what a dead process changed cannot be put back: {error}; run `linerate \
             restore {name}` as root"
        )),
    }
}

fn offloads(found: &Found, interface: &Interface) -> std::io::Result<Vec<String>> {
    let features = interface.features().unwrap_or_default();
    let mut what = Vec::new();
    // The last change first, as a process that lives does it.
    for name in found.offloads.iter().rev() {
        let feature = features.iter().find(|feature| feature.name == *name);
        let Some(feature) = feature.filter(|feature| !feature.requested && feature.changeable)
        else {
            continue;
        };
        interface.set_feature(feature, true)?;
        what.push(format!("{name} on"));
    }
    Ok(what)
}

fn placement(found: &Found, interface: &dyn RssAccess) -> std::io::Result<Option<String>> {
    let Some(before) = &found.placement else {
        return Ok(None);
    };
    if interface.settings()? == *before {
        return Ok(None);
    }
    before.write_to(interface)?;
    Ok(Some(PLACEMENT.to_owned()))
}

fn stamping(found: &Found, interface: &Interface) -> std::io::Result<Option<String>> {
    let Some(before) = found.stamping else {
        return Ok(None);
    };
    let now = interface.stamping()?;
    // Somebody else's by now, where it is not as a port sets it.
    if now == before || now != before.with_every_frame() {
        return Ok(None);
    }
    interface.set_stamping(before)?;
    Ok(Some(STAMPING.to_owned()))
}

fn interrupts(found: &Found, interface: &Interface, root: &Root) -> std::io::Result<Vec<String>> {
    let mut what = Vec::new();
    if found.interrupts.is_empty() {
        return Ok(what);
    }
    // Numbers of interrupts are given out anew: those of other devices are not touched.
    let own = root.interrupts_of(interface);
    for (number, cpus) in &found.interrupts {
        let own = own.iter().any(|interrupt| interrupt.number == *number);
        if own && root.allowed_cpus(*number).as_ref() != Some(cpus) {
            root.allow_cpus(*number, cpus)?;
            what.push(format!("interrupt {number} on CPU {cpus}"));
        }
    }
    Ok(what)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::super::listed::Listed;
    use super::super::sysfs::made::show;
    use super::*;

    fn loopback() -> Found {
        let interface = Interface::named("lo").unwrap();
        Found {
            place: Place::here().unwrap(),
            process: 7,
            index: interface.index().unwrap(),
            name: "lo".to_owned(),
            address: interface.hardware_address().unwrap().1,
            offloads: Vec::new(),
            interrupts: vec![(38, "0-1".to_owned()), (99, "0-1".to_owned())],
            placement: None,
            stamping: None,
            bridged: false,
        }
    }

    fn write(folder: &Path, path: &str, text: &str) {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn interrupts_of_the_interface_are_put_back_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let (found, root) = (loopback(), Root::at(folder.path()));
        let here = found.place.clone();
        show(folder.path(), &Listed::of(found.index).unwrap());
        write(folder.path(), "sys/class/net/lo/device/msi_irqs/38", "");
        for number in [38, 99] {
            let file = format!("proc/irq/{number}/smp_affinity_list");
            write(folder.path(), &file, "5\n");
        }
        let name = "lo".to_owned();
        let what = vec!["interrupt 38 on CPU 0-1".to_owned()];
        assert_eq!(
            put_back(&found, &here, &root),
            Restored::Done { name, what }
        );
        let now = |number: u32| root.allowed_cpus(number).unwrap();
        assert_eq!((now(38), now(99)), ("0-1".to_owned(), "5".to_owned()));
        // Everything is so already.
        assert_eq!(put_back(&found, &here, &root).sentence(), None);
    }

    #[test]
    fn another_interface_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let (found, root) = (loopback(), Root::at(folder.path()));
        let here = found.place.clone();
        let nothing = |found: Found, why: &str| match put_back(&found, &here, &root) {
            Restored::Nothing(said) => assert!(said.contains(why), "{said}"),
            restored => panic!("{restored:?}"),
        };
        let address = [1; 6];
        nothing(
            Found {
                address,
                ..found.clone()
            },
            "another address",
        );
        let index = i32::MAX as u32;
        nothing(
            Found {
                index,
                ..found.clone()
            },
            "it is gone",
        );
        let mut place = here.clone();
        place.boot.push('x');
        nothing(Found { place, ..found }, "before this machine was started");
    }
}

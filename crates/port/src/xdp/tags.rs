//! VLAN tags that lie beside a frame: who keeps them there, and where a program can read them. A
//! frame that loses its tag comes out in another VLAN.

use super::spec::VlanTags;
use crate::interface::Interface;
use crate::sys::xdp_bpf::AttachMode;
use crate::{PortError, PortErrorKind};

/// The driver that hands frames of the kernel on as they are, the tag beside them, and tells a
/// program in it of the tag, from kernel 6.8 on. No offload of the receiver changes the first.
const TELLS: &str = "veth";

/// Drivers whose frames the kernel has taken apart before a program can see them: what lies
/// beneath them received these, and took the tag off.
const NEVER_TELL: [&str; 8] = [
    "bonding",
    "bridge",
    "ipvlan",
    "macvlan",
    "macvtap",
    "netkit",
    "openvswitch",
    "team",
];

/// What is known of an interface's tags before frames come.
#[derive(Clone, Debug)]
pub(super) struct Tags {
    driver: String,
    chosen: VlanTags,
}

impl Tags {
    /// Those of an interface; a driver that does not say its name keeps none, as wires do.
    pub(super) fn of(interface: &Interface, chosen: VlanTags) -> Self {
        Self {
            driver: interface.driver().unwrap_or_default(),
            chosen,
        }
    }

    /// Whether some may lie beside the frames of this interface.
    fn aside(&self) -> bool {
        self.driver == TELLS || NEVER_TELL.contains(&&self.driver[..])
    }

    /// Refuses a program that loses tags, unless that was asked for: one attached like this, which
    /// calls the kernel's function for them or does not.
    pub(super) fn check(
        &self,
        name: &str,
        mode: AttachMode,
        calls_function: bool,
    ) -> Result<(), PortError> {
        let told = self.driver == TELLS && mode == AttachMode::Native && calls_function;
        if !self.aside() || told || self.chosen == VlanTags::Ignore {
            return Ok(());
        }
        let why = match mode {
            _ if self.driver != TELLS => "no XDP program can read them there",
            AttachMode::Generic => "a generic program cannot read them there; leave out mode=",
            AttachMode::Native => {
                "this kernel has no function to read them there (6.8 and newer with BTF have)"
            }
        };
        let driver = &self.driver;
        let sentence = format!(
            "xdp:{name}: VLAN tags lie beside frames of {driver} interfaces, and frames without \
             theirs would cross VLANs: {why}; use packet:{name}, or, where no sender has tags or \
             each has them in its frames by `ethtool -K SENDER txvlan off`, vlan=ignore"
        );
        Err(PortError::new(PortErrorKind::Setting, sentence))
    }

    /// What the user should know who asked for it: whether the driver goes on taking them off, or
    /// keeps them aside.
    pub(super) fn note(&self, name: &str, stripped: bool) -> Option<String> {
        let may_be_lost = self.chosen == VlanTags::Ignore && (stripped || self.aside());
        may_be_lost.then(|| {
            format!(
                "xdp:{name}: a VLAN tag that lies beside a frame may be lost, and the frame come \
                 out in another VLAN, as vlan=ignore says"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(driver: &str, chosen: VlanTags, mode: AttachMode, calls: bool) -> Option<String> {
        let driver = driver.to_owned();
        let refused = Tags { driver, chosen }.check("e", mode, calls).err();
        refused.map(|error| error.to_string())
    }

    #[test]
    fn a_program_that_loses_tags_is_refused_unless_asked_for() {
        use AttachMode::{Generic, Native};
        use VlanTags::{Ignore, Keep};
        assert_eq!(check("veth", Keep, Native, true), None);
        for (driver, mode, calls, why) in [
            ("veth", Native, false, "this kernel has no function"),
            ("veth", Generic, true, "leave out mode="),
            ("veth", Generic, false, "leave out mode="),
            ("bridge", Native, true, "no XDP program can"),
            ("team", Generic, false, "no XDP program can"),
        ] {
            let said = check(driver, Keep, mode, calls).unwrap();
            assert!(said.contains(why) && said.contains("packet:e"), "{said}");
            assert_eq!(check(driver, Ignore, mode, calls), None);
        }
        for mode in [Native, Generic] {
            assert_eq!(check("mlx5_core", Keep, mode, false), None);
            assert_eq!(check("", Keep, mode, false), None);
        }
    }

    #[test]
    fn only_what_may_be_lost_is_noted() {
        let tags = |driver: &str, chosen| Tags {
            driver: driver.to_owned(),
            chosen,
        };
        assert!(tags("veth", VlanTags::Ignore).note("e", false).is_some());
        assert!(tags("ixgbe", VlanTags::Ignore).note("e", true).is_some());
        assert!(tags("ixgbe", VlanTags::Ignore).note("e", false).is_none());
        assert!(tags("veth", VlanTags::Keep).note("e", true).is_none());
    }
}

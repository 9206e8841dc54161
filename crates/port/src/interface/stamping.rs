//! Received frames stamped by the NIC: asked for while a port is open, and put back when it is
//! closed. What a NIC stamps is one setting for all programs of the machine.

use std::io;

use super::offloads::{Changes, not_written, record};
use super::records::{Kept, Records};
use super::{Interface, Restored};
use crate::nic_clock::{ClockReader, NicClock};
use crate::sys::hardware_stamps::StampSettings;
use crate::{PortError, PortErrorKind, TimeSource, Timestamps};

/// What came of asking a NIC for its times. Its owner calls [`Stamping::put_back`] from its
/// `Drop`; after `kill -9` the record is there, by which the next start or `linerate restore`
/// does it.
#[derive(Debug, Default)]
pub(crate) struct Stamping {
    nic: Option<Nic>,
    /// Why the NIC's times are not had, where they were asked for: a sentence.
    why_not: Option<String>,
    notes: Vec<String>,
}

/// A NIC that stamps.
#[derive(Debug)]
struct Nic {
    clock: NicClock,
    change: Option<Change>,
}

/// What was changed.
#[derive(Debug)]
struct Change {
    /// The interface's number then.
    index: u32,
    found: StampSettings,
    set: StampSettings,
    _record: Option<Kept>,
}

impl Stamping {
    /// Has the NIC stamp every received frame, if that is asked for.
    ///
    /// # Errors
    /// It does not, and nothing else will do.
    pub(crate) fn begin(
        interface: &Interface,
        spec: &str,
        asked: Timestamps,
    ) -> Result<Self, PortError> {
        let mut stamping = Self::default();
        if !asked.ask() {
            return Ok(stamping);
        }
        match stamping.begin_on(interface) {
            Ok(nic) => stamping.nic = Some(nic),
            Err(why) if asked == Timestamps::Hardware => return Err(refusal(spec, &why)),
            Err(why) => stamping.why_not = Some(unavailable(spec, &why)),
        }
        Ok(stamping)
    }

    /// For a driver that cannot tell the port of them, whatever the NIC does.
    ///
    /// # Errors
    /// As above.
    pub(crate) fn untold(spec: &str, asked: Timestamps, why: &str) -> Result<Self, PortError> {
        if asked == Timestamps::Hardware {
            return Err(refusal(spec, why));
        }
        Ok(Self {
            why_not: asked.ask().then(|| unavailable(spec, why)),
            ..Self::default()
        })
    }

    fn begin_on(&mut self, interface: &Interface) -> Result<Nic, String> {
        let number = clock_of(interface)?;
        // Of a process that died: else its setting is taken for what was found.
        let restored = interface.restore();
        self.notes
            .extend(restored.iter().filter_map(Restored::sentence));
        let clock = NicClock::open(number)?;
        let failed = |error: io::Error| format!("its driver does not stamp every frame: {error}");
        let found = interface.stamping().map_err(failed)?;
        if found.stamps_every_frame() {
            let change = None;
            return Ok(Nic { clock, change });
        }
        let record = self.write_down(interface, found);
        let index = interface.index().map_err(failed)?;
        let set = interface
            .set_stamping(found.with_every_frame())
            .map_err(failed)?;
        let change = Change {
            index,
            found,
            set,
            _record: record,
        };
        if !set.stamps_every_frame() {
            change.put_back(interface);
            return Err("its driver goes on stamping some frames only".to_owned());
        }
        let change = Some(change);
        Ok(Nic { clock, change })
    }

    fn write_down(&mut self, interface: &Interface, found: StampSettings) -> Option<Kept> {
        let changes = Changes {
            stamping: Some(found),
            ..Changes::default()
        };
        record(&Records::here(), interface, changes)
            .map_err(|error| self.notes.push(not_written(interface.name(), &error)))
            .ok()
    }

    /// Compares the clocks anew; about ten times a second.
    pub(crate) fn follow(&mut self) {
        if let Some(nic) = &mut self.nic {
            nic.clock.follow();
        }
    }

    /// For one queue; `None` where the NIC does not stamp.
    pub(crate) fn reader(&self) -> Option<ClockReader> {
        self.nic.as_ref().map(|nic| nic.clock.reader())
    }

    /// What the user should know, a sentence each.
    pub(crate) fn notes(&self) -> impl Iterator<Item = &String> {
        self.notes.iter().chain(&self.why_not)
    }

    /// For the report: where times come from, and why. Without being asked a NIC that could is
    /// named.
    pub(crate) fn source(&self, interface: &Interface, spec: &str) -> TimeSource {
        let Some(Nic { clock, .. }) = &self.nic else {
            let could = || {
                clock_of(interface).ok()?;
                Some(format!(
                    "{spec}: its NIC stamps frames itself: timestamps=hardware"
                ))
            };
            return TimeSource::Software {
                remark: self.why_not.clone().or_else(could),
            };
        };
        let error = clock.error();
        let worse = |why| format!("{spec}: times may be worse than that: {why}");
        TimeSource::Hardware {
            clock: clock.path().to_owned(),
            error_mean_ns: error.mean,
            error_max_ns: error.worst,
            steps: error.steps,
            remark: clock.failure().map(worse),
        }
    }

    /// Puts the setting back, unless somebody else changed it meanwhile.
    pub(crate) fn put_back(&mut self, interface: &Interface) {
        if let Some(change) = self.nic.take().and_then(|nic| nic.change) {
            change.put_back(interface);
        }
    }
}

impl Change {
    fn put_back(self, interface: &Interface) {
        let Some(interface) = interface.numbered(self.index) else {
            return;
        };
        if interface.stamping().is_ok_and(|now| now == self.set) {
            // Nobody is there any more to be told of a failure.
            let _ = interface.set_stamping(self.found);
        }
    }
}

/// The number of the clock by which a NIC stamps every received frame, or why it does not.
fn clock_of(interface: &Interface) -> Result<u32, String> {
    let abilities = interface.stamp_abilities();
    let driver = interface.driver().unwrap_or_default();
    let of_driver = match &driver[..] {
        "" => String::new(),
        driver => format!(" ({driver})"),
    };
    match abilities {
        Ok(nic) if !nic.received => Err(format!("its driver{of_driver} stamps no frames")),
        Ok(nic) if !nic.every_frame => {
            Err(format!("its driver{of_driver} stamps packets of PTP alone"))
        }
        Ok(nic) => nic.clock.ok_or_else(|| {
            format!("its driver{of_driver} has no clock to compare with the kernel's")
        }),
        Err(error) => Err(format!("its driver{of_driver} does not say: {error}")),
    }
}

fn refusal(spec: &str, why: &str) -> PortError {
    let name = spec.split_once(':').map_or(spec, |(_, name)| name);
    let sentence = format!(
        "{spec},timestamps=hardware: there are no timestamps of hardware: {why}; `ethtool -T \
         {name}` shows what there is, and timestamps=auto takes those of software then"
    );
    PortError::new(PortErrorKind::Setting, sentence)
}

fn unavailable(spec: &str, why: &str) -> String {
    format!("{spec}: times are those of software, since {why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_without_stamps_is_refused_or_does_without() {
        let interface = Interface::named("lo").unwrap();
        let refused = Stamping::begin(&interface, "packet:lo", Timestamps::Hardware).unwrap_err();
        let said = refused.to_string();
        for part in [
            "packet:lo,timestamps=hardware",
            "its driver",
            "`ethtool -T lo`",
        ] {
            assert!(said.contains(part), "{said}");
        }
        let mut auto = Stamping::begin(&interface, "packet:lo", Timestamps::Auto).unwrap();
        auto.follow();
        let TimeSource::Software { remark } = auto.source(&interface, "packet:lo") else {
            panic!("the loopback has no clock");
        };
        let said = remark.unwrap();
        assert!(
            said.starts_with("packet:lo: times are those of software"),
            "{said}"
        );
        assert!(auto.reader().is_none());
        assert_eq!(auto.notes().count(), 1);
        auto.put_back(&interface);
        let software = Stamping::begin(&interface, "packet:lo", Timestamps::Software).unwrap();
        let nothing = TimeSource::default();
        assert_eq!(software.source(&interface, "packet:lo"), nothing);
        assert_eq!(software.notes().count(), 0);
    }

    #[test]
    fn an_interface_that_is_gone_has_no_stamps() {
        let interface = Interface::named("no-such-one").unwrap();
        let asked = Timestamps::Hardware;
        assert!(Stamping::begin(&interface, "packet:no-such-one", asked).is_err());
        let untold = Stamping::untold("xdp:e", asked, "its driver tells none").unwrap_err();
        assert!(untold.to_string().contains("its driver tells none"));
        assert!(Stamping::untold("xdp:e", Timestamps::Auto, "it").is_ok());
    }
}

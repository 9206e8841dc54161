//! The two interfaces between which a bypass forwards, each in need of the other's number.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::program::Steering;
use super::ready::Ready;
use crate::interface::XdpSupport;
use crate::sys::xdp_bpf::AttachMode;
use crate::{PortError, PortErrorKind};

/// The `xdp:` ports of a run.
#[derive(Clone, Default)]
pub(super) struct Partners(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    partners: Vec<Partner>,
    /// The bypass stands, or none was asked for.
    complete: bool,
}

/// One of them.
pub(super) struct Partner {
    pub(super) name: String,
    pub(super) index: u32,
    pub(super) steering: Arc<Steering>,
    pub(super) ready: Arc<Ready>,
}

impl Partners {
    pub(super) fn join(&self, partner: Partner) {
        self.lock().partners.push(partner);
    }

    /// Tells each program of the other interface, before frames can need it.
    pub(super) fn pair(&self, name: &str) -> Result<(), PortError> {
        let mut state = self.lock();
        if !state.forwards() {
            state.complete = true;
            return Ok(());
        }
        let [first, second] = &state.partners[..] else {
            return Err(alone(name));
        };
        if first.ways() != second.ways() {
            return Err(alone(name));
        }
        for (one, other) in [(first, second), (second, first)] {
            one.tell(other)?;
        }
        Ok(())
    }

    /// One has its program on a new interface.
    pub(super) fn moved(&self, name: &str, index: u32) {
        let mut state = self.lock();
        let mut partners = state.partners.iter_mut();
        if let Some(partner) = partners.find(|partner| partner.name == name) {
            partner.index = index;
            state.complete = !state.forwards();
        }
    }

    /// Has the bypass outlive the process as soon as both interfaces are there with their programs.
    /// Does nothing where that is done, or has to wait.
    pub(super) fn complete(&self) -> Result<(), PortError> {
        let mut state = self.lock();
        if state.complete {
            return Ok(());
        }
        let [first, second] = &state.partners[..] else {
            return Ok(());
        };
        let (Some(mode), Some(other_mode)) = (first.mode(), second.mode()) else {
            return Ok(());
        };
        second.takes_frames_of(first, mode)?;
        first.takes_frames_of(second, other_mode)?;
        for (one, other) in [(first, second), (second, first)] {
            one.tell(other)?;
        }
        let bypassed = |one: &&Partner| one.steering.standby().is_some();
        for one in [first, second].into_iter().filter(bypassed) {
            one.steering.keep(&one.name)?;
            one.ready.outlive(one.steering.changed());
        }
        state.complete = true;
        Ok(())
    }

    /// The MTU of the interface that is the other one's.
    pub(super) fn mtu_beyond(&self, name: &str) -> Result<u32, PortError> {
        let state = self.lock();
        let other = state.partners.iter().find(|partner| partner.name != name);
        let other = other.ok_or_else(|| alone(name))?;
        other.ready.mtu().map_err(|error| {
            let sentence = format!("xdp:{}: its MTU cannot be read: {error}", other.name);
            PortError::new(PortErrorKind::Open, sentence)
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Whether a program sends frames to the other interface.
    fn forwards(&self) -> bool {
        let mut partners = self.partners.iter();
        partners.any(|partner| partner.ways() != [false; 2])
    }
}

impl Partner {
    /// Whether it has a bypass, and whether a shortcut.
    fn ways(&self) -> [bool; 2] {
        let steering = &self.steering;
        [steering.standby().is_some(), steering.has_shortcut()]
    }

    /// Where its program runs, if that is on the interface that is there now.
    fn mode(&self) -> Option<AttachMode> {
        let here = self.ready.index().is_ok_and(|index| index == self.index);
        self.steering.attached().filter(|_| here)
    }

    fn tell(&self, other: &Self) -> Result<(), PortError> {
        let told = self.steering.maps().set_peer(other.index);
        told.map_err(|error| {
            let (name, other) = (&self.name, &other.name);
            let sentence = format!("xdp:{name}: no way past us to {other} can be made: {error}");
            PortError::new(PortErrorKind::Open, sentence)
        })
    }

    /// Whether frames that a program redirects in the driver of `from` leave by this interface.
    /// A generic program has its own way; kernels before 6.3 do not say.
    fn takes_frames_of(&self, from: &Self, mode: AttachMode) -> Result<(), PortError> {
        let refuses = || XdpSupport::of(self.index).is_ok_and(|support| !support.transmit);
        if mode == AttachMode::Generic || !refuses() {
            return Ok(());
        }
        let (name, from) = (&self.name, &from.name);
        let remedy = if self
            .ready
            .interface()
            .driver()
            .is_ok_and(|driver| driver == "veth")
        {
            "`ethtool -K PEER gro on` at the other end of the pair lets it"
        } else {
            "leave out bypass and shortcut, or use mode=generic on both"
        };
        Err(PortError::new(
            PortErrorKind::Setting,
            format!(
                "xdp:{name}: it does not send frames that a program redirects to it, so that those \
                 of {from} could not pass by: {remedy}"
            ),
        ))
    }
}

fn alone(name: &str) -> PortError {
    let sentence = format!(
        "xdp:{name}: a bypass or shortcut is between two interfaces: give both ports \
         xdp: with bypass=on, or both with shortcut=on"
    );
    PortError::new(PortErrorKind::Setting, sentence)
}

impl fmt::Debug for Partners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        let names = state.partners.iter().map(|partner| &partner.name);
        f.debug_list().entries(names).finish()
    }
}

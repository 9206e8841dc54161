//! What a NIC can stamp, and what it is set to stamp (linux/net_tstamp.h, `ethtool -T`).

use std::io;

use libc::c_ulong;

use super::ioctl::{ControlSocket, InterfaceName};

// linux/sockios.h and linux/ethtool.h.
const SET_STAMPING: c_ulong = 0x89b0;
const GET_STAMPING: c_ulong = 0x89b1;
const GET_ABILITIES: u32 = 0x41;
const ABILITIES_WORDS: usize = 11;
const STAMPING_WORDS: usize = 3;

/// `SOF_TIMESTAMPING_RX_HARDWARE` and `SOF_TIMESTAMPING_RAW_HARDWARE`.
const RECEIVED: u32 = 1 << 2 | 1 << 6;
/// `HWTSTAMP_FILTER_ALL`.
const EVERY_FRAME: u32 = 1;

/// What a NIC can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StampAbilities {
    /// It stamps received frames by a clock of its own.
    pub(crate) received: bool,
    /// It stamps every one of them, not those of PTP alone.
    pub(crate) every_frame: bool,
    /// The number of its clock, as in `/dev/ptp0`.
    pub(crate) clock: Option<u32>,
}

impl StampAbilities {
    /// Of a driver that knows no more than the kernel's own clock: all false.
    pub(crate) fn of(socket: &ControlSocket, name: &InterfaceName) -> io::Result<Self> {
        let mut words = [0; ABILITIES_WORDS];
        words[0] = GET_ABILITIES;
        // SAFETY: `struct ethtool_ts_info` has 44 bytes, eleven words.
        unsafe { socket.ethtool(name, &mut words)? };
        Ok(Self::read(&words))
    }

    fn read(words: &[u32; ABILITIES_WORDS]) -> Self {
        let [_, sources, clock, _, _, _, _, filters, ..] = *words;
        Self {
            received: sources & RECEIVED == RECEIVED,
            every_frame: filters & 1 << EVERY_FRAME != 0,
            // None is -1.
            clock: i32::try_from(clock).ok().map(i32::cast_unsigned),
        }
    }
}

/// What a NIC is set to (`struct hwtstamp_config`), for all programs of the machine together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct StampSettings {
    /// `HWTSTAMP_TX_...`: sent frames.
    pub(crate) sent: u32,
    /// `HWTSTAMP_FILTER_...`: received frames.
    pub(crate) received: u32,
}

impl StampSettings {
    /// As it is now.
    pub(crate) fn of(socket: &ControlSocket, name: &InterfaceName) -> io::Result<Self> {
        let mut words = [0; STAMPING_WORDS];
        // SAFETY: `struct hwtstamp_config` has 12 bytes, three words.
        unsafe { socket.pointed(GET_STAMPING, name, &mut words)? };
        let [_, sent, received] = words;
        Ok(Self { sent, received })
    }

    /// Sets it; what the driver made of it, which may be more than was asked for.
    pub(crate) fn set(self, socket: &ControlSocket, name: &InterfaceName) -> io::Result<Self> {
        let mut words = [0, self.sent, self.received];
        // SAFETY: as above.
        unsafe { socket.pointed(SET_STAMPING, name, &mut words)? };
        let [_, sent, received] = words;
        Ok(Self { sent, received })
    }

    /// The same, with every received frame stamped.
    pub(crate) fn with_every_frame(self) -> Self {
        Self {
            received: EVERY_FRAME,
            ..self
        }
    }

    /// Whether every received frame is stamped.
    pub(crate) fn stamps_every_frame(self) -> bool {
        self.received == EVERY_FRAME
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_drivers_are_read() {
        let read = |sources: u32, clock: i32, filters: u32| {
            let mut words = [0; ABILITIES_WORDS];
            (words[1], words[2], words[7]) = (sources, clock.cast_unsigned(), filters);
            StampAbilities::read(&words)
        };
        let nic = read(0x5f, 0, 0b11);
        assert!(nic.received && nic.every_frame);
        assert_eq!(nic.clock, Some(0));
        // As the kernel answers for drivers that say nothing.
        let none = read(0x18, -1, 0);
        assert!(!none.received && !none.every_frame);
        assert_eq!(none.clock, None);
        // PTP packets alone.
        let some = read(0x5f, 3, 1 | 1 << 12);
        assert!(some.received && !some.every_frame);
        assert_eq!(some.clock, Some(3));
    }

    #[test]
    fn the_loopback_stamps_nothing_and_cannot_be_set_to() {
        let socket = ControlSocket::new().unwrap();
        let name = InterfaceName::new("lo").unwrap();
        if let Ok(abilities) = StampAbilities::of(&socket, &name) {
            assert!(!abilities.received && abilities.clock.is_none());
        }
        assert!(StampSettings::of(&socket, &name).is_err());
        let every = StampSettings::default().with_every_frame();
        assert!(every.stamps_every_frame());
        assert!(every.set(&socket, &name).is_err());
    }
}

//! Whether frames can pass an interface.

use std::fmt;

/// The state of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// No interface of the name is here.
    Absent,
    /// It is there, with this number, and set down.
    Down(u32),
    /// It is up and has nobody at the other end: no cable, or the peer is down.
    NoCarrier(u32),
    /// Frames can pass.
    Up(u32),
}

impl Link {
    /// From the kernel's answers about number and flags. They come one after the other: whatever
    /// happens between them, an interface counts as there only where both do.
    pub(super) fn from_answers(index: Option<u32>, flags: Option<u16>) -> Self {
        let (Some(index), Some(flags)) = (index, flags) else {
            return Self::Absent;
        };
        Self::of_flags(index, flags.into())
    }

    /// Of an interface that is there.
    pub(super) fn of_flags(index: u32, flags: u32) -> Self {
        let is_set = |flag: libc::c_int| flags & flag.cast_unsigned() != 0;
        match (is_set(libc::IFF_UP), is_set(libc::IFF_RUNNING)) {
            (false, _) => Self::Down(index),
            (true, false) => Self::NoCarrier(index),
            (true, true) => Self::Up(index),
        }
    }

    /// The number of the interface that is there.
    #[must_use]
    pub fn index(self) -> Option<u32> {
        match self {
            Self::Absent => None,
            Self::Down(index) | Self::NoCarrier(index) | Self::Up(index) => Some(index),
        }
    }

    /// Whether frames can pass.
    #[must_use]
    pub fn is_up(self) -> bool {
        matches!(self, Self::Up(_))
    }

    /// What to say of a port by `spec` whose interface `name` was found so at the start.
    pub(crate) fn note(self, spec: &str, name: &str) -> Option<String> {
        match self {
            Self::Up(_) => None,
            Self::Down(_) => Some(format!(
                "{spec}: the interface is down, and frames pass as soon as it is up: ip link set \
                 dev {name} up"
            )),
            Self::Absent | Self::NoCarrier(_) => Some(format!(
                "{spec}: the interface is {self}, and frames pass as soon as that changes"
            )),
        }
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Absent => "gone",
            Self::Down(_) => "down",
            Self::NoCarrier(_) => "without a carrier",
            Self::Up(_) => "up",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_down_is_told_how_to_get_up() {
        let note = |link: Link| link.note("xdp:eth1", "eth1");
        assert_eq!(note(Link::Up(3)), None);
        let down = note(Link::Down(3)).unwrap_or_default();
        assert!(down.ends_with("ip link set dev eth1 up"), "{down}");
        let unplugged = note(Link::NoCarrier(3)).unwrap_or_default();
        assert!(unplugged.contains("without a carrier"), "{unplugged}");
    }
}

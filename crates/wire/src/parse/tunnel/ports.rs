//! The UDP ports that tunnels are known by: IANA's, unless others are named.

use core::fmt;

use super::TunnelKind;

/// Ports of tunnels that one bridge may know, all kinds together.
pub const TUNNEL_PORTS_MAX: usize = 8;

const KINDS: [(TunnelKind, u16); 3] = [
    (TunnelKind::Vxlan, 4789),
    (TunnelKind::Geneve, 6081),
    (TunnelKind::GtpU, 2152),
];

/// Which destination ports of UDP lead to which kind of tunnel.
///
/// ```
/// let ports = wire::TunnelPorts::from_words(["vxlan=8472", "gtp-u=none"]).unwrap();
/// assert_eq!(ports.to_string(), "vxlan=8472,geneve=6081");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TunnelPorts {
    /// 0 where there is none.
    ports: [u16; TUNNEL_PORTS_MAX],
    kinds: [Option<TunnelKind>; TUNNEL_PORTS_MAX],
    /// A bit for each remainder of a port by 1,024: the eight compares instead cost every plain
    /// frame a nanosecond more.
    remainders: [u64; REMAINDER_WORDS],
}

const REMAINDER_WORDS: usize = 16;

/// A text that names no ports of tunnels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TunnelPortError {
    /// Not `KIND=PORT` with a kind of UDP tunnel and a port from 1 to 65,535.
    Word,
    /// Two kinds on one port.
    PortTwice(u16),
    /// More than [`TUNNEL_PORTS_MAX`].
    TooMany,
}

impl fmt::Display for TunnelPortError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word => f.write_str(
                "not a port of a tunnel: write vxlan=8472, geneve=6081 or gtp-u=2152, or 'none' \
                 for the port",
            ),
            Self::PortTwice(port) => {
                write!(
                    f,
                    "port {port} is named for two tunnels: choose one of them"
                )
            }
            Self::TooMany => write!(
                f,
                "more than {TUNNEL_PORTS_MAX} ports of tunnels are named: leave some out"
            ),
        }
    }
}

impl core::error::Error for TunnelPortError {}

impl Default for TunnelPorts {
    /// Those that IANA registered: VXLAN on 4789, GENEVE on 6081, GTP-U on 2152.
    fn default() -> Self {
        let mut ports = Self::NONE;
        for (kind, port) in KINDS {
            // Three distinct ports of eight places.
            let _ = ports.add(kind, port);
        }
        ports
    }
}

impl TunnelPorts {
    /// No UDP tunnel at all.
    pub const NONE: Self = Self {
        ports: [0; TUNNEL_PORTS_MAX],
        kinds: [None; TUNNEL_PORTS_MAX],
        remainders: [0; REMAINDER_WORDS],
    };

    /// The ports that words such as `vxlan=8472` name; a kind that is not named keeps IANA's, one
    /// that is named several times has all of them, and `none` takes a kind's away.
    ///
    /// # Errors
    /// See [`TunnelPortError`].
    pub fn from_words<'a>(
        words: impl IntoIterator<Item = &'a str, IntoIter: Clone>,
    ) -> Result<Self, TunnelPortError> {
        let words = words.into_iter();
        let mut ports = Self::NONE;
        for (kind, usual) in KINDS {
            let mut named = false;
            for word in words.clone() {
                let (name, port) = word.split_once('=').ok_or(TunnelPortError::Word)?;
                if !KINDS.iter().any(|(kind, _)| kind.name() == name) {
                    return Err(TunnelPortError::Word);
                }
                if name != kind.name() {
                    continue;
                }
                named = true;
                if port != "none" {
                    let port = port.parse().ok().filter(|&port| port != 0);
                    ports.add(kind, port.ok_or(TunnelPortError::Word)?)?;
                }
            }
            if !named {
                ports.add(kind, usual)?;
            }
        }
        Ok(ports)
    }

    fn add(&mut self, kind: TunnelKind, port: u16) -> Result<(), TunnelPortError> {
        match self.kind_of(port) {
            Some(same) if same == kind => return Ok(()),
            Some(_) => return Err(TunnelPortError::PortTwice(port)),
            None => {}
        }
        let place = self.kinds.iter().position(Option::is_none);
        let place = place.ok_or(TunnelPortError::TooMany)?;
        (self.ports[place], self.kinds[place]) = (port, Some(kind));
        self.remainders[usize::from(port >> 6) % REMAINDER_WORDS] |= 1 << (port & 63);
        Ok(())
    }

    /// Whether datagrams to `port` may be a tunnel's: of others one in some hundred.
    #[inline(always)]
    pub(super) fn may_contain(&self, port: u16) -> bool {
        let word = self.remainders[usize::from(port >> 6) % REMAINDER_WORDS];
        word >> (port & 63) & 1 != 0
    }

    /// Whether one of the ports is 0 or a tunnel's. One compare for eight frames and each port
    /// that is known, with no branch on any of them.
    #[inline(always)]
    #[must_use]
    pub fn zero_or_known(&self, dst_ports: &[u16]) -> bool {
        let [a, b, c, rest @ ..] = self.ports;
        let few = any_of(dst_ports, [0, a, b, c]);
        // Places are filled from the first on.
        if rest[0] == 0 {
            return few;
        }
        few | any_of(dst_ports, rest)
    }

    /// The tunnel that `port` leads to.
    #[must_use]
    pub fn kind_of(&self, port: u16) -> Option<TunnelKind> {
        let mut held = self.iter();
        held.find_map(|(kind, own)| (own == port).then_some(kind))
    }

    /// Kinds and their ports.
    pub fn iter(&self) -> impl Iterator<Item = (TunnelKind, u16)> {
        let pairs = self.kinds.iter().zip(&self.ports);
        pairs.filter_map(|(&kind, &port)| Some((kind?, port)))
    }
}

#[inline(always)]
fn any_of<const N: usize>(ports: &[u16], wanted: [u16; N]) -> bool {
    let among = |port: u16| {
        wanted
            .iter()
            .fold(0, |any, &one| any | -i16::from(port == one))
    };
    ports.iter().fold(0, |any, &port| any | among(port)) != 0
}

impl fmt::Display for TunnelPorts {
    /// As [`TunnelPorts::from_words`] reads them, with commas between.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (kind, port)) in self.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(f, "{comma}{}={port}", kind.name())?;
        }
        match self.iter().next() {
            Some(_) => Ok(()),
            None => f.write_str("none"),
        }
    }
}

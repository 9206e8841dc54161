//! `xdp:IFACE[,key=value]...`: what a user says of a port on AF_XDP.

use std::fmt;

use crate::spec::{Settings, check_interface, escape};
use crate::{SpecError, Timestamps};

const KEYS: [&str; 12] = [
    "queues",
    "mode",
    "ring",
    "busy-poll",
    "unclaimed",
    "vlan",
    "keep-local",
    "bypass",
    "shortcut",
    "transmit",
    "rx-hash",
    "timestamps",
];

/// Entries of each ring of a socket unless the spec says otherwise.
const RING_DEFAULT: u32 = 2048;
const RING_MIN: u32 = 64;
const RING_MAX: u32 = 32_768;

/// Most queues of an interface that a spec can name.
const QUEUES_MAX: u32 = 1024;

/// Longest time to poll in the kernel, microseconds.
const BUSY_POLL_MAX: u64 = 1_000_000;

/// Which frames are left to the host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum KeepLocal {
    /// None.
    #[default]
    Off,
    /// Those for its own addresses, and questions for them.
    On,
    /// Those, and all that no router forwards: to groups, of other protocols than IP, to IPv6
    /// addresses of the link.
    Control,
}

impl KeepLocal {
    /// The word after `keep-local=`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::On => "on",
            Self::Control => "control",
        }
    }

    fn parse(value: &str) -> Result<Self, SpecError> {
        match value {
            "on" => Ok(Self::On),
            "off" => Ok(Self::Off),
            "control" => Ok(Self::Control),
            _ => Err(SpecError::value("keep-local", value, "on, off or control")),
        }
    }
}

/// How frames are to cross between the driver and us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum XdpMode {
    /// The best that is granted: zero-copy, else copy with the program in the driver, else behind.
    Auto,
    /// The interface writes into and reads from our frames, or the port is refused.
    ZeroCopy,
    /// The kernel copies, with the program in the driver, or the port is refused.
    Copy,
    /// The kernel copies, with the program behind the driver: any interface has it.
    Generic,
}

impl XdpMode {
    const ALL: [Self; 4] = [Self::Auto, Self::ZeroCopy, Self::Copy, Self::Generic];

    /// The word after `mode=`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::ZeroCopy => "zerocopy",
            Self::Copy => "copy",
            Self::Generic => "generic",
        }
    }

    fn parse(text: &str) -> Result<Self, SpecError> {
        let named = Self::ALL.into_iter().find(|mode| mode.name() == text);
        named.ok_or_else(|| SpecError::value("mode", text, "auto, zerocopy, copy or generic"))
    }
}

/// What becomes of frames on queues of the interface that have no socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unclaimed {
    /// They go to the host.
    Pass,
    /// They are dropped.
    Drop,
}

impl Unclaimed {
    /// The word after `unclaimed=`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Drop => "drop",
        }
    }

    fn parse(text: &str) -> Result<Self, SpecError> {
        match text {
            "pass" => Ok(Self::Pass),
            "drop" => Ok(Self::Drop),
            _ => Err(SpecError::value("unclaimed", text, "pass or drop")),
        }
    }
}

/// What becomes of a VLAN tag that lies beside a frame where nobody can read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VlanTags {
    /// The port is refused where that can happen.
    Keep,
    /// It is lost, and the frame is in another VLAN: for wires that are known to have none.
    Ignore,
}

impl VlanTags {
    /// The word after `vlan=`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Ignore => "ignore",
        }
    }

    fn parse(text: &str) -> Result<Self, SpecError> {
        match text {
            "keep" => Ok(Self::Keep),
            "ignore" => Ok(Self::Ignore),
            _ => Err(SpecError::value("vlan", text, "keep or ignore")),
        }
    }
}

/// Whether the kernel forwards frames that no worker takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bypass {
    /// They are lost.
    Off,
    /// It does, past all sets, by a program that outlives the process.
    On {
        /// A folder of a BPF file system, in which the program has its name.
        folder: String,
    },
}

impl Bypass {
    /// Where the program has its name unless the spec says otherwise.
    pub const FOLDER: &'static str = "/sys/fs/bpf/linerate";

    fn parse(text: &str) -> Result<Self, SpecError> {
        let folder = match text {
            "off" => return Ok(Self::Off),
            "on" => Self::FOLDER,
            folder if folder.starts_with('/') => folder,
            _ => {
                let wanted = "on, off or a folder of a BPF file system as in /run/bpf/linerate";
                return Err(SpecError::value("bypass", text, wanted));
            }
        };
        Ok(Self::On {
            folder: folder.to_owned(),
        })
    }

    /// The folder, where there is a bypass.
    pub(super) fn folder(&self) -> Option<&str> {
        match self {
            Self::Off => None,
            Self::On { folder } => Some(folder),
        }
    }
}

impl fmt::Display for Bypass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.folder() {
            None => "off",
            Some(Self::FOLDER) => "on",
            Some(folder) => return f.write_str(&escape(folder)),
        })
    }
}

/// How frames leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transmit {
    /// By redirection where the kernel would copy, the driver is veth's, and the far end receives
    /// at once; else by sockets.
    Auto,
    /// By the sockets' rings.
    Socket,
    /// As `Auto`, and the port is refused where that can never be: the driver is another, or the
    /// MTU too large.
    Redirect,
}

impl Transmit {
    /// The word after `transmit=`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Socket => "socket",
            Self::Redirect => "redirect",
        }
    }

    fn parse(text: &str) -> Result<Self, SpecError> {
        match text {
            "auto" => Ok(Self::Auto),
            "socket" => Ok(Self::Socket),
            "redirect" => Ok(Self::Redirect),
            _ => Err(SpecError::value(
                "transmit",
                text,
                "auto, socket or redirect",
            )),
        }
    }
}

/// Which queues of the interface are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queues {
    /// As many as there are.
    All,
    /// From the first to the last, counted from 0.
    Range(u32, u32),
}

impl Queues {
    /// `4` is the first four, `2-3` the third and fourth.
    fn parse(text: &str) -> Result<Self, SpecError> {
        let number = |text: &str| {
            text.parse()
                .ok()
                .filter(|&number: &u32| number < QUEUES_MAX)
        };
        let range = match text.split_once('-') {
            _ if text == "all" => return Ok(Self::All),
            Some((first, last)) => number(first).zip(number(last)),
            None => number(text).and_then(|count| Some((0, count.checked_sub(1)?))),
        };
        match range {
            Some((first, last)) if first <= last => Ok(Self::Range(first, last)),
            _ => {
                let wanted = "all, a number as in 4, or a range as in 2-3";
                Err(SpecError::value("queues", text, wanted))
            }
        }
    }
}

impl fmt::Display for Queues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::All => f.write_str("all"),
            Self::Range(0, last) => write!(f, "{}", last + 1),
            Self::Range(first, last) => write!(f, "{first}-{last}"),
        }
    }
}

/// A port on AF_XDP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XdpSpec {
    /// The network interface.
    pub interface: String,
    /// Which of its queues.
    pub queues: Queues,
    /// How frames cross.
    pub mode: XdpMode,
    /// Entries of each ring of each queue, a power of two.
    pub ring: u32,
    /// How long the kernel polls in a receive call, microseconds; 0 for interrupts.
    pub busy_poll_micros: u32,
    /// What becomes of frames without a socket.
    pub unclaimed: Unclaimed,
    /// What becomes of VLAN tags that cannot be read.
    pub vlan: VlanTags,
    /// Which frames are left to the host.
    pub keep_local: KeepLocal,
    /// Whether the kernel forwards what no worker takes.
    pub bypass: Bypass,
    /// Whether the kernel forwards what is surely in no list.
    pub shortcut: bool,
    /// How frames leave.
    pub transmit: Transmit,
    /// Whether frames' records say what the interface hashed them to, and on which of its queues
    /// they came. For looking at a NIC's choices.
    pub rx_hash: bool,
    /// Where the times of received frames come from.
    pub timestamps: Timestamps,
}

impl XdpSpec {
    pub(crate) fn from_settings(settings: &mut Settings) -> Result<Self, SpecError> {
        settings.expect(&KEYS)?;
        let queues = settings.take("queues").as_deref().map(Queues::parse);
        let mode = settings.take("mode").as_deref().map(XdpMode::parse);
        let unclaimed = settings.take("unclaimed").as_deref().map(Unclaimed::parse);
        let vlan = settings.take("vlan").as_deref().map(VlanTags::parse);
        let bypass = settings.take("bypass").as_deref().map(Bypass::parse);
        let keep_local = settings.take("keep-local");
        let keep_local = keep_local.as_deref().map(KeepLocal::parse);
        let timestamps = settings.take("timestamps");
        let timestamps = timestamps.as_deref().map(Timestamps::parse);
        let transmit = settings.take("transmit").as_deref().map(Transmit::parse);
        let busy_poll = settings.take_number("busy-poll", 0..=BUSY_POLL_MAX)?;
        Ok(Self {
            queues: queues.transpose()?.unwrap_or(Queues::All),
            mode: mode.transpose()?.unwrap_or(XdpMode::Auto),
            ring: ring(settings)?,
            busy_poll_micros: busy_poll.unwrap_or(0) as u32,
            unclaimed: unclaimed.transpose()?.unwrap_or(Unclaimed::Pass),
            vlan: vlan.transpose()?.unwrap_or(VlanTags::Keep),
            bypass: bypass.transpose()?.unwrap_or(Bypass::Off),
            keep_local: keep_local.transpose()?.unwrap_or_default(),
            shortcut: settings.take_switch("shortcut")?.unwrap_or(false),
            transmit: transmit.transpose()?.unwrap_or(Transmit::Socket),
            rx_hash: settings.take_switch("rx-hash")?.unwrap_or(false),
            timestamps: timestamps.transpose()?.unwrap_or_default(),
            interface: interface(settings)?,
        })
    }
}

fn ring(settings: &mut Settings) -> Result<u32, SpecError> {
    let bounds = u64::from(RING_MIN)..=u64::from(RING_MAX);
    let Some(ring) = settings.take_number("ring", bounds)? else {
        return Ok(RING_DEFAULT);
    };
    if !ring.is_power_of_two() {
        let wanted = "a power of two, as the kernel's rings are";
        return Err(SpecError::value("ring", &ring.to_string(), wanted));
    }
    Ok(ring as u32)
}

fn interface(settings: &mut Settings) -> Result<String, SpecError> {
    let name = settings.name.take().unwrap_or_default();
    if name.is_empty() {
        return Err(SpecError::new(
            "it names no network interface; write xdp:eth0 with one that `ip link` lists",
        ));
    }
    check_interface(&name)?;
    Ok(name)
}

const fn on_or_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

impl fmt::Display for XdpSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "xdp:{},queues={},mode={},ring={},busy-poll={},unclaimed={},vlan={},keep-local={},\
             bypass={},shortcut={},transmit={},rx-hash={},timestamps={}",
            escape(&self.interface),
            self.queues,
            self.mode.name(),
            self.ring,
            self.busy_poll_micros,
            self.unclaimed.name(),
            self.vlan.name(),
            self.keep_local.name(),
            self.bypass,
            on_or_off(self.shortcut),
            self.transmit.name(),
            on_or_off(self.rx_hash),
            self.timestamps.name()
        )
    }
}

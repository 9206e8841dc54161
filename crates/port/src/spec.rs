//! Ports as a user writes them: `DRIVER:NAME[,key=value]...`.
//!
//! Parsing is pure: it touches no file and opens nothing. [`std::fmt::Display`] writes a spec with
//! every choice resolved, which parses to the same spec again and is what a dry run prints.

mod error;
mod interface_name;
mod nearest;
mod settings;
#[cfg(test)]
mod tests;

use std::fmt;

pub use error::SpecError;
pub(crate) use interface_name::{check_interface, check_own_name};
pub(crate) use settings::{Settings, escape};

use crate::generator::GenSpec;
use crate::host_tap::TapSpec;
use crate::memif::MemifSpec;
use crate::packet::PacketSpec;
use crate::pcap::PcapSpec;
use crate::ring::RingSpec;
use crate::xdp::XdpSpec;
pub use nearest::nearest_word;

const DRIVERS: [&str; 8] = [
    "xdp", "packet", "tap", "memif", "pcap", "gen", "null", "ring",
];

/// A port to be opened.
#[derive(Debug, Clone, PartialEq)]
pub enum PortSpec {
    /// `xdp:eth0`: a network interface, by AF_XDP.
    Xdp(XdpSpec),
    /// `packet:eth0`: a kernel interface by packet sockets.
    Packet(PacketSpec),
    /// `tap:NAME`: an interface of the host that is made for us.
    Tap(TapSpec),
    /// `memif:/run/memif.sock`: shared memory with another process.
    Memif(MemifSpec),
    /// `pcap:in=a.pcap,out=b.pcap`: capture files.
    Pcap(PcapSpec),
    /// `gen:size=64`: the traffic generator.
    Gen(GenSpec),
    /// `null:`: swallows what it is sent.
    Null,
    /// `ring:NAME`: a memory ring within the process.
    Ring(RingSpec),
}

impl PortSpec {
    /// Reads a spec.
    ///
    /// # Errors
    /// One sentence that names what is not understood and what would be.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        Self::parse_inner(text).map_err(|error| error.within(text))
    }

    /// What reads a capture, by any of the words that a command takes for one: `FILE`, `pcap:FILE`
    /// and `pcap:in=FILE`, each perhaps with `,loop=N` to read it several times. No other comma
    /// in a bare name means anything.
    ///
    /// # Errors
    /// No name, a number of times that is none, or a port that writes.
    pub fn reading(text: &str) -> Result<Self, SpecError> {
        let bare = text.strip_prefix("pcap:").unwrap_or(text);
        if bare.len() < text.len() && crate::pcap::begins_with_setting(bare) {
            return match Self::parse(text)? {
                Self::Pcap(spec) if spec.output.is_some() => {
                    Err(SpecError::new("it is to be read: leave out out=FILE").within(text))
                }
                spec => Ok(spec),
            };
        }
        let (path, loops) = match bare.rsplit_once(",loop=") {
            Some((path, times)) => (path, format!(",loop={times}")),
            None => (bare, String::new()),
        };
        Self::parse(&format!("pcap:in={}{loops}", escape(path)))
    }

    /// The interface of the kernel that frames pass by, if there is one.
    #[must_use]
    pub fn interface(&self) -> Option<&str> {
        match self {
            Self::Xdp(spec) => Some(&spec.interface),
            Self::Packet(spec) => Some(&spec.interface),
            Self::Tap(spec) => Some(&spec.interface),
            _ => None,
        }
    }

    fn parse_inner(text: &str) -> Result<Self, SpecError> {
        let (driver, rest) = text.split_once(':').ok_or_else(|| no_driver(text))?;
        let driver = DRIVERS
            .into_iter()
            .find(|known| *known == driver)
            .ok_or_else(|| unknown_driver(driver))?;
        let mut settings = Settings::split(driver, rest)?;
        match driver {
            "xdp" => XdpSpec::from_settings(&mut settings).map(Self::Xdp),
            "packet" => PacketSpec::from_settings(&mut settings).map(Self::Packet),
            "tap" => TapSpec::from_settings(&mut settings).map(Self::Tap),
            "memif" => MemifSpec::from_settings(&mut settings).map(Self::Memif),
            "pcap" => PcapSpec::from_settings(&mut settings).map(Self::Pcap),
            "gen" => GenSpec::from_settings(&mut settings).map(Self::Gen),
            "ring" => RingSpec::from_settings(&mut settings).map(Self::Ring),
            _ => {
                settings.expect_no_name("write null: alone")?;
                settings.expect(&[])?;
                Ok(Self::Null)
            }
        }
    }

    /// The driver's name.
    #[must_use]
    pub const fn driver(&self) -> &'static str {
        match self {
            Self::Xdp(_) => "xdp",
            Self::Packet(_) => "packet",
            Self::Tap(_) => "tap",
            Self::Memif(_) => "memif",
            Self::Pcap(_) => "pcap",
            Self::Gen(_) => "gen",
            Self::Null => "null",
            Self::Ring(_) => "ring",
        }
    }
}

impl std::str::FromStr for PortSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        Self::parse(text)
    }
}

impl fmt::Display for PortSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Xdp(spec) => spec.fmt(f),
            Self::Packet(spec) => spec.fmt(f),
            Self::Tap(spec) => spec.fmt(f),
            Self::Memif(spec) => spec.fmt(f),
            Self::Pcap(spec) => spec.fmt(f),
            Self::Gen(spec) => spec.fmt(f),
            Self::Null => f.write_str("null:"),
            Self::Ring(spec) => spec.fmt(f),
        }
    }
}

fn no_driver(text: &str) -> SpecError {
    const ENDINGS: [&str; 5] = [".pcap", ".pcapng", ".cap", ".gz", ".ntar"];
    let is_file = text.contains('/') || ENDINGS.iter().any(|ending| text.ends_with(ending));
    SpecError::new(if text.is_empty() {
        "it is empty; write DRIVER:NAME, gen: for instance".to_owned()
    } else if DRIVERS.contains(&text) {
        format!("the colon is missing; write {text}:")
    } else if is_file {
        let path = escape(text);
        format!("a capture is written pcap:in={path} to read it, pcap:out={path} to write it")
    } else {
        let drivers = DRIVERS.join(", ");
        let interface = match may_be_interface(text) {
            true => format!("; an interface of that name is xdp:{text}"),
            false => String::new(),
        };
        format!("it names no driver; write DRIVER:NAME with one of {drivers}{interface}")
    })
}

/// Whether the kernel may call an interface so.
fn may_be_interface(text: &str) -> bool {
    let sound = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.@".contains(&byte);
    text.len() < 16 && text.bytes().all(sound)
}

fn unknown_driver(driver: &str) -> SpecError {
    let drivers = DRIVERS.join(", ");
    SpecError::new(match (driver, nearest_word(driver, &DRIVERS)) {
        (_, Some(near)) => format!("there is no driver `{driver}`; did you mean {near}:?"),
        _ => format!("there is no driver `{driver}`; there are {drivers}"),
    })
}

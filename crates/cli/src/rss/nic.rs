//! An interface by a port's name, and its settings in words.

use port::PortSpec;
use port::interface::{FlowKind, HASH_FUNCTIONS, HashSettings, Interface};
use serde::Serialize;
use wire::toeplitz::{HashInput, HashTypes};

use crate::error::Error;

/// The interface that a user means by `eth0`, `packet:eth0` or `xdp:eth0`.
pub(super) fn interface(port: &str) -> Result<Interface, Error> {
    Interface::existing(&name(port)?).map_err(Error::refused)
}

pub(super) fn name(port: &str) -> Result<String, Error> {
    if !port.contains(':') {
        return Ok(port.to_owned());
    }
    let spec = PortSpec::parse(port).map_err(Error::refused)?;
    let name = spec.interface().map(str::to_owned);
    name.ok_or_else(|| {
        Error::refused(format!(
            "{port} is no interface of the kernel, and only those have a receive hash: write eth0"
        ))
    })
}

/// Settings, as JSON has them.
#[derive(Debug, Serialize)]
pub(super) struct Nic {
    pub(super) interface: String,
    pub(super) driver: String,
    /// Receive queues in use.
    pub(super) queues: Option<u32>,
    /// `toeplitz`, `xor`, `crc32`; null where the driver does not say.
    pub(super) function: Option<&'static str>,
    /// Bytes in hexadecimal digits with colons between; null where the driver does not tell it.
    pub(super) key: Option<String>,
    /// The queue of each bucket.
    pub(super) table: Vec<u32>,
    /// What of each kind of frame is hashed, in the letters of 'ethtool -n'.
    pub(super) types: std::collections::BTreeMap<&'static str, String>,
}

impl Nic {
    pub(super) fn of(interface: &Interface, settings: &HashSettings) -> Self {
        let bytes = settings.rss.key.iter();
        let bytes: Vec<String> = bytes.map(|byte| format!("{byte:02x}")).collect();
        let types = settings.by_name();
        Self {
            interface: interface.name().to_owned(),
            driver: interface.driver().unwrap_or_default(),
            queues: interface.rx_queues().ok(),
            function: function(settings.rss.function),
            key: (!bytes.is_empty()).then(|| bytes.join(":")),
            table: settings.rss.indirection.clone(),
            types: types
                .map(|(name, letters)| (name, letters.to_owned()))
                .collect(),
        }
    }
}

/// The name of a hash function.
pub(super) fn function(bits: u8) -> Option<&'static str> {
    let mut named = HASH_FUNCTIONS.iter().enumerate();
    named
        .find(|(bit, _)| bits >> bit & 1 == 1)
        .map(|(_, name)| *name)
}

/// What a driver says goes into its hash; what it does not say is taken for what most do.
pub(super) fn types(settings: &HashSettings) -> HashTypes {
    let of = |kind| match settings.of_kind(kind) {
        None => HashInput::Ports,
        Some(letters) if letters.contains(['f', 'n']) => HashInput::Ports,
        Some("") => HashInput::Family,
        Some(_) => HashInput::Addresses,
    };
    HashTypes {
        tcp4: of(FlowKind::Tcp4),
        udp4: of(FlowKind::Udp4),
        tcp6: of(FlowKind::Tcp6),
        udp6: of(FlowKind::Udp6),
        ..HashTypes::ALL
    }
}

/// Kinds of frames, as ethtool names them, of which a driver does not say what it hashes.
pub(super) fn untold(settings: &HashSettings) -> Vec<&'static str> {
    let told: Vec<&str> = settings.by_name().map(|(name, _)| name).collect();
    let kinds = HashSettings::kinds();
    kinds.filter(|name| !told.contains(name)).collect()
}

/// `sdfn` in words.
pub(super) fn letters(letters: &str) -> String {
    match letters {
        "" => "not hashed".to_owned(),
        "sd" => "addresses".to_owned(),
        "sdfn" => "addresses and ports".to_owned(),
        other => format!("fields {other}"),
    }
}

#[cfg(test)]
mod tests {
    use port::interface::Rss;

    use super::*;

    #[test]
    fn ports_by_their_specs() {
        for port in ["eth0", "packet:eth0", "xdp:eth0,queues=0-1"] {
            assert_eq!(name(port).expect("an interface"), "eth0", "{port}");
        }
        for port in ["null:", "gen:size=64", "nonsense:x"] {
            assert!(name(port).is_err(), "{port}");
        }
    }

    #[test]
    fn letters_become_types() {
        let settings = HashSettings {
            rss: Rss::default(),
            hashed: vec![
                (FlowKind::Tcp4, "sdfn".to_owned()),
                (FlowKind::Udp4, "sd".to_owned()),
                (FlowKind::Udp6, String::new()),
            ],
        };
        let types = types(&settings);
        assert_eq!(types.tcp4, HashInput::Ports);
        assert_eq!(types.udp4, HashInput::Addresses);
        assert_eq!(types.udp6, HashInput::Family);
        assert_eq!(types.tcp6, HashInput::Ports, "what most do");
        assert_eq!(untold(&settings), ["tcp6"]);
        assert_eq!(
            (function(0), function(1), function(4)),
            (None, Some("toeplitz"), Some("crc32"))
        );
    }
}

//! An interface, by its name or by the port that it is.

use std::ffi::OsString;

use clap::builder::{OsStringValueParser, TypedValueParser};
use port::PortSpec;

/// Drivers whose ports are interfaces of the kernel. No interface has a colon in its name.
const PREFIXES: [&str; 3] = ["xdp:", "packet:", "tap:"];

/// Reads `eth0`, and `xdp:eth0`, `packet:eth0` or `tap:eth0`, whatever settings follow. Names may
/// be no text.
pub(super) fn interface_word() -> impl TypedValueParser<Value = OsString> {
    OsStringValueParser::new().try_map(|word| match word.to_str() {
        Some(text) => interface(text).map(OsString::from),
        None => Ok(word),
    })
}

/// Reads the same where names are text.
pub(super) fn interface(text: &str) -> Result<String, String> {
    if !PREFIXES.iter().any(|prefix| text.starts_with(prefix)) {
        return Ok(text.to_owned());
    }
    let spec = PortSpec::parse(text).map_err(|error| error.to_string())?;
    Ok(spec.interface().unwrap_or(text).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_by_name_or_port() {
        for (text, name) in [
            ("eth0", "eth0"),
            ("eth0.7", "eth0.7"),
            ("xdp:eth0", "eth0"),
            ("xdp:eth0,queues=2,bypass=on", "eth0"),
            ("packet:eth0", "eth0"),
            ("tap:tap0", "tap0"),
            ("xdp", "xdp"),
            ("eth0:1", "eth0:1"),
            ("pcap:in=a", "pcap:in=a"),
        ] {
            assert_eq!(interface(text).as_deref(), Ok(name), "{text}");
        }
        for (text, why) in [
            ("xdp:", "xdp:eth0"),
            ("xdp:eth0,queue=2", "did you mean queues=?"),
        ] {
            let refused = interface(text).expect_err(text);
            assert!(refused.contains(why), "{text}: {refused}");
        }
    }
}

//! The ports of a bridge by what a user calls them.

use std::str::FromStr;

use frame::PortId;
use plane::Ports;

/// Some names, none of them empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PortNames(Vec<String>);

impl FromStr for PortNames {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let names: Vec<String> = text.split(',').map(str::to_owned).collect();
        if names.iter().any(String::is_empty) {
            return Err("write PORT or PORT,PORT, as in first or eth0");
        }
        Ok(Self(names))
    }
}

impl PortNames {
    /// The ports that are meant by an option; `ports` are as they were typed.
    pub(crate) fn ports(&self, option: &str, ports: &[&str]) -> Result<Ports, String> {
        self.0.iter().try_fold(Ports::NONE, |all, name| {
            Ok(all.with(PortId(place_of(option, name, ports)?)))
        })
    }
}

/// Which port a name means.
fn place_of(option: &str, name: &str, ports: &[&str]) -> Result<u8, String> {
    let short = |spec: &str| {
        let of_driver = spec.split_once(':').map_or(spec, |(_, rest)| rest);
        let first = of_driver.split(',').next();
        // What has no setting has the driver's name alone.
        first
            .filter(|name| !name.is_empty())
            .unwrap_or(spec)
            .to_owned()
    };
    let is = |(place, port): &(u8, &&str)| {
        let word = ["first", "second"].get(usize::from(*place));
        word.is_some_and(|word| name == *word) || name == **port || name == short(port)
    };
    let mut meant = (0_u8..).zip(ports).filter(is);
    match (meant.next(), meant.next()) {
        (Some((place, _)), None) => Ok(place),
        (Some(_), Some(_)) => Err(format!(
            "{option}: several ports are called '{name}': write first or second, or the whole port"
        )),
        (None, _) => {
            let names: Vec<String> = ports.iter().map(|port| short(port)).collect();
            Err(format!(
                "{option}: no port is called '{name}': write first or second, or {}",
                names.join(" or ")
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_by_their_names() {
        let ports = ["xdp:eth0,queues=2", "packet:eth1"];
        for (name, place) in [("first", 0), ("second", 1), ("eth0", 0), ("packet:eth1", 1)] {
            assert_eq!(place_of("--router", name, &ports), Ok(place), "{name}");
        }
        assert!(
            place_of("--router", "eth2", &ports).is_err_and(|why| why.contains("eth0 or eth1"))
        );
        assert!(place_of("--router", "null", &["tap:null", "memif:null"]).is_err());
    }
}

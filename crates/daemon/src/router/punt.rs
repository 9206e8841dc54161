//! The port that takes what is for the router's own addresses.

use plane::router::{InterfaceId, RouterInterface};

use crate::switch::PortNames;

/// The one interface of the port that a word means, which is a `tap:` port.
pub(super) fn interface(
    word: &str,
    names: &PortNames,
    interfaces: &[RouterInterface],
) -> Result<InterfaceId, String> {
    let port = names.port(word).map_err(|sentence| {
        format!("{sentence}; what is for the router needs a tap: port among them, as P=tap:lin0")
    })?;
    if !names.spec(port).starts_with("tap:") {
        return Err(format!(
            "'{word}' is {}, and what is for the router goes to a host behind a tap: port: name \
             one",
            names.spec(port)
        ));
    }
    let numbered = (0..=u16::MAX).map(InterfaceId).zip(interfaces);
    let mut own = numbered.filter(|(_, one)| one.port == port);
    match (own.next(), own.next()) {
        (Some((id, _)), None) => Ok(id),
        (None, _) => Err(format!(
            "the port '{word}' has no interface: give it one, as in --interface \
             host={word},169.254.0.1/30"
        )),
        (Some(_), Some(_)) => Err(format!(
            "the port '{word}' has several interfaces, so that it is not known which the host is \
             behind: leave one"
        )),
    }
}

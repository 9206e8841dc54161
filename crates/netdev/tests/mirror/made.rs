//! Messages as a kernel would make them.

pub(crate) const NEW_LINK: u16 = 16;
pub(crate) const NEW_ROUTE: u16 = 24;
pub(crate) const DELETED_ROUTE: u16 = 25;
pub(crate) const REPLACE: u16 = 0x100;
pub(crate) const CREATE: u16 = 0x400;
pub(crate) const MULTIPART: u16 = 2;
pub(crate) const DONE: u16 = 3;

/// Whose message it is: the socket's port number and the number of its request.
#[derive(Clone, Copy, Default)]
pub(crate) struct From {
    pub(crate) port: u32,
    pub(crate) sequence: u32,
}

pub(crate) fn message(kind: u16, flags: u16, from: From, body: &[u8]) -> Vec<u8> {
    let mut bytes = ((16 + body.len()) as u32).to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    bytes.extend(from.sequence.to_ne_bytes());
    bytes.extend(from.port.to_ne_bytes());
    bytes.extend(body);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

pub(crate) fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = ((value.len() + 4) as u16).to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// The body of a message about `20.0.NUMBER.0/24` by the gateway `10.0.0.GATEWAY`.
pub(crate) fn route_ipv4(number: u8, metric: u32, gateway: u8) -> Vec<u8> {
    let mut body = vec![2, 24, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0];
    body.extend(attribute(1, &[20, 0, number, 0]));
    body.extend(attribute(6, &metric.to_ne_bytes()));
    body.extend(attribute(5, &[10, 0, 0, gateway]));
    body.extend(attribute(4, &1_u32.to_ne_bytes()));
    body
}

/// The same of `NUMBER::/16` by `::GATEWAY`, one or several.
pub(crate) fn route_ipv6(number: u8, metric: u32, gateways: &[u8]) -> Vec<u8> {
    let sixteen = |at: usize, byte| {
        let mut bytes = [0; 16];
        bytes[at] = byte;
        bytes
    };
    let mut body = vec![10, 16, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0];
    body.extend(attribute(1, &sixteen(1, number)));
    body.extend(attribute(6, &metric.to_ne_bytes()));
    let gateway = |gateway: &u8| attribute(5, &sixteen(15, *gateway));
    let hop = |to: &u8| [&[28, 0, 0, 0, 1, 0, 0, 0], &gateway(to)[..]].concat();
    match gateways {
        [one] => {
            body.extend(gateway(one));
            body.extend(attribute(4, &1_u32.to_ne_bytes()));
        }
        several => body.extend(attribute(
            9,
            &several.iter().flat_map(hop).collect::<Vec<_>>(),
        )),
    }
    body
}

/// The body of a message about a link with these attributes.
pub(crate) fn link(index: u32, attributes: &[(u16, &[u8])]) -> Vec<u8> {
    let mut body = vec![0; 16];
    body[4..8].copy_from_slice(&index.to_ne_bytes());
    for (kind, value) in attributes {
        body.extend(attribute(*kind, value));
    }
    body
}

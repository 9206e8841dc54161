//! Routes as text.

use std::net::IpAddr;

use list::routes::{RouteKind, RouteText};

/// A file of routes, and its first line as a route: what is read leads somewhere and has no host
/// bits, and each prefix of a table is there once.
pub fn routes(bytes: &[u8]) {
    let read = list::routes::read("fuzz", bytes);
    let read = read.map_or_else(|error| refused(&error.to_string()), |read| read.routes);
    read.iter().for_each(check);
    let key = |route: &RouteText| (route.prefix, route.prefix_len, route.table.clone());
    let is_rising = |pair: &[RouteText]| key(&pair[0]) < key(&pair[1]);
    assert!(read.windows(2).all(is_rising), "a prefix is there twice");
    let line = bytes.split(|byte| *byte == b'\n').next();
    let line = line.and_then(|line| std::str::from_utf8(line).ok());
    match line.map(list::routes::read_line) {
        Some(Ok(route)) => check(&route),
        Some(Err(fault)) => drop(refused(&fault.to_string())),
        None => {}
    }
}

/// A file is refused with few lines that a terminal can show.
fn refused(sentence: &str) -> Vec<RouteText> {
    assert!(!sentence.is_empty() && sentence.lines().count() <= 21);
    assert!(!sentence.contains(|char: char| char.is_control() && char != '\n'));
    Vec::new()
}

fn check(route: &RouteText) {
    let (bits, address) = match route.prefix {
        IpAddr::V4(address) => (32, u128::from(address.to_bits())),
        IpAddr::V6(address) => (128, address.to_bits()),
    };
    assert!(route.prefix_len <= bits);
    let host_bits = u32::from(bits - route.prefix_len);
    let host_mask = 1u128
        .checked_shl(host_bits)
        .map_or(u128::MAX, |bit| bit - 1);
    assert_eq!(address & host_mask, 0, "host bits");
    assert!(route.kind != RouteKind::Unicast || !route.hops.is_empty());
    for hop in &route.hops {
        assert!(hop.gateway.is_some() || hop.device.is_some());
        assert!((1..=256).contains(&hop.weight));
    }
}

//! What the kernel has of tables and links that the router does not follow.

use std::collections::BTreeSet;

use netdev::routing::{Link, LinkKind, Mirror};

use super::interfaces::Interfaces;
use super::routes::is_followed;

/// The table that the kernel looks up last, which is empty unless somebody fills it.
const DEFAULT_TABLE: u32 = 253;
/// Tables that a sentence names at most.
const NAMED_MAX: usize = 8;

/// A sentence each.
pub(super) fn sentences(mirror: &Mirror, interfaces: &Interfaces) -> Vec<String> {
    let parts = mirror
        .links()
        .filter(|link| interfaces.is_of_a_port(mirror, link))
        .filter_map(|link| part(mirror, link));
    parts.chain(tables(mirror)).collect()
}

/// A link of a port that belongs to another link.
fn part(mirror: &Mirror, link: &Link) -> Option<String> {
    let master = mirror.link(link.master?)?;
    let kind = match &master.kind {
        LinkKind::Other(kind) => kind.to_string_lossy().into_owned(),
        _ => "link".to_owned(),
    };
    let (link, master) = (link.name.to_string_lossy(), master.name.to_string_lossy());
    Some(format!(
        "{link} is part of the {kind} {master}, so that it is no interface of the router: `ip link \
         set {link} nomaster` makes it one"
    ))
}

/// Tables that rules or VRFs lead to.
fn tables(mirror: &Mirror) -> Option<String> {
    let tables = mirror.routes().map(|(key, _)| key.table);
    let tables = tables.filter(|&table| !is_followed(table) && table != DEFAULT_TABLE);
    let tables: BTreeSet<u32> = tables.collect();
    let named: Vec<String> = tables.iter().take(NAMED_MAX).map(u32::to_string).collect();
    let more = match tables.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!tables.is_empty()).then(|| {
        format!(
            "routes of the tables {}{more} are not followed, nor the rules that lead to them (`ip \
             rule`): packets go by the tables local and main; a router without kernel has VRFs",
            named.join(", ")
        )
    })
}

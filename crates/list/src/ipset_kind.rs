//! What an ipset is made as: its type, then options in any order.

use crate::fault::Fault;
use crate::intake::{Intake, Sink};
use crate::ipset_words::is_timeout;
use crate::sets::Kind;

/// Reads the words behind the name of a set that is made.
pub(crate) fn read<'l, S: Sink>(
    words: &[&'l [u8]],
    intake: &mut Intake<'_, S>,
) -> Result<Kind, (Fault, &'l [u8])> {
    let mut kind = Kind {
        fault: None,
        is_v6: Some(false),
        is_by_address: true,
    };
    let Some((kind_name, options)) = words.split_first() else {
        return Ok(kind);
    };
    match *kind_name {
        b"hash:ip" | b"iphash" | b"iptree" | b"iptreemap" | b"bitmap:ip" | b"ipmap" => {}
        b"hash:net" | b"nethash" => kind.is_by_address = false,
        _ => {
            kind.fault = Some(Fault::IpsetType);
            return Ok(kind);
        }
    }
    let mut options = options.iter();
    while let Some(&option) = options.next() {
        let unknown = (Fault::IpsetOption, option);
        let mut value = || options.next().copied().ok_or(unknown);
        match option.strip_prefix(b"--").unwrap_or(option) {
            b"counters" | b"comment" | b"skbinfo" | b"forceadd" => {}
            b"hashsize" | b"maxelem" | b"bucketsize" | b"initval" | b"range" | b"from" | b"to"
            | b"network" | b"probes" | b"resize" | b"gc" => {
                value()?;
            }
            b"-4" => kind.is_v6 = Some(false),
            b"-6" => kind.is_v6 = Some(true),
            b"family" => kind.is_v6 = Some(is_v6(value()?)?),
            b"timeout" => {
                if is_timeout(value()?)? {
                    intake.warn_of_timeout();
                }
            }
            b"netmask" | b"bitmask" => {
                value()?;
                kind.fault = Some(Fault::IpsetNetmask);
            }
            _ => return Err(unknown),
        }
    }
    Ok(kind)
}

fn is_v6(family: &[u8]) -> Result<bool, (Fault, &[u8])> {
    match family {
        b"inet" | b"ipv4" => Ok(false),
        b"inet6" | b"ipv6" => Ok(true),
        _ => Err((Fault::IpsetOption, family)),
    }
}

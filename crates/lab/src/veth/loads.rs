//! Sets of addresses, and how long each design takes to load them from text.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use list::ReadOptions;
use port::{XdpMap, XdpMapKind, XdpProgram};
use table::{CompiledLists, Entries};

use super::accounts::{memory_available, memory_peak};
use super::lane::Links;
use crate::contest::refused;
use crate::experiment::LabError;
use crate::shuffle::Seeded;

const HASH_SET: &[u8] = include_bytes!("../../../../bpf/hash_set.bpf.o");

/// Between two looks at a program that loads.
const LOOK: Duration = Duration::from_millis(5);

/// What a load took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Load {
    pub(super) seconds: f64,
    /// Kept afterwards.
    pub(super) bytes: u64,
    /// Kept and needed by the loading program at its greatest, where it is known.
    pub(super) peak_bytes: Option<u64>,
}

/// Addresses and the structure made of them.
pub(super) struct Set {
    pub(super) addresses: Arc<[u32]>,
    pub(super) lists: Arc<CompiledLists>,
    /// How long reading and compiling took.
    pub(super) load: Load,
}

impl Set {
    /// Random addresses, each once.
    pub(super) fn random(count: usize, seed: u64) -> Result<Self, LabError> {
        let mut seeded = Seeded::new(seed ^ count as u64);
        let mut addresses: Vec<u32> = (0..count).map(|_| seeded.next() as u32).collect();
        addresses.sort_unstable();
        addresses.dedup();
        let text = lines(&addresses, "\n");
        let begun = Instant::now();
        let entries = match count {
            0 => Entries::default(),
            _ => read(&text)?,
        };
        let lists = CompiledLists::compile_with_sieve(&[&entries]).map_err(refused)?;
        let load = Load {
            seconds: begun.elapsed().as_secs_f64(),
            bytes: lists.bytes() as u64,
            peak_bytes: None,
        };
        Ok(Self {
            addresses: addresses.into(),
            lists: Arc::new(lists),
            load,
        })
    }
}

fn read(text: &str) -> Result<Entries, LabError> {
    // Random addresses lie in special address space too, which a person would be warned of.
    let options = ReadOptions {
        force: true,
        ..ReadOptions::default()
    };
    let loaded = list::read("addresses", text.as_bytes(), &options, &mut |_| {});
    Ok(loaded.map_err(refused)?.entries)
}

/// Addresses as text, with `between` behind each.
fn lines(addresses: &[u32], between: &str) -> String {
    let mut text = String::with_capacity(addresses.len() * 16);
    for &address in addresses {
        text += &std::net::Ipv4Addr::from_bits(address).to_string();
        text += between;
    }
    text
}

/// Puts a set of nftables before the bridge of a lane: frames with either address in it are
/// dropped at `a`.
pub(super) fn nft(links: &Links, addresses: &[u32]) -> Result<Load, String> {
    let text = ruleset(&links.name("t"), &links.name("a"), addresses);
    let before = memory_available();
    let begun = Instant::now();
    let child = Command::new("nft")
        .args(["-f", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let child = child.map_err(|error| format!("nft does not start: {error}"))?;
    let peak = feed(child, &text)?;
    let seconds = begun.elapsed().as_secs_f64();
    let bytes = before.saturating_sub(memory_available());
    Ok(Load {
        seconds,
        bytes,
        peak_bytes: Some(bytes + peak),
    })
}

/// Fills a program's hash map with the addresses of a text.
pub(super) fn hash_set(addresses: &[u32]) -> Result<(XdpProgram, Load), String> {
    let text = lines(addresses, "\n");
    let before = memory_available();
    let begun = Instant::now();
    let map = |name, kind, entries| XdpMap {
        name,
        kind,
        entries,
    };
    let maps = [
        map("addresses", XdpMapKind::Hash, addresses.len() as u32),
        map("interfaces", XdpMapKind::Interfaces, 1),
    ];
    let refused = |error: port::PortError| error.to_string();
    let program = XdpProgram::load("hash_set", HASH_SET, &maps).map_err(refused)?;
    let keys: Vec<u32> = text
        .lines()
        .filter_map(|line| line.parse::<std::net::Ipv4Addr>().ok())
        .map(|address| address.to_bits().to_be())
        .collect();
    program
        .put("addresses", &keys, &vec![1; keys.len()])
        .map_err(refused)?;
    let load = Load {
        seconds: begun.elapsed().as_secs_f64(),
        bytes: before.saturating_sub(memory_available() + 8 * keys.len() as u64),
        peak_bytes: None,
    };
    Ok((program, load))
}

fn ruleset(table: &str, interface: &str, addresses: &[u32]) -> String {
    // A set without elements is written without the word.
    let elements = match addresses {
        [] => String::new(),
        _ => format!("elements = {{ {}}}", lines(addresses, ", ")),
    };
    let size = addresses.len().max(1);
    format!(
        "table netdev {table} {{\n\
         set listed {{ type ipv4_addr; size {size}; {elements}\n}}\n\
         chain ingress {{\n\
         type filter hook ingress device \"{interface}\" priority 0; policy accept;\n\
         ip saddr @listed drop\nip daddr @listed drop\n}}\n}}\n"
    )
}

/// Gives a program its input and waits for its end; the most memory that it had.
fn feed(mut child: Child, text: &str) -> Result<u64, String> {
    let fed = match child.stdin.take() {
        Some(mut input) => input.write_all(text.as_bytes()),
        None => Ok(()),
    };
    let mut peak = 0;
    loop {
        peak = peak.max(memory_peak(child.id()).unwrap_or(0));
        match child.try_wait() {
            Ok(None) => sleep(LOOK),
            Ok(Some(_)) => break,
            Err(error) => return Err(format!("nft is lost: {error}")),
        }
    }
    let output = child.wait_with_output();
    let output = output.map_err(|error| format!("nft is lost: {error}"))?;
    if output.status.success() && fed.is_ok() {
        return Ok(peak);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().next().unwrap_or("it says nothing");
    Err(format!("nft does not load the set: {said}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_what_its_text_says() {
        let set = Set::random(1000, 3).expect("a small set");
        assert!((990..=1000).contains(&set.addresses.len()));
        for &address in set.addresses.iter() {
            assert!(!set.lists.lookup_v4(address).is_empty(), "{address}");
        }
        assert!(set.load.bytes > 0);
        let empty = Set::random(0, 3).expect("no addresses");
        assert!(empty.addresses.is_empty() && empty.lists.list_count() == 1);
    }

    #[test]
    fn rules_name_interface_and_addresses() {
        let text = ruleset("t", "lr2a", &[0x0102_0304, 0xffff_fffe]);
        assert!(
            text.contains("elements = { 1.2.3.4, 255.255.255.254, }"),
            "{text}"
        );
        assert!(
            text.contains("device \"lr2a\"") && text.contains("size 2;"),
            "{text}"
        );
        assert!(!ruleset("t", "lr2a", &[]).contains("elements"));
    }
}

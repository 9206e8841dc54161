//! `linerate rss apply`.

use std::time::{Duration, Instant};

use port::interface::{FlowKind, HashSettings, RssChange};
use serde::Serialize;
use wire::toeplitz::Key;

use super::nic::{self, Nic};
use crate::args::{KeyChoice, RssApplyArgs, TypesChoice};
use crate::build::VERSION;
use crate::error::{Error, Outcome};
use crate::exit::ExitCode;
use crate::interrupt::Interrupt;
use crate::output::{Output, Stream};

/// How long between two looks whether to end.
const LOOK: Duration = Duration::from_millis(50);

/// What is set now, as JSON has it.
#[derive(Debug, Serialize)]
struct Page {
    version: &'static str,
    #[serde(flatten)]
    nic: Nic,
    /// What was set and read back otherwise.
    not_taken: Vec<String>,
}

/// Sets, waits, and puts back.
pub(super) fn run(args: &RssApplyArgs, output: Output) -> Outcome {
    let interface = nic::interface(&args.port)?;
    let name = interface.name().to_owned();
    let interrupt = Interrupt::watch()?;
    let mut refused = None;
    let change = RssChange::apply(interface, |now| match wanted(args, &now, &name) {
        Ok(wanted) => wanted,
        Err(error) => {
            refused = Some(error);
            now
        }
    });
    if let Some(error) = refused {
        return Err(error);
    }
    let change = change.map_err(Error::refused)?;
    for note in change.notes() {
        output.warn(note);
    }
    if args.json {
        let now = change.now().map_err(Error::refused)?;
        let nic = Nic::of(change.interface(), &now);
        output.print_json(&Page {
            version: VERSION,
            nic,
            not_taken: change.not_taken().to_vec(),
        })?;
    } else {
        let said = format!("{name}: set; put back at the end of this command\n");
        output.print(Stream::Stdout, &said)?;
    }
    let not_taken = not_taken(&name, change.not_taken());
    not_taken.iter().for_each(|said| output.warn(said));
    let begun = Instant::now();
    let over = || args.duration.is_some_and(|most| begun.elapsed() >= most);
    while !interrupt.is_asked() && !over() {
        std::thread::sleep(LOOK);
    }
    change.put_back().map_err(|error| {
        Error::check_failed(format!(
            "{name}: its driver does not take back what it had: {error}; run `linerate restore \
             {name}`"
        ))
    })?;
    if !args.json {
        output.print(Stream::Stdout, &format!("{name}: as it was before\n"))?;
    }
    Ok(match not_taken {
        None => ExitCode::Done,
        Some(_) => ExitCode::CheckFailed,
    })
}

/// What a driver took without a word and did not do.
fn not_taken(name: &str, parts: &[String]) -> Option<String> {
    (!parts.is_empty()).then(|| {
        format!(
            "{name}: its driver took these settings and did not keep {}: frames are placed by what \
             it has (linerate rss show {name})",
            parts.join(", ")
        )
    })
}

fn wanted(args: &RssApplyArgs, now: &HashSettings, name: &str) -> Result<HashSettings, Error> {
    let mut wanted = now.clone();
    if let Some(choice) = &args.key {
        wanted.rss.key = key(choice, now.rss.key.len(), name)?;
    }
    if let Some(queues) = args.queues {
        if queues == 0 || now.rss.indirection.is_empty() {
            return Err(Error::refused(format!(
                "{name}: buckets can be dealt out to one queue or more of a driver that has a table"
            )));
        }
        let entries = wanted.rss.indirection.iter_mut().zip((0..queues).cycle());
        entries.for_each(|(entry, queue)| *entry = queue);
    }
    if let Some(types) = args.types {
        for (kind, letters) in &mut wanted.hashed {
            *letters = letters_of(types, *kind).to_owned();
        }
    }
    Ok(wanted)
}

fn letters_of(types: TypesChoice, kind: FlowKind) -> &'static str {
    let udp = matches!(kind, FlowKind::Udp4 | FlowKind::Udp6);
    match types {
        TypesChoice::Addresses => "sd",
        TypesChoice::UdpByAddresses if udp => "sd",
        _ => "sdfn",
    }
}

/// A key of as many bytes as the NIC takes.
fn key(choice: &KeyChoice, len: usize, name: &str) -> Result<Vec<u8>, Error> {
    let key = match choice {
        KeyChoice::Random => {
            let drawn = table::random_key(len > 40);
            drawn
                .map_err(|weakness| Error::refused(format!("no key could be drawn: {weakness}")))?
        }
        KeyChoice::Given(key) => *key,
    };
    if key != Key::SYMMETRIC
        && let Err(weakness) = table::check_key(&key)
    {
        return Err(Error::refused(format!(
            "{name}: this key spreads badly: {weakness}"
        )));
    }
    match key.as_bytes().get(..len) {
        Some(bytes) if len > 0 => Ok(bytes.to_vec()),
        _ if len == 0 => Err(Error::refused(format!(
            "{name}: its driver has no key that could be set; leave out --key"
        ))),
        _ => Err(Error::refused(format!(
            "{name}: its driver takes a key of {len} bytes, and this one has {}",
            key.as_bytes().len()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use port::interface::Rss;

    use super::*;

    fn nic() -> HashSettings {
        HashSettings {
            rss: Rss {
                indirection: vec![0; 8],
                key: vec![1; 40],
                function: 1,
                transform: 0,
            },
            hashed: vec![
                (FlowKind::Tcp4, "sd".to_owned()),
                (FlowKind::Udp4, "sdfn".to_owned()),
            ],
        }
    }

    #[test]
    fn what_is_asked_for_is_made_of_what_is() {
        let args = RssApplyArgs {
            port: "eth0".to_owned(),
            key: Some(KeyChoice::Given(Key::SYMMETRIC)),
            queues: Some(3),
            types: Some(TypesChoice::UdpByAddresses),
            duration: None,
            json: false,
        };
        let wanted = wanted(&args, &nic(), "eth0").expect("possible");
        assert_eq!(wanted.rss.indirection, [0, 1, 2, 0, 1, 2, 0, 1]);
        assert_eq!(wanted.rss.key, [0x6D, 0x5A].repeat(20));
        assert_eq!(wanted.of_kind(FlowKind::Tcp4), Some("sdfn"));
        assert_eq!(wanted.of_kind(FlowKind::Udp4), Some("sd"));
        let none = RssApplyArgs {
            queues: Some(0),
            ..args
        };
        assert!(super::wanted(&none, &nic(), "eth0").is_err());
    }

    #[test]
    fn keys_fit_the_nic_and_spread() {
        let random = key(&KeyChoice::Random, 52, "eth0").expect("drawn");
        assert_eq!(random.len(), 52);
        let given = |bytes: &[u8]| KeyChoice::Given(Key::new(bytes).expect("a length of keys"));
        assert!(key(&given(&[0; 40]), 40, "eth0").is_err(), "hashes nothing");
        assert!(
            key(&KeyChoice::Given(Key::MICROSOFT), 52, "eth0").is_err(),
            "too short"
        );
        assert!(
            key(&KeyChoice::Random, 0, "eth0").is_err(),
            "the NIC takes none"
        );
    }
}

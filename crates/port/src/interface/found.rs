//! What an interface was like before this program changed it, as text that outlives the process.

use std::fmt;

use super::{HashSettings, MERGING, TAKING_TAGS};
use crate::sys::hardware_stamps::StampSettings;

/// The first line: a file of another kind or version is not read further.
const HEADING: &str = "linerate found 1";
/// More lines than offloads and interrupts of any interface.
const LINES_MAX: usize = 4096;

/// Where the words of a record are true: interfaces and their numbers are a namespace's own, and
/// nothing of them outlives the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// The kernel's name for the time since it was started.
    pub(crate) boot: String,
    /// The number of the network namespace.
    pub(crate) namespace: u64,
}

/// What was found on one interface and is changed while the process lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) place: Place,
    /// The process that made the changes, for people.
    pub(crate) process: u32,
    pub(crate) index: u32,
    pub(crate) name: String,
    /// Tells a later interface of the same number and name from this one.
    pub(crate) address: [u8; 6],
    /// Offloads that were on.
    pub(crate) offloads: Vec<String>,
    /// Interrupts and the CPUs they were allowed on.
    pub(crate) interrupts: Vec<(u32, String)>,
    /// How it chose queues, where that is changed.
    pub(crate) placement: Option<HashSettings>,
    /// What its NIC stamped, where that is changed.
    pub(crate) stamping: Option<StampSettings>,
    /// It is a bridge's: nobody else may filter there meanwhile.
    pub(crate) bridged: bool,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.address;
        writeln!(f, "{HEADING}")?;
        writeln!(f, "boot {}", self.place.boot)?;
        writeln!(f, "namespace {}", self.place.namespace)?;
        writeln!(f, "process {}", self.process)?;
        writeln!(f, "interface {} {}", self.index, self.name)?;
        writeln!(f, "address {a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")?;
        for offload in &self.offloads {
            writeln!(f, "offload {offload} on")?;
        }
        for (number, cpus) in &self.interrupts {
            writeln!(f, "interrupt {number} {cpus}")?;
        }
        if let Some(placement) = &self.placement {
            write!(f, "{placement}")?;
        }
        if let Some(StampSettings { sent, received }) = self.stamping {
            writeln!(f, "stamping {sent} {received}")?;
        }
        if self.bridged {
            writeln!(f, "held as bridge")?;
        }
        writeln!(f, "end")
    }
}

impl Found {
    /// Reads a record, which anybody may have written: the line and what is wrong with it else.
    /// Only what this program changes is taken: no other offload can be asked for.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().zip(1..=LINES_MAX);
        let mut next = |key: &str| {
            let line = lines.next();
            let value = line.and_then(|(line, _)| line.strip_prefix(key)?.strip_prefix(' '));
            value.ok_or_else(|| format!("there is no line `{key}` in its place"))
        };
        if next("linerate found")? != "1" {
            return Err("it is of another version".to_owned());
        }
        let boot = next("boot")?.to_owned();
        let namespace = number(next("namespace")?)?;
        let process = number(next("process")?)?;
        let (index, name) = pair(next("interface")?)?;
        let mut found = Self {
            place: Place { boot, namespace },
            process,
            index: number(index)?,
            name: name.to_owned(),
            address: address(next("address")?)?,
            offloads: Vec::new(),
            interrupts: Vec::new(),
            placement: None,
            stamping: None,
            bridged: false,
        };
        for (line, place) in lines {
            if line == "end" {
                return Ok(found);
            }
            found
                .take(line)
                .map_err(|why| format!("line {place}: {why}"))?;
        }
        Err("its end is missing".to_owned())
    }

    fn take(&mut self, line: &str) -> Result<(), String> {
        let (what, value) = pair(line)?;
        let (subject, value) = pair(value)?;
        match what {
            "offload" if value == "on" => {
                let ours = MERGING.iter().chain(&TAKING_TAGS);
                if !ours.clone().any(|name| *name == subject) {
                    return Err(format!(
                        "`{subject}` is no offload that this program changes"
                    ));
                }
                self.offloads.push(subject.to_owned());
            }
            "interrupt" if is_cpu_list(value) => {
                self.interrupts.push((number(subject)?, value.to_owned()));
            }
            "placement" => {
                let placement = self.placement.get_or_insert_default();
                placement.take(subject, value)?;
            }
            "stamping" => {
                self.stamping = Some(StampSettings {
                    sent: number(subject)?,
                    received: number(value)?,
                });
            }
            "held" if (subject, value) == ("as", "bridge") => self.bridged = true,
            _ => return Err(format!("`{what}` is not understood")),
        }
        Ok(())
    }
}

fn pair(text: &str) -> Result<(&str, &str), String> {
    let halves = text.split_once(' ');
    halves.ok_or_else(|| "a word is missing".to_owned())
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    let read = text.parse();
    read.map_err(|_| format!("`{}` is no number", text.escape_debug()))
}

fn address(text: &str) -> Result<[u8; 6], String> {
    let bytes = text
        .split(':')
        .map(|byte| u8::from_str_radix(byte, 16).ok());
    let bytes: Option<Vec<u8>> = bytes.collect();
    let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
    bytes.ok_or_else(|| "the address is none".to_owned())
}

/// As the kernel writes and reads them: `0`, `0-3,8`.
pub(crate) fn is_cpu_list(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.len() <= 4096
        && text.split(',').all(|range| match range.split_once('-') {
            Some((first, last)) => digits(first) && digits(last),
            None => digits(range),
        })
}

#[cfg(test)]
mod tests {
    use super::super::{FlowKind, Rss};
    use super::*;

    fn found() -> Found {
        Found {
            place: Place {
                boot: "0b31".to_owned(),
                namespace: 4_026_531_840,
            },
            process: 77,
            index: 3,
            name: "eth0".to_owned(),
            address: [2, 0xfc, 0, 0, 0, 1],
            offloads: vec!["rx-gro".to_owned(), "rx-vlan-hw-parse".to_owned()],
            interrupts: vec![(38, "0-1".to_owned()), (39, "0,2-3".to_owned())],
            placement: Some(HashSettings {
                rss: Rss {
                    indirection: vec![0, 1, 0, 1],
                    key: (0..40).collect(),
                    function: 1,
                    transform: 0,
                },
                hashed: vec![
                    (FlowKind::Tcp4, "sdfn".to_owned()),
                    (FlowKind::Udp6, "sd".to_owned()),
                ],
            }),
            stamping: Some(StampSettings {
                sent: 1,
                received: 12,
            }),
            bridged: true,
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let text = found().to_string();
        assert_eq!(Found::read(&text), Ok(found()));
    }

    /// A process may die, a disk be full, and anybody edit it.
    #[test]
    fn cuts_and_changed_bytes_give_a_record_or_a_sentence() {
        let text = found().to_string();
        for end in 0..text.len() - 1 {
            assert!(Found::read(&text[..end]).is_err(), "cut at {end}");
        }
        for place in 0..text.len() {
            for byte in [b' ', b'\n', b'9', b'z'] {
                let mut bytes = text.clone().into_bytes();
                bytes[place] = byte;
                let changed = String::from_utf8(bytes).unwrap();
                if let Ok(read) = Found::read(&changed) {
                    assert_eq!(Found::read(&read.to_string()), Ok(read), "{changed}");
                }
            }
        }
    }

    #[test]
    fn only_what_this_program_changes_can_be_asked_for() {
        let with = |line: &str| {
            let text = found().to_string();
            Found::read(&text.replace("end\n", &format!("{line}\nend\n"))).unwrap_err()
        };
        assert!(with("offload tx-udp-segmentation on").contains("no offload that this program"));
        assert!(with("offload rx-gro off").contains("line 18: `offload` is not understood"));
        assert!(with("interrupt 5 ../../x").contains("not understood"));
        assert!(with("interrupt x 0").contains("`x` is no number"));
        assert!(with("stamping 1 x").contains("`x` is no number"));
        assert!(with("stamping -1 1").contains("`-1` is no number"));
        assert!(with("held as sink").contains("`held` is not understood"));
        assert!(with("sysctl kernel.x 1").contains("not understood"));
        assert!(with("placement table 0,x").contains("`x` is no number"));
        assert!(with("placement key 6d5").contains("no key"));
        assert!(with("placement key 6\u{e9}5").contains("no key"));
        assert!(with("placement function 0 7 9").contains("no hash function"));
        assert!(with("placement tcp4 sdq").contains("no fields"));
        assert!(with("placement sctp4 sd").contains("no kind of frame"));
    }

    #[test]
    fn lists_of_cpus() {
        for good in ["0", "0-3", "1,3-4,127"] {
            assert!(is_cpu_list(good), "{good}");
        }
        for bad in ["", ",", "0-", "-1", "a", "0 1", "0\n"] {
            assert!(!is_cpu_list(bad), "{bad}");
        }
    }
}

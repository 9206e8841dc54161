//! `set push`, and `set add` and `set del` with `--etcd`: changes for a whole group of daemons.

use std::collections::BTreeSet;
use std::io::Read;

use daemon::config::{ClientFiles, Held, Login, TlsFiles};
use daemon::sources::SourceError;
use daemon::sources::etcd::{Client, EtcdAt, Writer};
use serde::Serialize;
use table::Entries;
use table::live::Entry;

use super::entries::typed;
use super::tell;
use crate::args::{AddArgs, DelArgs, EntryArgs, EtcdArgs, PushArgs};
use crate::error::{Error, Outcome};
use crate::exit::ExitCode;
use crate::load::{self, ReadChoices};
use crate::output::Output;
use crate::report::number::{count, plural};

/// Longest comment, as of an entry of a daemon.
const COMMENT_BYTES_MAX: usize = table::live::COMMENT_BYTES_MAX;

/// Most bytes that are read of a file that becomes one value; etcd takes less.
const TEXT_BYTES_MAX: u64 = 16 << 20;

/// What was changed in etcd.
#[derive(Debug, Serialize)]
struct Changed {
    /// The prefix, or the key.
    at: String,
    /// Entries that were given.
    entries: u64,
    /// Keys that were put.
    added: u64,
    /// Keys that were deleted.
    deleted: u64,
}

pub(super) fn push(args: &PushArgs, output: Output) -> Outcome {
    if args.etcd.etcd.is_empty() {
        return Err(Error::refused(
            "'set push' writes to etcd: name its members by --etcd, or use 'set load' for the \
             daemon on this machine",
        ));
    }
    let loaded = checked(args, output)?;
    let entries = loaded.entry_count;
    let changed = match &args.key {
        Some(key) => {
            let mut writer = writer(&args.etcd, Held::Key(key.clone()));
            writer.push_text(&whole(&args.file)?).map_err(failed)?;
            Changed {
                at: key.clone(),
                entries,
                added: 1,
                deleted: 0,
            }
        }
        None => {
            let held = prefix(&args.etcd, &args.set);
            let at = held.text().to_owned();
            let mut writer = writer(&args.etcd, held);
            let pushed = writer.push_entries(&texts(&loaded.entries));
            let pushed = pushed.map_err(failed)?;
            Changed {
                at,
                entries,
                added: pushed.added,
                deleted: pushed.deleted,
            }
        }
    };
    let text = format!(
        "{} of '{}' at {} in etcd: {} put, {} deleted\n",
        plural(entries, "entry", "entries"),
        args.set,
        changed.at,
        plural(changed.added, "key", "keys"),
        count(changed.deleted)
    );
    tell(args.json, &changed, &text, output)
}

pub(super) fn add(args: &AddArgs, output: Output) -> Outcome {
    let comment = args.comment.as_deref().unwrap_or_default();
    if comment.len() > COMMENT_BYTES_MAX {
        return Err(Error::refused(format!(
            "a comment of {} bytes is too long: write at most {COMMENT_BYTES_MAX}",
            comment.len()
        )));
    }
    let entries = named(&args.which)?;
    let held = prefix(&args.etcd, &args.which.set);
    let at = held.text().to_owned();
    let mut writer = writer(&args.etcd, held);
    let added = writer.add(&entries, comment, args.timeout);
    added.map_err(failed)?;
    let given = entries.len() as u64;
    let changed = Changed {
        at,
        entries: given,
        added: given,
        deleted: 0,
    };
    let text = format!(
        "{} put at {} in etcd\n",
        plural(given, "entry", "entries"),
        changed.at
    );
    tell(args.which.answer.json, &changed, &text, output)
}

pub(super) fn delete(args: &DelArgs, output: Output) -> Outcome {
    let entries = named(&args.which)?;
    let held = prefix(&args.etcd, &args.which.set);
    let at = held.text().to_owned();
    let mut writer = writer(&args.etcd, held);
    let deleted = writer.delete(&entries).map_err(failed)?;
    let given = entries.len() as u64;
    let changed = Changed {
        at,
        entries: given,
        added: 0,
        deleted,
    };
    let missing = given.saturating_sub(deleted);
    let text = format!(
        "{} deleted at {} in etcd\n",
        plural(deleted, "entry", "entries"),
        changed.at
    );
    tell(args.which.answer.json, &changed, &text, output)?;
    if missing == 0 || args.exist {
        return Ok(ExitCode::Done);
    }
    Err(Error::check_failed(format!(
        "{} not there at {} in etcd: each key is as the entry was written, in its shortest form; \
         --exist makes this no fault",
        plural(missing, "entry is", "entries are"),
        changed.at
    )))
}

/// What etcd did not do is a check that failed; nobody there is another exit code.
fn failed(error: SourceError) -> Error {
    match error {
        SourceError::Etcd(_) => Error::check_failed(error),
        _ => Error::refused(error),
    }
}

fn prefix(etcd: &EtcdArgs, set: &str) -> Held {
    let given = etcd.prefix.clone();
    Held::Prefix(given.unwrap_or_else(|| format!("/linerate/{set}/")))
}

fn writer(args: &EtcdArgs, held: Held) -> Writer {
    let login = args.user.clone().zip(args.password_file.clone());
    let client = args.cert_file.clone().zip(args.key_file.clone());
    let at = EtcdAt {
        endpoints: args.etcd.clone(),
        login: login.map(|(user, password_file)| Login {
            user,
            password_file,
        }),
        tls: TlsFiles {
            ca_file: args.ca_file.clone(),
            client: client.map(|(cert_file, key_file)| ClientFiles {
                cert_file,
                key_file,
            }),
        },
    };
    Writer::new(Client::new(at), held)
}

/// The list as a daemon would read it: what it would refuse is not pushed.
fn checked(args: &PushArgs, output: Output) -> Result<list::Loaded, Error> {
    let file = &args.file;
    if file == "-" && args.key.is_some() {
        return Err(Error::refused(
            "--key takes a file, which is read twice: write standard input to one",
        ));
    }
    let choices = ReadChoices::new(&args.read, false);
    let read = load::read(file, load::open(file)?, &choices, output);
    let loaded = read.map_err(Error::check_failed)?;
    match choices.refusal(load::shown(file), &loaded) {
        Some(why) => Err(Error::check_failed(why)),
        None => Ok(loaded),
    }
}

fn whole(file: &str) -> Result<Vec<u8>, Error> {
    let mut text = Vec::new();
    let mut input = load::open(file)?.take(TEXT_BYTES_MAX);
    let read = input.read_to_end(&mut text);
    read.map_err(|error| Error::refused(format!("{file}: {error}")))?;
    Ok(text)
}

/// Entries of the command line; standard input is for `set push`.
fn named(which: &EntryArgs) -> Result<BTreeSet<String>, Error> {
    if which.entries == ["-"] {
        return Err(Error::refused(
            "with --etcd, entries are words of the command line: 'set push NAME -' takes a list \
             from standard input",
        ));
    }
    let entries = typed(&which.entries)?;
    Ok(entries.iter().map(ToString::to_string).collect())
}

/// Each entry in its shortest form, which is its key.
fn texts(entries: &Entries) -> BTreeSet<String> {
    let (v4, v6) = (&entries.v4, &entries.v6);
    let addresses = v4
        .addresses
        .iter()
        .map(|&address| Entry::address_v4(address));
    let addresses_v6 = v6
        .addresses
        .iter()
        .map(|&address| Entry::address_v6(address));
    let networks = v4.networks.iter().map(|&network| Entry::from(network));
    let networks_v6 = v6.networks.iter().map(|&network| Entry::from(network));
    let ranges = v4.ranges.iter().map(|&range| Entry::V4(range));
    let ranges_v6 = v6.ranges.iter().map(|&range| Entry::V6(range));
    let of_v4 = addresses.chain(networks).chain(ranges);
    let of_v6 = addresses_v6.chain(networks_v6).chain(ranges_v6);
    of_v4.chain(of_v6).map(|entry| entry.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_have_one_key_however_they_are_written() {
        let text = "192.0.2.1\n192.0.2.1/32\n10.0.0.0/8\n10.0.0.0-10.255.255.255\n\
                    192.0.2.8-192.0.2.11\n192.0.2.1-192.0.2.2\n2001:DB8:0::1\n2001:db8::/32\n";
        let options = list::ReadOptions::default();
        let read = list::read("list", text.as_bytes(), &options, &mut |_| {});
        let texts = texts(&read.expect("a list").entries);
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert_eq!(
            texts,
            [
                "10.0.0.0/8",
                "192.0.2.1",
                "192.0.2.1-192.0.2.2",
                "192.0.2.8/30",
                "2001:db8::/32",
                "2001:db8::1",
            ]
        );
    }
}

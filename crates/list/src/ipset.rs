//! What `ipset save` prints and `ipset restore` reads: a command a line.
//!
//! An entry that is more than an address, a network or a range, or that does not mean what it says
//! (`nomatch`, a set with a netmask), is a bad line; so is every word that is not known.

use crate::fault::Fault;
use crate::intake::{Intake, Sink};
use crate::ipset_words::{Words, check_entry_options, without_flags};
use crate::sets::{Added, Kind, Removed, Sets};

/// Bytes of a set's name at most, as in the kernel.
const NAME_BYTES_MAX: usize = 31;

/// Reads the lines of one text.
pub(crate) struct Ipset<S> {
    sets: Sets<S>,
}

/// The commands that change sets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    Create,
    Add,
    Del,
    Flush,
    Destroy,
    Swap,
    Rename,
    /// What follows is done as well as what came before, so there is nothing to do.
    Commit,
}

impl Command {
    /// Of its name; the names are those of the old program too (`-A`).
    pub(crate) fn of(word: &[u8]) -> Option<Self> {
        Some(match word {
            b"create" | b"--create" | b"new" | b"-N" => Self::Create,
            b"add" | b"--add" | b"-A" => Self::Add,
            b"del" | b"--del" | b"-D" => Self::Del,
            b"flush" | b"--flush" | b"-F" => Self::Flush,
            b"destroy" | b"--destroy" | b"-X" => Self::Destroy,
            b"swap" | b"--swap" | b"-W" => Self::Swap,
            b"rename" | b"--rename" | b"-E" => Self::Rename,
            b"COMMIT" => Self::Commit,
            _ => return None,
        })
    }
}

/// What is wrong, and the words it is about.
type Wrong<'l> = (Fault, &'l [u8]);

impl<S: Sink> Ipset<S> {
    pub(crate) fn new() -> Self {
        Self { sets: Sets::new() }
    }

    /// Reads a line without its end.
    pub(crate) fn read_line(&mut self, line: &[u8], intake: &mut Intake<'_, S>) {
        let line = line.trim_ascii();
        if matches!(line, [] | [b'#' | b';', ..]) {
            return;
        }
        if let Err((fault, about)) = self.run(line, intake) {
            intake.bad(fault, about);
        }
    }

    /// Makes one list of what the sets hold.
    pub(crate) fn finish(self, intake: &mut Intake<'_, S>) {
        self.sets
            .finish("'ipset save NAME' writes one alone", intake);
    }

    fn run<'l>(&mut self, line: &'l [u8], intake: &mut Intake<'_, S>) -> Result<(), Wrong<'l>> {
        let (words, may_miss) = without_flags(Words::of(line));
        let unknown = (Fault::IpsetCommand, line);
        let (&command, words) = words.split_first().ok_or(unknown)?;
        let command = Command::of(command).ok_or(unknown)?;
        let is_name = |name: &[u8]| name.len() <= NAME_BYTES_MAX;
        let names = words.iter().take(match command {
            Command::Swap | Command::Rename => 2,
            _ => 1,
        });
        if !names.into_iter().all(|name| is_name(name)) {
            return Err(unknown);
        }
        match (command, words) {
            (Command::Create, [name, kind @ ..]) if !kind.is_empty() => {
                self.sets
                    .create(name, crate::ipset_kind::read(kind, intake)?, intake);
            }
            (Command::Add, [name, entry, options @ ..]) => {
                let has_timeout = self.check(name, entry, options)?;
                let element = Added {
                    field: entry,
                    text: line,
                };
                self.sets.take(name, element, intake);
                if has_timeout {
                    // It is about the entries of this set, and goes with them.
                    intake.warn_of_timeout();
                }
            }
            (Command::Del, [name, entry, options @ ..]) => {
                self.check(name, entry, options)?;
                let element = Removed {
                    field: entry,
                    may_miss,
                };
                self.sets.remove(name, element, intake);
            }
            (Command::Flush, []) => self.sets.flush(|_| true, intake),
            (Command::Flush, [name]) => self.sets.flush(|of| of == *name, intake),
            (Command::Destroy, []) => self.sets.destroy(|_| true, intake),
            (Command::Destroy, [name]) => self.sets.destroy(|of| of == *name, intake),
            (Command::Swap, [one, other]) => self.sets.swap(one, other, intake),
            (Command::Rename, [from, to]) => self.sets.rename(from, to, intake),
            (Command::Commit, []) => {}
            _ => return Err(unknown),
        }
        Ok(())
    }

    /// Looks whether an entry is one address, network or range; true when it has a timeout.
    fn check<'l>(
        &self,
        name: &[u8],
        entry: &'l [u8],
        options: &[&'l [u8]],
    ) -> Result<bool, Wrong<'l>> {
        if let Kind {
            fault: Some(fault), ..
        } = self.sets.kind(name)
        {
            return Err((fault, entry));
        }
        let has_timeout = check_entry_options(entry, options)?;
        if entry.contains(&b',') {
            return Err((Fault::IpsetEntry, entry));
        }
        Ok(has_timeout)
    }
}

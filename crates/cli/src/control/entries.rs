//! `set add` and `set del`: entries of the command line, or as many as come over a pipe.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use daemon::rpc::answers::{
    AddParams, Added, Covered, DeleteParams, Deleted, EntryList, Exempt, Hello, HelloParams,
    parse_entry,
};
use daemon::rpc::{Client, Sent};
use serde::Serialize;
use table::live::Entry;

use super::lines::{self, Chunk, Piece};
use super::{connect, failed, tell};
use crate::args::{AddArgs, DelArgs, EntryArgs};
use crate::error::{Error, Outcome};
use crate::exit::ExitCode;
use crate::output::Output;
use crate::report::number::{brief, count, plural, seconds};
use crate::screen::Screen;

/// Requests under way: the daemon has work while this reads, and the answers do not pile up.
const UNDER_WAY: usize = 8;

/// How long answers may be left waiting for while nothing more is read.
const PAUSE: Duration = Duration::from_millis(20);

/// How often a daemon hears of whom who waits for its own input.
const ALIVE_EVERY: Duration = Duration::from_secs(60);

/// Bad lines that are shown; the others are counted.
const BAD_SHOWN_MAX: u64 = 20;

/// Exempt entries that are kept of a long input.
const EXEMPT_MAX: usize = 16;

/// In or out.
#[derive(Clone, Copy, Debug)]
enum Verb<'a> {
    Add {
        timeout_ms: Option<u64>,
        comment: Option<&'a str>,
    },
    /// With whether an entry that is not there is no fault.
    Delete { exist: bool },
}

/// What came of all requests.
#[derive(Clone, Debug, Default, Serialize)]
struct Sum {
    /// Entries that were sent and answered.
    entries: u64,
    /// Entries that the set has now and had not, or the other way round.
    changed: u64,
    /// Those that were as they should be already.
    unchanged: u64,
    /// Of those, entries that had a timeout and have none now.
    made_permanent: u64,
    /// Of those, entries that have a timeout now and had none.
    made_timed: u64,
    bad_lines: u64,
    /// The first entries that an allow set exempts from the set that they were added to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    exempt: Vec<Exempt>,
    /// The first entries that went out and are still in the set by others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    covered: Vec<Covered>,
    seconds: f64,
}

pub(super) fn add(args: &AddArgs, output: Output) -> Outcome {
    let verb = Verb::Add {
        timeout_ms: args.timeout.map(|timeout| timeout.as_millis() as u64),
        comment: args.comment.as_deref(),
    };
    run(&args.which, verb, output)
}

pub(super) fn delete(args: &DelArgs, output: Output) -> Outcome {
    let exist = args.exist;
    run(&args.which, Verb::Delete { exist }, output)
}

fn run(which: &EntryArgs, verb: Verb<'_>, output: Output) -> Outcome {
    if which.entries == ["-"] {
        let client = connect(&which.answer.daemon)?;
        let pieces = lines::read(io::stdin())?;
        let mut bulk = Bulk::new(which, verb, client, output);
        let ended = bulk.run(&pieces);
        bulk.screen.clear();
        return bulk.conclude(ended);
    }
    let entries = typed(&which.entries)?;
    let mut client = connect(&which.answer.daemon)?;
    let began = Instant::now();
    let mut sum = Sum::default();
    for entries in entries.chunks(lines::ENTRIES_MAX) {
        let sent = verb.send(&mut client, which, entries).map_err(failed)?;
        verb.wait(&mut client, sent, &mut sum).map_err(failed)?;
    }
    sum.seconds = began.elapsed().as_secs_f64();
    tell(
        which.answer.json,
        &sum,
        &(verb.said(&which.set, &sum) + &sum.exempted() + &sum.still_covered(&which.set)),
        output,
    )?;
    verb.judge(&which.set, &sum, output)
}

impl Sum {
    /// What became of entries that the set had: they go on for the time that was asked for now.
    fn lasting(&self) -> String {
        let mut said = String::new();
        for (count, now) in [
            (self.made_permanent, "permanent, without the timeout it had"),
            (self.made_timed, "over when the timeout is"),
        ] {
            if count != 0 {
                let (count, are) = (self::count(count), if count == 1 { "is" } else { "are" });
                said += &format!("; {count} of these {are} now {now}");
            }
        }
        said
    }
}

/// All of them, or none is sent.
pub(super) fn typed(texts: &[String]) -> Result<Vec<Entry>, Error> {
    let parse = |text: &String| match text.as_str() {
        "-" => Err(Error::refused(
            "'-' reads entries from standard input and stands alone: write the others there too",
        )),
        text => parse_entry(text).map_err(Error::refused),
    };
    texts.iter().map(parse).collect()
}

impl Verb<'_> {
    fn send(
        self,
        client: &mut Client,
        which: &EntryArgs,
        entries: &[Entry],
    ) -> Result<Sent, daemon::rpc::ClientError> {
        let (set, entries) = (which.set.clone(), EntryList(entries.to_vec()));
        let force = which.force;
        match self {
            Self::Add {
                timeout_ms,
                comment,
            } => {
                let comment = comment.map(str::to_owned);
                let params = AddParams {
                    set,
                    entries,
                    timeout_ms,
                    comment,
                    force,
                };
                client.send("set.add", &params)
            }
            Self::Delete { .. } => {
                let params = DeleteParams {
                    set,
                    entries,
                    force,
                };
                client.send("set.delete", &params)
            }
        }
    }

    fn wait(
        self,
        client: &mut Client,
        sent: Sent,
        sum: &mut Sum,
    ) -> Result<(), daemon::rpc::ClientError> {
        let (changed, unchanged) = match self {
            Self::Add { .. } => {
                let did: Added = client.wait(sent)?;
                let room = EXEMPT_MAX.saturating_sub(sum.exempt.len());
                sum.exempt.extend(did.exempt.into_iter().take(room));
                sum.made_permanent += did.made_permanent;
                sum.made_timed += did.made_timed;
                (did.added, did.already)
            }
            Self::Delete { .. } => {
                let did: Deleted = client.wait(sent)?;
                let room = EXEMPT_MAX.saturating_sub(sum.covered.len());
                sum.covered.extend(did.covered.into_iter().take(room));
                (did.deleted, did.absent)
            }
        };
        sum.changed += changed;
        sum.unchanged += unchanged;
        sum.entries += changed + unchanged;
        Ok(())
    }

    fn said(self, set: &str, sum: &Sum) -> String {
        let changed = plural(sum.changed, "entry", "entries");
        let unchanged = plural(sum.unchanged, "was", "were");
        match (self, sum.unchanged) {
            (Self::Add { .. }, 0) => format!("{changed} added to '{set}'\n"),
            (Self::Add { .. }, _) => {
                let lasting = sum.lasting();
                format!("{changed} added to '{set}', {unchanged} in it already{lasting}\n")
            }
            (Self::Delete { .. }, 0) => format!("{changed} taken out of '{set}'\n"),
            (Self::Delete { .. }, _) => {
                format!("{changed} taken out of '{set}', {unchanged} not in it\n")
            }
        }
    }

    /// What was to go and was not there is worth an exit code, unless somebody expects it: a typing
    /// error looks the same.
    fn judge(self, set: &str, sum: &Sum, output: Output) -> Outcome {
        if matches!(self, Self::Delete { exist: false }) && sum.unchanged != 0 {
            let entries = plural(sum.unchanged, "entry was", "entries were");
            output.complain(&format!(
                "{entries} not in '{set}': entries go out as they went in, see 'linerate set \
                 test'; with --exist it is no fault"
            ));
            return Ok(ExitCode::CheckFailed);
        }
        Ok(ExitCode::Done)
    }
}

/// Entries from a pipe under way.
struct Bulk<'a> {
    which: &'a EntryArgs,
    verb: Verb<'a>,
    client: Client,
    output: Output,
    screen: Screen,
    under_way: VecDeque<(Sent, (u64, u64))>,
    sum: Sum,
    began: Instant,
    spoke: Instant,
}

impl<'a> Bulk<'a> {
    fn new(which: &'a EntryArgs, verb: Verb<'a>, client: Client, output: Output) -> Self {
        Self {
            which,
            verb,
            client,
            output,
            screen: Screen::new(output),
            under_way: VecDeque::new(),
            sum: Sum::default(),
            began: Instant::now(),
            spoke: Instant::now(),
        }
    }

    fn run(&mut self, pieces: &Receiver<Piece>) -> Result<(), Error> {
        loop {
            match pieces.recv_timeout(PAUSE) {
                Ok(Piece::Entries(chunk)) => self.send(&chunk)?,
                Ok(Piece::Bad(sentence)) => self.bad(&sentence),
                Ok(Piece::Failed(error)) => {
                    self.settle(0)?;
                    let sentence = format!("standard input cannot be read: {error}");
                    return Err(Error::check_failed(sentence));
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.settle(0)?;
                    self.stay_known()?;
                }
                Err(RecvTimeoutError::Disconnected) => return self.settle(0),
            }
            if self.screen.is_due() {
                self.screen.show(&self.sum.progress(self.began.elapsed()));
            }
        }
    }

    fn send(&mut self, chunk: &Chunk) -> Result<(), Error> {
        self.settle(UNDER_WAY - 1)?;
        let sent = self.verb.send(&mut self.client, self.which, &chunk.entries);
        self.under_way
            .push_back((sent.map_err(failed)?, chunk.lines));
        self.spoke = Instant::now();
        Ok(())
    }

    /// Waits until at most so many are under way.
    fn settle(&mut self, under_way: usize) -> Result<(), Error> {
        while self.under_way.len() > under_way {
            let Some((sent, (first, last))) = self.under_way.pop_front() else {
                return Ok(());
            };
            let waited = self.verb.wait(&mut self.client, sent, &mut self.sum);
            waited.map_err(|error| match error.is_answer() {
                true if error.is_of_made_change() => Error::check_failed(format!(
                    "standard input:{first}: {error} (of this line to line {last}; see 'linerate \
                     set list' for those after them)"
                )),
                true if error.is_of_half_made_change() => Error::check_failed(format!(
                    "standard input:{first}: {error} (some of this line to line {last} may be done)"
                )),
                true => Error::check_failed(format!(
                    "standard input:{first}: {error} (nothing from this line to line {last} was \
                     done)"
                )),
                false => failed(error),
            })?;
        }
        Ok(())
    }

    /// A daemon closes connections on which nothing is said for ten minutes.
    fn stay_known(&mut self) -> Result<(), Error> {
        if self.spoke.elapsed() >= ALIVE_EVERY {
            let hello = self.client.call("hello", &HelloParams::default());
            let _: Hello = hello.map_err(failed)?;
            self.spoke = Instant::now();
        }
        Ok(())
    }

    fn bad(&mut self, sentence: &str) {
        self.sum.bad_lines += 1;
        if self.sum.bad_lines <= BAD_SHOWN_MAX {
            self.screen.clear();
            self.output.complain(sentence);
        }
    }

    fn conclude(mut self, ended: Result<(), Error>) -> Outcome {
        self.sum.seconds = self.began.elapsed().as_secs_f64();
        let (set, sum) = (&self.which.set, &self.sum);
        let mut said = self.verb.said(set, sum);
        if let Some(line) = said.strip_suffix('\n') {
            let rate = brief(sum.entries as f64 / sum.seconds.max(1e-9));
            said = format!("{line}, in {} ({rate}/s)\n", seconds(sum.seconds));
        }
        said += &(sum.exempted() + &sum.still_covered(set));
        tell(self.which.answer.json, sum, &said, self.output)?;
        ended?;
        if sum.bad_lines != 0 {
            let lines = plural(sum.bad_lines, "line is", "lines are");
            self.output
                .complain(&format!("{lines} no entry and left out"));
        }
        let judged = self.verb.judge(set, sum, self.output)?;
        Ok(match sum.bad_lines {
            0 => judged,
            _ => ExitCode::CheckFailed,
        })
    }
}

impl Sum {
    /// Why the set does not block what was added, if an allow set has it.
    fn exempted(&self) -> String {
        let Some(first) = self.exempt.first() else {
            return String::new();
        };
        let mut sets: Vec<String> = Vec::new();
        for exempt in &self.exempt {
            let set = format!("'{}'", exempt.set);
            if !sets.contains(&set) {
                sets.push(set);
            }
        }
        let (entry, by) = (&first.entry, sets.join(", "));
        match self.exempt.len() {
            1 => format!("{entry} is not blocked, since it is exempt by {by}\n"),
            all => {
                let more = all - 1;
                format!("{entry} and {more} more are not blocked, since they are exempt by {by}\n")
            }
        }
    }

    /// What still has the addresses that were to go.
    fn still_covered(&self, set: &str) -> String {
        let line = |covered: &Covered| {
            let Covered { entry, by } = covered;
            format!("{entry} is still in '{set}', which has {by}\n")
        };
        self.covered.iter().map(line).collect()
    }

    fn progress(&self, elapsed: Duration) -> Vec<String> {
        let rate = self.entries as f64 / elapsed.as_secs_f64().max(1e-9);
        vec![
            format!("  {:>11} entries", count(self.entries)),
            format!("{:>8}/s", brief(rate)),
        ]
    }
}

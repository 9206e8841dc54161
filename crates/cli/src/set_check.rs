//! `linerate set check`: what lists hold, what is wrong with them, what matches an address.

mod facts;
mod source;
mod text;

use std::net::IpAddr;

use list::{Purpose, ReadOptions};
use serde::Serialize;

use crate::args::{CheckArgs, SetFile};
use crate::build::VERSION;
use crate::error::{Error, Outcome};
use crate::exit::ExitCode;
use crate::load::{ReadChoices, WARNINGS_SHOWN_MAX};
use crate::output::{Output, Stream};
use crate::resolve::{check_file, stdin_count};
use facts::FileFacts;
use source::ListSource;

/// What was found out, as JSON has it.
#[derive(Debug, Serialize)]
struct Check {
    version: &'static str,
    /// The files that could be read.
    files: Vec<FileFacts>,
    /// One an address that was asked for.
    tests: Vec<AddressTest>,
}

/// Which entries hold one address.
#[derive(Debug, Serialize)]
struct AddressTest {
    address: IpAddr,
    /// Entries that match, over all files.
    count: u64,
    /// The first of them.
    matches: Vec<MatchFacts>,
}

/// One entry that matches.
#[derive(Debug, Serialize)]
struct MatchFacts {
    file: String,
    line: u64,
    text: String,
}

/// Checks every file; one that cannot be read is told and the others are checked all the same.
pub(crate) fn run(args: &CheckArgs, output: Output) -> Outcome {
    if stdin_count(&args.files) > 1 {
        return Err(Error::refused(
            "standard input can be read only once: give '-' once",
        ));
    }
    let purpose = match args.allow {
        true => Purpose::Allow,
        false => Purpose::Block,
    };
    let choices = ReadChoices::new(&args.read, true).with_purpose(purpose);
    let tests = args.test.iter().map(|&address| AddressTest::new(address));
    let mut check = Check {
        version: VERSION,
        files: Vec::new(),
        tests: tests.collect(),
    };
    let mut exit = ExitCode::Done;
    for file in &args.files {
        if let Err(error) = check.add(file, &choices, output) {
            output.complain(&error.to_string());
            exit = exit.max(error.exit());
        }
    }
    if args.json {
        check.speak(output);
        output.print_json(&check)?;
    } else {
        let stream = Stream::Stdout;
        let text = text::render(&check, output.paint(stream), output.width(stream));
        output.print(stream, &text)?;
    }
    Ok(exit.max(check.judge(output)))
}

impl Check {
    fn add(&mut self, file: &SetFile, choices: &ReadChoices, output: Output) -> Result<(), Error> {
        check_file(file)?;
        let source = ListSource::new(&file.file, !self.tests.is_empty())?;
        let facts = FileFacts::read(file, &source, choices, output)?;
        self.files.push(facts);
        for test in &mut self.tests {
            test.look_into(&source, choices.options())?;
        }
        Ok(())
    }

    /// What the text would say beside the figures: for people who read the JSON's other stream.
    fn speak(&self, output: Output) {
        for file in &self.files {
            file.bad.iter().for_each(|line| output.complain(line));
            for warning in file.warnings.iter().take(WARNINGS_SHOWN_MAX) {
                output.warn(warning);
            }
        }
    }

    /// Tells what failed, if anything did.
    fn judge(&self, output: Output) -> ExitCode {
        let mut exit = ExitCode::Done;
        let mut fail = |sentence: String| {
            output.complain(&sentence);
            exit = ExitCode::CheckFailed;
        };
        for refusal in self.files.iter().filter_map(|file| file.refusal.clone()) {
            fail(refusal);
        }
        for test in self.tests.iter().filter(|test| test.count == 0) {
            fail(format!("{} is in none of the lists", test.address));
        }
        exit
    }
}

impl AddressTest {
    fn new(address: IpAddr) -> Self {
        Self {
            address,
            count: 0,
            matches: Vec::new(),
        }
    }

    fn look_into(&mut self, source: &ListSource, options: &ReadOptions) -> Result<(), Error> {
        let found = list::find(source.shown(), source.open()?, options, self.address);
        let found = found.map_err(Error::refused)?;
        self.count += found.count;
        self.matches
            .extend(found.matches.into_iter().map(|entry| MatchFacts {
                file: entry.file.to_string(),
                line: entry.line,
                text: entry.text,
            }));
        Ok(())
    }
}

//! The whole program on one screen: parse, do, and turn what came of it into an exit code.

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};

use clap::error::{ContextKind, ErrorKind};
use clap::{CommandFactory, FromArgMatches};

use crate::args::{self, Cli, ColorWhen, Command, Manners, SetCommand};
use crate::error::Outcome;
use crate::exit::ExitCode;
use crate::output::Output;
use crate::paint::Paint;
use crate::{
    bridge, bypass, capture, control, counters, daemon_run, demo, doctor, drive, drops, explain,
    hints, http, laboratory, layout, locks, pages, restore, rss, rules_check, set_check, top,
};

/// Runs what the command line asks for.
pub(crate) fn run() -> ExitCode {
    let arguments: Vec<OsString> = env::args_os().collect();
    let color = color_typed(&arguments);
    let cli = match parse(help_asked(arguments.clone()), color) {
        Ok(cli) => cli,
        Err(error) => return tell_usage(&error, &arguments, color),
    };
    let output = Output {
        manners: cli.manners,
    };
    command(&cli.command, output).unwrap_or_else(|error| {
        output.complain(&error.to_string());
        error.exit()
    })
}

fn command(command: &Command, output: Output) -> Outcome {
    match command {
        Command::Demo(args) => demo::run(args, output),
        Command::Bridge(args) => bridge::run(args, output),
        Command::Switch(args) => bridge::run_switch(args, output),
        Command::Route(args) => bridge::run_router(args, output),
        Command::Explain(args) => explain::run(args, output),
        Command::Run(args) => daemon_run::run(args, output),
        Command::Gen(args) => drive::generate(args, output),
        Command::Sink(args) => drive::take_in(args, output),
        Command::Load(args) => http::load(&args.command, output),
        Command::Serve(args) => http::serve(&args.command, output),
        Command::Bypass(args) => bypass::run(&args.command, output),
        Command::Set(set) => match &set.command {
            SetCommand::Check(args) => set_check::run(args, output),
            live => control::set(live, output),
        },
        Command::Rules(args) => rules_check::run(args, output),
        Command::Show(args) => control::show(&args.what, output),
        Command::Reload(args) => control::reload(args, output),
        Command::Health(args) => control::health(args, output),
        Command::Drain(args) => control::drain(args, output),
        Command::Top(args) => top::run(args, output),
        Command::Capture(args) => capture::run(args, output),
        Command::Doctor(args) => doctor::run(args, output),
        Command::Restore(args) => restore::run(args, output),
        Command::Rss(args) => rss::run(&args.command, output),
        Command::Ndr(args) => laboratory::no_drop(args, output),
        Command::Lab(args) => laboratory::run(args, output),
        Command::Layout(args) => layout::run(args, output),
        Command::Counters(args) => counters::run(args, output),
        Command::Locks(args) => locks::run(args, output),
        Command::Drops(args) => drops::run(args, output),
        Command::Man(args) => pages::man(args),
        Command::Completions(args) => pages::completions(args, output),
    }
}

fn parse(arguments: Vec<OsString>, color: ColorWhen) -> Result<Cli, clap::Error> {
    let command = Cli::command().color(match color {
        ColorWhen::Auto => clap::ColorChoice::Auto,
        ColorWhen::Always => clap::ColorChoice::Always,
        ColorWhen::Never => clap::ColorChoice::Never,
    });
    let command = args::ended(command);
    Cli::from_arg_matches(&command.try_get_matches_from(arguments)?)
}

/// `help set add` and `set help add` are `set add --help`.
fn help_asked(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let root = Cli::command();
    let mut command = &root;
    for place in 1..arguments.len() {
        if command.has_subcommands() && arguments[place] == "help" {
            arguments.remove(place);
            arguments.push("--help".into());
            break;
        }
        match command.find_subcommand(&arguments[place]) {
            Some(below) => command = below,
            None => break,
        }
    }
    arguments
}

/// What `--color` says, before parsing: help and usage errors are coloured too.
fn color_typed(arguments: &[OsString]) -> ColorWhen {
    let words: Vec<&str> = arguments.iter().filter_map(|word| word.to_str()).collect();
    let value = words
        .iter()
        .enumerate()
        .find_map(|(place, word)| match *word {
            "--color" => words.get(place + 1).copied(),
            word => word.strip_prefix("--color="),
        });
    match value {
        Some("always") => ColorWhen::Always,
        Some("never") => ColorWhen::Never,
        _ => ColorWhen::Auto,
    }
}

/// Prints help where it was asked for, and a usage error in the manner of all our errors.
fn tell_usage(error: &clap::Error, arguments: &[OsString], color: ColorWhen) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // A reader that went away has seen enough.
            let _ = error.print();
            ExitCode::Done
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            ExitCode::Refused
        }
        _ => {
            let paint = Paint::for_stream(color, &io::stderr());
            let text = error.render().to_string();
            let mut sentence = text.strip_prefix("error: ").unwrap_or(&text).to_owned();
            if let Some(hint) = hint(error, arguments) {
                sentence = with_hint(&sentence, &hint);
            }
            let _ = write!(io::stderr(), "{}{sentence}", paint.bad("linerate: "));
            ExitCode::Refused
        }
    }
}

/// What somebody may have meant who typed a command that there is not.
fn hint(error: &clap::Error, arguments: &[OsString]) -> Option<String> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let words: Vec<&str> = arguments
        .iter()
        .skip(1)
        .filter_map(|word| word.to_str())
        .collect();
    let words = match words.split_first() {
        Some((&"help", below)) => below,
        _ => &words,
    };
    let has_tip = error.get(ContextKind::SuggestedSubcommand).is_some();
    let near = || hints::nearest(words).filter(|_| !has_tip);
    hints::of(words).map(str::to_owned).or_else(near)
}

/// The hint in place of clap's own, which goes by letters.
fn with_hint(sentence: &str, hint: &str) -> String {
    let first = sentence.lines().next().unwrap_or_default();
    let usage = sentence.find("Usage:").map_or("", |at| &sentence[at..]);
    format!("{first}\n\n  tip: {hint}\n\n{usage}")
}

impl Manners {
    /// Whether live lines and progress are wanted at all.
    pub(crate) fn shows_progress(self) -> bool {
        !self.quiet
    }
}

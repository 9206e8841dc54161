//! `linerate show`: a daemon's facts once, or again and again.

mod dispatch;
mod fdb;
mod flows;
mod nat;
mod ports;
pub(crate) mod routing;
mod rules;
mod tables;
mod watch;
mod whole;

use daemon::rpc::Client;
use daemon::rpc::answers::{
    ConfigAnswer, Dispatch, Drops, Flows, Hits, HitsParams, Memory, NoParams, Rss, Sets, Vlans,
    Workers,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{connect, failed};
use crate::args::{FactArgs, ShowCommand, ShowHitsArgs};
use crate::error::{Error, Outcome};
use crate::output::{Output, Stream};
use crate::paint::Paint;
use watch::Rhythm;

/// Shows what was asked for.
pub(crate) fn run(what: &ShowCommand, output: Output) -> Outcome {
    let nothing = NoParams::default();
    match what {
        ShowCommand::Ports(args) => ports::run(args, output),
        ShowCommand::Workers(args) => {
            let question = Question::of("show.workers", &nothing);
            tell::<Workers, _>(&args.facts, &question, tables::workers, output)
        }
        ShowCommand::Dispatch(args) => {
            let question = Question::of("show.dispatch", &nothing);
            tell::<Dispatch, _>(&args.facts, &question, dispatch::render, output)
        }
        ShowCommand::Flows(args) => {
            let question = Question::of("show.flows", &nothing);
            tell::<Flows, _>(&args.facts, &question, flows::flows, output)
        }
        ShowCommand::Rss(args) => {
            let question = Question::of("show.rss", &nothing);
            tell::<Rss, _>(&args.facts, &question, flows::rss, output)
        }
        ShowCommand::Fdb(args) => fdb::run(args, output),
        ShowCommand::Vlans(args) => {
            let question = Question::of("show.vlans", &nothing);
            tell::<Vlans, _>(&args.facts, &question, fdb::vlans, output)
        }
        ShowCommand::Neighbours(args) => routing::neighbours(args, output),
        ShowCommand::Routes(args) => routing::routes(args, output),
        ShowCommand::Nat(args) => nat::run(args, output),
        ShowCommand::Rules(args) => rules::run(args, output),
        ShowCommand::Drops(args) => {
            let question = Question::of("show.drops", &nothing);
            tell::<Drops, _>(&args.facts, &question, tables::drops, output)
        }
        ShowCommand::Sets(args) => {
            let question = Question::of("show.sets", &nothing);
            tell::<Sets, _>(&args.facts, &question, tables::sets, output)
        }
        ShowCommand::Hits(ShowHitsArgs { top, facts }) => {
            let params = HitsParams { top: *top };
            let question = Question::of("show.hits", &params);
            tell::<Hits, _>(facts, &question, tables::hits, output)
        }
        ShowCommand::Memory(args) => {
            let question = Question::of("show.memory", &nothing);
            tell::<Memory, _>(&args.facts, &question, tables::memory, output)
        }
        ShowCommand::Config(args) => {
            let question = Question::of("show.config", &nothing);
            tell::<ConfigAnswer, _>(&args.facts, &question, tables::config, output)
        }
    }
}

/// How text looks.
#[derive(Clone, Copy)]
struct Looks {
    paint: Paint,
    width: usize,
}

impl Looks {
    fn of(output: Output) -> Self {
        Self {
            paint: output.paint(Stream::Stdout),
            width: output.width(Stream::Stdout),
        }
    }
}

/// Text of an answer and, when it is watched, the one before.
type Render<T> = fn(&T, Option<&T>, Looks) -> String;

/// A method of the daemon and what it is given.
struct Question<'a, P> {
    method: &'static str,
    params: &'a P,
}

impl<'a, P: Serialize> Question<'a, P> {
    fn of(method: &'static str, params: &'a P) -> Self {
        Self { method, params }
    }

    fn ask<T: DeserializeOwned>(&self, client: &mut Client) -> Result<T, Error> {
        client.call(self.method, self.params).map_err(failed)
    }
}

fn tell<T, P>(
    args: &FactArgs,
    question: &Question<'_, P>,
    render: Render<T>,
    output: Output,
) -> Outcome
where
    T: Serialize + DeserializeOwned,
    P: Serialize,
{
    let mut client = connect(&args.daemon)?;
    let mut ask = || question.ask::<T>(&mut client);
    if !args.watch {
        let now = ask()?;
        let text = render(&now, None, Looks::of(output));
        return super::tell(args.json, &now, &text, output);
    }
    let mut before = None;
    Rhythm::new(args.interval)?.each(|| {
        let now = ask()?;
        let text = match args.json {
            true => line_of(&now)?,
            false => watch::page(&render(&now, before.as_ref(), Looks::of(output))),
        };
        before = Some(now);
        output.print_on(&text)
    })
}

/// One JSON object, one line.
fn line_of(answer: &impl Serialize) -> Result<String, Error> {
    let text = serde_json::to_string(answer);
    let text = text.map_err(|error| Error::check_failed(format!("no JSON: {error}")))?;
    Ok(text + "\n")
}

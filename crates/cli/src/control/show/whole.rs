//! An answer that is put together of parts, shown once or again and again.

use daemon::rpc::Client;
use serde::Serialize;

use super::watch::{Rhythm, page};
use super::{Looks, line_of};
use crate::args::FactArgs;
use crate::control::{connect, tell};
use crate::error::{Error, Outcome};
use crate::output::Output;

/// Asks the daemon of `facts` for a whole answer, and prints it as `text` or as JSON.
pub(super) fn show<T: Serialize>(
    facts: &FactArgs,
    output: Output,
    mut ask: impl FnMut(&mut Client) -> Result<T, Error>,
    text: impl Fn(&T, Looks) -> String,
) -> Outcome {
    let mut client = connect(&facts.daemon)?;
    if !facts.watch {
        let all = ask(&mut client)?;
        return tell(facts.json, &all, &text(&all, Looks::of(output)), output);
    }
    Rhythm::new(facts.interval)?.each(|| {
        let all = ask(&mut client)?;
        let text = match facts.json {
            true => line_of(&all)?,
            false => page(&text(&all, Looks::of(output))),
        };
        output.print_on(&text)
    })
}

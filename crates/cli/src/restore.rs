//! `linerate restore`: what a killed process left changed on interfaces, put back.

use port::interface::{Interface, Restored, names_here, restore};
use serde_json::json;

use crate::args::RestoreArgs;
use crate::doctor::missing;
use crate::error::{Error, Outcome};
use crate::exit::ExitCode;
use crate::output::{Output, Stream};

/// Puts back, and says what.
pub(crate) fn run(args: &RestoreArgs, output: Output) -> Outcome {
    for name in &args.interfaces {
        let interface = Interface::named(name).map_err(Error::refused)?;
        if interface.index().is_err() {
            let here = names_here().unwrap_or_default();
            return Err(Error::refused(missing::sentence(name, &here)));
        }
    }
    let restored = restore(&args.interfaces).map_err(Error::refused)?;
    let failed = |restored: &&Restored| matches!(restored, Restored::Failed(_));
    let failures = restored.iter().filter(failed).count();
    if args.json {
        output.print_json(&json!({
            "version": crate::build::VERSION,
            "restored": restored.iter().map(one).collect::<Vec<_>>(),
            "failed": failures,
        }))?;
    } else {
        let said = restored.iter().filter(|restored| !failed(restored));
        let said: Vec<String> = said.filter_map(Restored::sentence).collect();
        let text = match said.as_slice() {
            [] if failures == 0 => "nothing to restore\n".to_owned(),
            said => said.iter().map(|said| format!("{said}\n")).collect(),
        };
        output.print(Stream::Stdout, &text)?;
    }
    for restored in restored.iter().filter(failed) {
        output.complain(&restored.sentence().unwrap_or_default());
    }
    Ok(match failures {
        0 => ExitCode::Done,
        _ => ExitCode::CheckFailed,
    })
}

fn one(restored: &Restored) -> serde_json::Value {
    let what = match restored {
        Restored::Done { what, .. } => what.clone(),
        _ => Vec::new(),
    };
    json!({
        "outcome": match restored {
            Restored::Done { .. } => "done",
            Restored::Nothing(_) => "nothing",
            Restored::Failed(_) => "failed",
        },
        "what": what,
        "said": restored.sentence(),
    })
}

//! `linerate capture`: samples of dropped and counted frames, from a daemon into a file, a socket
//! or the system's log.
//!
//! Samples come over the control socket ([`Client`]); a thread of its own writes them
//! ([`writer`]), so that a slow receiver loses samples and keeps nobody waiting.

mod comment;
mod destination;
mod entries;
mod line;
mod pcapng;
mod writer;

#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use daemon::capture::{CaptureParams, CapturedFrame};
use daemon::rpc::answers::StreamBegun;
use daemon::rpc::{Client, ClientError};

use crate::args::{CaptureArgs, CaptureFormat};
use crate::control;
use crate::error::{Error, Outcome};
use crate::exit::ExitCode;
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::report::number::plural;
use entries::Entries;
use line::JsonLines;
use pcapng::Pcapng;
use writer::{Format, Tally, Writer};

/// How long to wait for a sample before looking at the clock and for Ctrl-C.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Captures until Ctrl-C, or what the arguments say.
pub(crate) fn run(args: &CaptureArgs, output: Output) -> Outcome {
    let mut client = connect(args)?;
    let interrupt = Interrupt::watch()?;
    let format = format(args)?;
    let params = CaptureParams {
        drops: args.drops,
        counted: args.counted,
        set: args.set.clone(),
        per_second: args.rate,
        snap_bytes: args.snap,
    };
    let begun: StreamBegun = client
        .call("capture.start", &params)
        .map_err(Error::refused)?;
    // Not before the daemon agreed: a file that is there already stays as it is.
    let destination = destination::open(&args.file, format.name())?;
    let writer = Writer::start(format, destination)?;
    let started = Instant::now();
    let taken = take(&mut client, begun.stream, args, &writer, &interrupt);
    // Whatever ended it, what came before is written.
    let tally = writer
        .finish()
        .map_err(|error| unwritable(&args.file, &error))?;
    output.tell(&summary(&tally, started.elapsed(), &args.file));
    taken.map(|()| ExitCode::Done)
}

fn connect(args: &CaptureArgs) -> Result<Client, Error> {
    control::connect(&args.daemon)
}

/// The format by its option, or by where samples go. JSON names the entries that were hit, which a
/// second connection asks for.
fn format(args: &CaptureArgs) -> Result<Box<dyn Format>, Error> {
    let lines = destination::takes_lines(&args.file);
    let format = args.format.unwrap_or(match lines {
        true => CaptureFormat::Json,
        false => CaptureFormat::Pcapng,
    });
    match format {
        CaptureFormat::Json => {
            let entries = Entries::new(control::socket(&args.daemon));
            Ok(Box::new(JsonLines::new(entries)))
        }
        CaptureFormat::Pcapng if destination::is_message(&args.file) => {
            Err(Error::refused(format!(
                "{} takes lines of text, no pcapng: leave out --format pcapng",
                args.file
            )))
        }
        CaptureFormat::Pcapng => Ok(Box::new(Pcapng::new(args.snap))),
    }
}

fn take(
    client: &mut Client,
    stream: u64,
    args: &CaptureArgs,
    writer: &Writer,
    interrupt: &Interrupt,
) -> Result<(), Error> {
    let end = args.duration.map(|duration| Instant::now() + duration);
    let mut left = args.count.unwrap_or(u64::MAX);
    while left > 0 && !interrupt.is_asked() && !writer.has_ended() {
        let now = Instant::now();
        let patience = match end {
            Some(end) if end <= now => break,
            Some(end) => LOOK_EVERY.min(end - now),
            None => LOOK_EVERY,
        };
        match client.next::<CapturedFrame>(stream, patience) {
            Ok(Some(frame)) => {
                writer.give(frame);
                left -= 1;
            }
            Ok(None) => break,
            Err(ClientError::Silent(..)) => {}
            Err(error) => return Err(Error::check_failed(error)),
        }
    }
    Ok(())
}

fn summary(tally: &Tally, took: Duration, file: &str) -> String {
    let samples = plural(tally.samples, "sample", "samples");
    let frames = plural(tally.frames, "frame", "frames");
    let seconds = took.as_secs_f64();
    let mut text = format!("{samples} of {frames} in {seconds:.1} s into {file}");
    if tally.lost != 0 {
        let lost = plural(tally.lost, "sample", "samples");
        text += &format!("; {lost} left out since {file} was slow");
    }
    text
}

fn unwritable(file: &str, error: &std::io::Error) -> Error {
    Error::check_failed(format!("writing {file} failed: {error}"))
}

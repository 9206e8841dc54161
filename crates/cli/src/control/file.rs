//! `set load` and `set save`: whole lists, in and out.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::fd::AsFd;
use std::path::{self, Path, PathBuf};
use std::time::Duration;

use daemon::rpc::answers::{
    LoadParams, Loaded, RefreshParams, Refreshed, Saved, SavedLines, SetParams,
};

use super::{connect, failed, tell};
use crate::args::{LoadArgs, SaveArgs};
use crate::error::{Error, Outcome};
use crate::exit::ExitCode;
use crate::output::Output;
use crate::report::number::{count, plural, seconds};
use crate::screen::Screen;

/// A list of a hundred million entries takes minutes to read and compile.
pub(super) const LOADED_WITHIN: Duration = Duration::from_secs(600);

/// How long the next piece of a set may take.
const PIECE_WITHIN: Duration = Duration::from_secs(60);

pub(super) fn load(args: &LoadArgs, output: Output) -> Outcome {
    let Some(name) = &args.file else {
        return match args.places.is_given() {
            false => refresh(args, output),
            true => Err(Error::refused(
                "--column, --columns and --json-path say how FILE is read, and no FILE is given: \
                 name it, or write the keys of these names into the set's [[set]]",
            )),
        };
    };
    let mut client = connect(&args.answer.daemon)?;
    client.allow(LOADED_WITHIN);
    let params = LoadParams {
        set: args.set.clone(),
        file: shown(name),
        column: args.places.column.as_ref().map(ToString::to_string),
        columns: args.places.columns.as_ref().map(ToString::to_string),
        json_path: args.places.json_path(),
        force: args.force,
    };
    let mut screen = Screen::new(output);
    screen.begin(&format!("  loading {name}"));
    let sent = if name == "-" {
        client.send_file("set.load", &params, io::stdin().as_fd())
    } else {
        let file = File::open(name).map_err(|error| unreadable(name, &error))?;
        client.send_file("set.load", &params, file.as_fd())
    };
    let loaded: Result<Loaded, _> = sent.and_then(|sent| client.wait(sent));
    screen.clear();
    let loaded = loaded.map_err(failed)?;
    for warning in &loaded.warnings {
        output.warn(warning);
    }
    tell(args.answer.json, &loaded, &said(&args.set, &loaded), output)
}

/// Reads the set's own source.
fn refresh(args: &LoadArgs, output: Output) -> Outcome {
    let mut client = connect(&args.answer.daemon)?;
    client.allow(LOADED_WITHIN);
    let params = RefreshParams {
        set: args.set.clone(),
        force: args.force,
    };
    let mut screen = Screen::new(output);
    screen.begin(&format!("  reading the source of {}", args.set));
    let refreshed: Result<Refreshed, _> = client.call("set.refresh", &params);
    screen.clear();
    let refreshed = refreshed.map_err(failed)?;
    let said = format!(
        "'{}' has {} now, read from {} (in {})\n",
        args.set,
        plural(refreshed.entries, "entry", "entries"),
        refreshed.sources.join(" and "),
        seconds(refreshed.seconds),
    );
    tell(args.answer.json, &refreshed, &said, output)
}

/// The name in messages, which another process with another folder reads.
pub(super) fn shown(file: &str) -> String {
    if file == "-" {
        return "standard input".to_owned();
    }
    let whole = path::absolute(file).unwrap_or_else(|_| PathBuf::from(file));
    whole.display().to_string().replace(char::is_control, "?")
}

fn said(set: &str, loaded: &Loaded) -> String {
    let entries = plural(loaded.entries, "entry", "entries");
    let forced = if loaded.forced { ", forced" } else { "" };
    format!(
        "'{set}' has {entries} from this file: {} new, {} gone (in {}{forced})\n",
        count(loaded.added),
        count(loaded.removed),
        seconds(loaded.seconds),
    )
}

fn unreadable(file: &str, error: &io::Error) -> Error {
    Error::refused(format!(
        "cannot read list {file}: {error}; check the path and its permissions"
    ))
}

pub(super) fn save(args: &SaveArgs, output: Output) -> Outcome {
    let set = SetParams {
        set: args.set.clone(),
    };
    let mut client = connect(&args.daemon)?;
    let saved: Saved = client.call("set.save", &set).map_err(failed)?;
    let mut next = || {
        client
            .next::<SavedLines>(saved.stream, PIECE_WITHIN)
            .map_err(failed)
    };
    match args.file.as_deref().filter(|file| *file != Path::new("-")) {
        None => {
            while let Some(piece) = next()? {
                if !output.print_on(&joined(&piece))? {
                    break;
                }
            }
        }
        Some(file) => {
            let beside = beside(file);
            let mut out = Part::create(&beside)?;
            while let Some(piece) = next()? {
                out.write(&joined(&piece))?;
            }
            out.publish(file)?;
            let entries = plural(saved.entries, "entry", "entries");
            output.tell(&format!(
                "{entries} of '{}' are in {}",
                args.set,
                file.display()
            ));
        }
    }
    Ok(ExitCode::Done)
}

fn joined(piece: &SavedLines) -> String {
    let mut text = piece.lines.join("\n");
    text.push('\n');
    text
}

fn beside(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".part");
    name.into()
}

/// A file that is not whole yet; it goes away unless it is published.
struct Part<'a> {
    path: &'a Path,
    file: BufWriter<File>,
}

impl<'a> Part<'a> {
    fn create(path: &'a Path) -> Result<Self, Error> {
        let file = File::create(path).map_err(|error| unwritable(path, &error))?;
        let file = BufWriter::new(file);
        Ok(Self { path, file })
    }

    fn write(&mut self, text: &str) -> Result<(), Error> {
        let written = self.file.write_all(text.as_bytes());
        written.map_err(|error| unwritable(self.path, &error))
    }

    /// Whole, on the disk, and by its name at once.
    fn publish(mut self, file: &Path) -> Result<(), Error> {
        let done = self.file.flush();
        let done = done.and_then(|()| self.file.get_ref().sync_all());
        let done = done.and_then(|()| fs::rename(self.path, file));
        done.map_err(|error| unwritable(file, &error))
    }
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        // Published ones have another name by now.
        let _ = fs::remove_file(self.path);
    }
}

fn unwritable(path: &Path, error: &io::Error) -> Error {
    Error::check_failed(format!("{} cannot be written: {error}", path.display()))
}

//! How the program ends, as one number for scripts.

/// Every exit code there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ExitCode {
    /// It did what was asked.
    Done = 0,
    /// It ran, and a check failed.
    CheckFailed = 1,
    /// It could not run: the arguments or the machine stood in the way.
    Refused = 2,
}

/// What every `--help` says about them.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  it ran, but a check failed: the books do not balance, the ledger does not close,
     an output could not be written, a capture breaks off,
     a list has bad lines, a tested address is in no list, a run was cut short by a second
     Ctrl-C (0.3 s or more after the first), 'lab run' was interrupted at all,
     a row of 'lab compare' is slower, 'layout check' found crowded sets,
     'doctor' found something wrong, 'restore' failed,
     'ndr' claims no rate for some goal, 'rss verify' found frames that are placed wrongly,
     a daemon is not ready, refused what it was asked, or went away, an entry was bad or not
     there, etcd refused what it was asked,
     test frames were lost, duplicated, reordered or corrupted, or the rate was not reached,
     'load http' had no answer or missed what was expected, the program of 'counters'
     or 'locks' failed
  2  it did not run: wrong usage, or the machine lacks something (a file, memory, a CPU,
     an interface, a daemon that answers, a capture of which anything can be read)";

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_every_code() {
        for code in [ExitCode::Done, ExitCode::CheckFailed, ExitCode::Refused] {
            assert!(
                EXIT_CODES.contains(&format!("\n  {}  ", code as u8)),
                "{code:?}"
            );
        }
    }
}

//! The journal of changed sets: operations, and whole files.

use daemon::journal::{self, Journal, JournalError, OpenOptions, Operations};
use std::fs;

/// The first byte says what the others are: operations where it is even, else a journal's file.
/// Operations that are read say the same when they are written again. A folder with such a file
/// opens, or is refused as damaged and then opens by recovery, and is whole from then on.
pub fn journal(bytes: &[u8]) {
    match bytes.split_first() {
        Some((kind, operations)) if kind % 2 == 0 => read_again(operations),
        Some((_, file)) => open(file),
        None => {}
    }
}

fn read_again(bytes: &[u8]) {
    let mut read = Vec::new();
    let _ = journal::read(bytes, &mut |set, op| read.push((set.clone(), op)));
    let mut written = Operations::default();
    read.iter().for_each(|(set, op)| written.push(set, op));
    let mut again = Vec::new();
    let whole = journal::read(written.bytes(), &mut |set, op| {
        again.push((set.clone(), op))
    });
    assert!(whole.is_some(), "what was written is not read");
    assert_eq!(read, again);
}

fn open(file: &[u8]) {
    let dir = std::env::temp_dir().join(format!("linerate-fuzz-journal-{}", std::process::id()));
    // What another run left.
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).expect("a folder");
    fs::write(dir.join("journal-0000000001"), file).expect("a file");
    let open = |recover| Journal::open(&dir, OpenOptions { recover }, 1).map(|(_, kept, _)| kept);
    let first = match open(false) {
        Err(JournalError::Damaged { .. }) => open(true).expect("recovery"),
        opened => opened.expect("no other refusal"),
    };
    assert_eq!(open(false).expect("it is whole"), first);
    fs::remove_dir_all(&dir).expect("removed");
}

//! The file: opened, renamed under the writer, and gone.

use super::*;

fn lines(folder: &Path) -> Lines {
    Lines {
        file: FlowLogFile::open(&folder.join("flows.jsonl")).expect("a file"),
        ports: ["inside".to_owned(), "outside".to_owned()],
        end: FlowLogEnd::default(),
        looked: Instant::now()
            .checked_sub(2 * REOPEN_EVERY)
            .expect("a clock that runs"),
    }
}

#[test]
fn a_file_that_was_renamed_is_begun_anew() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut lines = lines(folder.path());
    let at = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("a file");
    lines.write("one\n");
    lines.flush();
    let (now, old) = (
        folder.path().join("flows.jsonl"),
        folder.path().join("flows.jsonl.1"),
    );
    std::fs::rename(&now, old).expect("renamed");
    lines.look_after();
    lines.write("two\n");
    lines.flush();
    assert_eq!(
        (at("flows.jsonl.1"), at("flows.jsonl")),
        ("one\n".to_owned(), "two\n".to_owned())
    );
    assert_eq!((lines.end.written, lines.end.unwritten), (2, 0));
}

#[test]
fn what_cannot_be_written_is_counted_and_tried_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut lines = lines(folder.path());
    lines.fail(io::Error::other("the disk is full"));
    lines.write("one\n");
    lines.look_after();
    lines.write("two\n");
    lines.flush();
    assert_eq!((lines.end.written, lines.end.unwritten), (1, 1));
    assert!(lines.end.error.is_some());
    let text = std::fs::read_to_string(folder.path().join("flows.jsonl")).expect("a file");
    assert_eq!(text, "two\n");
}

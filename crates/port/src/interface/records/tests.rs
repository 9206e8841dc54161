//! Records in a folder of their own.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

const NAMESPACE: u64 = 4_026_531_840;

fn found(index: u32) -> Found {
    let boot = "b".to_owned();
    Found {
        place: Place {
            boot,
            namespace: NAMESPACE,
        },
        process: 7,
        index,
        name: "e".to_owned(),
        address: [0; 6],
        offloads: vec!["rx-gro".to_owned()],
        interrupts: Vec::new(),
        placement: None,
        stamping: None,
        bridged: false,
    }
}

fn folder() -> (tempfile::TempDir, Records) {
    let folder = tempfile::tempdir().unwrap();
    let records = Records::at(&folder.path().join("state"));
    (folder, records)
}

/// As a process that dies leaves it: the lock is gone, the file is not.
fn abandon(records: &Records, index: u32) -> PathBuf {
    let kept = records.keep(&found(index)).unwrap();
    let path = kept.path.clone();
    let copy = path.with_extension("copy");
    fs::copy(&path, &copy).unwrap();
    drop(kept);
    fs::rename(copy, &path).unwrap();
    path
}

#[test]
fn a_record_is_nobodys_while_its_process_lives_and_gone_when_it_ends_well() {
    let (_folder, records) = folder();
    let kept = records.keep(&found(3)).unwrap();
    assert!(records.orphans(NAMESPACE, None).is_empty());
    assert_eq!(fs::read_dir(&records.folder).unwrap().count(), 1);
    drop(kept);
    assert_eq!(fs::read_dir(&records.folder).unwrap().count(), 0);
}

#[test]
fn a_living_processs_record_is_shown_to_others_and_a_dead_ones_is_not() {
    let (_folder, records) = folder();
    abandon(&records, 4);
    let kept = records.keep(&found(3)).unwrap();
    assert_eq!(records.living(NAMESPACE, None), [found(3)]);
    assert_eq!(records.living(NAMESPACE, Some(kept.path())), []);
    assert_eq!(records.living(NAMESPACE + 1, None), []);
    drop(kept);
    assert_eq!(records.living(NAMESPACE, None), []);
}

#[test]
fn a_dead_processs_record_is_found_once_at_a_time_and_forgotten() {
    let (_folder, records) = folder();
    abandon(&records, 3);
    abandon(&records, 4);
    assert_eq!(records.orphans(NAMESPACE, None).len(), 2);
    assert!(records.orphans(NAMESPACE + 1, None).is_empty());
    let mut of_four = records.orphans(NAMESPACE, Some(4));
    assert_eq!(of_four[0].found, Ok(found(4)));
    // Somebody else looks meanwhile.
    assert!(records.orphans(NAMESPACE, Some(4)).is_empty());
    of_four.pop().unwrap().forget();
    assert!(records.orphans(NAMESPACE, Some(4)).is_empty());
}

#[test]
fn what_others_can_write_is_not_believed() {
    let (_folder, records) = folder();
    let why = |records: &Records| {
        let mut orphans = records.orphans(NAMESPACE, Some(3));
        assert_eq!(orphans.len(), 1);
        orphans.remove(0).found.clone().unwrap_err()
    };
    let path = abandon(&records, 3);
    let mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(&path, 0o666);
    assert_eq!(why(&records), "it can be written by others");
    mode(&path, 0o644);
    mode(&records.folder, 0o777);
    assert_eq!(why(&records), "its folder can be written by others");
    mode(&records.folder, 0o755);
    fs::write(&path, "linerate found 9\n").unwrap();
    assert_eq!(why(&records), "it is of another version");
    fs::write(&path, [0xff, 0xfe]).unwrap();
    assert!(why(&records).contains("UTF-8"));
    fs::write(&path, found(4).to_string()).unwrap();
    assert!(why(&records).contains("different interfaces"));
    fs::write(&path, vec![b'x'; BYTES_MAX as usize + 1]).unwrap();
    assert!(why(&records).contains("size"));
    fs::remove_file(&path).unwrap();
    symlink("/etc/hostname", &path).unwrap();
    assert!(!why(&records).is_empty());
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(why(&records).contains("no file"));
}

#[test]
fn root_believes_a_user_in_the_folder_made_for_that_user() {
    if own_uid() != 0 {
        eprintln!("skipped: only root gives folders away");
        return;
    }
    let run = tempfile::tempdir().unwrap();
    let give = |path: &Path, uid| std::os::unix::fs::chown(path, Some(uid), None).unwrap();
    let record = |name: &str, folder_of: u32, file_of: u32| {
        let records = Records::at(&run.path().join(name));
        let path = abandon(&records, 3);
        give(&path, file_of);
        give(&records.folder, folder_of);
    };
    record("linerate-0", 0, 0);
    record("linerate-7001", 7001, 7001);
    record("linerate-7002", 7001, 7001);
    record("linerate", 7003, 7003);
    record("linerate-7004", 7004, 7005);
    record("linerate-x", 0, 0);
    let outcomes = |own| -> Vec<(String, Result<u32, String>)> {
        let all = Records::believed_in(run.path(), own);
        let of = |records: &Records| {
            let name = records.folder.file_name().unwrap().to_string_lossy();
            let orphans = records.orphans(NAMESPACE, None);
            let found = orphans.into_iter().map(|orphan| orphan.found.clone());
            let found = found.map(|found| found.map(|found| found.index));
            found
                .map(|found| (name.to_string(), found))
                .collect::<Vec<_>>()
        };
        all.iter().flat_map(of).collect()
    };
    let refused = |uid: u32| Err(format!("its folder belongs to user {uid}"));
    let expected = [
        ("linerate", Ok(3)),
        ("linerate-0", Ok(3)),
        ("linerate-7001", Ok(3)),
        ("linerate-7002", refused(7001)),
        ("linerate-7004", Err("it belongs to user 7005".to_owned())),
    ];
    assert_eq!(
        outcomes(0),
        expected.map(|(name, found)| (name.to_owned(), found))
    );
    // Of others a user concerns itself with root's alone.
    let names = Records::believed_in(run.path(), 7001);
    let names: Vec<_> = names
        .iter()
        .filter_map(|one| one.folder.file_name())
        .collect();
    assert_eq!(names, ["linerate-0", "linerate-7001"]);
}

#[test]
fn other_names_and_a_missing_folder_are_nothing() {
    let (_folder, records) = folder();
    assert!(records.orphans(NAMESPACE, None).is_empty());
    abandon(&records, 3);
    for name in ["x", "1-2", "a-b-c-d", "-3-1-1"] {
        fs::write(records.folder.join(name), "").unwrap();
    }
    assert_eq!(records.orphans(NAMESPACE, None).len(), 1);
}

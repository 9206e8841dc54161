//! What root gives to a user and what it does not. Tests of more than reading need root.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::accounts::Account;
use super::folders;
use super::giving::{NotGiven, give};

/// Nobody's numbers, whoever that is.
const HIM: u32 = 65_534;
const OTHER: u32 = 65_533;

struct World {
    _folder: TempDir,
    state: PathBuf,
}

/// A folder of state with a journal and a copy of a list, as root leaves it; none without root.
fn world() -> Option<World> {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root gives files away");
        return None;
    }
    let folder = TempDir::new().unwrap();
    let state = folder.path().join("state");
    fs::create_dir_all(state.join("sources")).unwrap();
    for name in [
        "lock",
        "journal-0000000002",
        "snapshot-0000000002",
        "snapshot-0000000003.new",
        "journal-0000000001.damaged",
        "sources/bad.json",
        "sources/bad.0011aabb.list",
        "sources/bad.part",
    ] {
        fs::write(state.join(name), "x").unwrap();
    }
    let closed = |path: &Path| {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
    };
    closed(&state);
    closed(&state.join("sources"));
    Some(World {
        _folder: folder,
        state,
    })
}

impl World {
    fn give(&self) -> Result<(), NotGiven> {
        give(&self.state, folders::of_state, &Account::numbered(HIM))
    }

    fn owner(&self, name: &str) -> u32 {
        fs::symlink_metadata(self.state.join(name)).unwrap().uid()
    }

    /// Refused for this file, and nothing was given.
    #[track_caller]
    fn must_refuse(&self, name: &str, word: &str) {
        let told = self.give().unwrap_err().to_string();
        let path = match name {
            "" => self.state.clone(),
            name => self.state.join(name),
        };
        let path = path.display().to_string();
        assert!(told.starts_with(&path) && told.contains(word), "{told}");
        for name in ["", "lock", "sources", "sources/bad.json"] {
            assert_eq!(self.owner(name), 0, "{name} was given");
        }
    }
}

#[test]
fn all_of_a_journal_is_given() {
    let Some(world) = world() else { return };
    world.give().unwrap();
    for name in [
        "",
        "lock",
        "journal-0000000002",
        "sources",
        "sources/bad.part",
    ] {
        assert_eq!(world.owner(name), HIM, "{name}");
    }
    // Again: it is his already.
    world.give().unwrap();
}

#[test]
fn a_folder_with_a_foreign_file_stays_roots() {
    for name in [
        "shadow",
        "journal-2",
        "sources/deep",
        "sources/lock",
        "x.json",
    ] {
        let Some(world) = world() else { return };
        fs::write(world.state.join(name), "x").unwrap();
        world.must_refuse(name, "nothing that linerate keeps");
    }
    let Some(world) = world() else { return };
    fs::create_dir(world.state.join("journal-0000000009")).unwrap();
    world.must_refuse("journal-0000000009", "nothing that linerate keeps");
}

#[test]
fn links_of_either_kind_are_not_followed() {
    let Some(world) = world() else { return };
    let theirs = world._folder.path().join("theirs");
    fs::write(&theirs, "secret").unwrap();
    let link = world.state.join("journal-0000000009");
    symlink(&theirs, &link).unwrap();
    world.must_refuse("journal-0000000009", "nothing that linerate keeps");
    fs::remove_file(&link).unwrap();
    fs::hard_link(&theirs, &link).unwrap();
    world.must_refuse("journal-0000000009", "hard link");
    assert_eq!(fs::metadata(&theirs).unwrap().uid(), 0);
}

#[test]
fn a_path_through_a_link_is_not_followed() {
    let Some(world) = world() else { return };
    let way = world._folder.path().join("way");
    symlink(world._folder.path(), &way).unwrap();
    let account = Account::numbered(HIM);
    let told = give(&way.join("state"), folders::of_state, &account).unwrap_err();
    assert!(matches!(told, NotGiven::Link(_)), "{told}");
    assert_eq!(world.owner(""), 0);
}

#[test]
fn what_others_could_write_or_have_is_not_given() {
    let Some(world) = world() else { return };
    fs::set_permissions(&world.state, fs::Permissions::from_mode(0o770)).unwrap();
    world.must_refuse("", "can be written by others");
    fs::set_permissions(&world.state, fs::Permissions::from_mode(0o700)).unwrap();
    chown(world.state.join("journal-0000000002"), Some(OTHER), None).unwrap();
    world.must_refuse("journal-0000000002", "belongs to user 65533");
    chown(&world.state, Some(OTHER), None).unwrap();
    let told = world.give().unwrap_err();
    assert!(matches!(told, NotGiven::Owned(_, OTHER)), "{told}");
}

#[test]
fn in_a_folder_of_his_nothing_is_given() {
    let Some(world) = world() else { return };
    world.give().unwrap();
    fs::write(world.state.join("his own notes"), "x").unwrap();
    chown(world.state.join("his own notes"), Some(HIM), None).unwrap();
    world.give().unwrap();
    let planted = world.state.join("sources/bad.99999999.list");
    fs::write(&planted, "x").unwrap();
    let told = world.give().unwrap_err();
    assert!(matches!(told, NotGiven::Theirs(_, 0)), "{told}");
    assert_eq!(fs::metadata(&planted).unwrap().uid(), 0);
}

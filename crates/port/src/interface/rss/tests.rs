//! Settings of a simulated NIC: set, read back, put back.

use std::cell::RefCell;
use std::rc::Rc;

use super::*;

/// A NIC that takes what drivers take: no queue beyond its last, perhaps no key.
#[derive(Clone)]
struct Nic {
    settings: Rc<RefCell<HashSettings>>,
    fixed_key: bool,
    /// It takes what is hashed of UDP over IPv4, and keeps what it had.
    deaf: bool,
    written: Rc<RefCell<Vec<String>>>,
}

impl RssAccess for Nic {
    fn settings(&self) -> io::Result<HashSettings> {
        Ok(self.settings.borrow().clone())
    }

    fn set_rss(&self, rss: &Rss) -> io::Result<()> {
        if rss.indirection.iter().any(|queue| *queue >= 4) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if self.fixed_key && !rss.key.is_empty() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let now = &mut self.settings.borrow_mut().rss;
        let (table, key) = (rss.indirection.len(), rss.key.len());
        self.written
            .borrow_mut()
            .push(format!("table {table} key {key}"));
        if table > 0 {
            now.indirection.clone_from(&rss.indirection);
        }
        if key > 0 {
            now.key.clone_from(&rss.key);
        }
        (now.function, now.transform) = (rss.function, rss.transform);
        Ok(())
    }

    fn set_hashed(&self, kind: FlowKind, letters: &str) -> io::Result<()> {
        self.written.borrow_mut().push(letters.to_owned());
        if self.deaf && kind == FlowKind::Udp4 {
            return Ok(());
        }
        let hashed = &mut self.settings.borrow_mut().hashed;
        hashed.retain(|(known, _)| *known != kind);
        hashed.push((kind, letters.to_owned()));
        Ok(())
    }
}

fn nic() -> Nic {
    let rss = Rss {
        indirection: vec![0, 1, 2, 3],
        key: vec![7; 40],
        function: 1,
        transform: 0,
    };
    let hashed = vec![(FlowKind::Udp4, "sd".to_owned())];
    Nic {
        settings: Rc::new(RefCell::new(HashSettings { rss, hashed })),
        fixed_key: false,
        deaf: false,
        written: Rc::default(),
    }
}

#[test]
fn all_is_put_back() {
    let nic = nic();
    let before = nic.settings().unwrap();
    let change = RssChange::made(nic.clone(), before.clone(), |mut settings| {
        settings.rss.key = vec![9; 40];
        settings.rss.indirection = vec![0, 0, 1, 1];
        settings.hashed[0].1 = "sdfn".to_owned();
        settings
    });
    let change = change.unwrap();
    assert_eq!(nic.settings().unwrap().rss.key, [9; 40]);
    assert_eq!(change.now().unwrap().of_kind(FlowKind::Udp4), Some("sdfn"));
    assert_eq!(change.before(), &before);
    drop(change);
    assert_eq!(nic.settings().unwrap(), before);
}

#[test]
fn what_a_driver_took_and_did_not_keep_is_read_back() {
    for (deaf, expected) in [
        (false, &[][..]),
        (true, &["what is hashed of udp4 (sd, not sdfn)"]),
    ] {
        let nic = Nic { deaf, ..nic() };
        let before = nic.settings().unwrap();
        let change = RssChange::made(nic, before, |mut settings| {
            settings.rss.key = vec![9; 40];
            settings.hashed[0].1 = "sdfn".to_owned();
            settings
        });
        assert_eq!(change.unwrap().not_taken(), expected);
    }
    let wanted = nic().settings().unwrap();
    // What was read back, and the parts that are told.
    type Change = fn(&mut HashSettings);
    let table: [(Change, &str); 5] = [
        (|_| (), ""),
        (|now| now.rss.key = vec![1; 40], "the key"),
        (|now| now.rss.function = 2, "the hash function"),
        (
            |now| now.rss.indirection = vec![0, 1, 1],
            "2 entries of the table",
        ),
        (
            |now| now.hashed.clear(),
            "what is hashed of udp4 (nothing told, not sd)",
        ),
    ];
    for (change, expected) in table {
        let mut now = wanted.clone();
        change(&mut now);
        assert_eq!(wanted.missing_in(&now).join("; "), expected);
    }
}

#[test]
fn only_what_changes_is_written() {
    let mut nic = nic();
    nic.fixed_key = true;
    let before = nic.settings().unwrap();
    let change = RssChange::made(nic.clone(), before.clone(), |mut settings| {
        settings.rss.indirection = vec![1, 0, 1, 0];
        settings
    });
    drop(change.unwrap());
    assert_eq!(*nic.written.borrow(), ["table 4 key 0"; 2]);
    assert_eq!(nic.settings().unwrap(), before);
}

#[test]
fn what_cannot_be_put_back_is_told_and_not_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record");
    for refuses in [false, true] {
        let mut nic = nic();
        let before = nic.settings().unwrap();
        let change = RssChange::made(nic.clone(), before.clone(), |mut settings| {
            settings.rss.key = vec![9; 40];
            settings
        });
        let mut change = change.unwrap();
        std::fs::write(&path, "").unwrap();
        change.record = Some(Kept::at(&path));
        nic.fixed_key = refuses;
        change.interface.fixed_key = refuses;
        assert_eq!(change.put_back().is_err(), refuses);
        assert_eq!(path.exists(), refuses, "the record");
        assert_eq!(nic.settings().unwrap() == before, !refuses);
    }
}

#[test]
fn what_is_refused_changes_nothing() {
    let nic = nic();
    let before = nic.settings().unwrap();
    let change = RssChange::made(nic.clone(), before.clone(), |mut settings| {
        settings.rss.indirection = vec![9; 4];
        settings
    });
    assert!(change.is_err_and(|(as_before, _)| as_before));
    assert_eq!(nic.settings().unwrap(), before);
}

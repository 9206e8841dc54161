//! Changes of a list in etcd, for whoever keeps it.

use std::collections::BTreeSet;
use std::time::Duration;

use super::super::error::SourceError;
use super::client::{Client, SnapshotMax};
use super::message::{
    Bytes, DeleteAsk, LeaseAnswer, LeaseAsk, Number, Operation, PutAsk, TxnAnswer, TxnAsk,
};
use crate::config::Held;

/// Operations of one transaction: etcd refuses more, unless its --max-txn-ops is another.
const OPERATIONS_MAX: usize = 128;

/// Bytes of the value of one key: etcd refuses requests above 1.5 MiB.
pub(crate) const VALUE_BYTES_MAX: usize = 1 << 20;

/// Keys that a push compares with.
const SNAPSHOT_MAX: SnapshotMax = SnapshotMax {
    keys: 32 << 20,
    bytes: 512 << 20,
};

/// Writes a list in etcd.
#[derive(Debug)]
pub struct Writer {
    client: Client,
    held: Held,
}

/// What a push changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pushed {
    /// Keys that were not there.
    pub added: u64,
    /// Keys that are gone.
    pub deleted: u64,
}

impl Writer {
    /// Writes to the list that `held` names. Asks nobody yet.
    #[must_use]
    pub fn new(client: Client, held: Held) -> Self {
        Self { client, held }
    }

    /// Makes these entries the keys behind the prefix: what is missing is put, what is not among
    /// them is deleted, and keys that stay keep their values and leases. Readers see the changes in
    /// steps of at most 128.
    ///
    /// # Errors
    /// etcd does not answer, or refuses; part of the changes may be made.
    pub fn push_entries(&mut self, entries: &BTreeSet<String>) -> Result<Pushed, SourceError> {
        let (_, found) = self.client.snapshot(&self.held, SNAPSHOT_MAX)?;
        let there: BTreeSet<Vec<u8>> = found.into_iter().map(|pair| pair.key.0).collect();
        let wanted = entries.iter().map(|entry| self.key(entry));
        let wanted: BTreeSet<Vec<u8>> = wanted.collect();
        let added: Vec<Operation> = wanted.difference(&there).map(|key| put(key)).collect();
        let deleted = there.difference(&wanted).map(|key| delete(key));
        let deleted: Vec<Operation> = deleted.collect();
        let pushed = Pushed {
            added: added.len() as u64,
            deleted: deleted.len() as u64,
        };
        // What is to be there goes in first: a list that moves is never empty in between.
        self.change(&added)?;
        self.change(&deleted)?;
        Ok(pushed)
    }

    /// Makes this text the value of the key: readers see it whole.
    ///
    /// # Errors
    /// It is longer than etcd takes; etcd does not answer, or refuses.
    pub fn push_text(&mut self, text: &[u8]) -> Result<(), SourceError> {
        if text.len() > VALUE_BYTES_MAX {
            return Err(SourceError::Etcd(format!(
                "a list of {} bytes is too long for one key of etcd, which takes 1 MiB: push it \
                 behind a prefix, a key an entry",
                text.len()
            )));
        }
        let put = PutAsk {
            key: Bytes(self.key("")),
            value: Bytes(text.to_vec()),
            ..PutAsk::default()
        };
        self.change(&[Operation::Put(put)]).map(|_| ())
    }

    /// Puts entries with a comment; with a timeout they go by themselves, also where nobody runs.
    ///
    /// # Errors
    /// etcd does not answer, or refuses; part of the changes may be made.
    pub fn add(
        &mut self,
        entries: &BTreeSet<String>,
        comment: &str,
        timeout: Option<Duration>,
    ) -> Result<(), SourceError> {
        let lease = match timeout {
            None => Number(0),
            Some(timeout) => self.lease(timeout)?,
        };
        let put = |entry: &String| {
            Operation::Put(PutAsk {
                key: Bytes(self.key(entry)),
                value: Bytes(comment.as_bytes().to_vec()),
                lease,
            })
        };
        let puts: Vec<Operation> = entries.iter().map(put).collect();
        self.change(&puts).map(|_| ())
    }

    /// Deletes entries and gives back how many were there.
    ///
    /// # Errors
    /// etcd does not answer, or refuses; part of the changes may be made.
    pub fn delete(&mut self, entries: &BTreeSet<String>) -> Result<u64, SourceError> {
        let deletes = entries.iter().map(|entry| delete(&self.key(entry)));
        let deletes: Vec<Operation> = deletes.collect();
        self.change(&deletes)
    }

    fn lease(&mut self, timeout: Duration) -> Result<Number, SourceError> {
        let ttl = timeout.as_millis().div_ceil(1000);
        let ask = LeaseAsk {
            ttl: Number(u64::try_from(ttl).unwrap_or(u64::MAX).max(1)),
        };
        let answer: LeaseAnswer = self.client.call("/v3/lease/grant", &ask)?;
        match answer.id {
            Number(0) => Err(self.client.garbled("a lease without a number")),
            id => Ok(id),
        }
    }

    fn key(&self, entry: &str) -> Vec<u8> {
        format!("{}{entry}", self.held.text()).into_bytes()
    }

    /// Does all of it, in as many transactions as it takes, and gives back how many keys were
    /// deleted.
    fn change(&mut self, operations: &[Operation]) -> Result<u64, SourceError> {
        let mut deleted = 0;
        for some in operations.chunks(OPERATIONS_MAX) {
            let ask = TxnAsk {
                success: some.to_vec(),
            };
            let answer: TxnAnswer = self.client.call("/v3/kv/txn", &ask)?;
            let each = answer.responses.iter();
            let each = each.filter_map(|one| one.response_delete_range.as_ref());
            deleted += each.map(|one| one.deleted.0).sum::<u64>();
        }
        Ok(deleted)
    }
}

fn put(key: &[u8]) -> Operation {
    Operation::Put(PutAsk {
        key: Bytes(key.to_vec()),
        ..PutAsk::default()
    })
}

fn delete(key: &[u8]) -> Operation {
    Operation::Delete(DeleteAsk {
        key: Bytes(key.to_vec()),
    })
}

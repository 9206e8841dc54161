//! What the configuration says of an etcd, and where in it a list is.

use super::list_url::ListUrl;
use crate::config::{Held, Login, TlsFiles};

/// A cluster of etcd, and how to speak to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EtcdAt {
    /// Addresses of members; one after the other is asked. Never empty.
    pub endpoints: Vec<ListUrl>,
    /// Who asks, where etcd wants to know.
    pub login: Option<Login>,
    /// Certificates.
    pub tls: TlsFiles,
}

/// A list in etcd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EtcdSource {
    /// The cluster.
    pub at: EtcdAt,
    /// Where in it.
    pub held: Held,
}

/// The first key, and the key behind the last; none for one key alone.
pub(crate) fn range(held: &Held) -> (Vec<u8>, Option<Vec<u8>>) {
    match held {
        Held::Key(key) => (key.clone().into_bytes(), None),
        Held::Prefix(prefix) => (prefix.clone().into_bytes(), Some(behind(prefix))),
    }
}

/// The first key that does not begin with the prefix. No byte of UTF-8 is 0xff, so that the last
/// one has a successor; all keys follow an empty prefix, which etcd writes as a zero.
fn behind(prefix: &str) -> Vec<u8> {
    let mut end = prefix.as_bytes().to_vec();
    match end.last_mut() {
        Some(last) => *last += 1,
        None => end.push(0),
    }
    end
}

impl EtcdSource {
    /// How reports name it, as in `etcd:/linerate/bad/`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("etcd:{}", self.held.text())
    }
}

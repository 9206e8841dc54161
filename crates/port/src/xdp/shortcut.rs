//! `shortcut`: the kernel forwards frames that are sound and surely in no list, and gives the
//! workers all others.
//!
//! What is in no list is told by a filter that errs to one side (`table::Sieve`, as words here):
//! its program asks it of every frame that it can read, in `bpf/sieve.h`.

use std::fmt;
use std::sync::Arc;

use super::maps::{Maps, SieveValue};
use super::partners::Partners;
use super::program::Steering;
use super::spec::XdpSpec;

/// Words of a block of the filter.
const BLOCK_WORDS: usize = 8;

/// What tells that an address is in no list, by the words of `table::Sieve`.
#[derive(Clone, Copy, Debug)]
pub struct SieveWords<'a> {
    /// Factor and sum of the hash.
    pub key: [u64; 2],
    /// The filter, a whole number of blocks of eight.
    pub words: &'a [u64],
    /// A bit for each IPv4 network of 24 bits, where there are any.
    pub networks: Option<&'a [u64]>,
    /// Whether IPv6 frames are always for the workers.
    pub holds_v6: bool,
}

/// The shortcut of one port. Clones are the same.
#[derive(Clone)]
pub struct Shortcut {
    name: String,
    steering: Arc<Steering>,
    partners: Partners,
}

impl Shortcut {
    /// That of a port, where it was asked for.
    pub(super) fn of(
        spec: &XdpSpec,
        steering: &Arc<Steering>,
        partners: &Partners,
    ) -> Option<Self> {
        spec.shortcut.then(|| Self {
            name: spec.interface.clone(),
            steering: Arc::clone(steering),
            partners: partners.clone(),
        })
    }

    /// Ends it: when this returns, the kernel forwards no frame more by what it was told before.
    /// What goes wrong is told at the end of the run.
    pub fn close(&self) {
        self.try_close();
    }

    fn try_close(&self) -> bool {
        let closed = self.steering.maps().close_sieve();
        let done = closed.is_ok();
        self.note("closed", closed);
        done
    }

    /// Has the kernel forward what falls through from now on, unless there is room for a smaller
    /// filter only; then workers go on to see every frame. What goes wrong is told at the end.
    pub fn open(&self, sieve: &SieveWords<'_>) {
        // A filter that is asked must not be written: half of the old one speaks for nobody.
        if !self.try_close() {
            return;
        }
        let maps = self.steering.maps();
        if sieve.words.len() > maps.sieve_words_max() {
            let sentence = "the lists have grown too large for it since the start";
            return self.note("opened", Err(std::io::Error::other(sentence)));
        }
        let opened = match self.partners.mtu_beyond(&self.name) {
            Ok(mtu) => write(maps, sieve, mtu),
            Err(error) => Err(std::io::Error::other(error.to_string())),
        };
        self.note("opened", opened);
    }

    fn note(&self, what: &str, done: std::io::Result<()>) {
        if let Err(error) = done {
            let sentence = format!("xdp:{}: the shortcut was not {what}: {error}", self.name);
            self.steering.note_trouble(sentence);
        }
    }
}

/// While it is closed; what opens it is written last, and alone.
fn write(maps: &Maps, sieve: &SieveWords<'_>, mtu: u32) -> std::io::Result<()> {
    maps.put_sieve_words(sieve.words)?;
    if let Some(networks) = sieve.networks {
        maps.put_sieve_networks(networks)?;
    }
    let value = SieveValue {
        key: sieve.key,
        blocks: 0,
        networks: sieve.networks.is_some(),
        ipv6: !sieve.holds_v6,
        // Ethernet's header and a tag: more the kernel does not redirect.
        bytes_max: mtu.saturating_add(18),
    };
    maps.put_sieve(value)?;
    maps.put_sieve(SieveValue {
        blocks: (sieve.words.len() / BLOCK_WORDS) as u32,
        ..value
    })
}

impl fmt::Debug for Shortcut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Shortcut").field(&self.name).finish()
    }
}

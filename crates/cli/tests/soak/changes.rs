//! Who changes the sets while frames go by: by hand, with timeouts, by a file, by actions.

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use daemon::rpc::answers::{
    Action, ActionParams, AddParams, Added, DeleteParams, Deleted, EntryList, SetFacts, parse_entry,
};
use daemon::rpc::{Client, ClientError};

use crate::bridge::{Bridge, PATIENCE, facts, received};
use crate::model::{Change, Sides, Space};

/// The tracks by their numbers; each is a set of this name.
pub(crate) const HAND: usize = 0;
pub(crate) const TIMED: usize = 1;
pub(crate) const FILE: usize = 2;
pub(crate) const FLIP: usize = 3;
pub(crate) const TRACKS: usize = 4;

/// Whose an address is. What is left out between is private somewhere, or nobody's.
pub(crate) fn space(upper: u8) -> Space {
    match upper {
        16..=31 => Space::Of(HAND),
        32..=47 => Space::Of(TIMED),
        64..=95 => Space::Of(FILE),
        104..=119 => Space::Of(FLIP),
        128..=159 => Space::Blocked,
        _ => Space::Free,
    }
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

/// A network of 12 bits, and those of 16 bits that it is.
fn wide(number: u16) -> (String, impl Iterator<Item = u16>) {
    let first = number << 4;
    let text = format!("{}.{}.0.0/12", first >> 8, first & 0xff);
    (text, first..=first + 15)
}

fn list(entries: &[String]) -> EntryList {
    let entries = entries.iter().map(|text| parse_entry(text));
    EntryList(entries.map(|entry| entry.expect("an entry")).collect())
}

/// What a change was answered with; none where it is in force for all that is received from now
/// on, but the worker had no CPU for so long that nobody waited for it.
fn answer<R>(done: &Done, answer: Result<R, ClientError>) -> Option<R> {
    match answer {
        Err(ClientError::Refused(error)) if error.reason == "not-confirmed" => {
            done.unconfirmed.fetch_add(1, Ordering::Relaxed);
            None
        }
        answer => Some(answer.expect("a change")),
    }
}

fn add(
    (client, done): (&mut Client, &Done),
    set: &str,
    entries: &[String],
    timeout_ms: Option<u64>,
) {
    let params = AddParams {
        set: set.to_owned(),
        entries: list(entries),
        timeout_ms,
        comment: Some("soak".to_owned()),
        force: false,
    };
    if let Some::<Added>(added) = answer(done, client.call("set.add", &params)) {
        assert_eq!(added.added, entries.len() as u64);
    }
}

fn delete((client, done): (&mut Client, &Done), set: &str, entries: &[String]) {
    let params = DeleteParams {
        set: set.to_owned(),
        entries: list(entries),
        force: false,
    };
    if let Some::<Deleted>(deleted) = answer(done, client.call("set.delete", &params)) {
        assert_eq!(deleted.absent, 0);
    }
}

/// How much was changed.
#[derive(Default)]
pub(crate) struct Done {
    pub(crate) by_hand: AtomicU64,
    pub(crate) expired: AtomicU64,
    pub(crate) replaced: AtomicU64,
    pub(crate) flipped: AtomicU64,
    /// Of all these, changes that the worker did not confirm in time.
    pub(crate) unconfirmed: AtomicU64,
}

impl Done {
    pub(crate) fn all(&self) -> [u64; 4] {
        let every = [&self.by_hand, &self.expired, &self.replaced, &self.flipped];
        every.map(|count| count.load(Ordering::Relaxed))
    }
}

/// Entries of a request that are one version: of more the keeper may make several.
const BATCH: u32 = 2000;
/// Batches that are in, soon after the start and from then on: what is held stays as large.
const BATCHES: usize = 20;

fn batch(number: u32) -> (Vec<u32>, Vec<String>) {
    let first = 0x1800_0000 + number * BATCH;
    let addresses: Vec<u32> = (first..first + BATCH).collect();
    let text = |address: &u32| Ipv4Addr::from(*address).to_string();
    let texts = addresses.iter().map(text).collect();
    (addresses, texts)
}

/// Adds and deletes networks and addresses by one connection, one change after the other.
pub(crate) fn by_hand(bridge: &Bridge, sides: &Sides, mut random: Random, done: &Done) {
    let (mut client, track) = (bridge.client(), &sides.tracks[HAND]);
    let (mut nets, mut batches) = (BTreeSet::new(), VecDeque::new());
    let mut next = 0;
    while !sides.is_over() {
        let version = if random.below(10) > 0 {
            // Of 16.0.0.0 to 23.255.255.255: the batches have the other half.
            let number = 256 + random.below(128) as u16;
            let (text, within) = wide(number);
            let is_in = nets.insert(number);
            let version = track.announce(Change::nets(within, is_in));
            if is_in {
                add((&mut client, done), "hand", &[text], None);
            } else {
                nets.remove(&number);
                delete((&mut client, done), "hand", &[text]);
            }
            version
        } else if batches.len() < BATCHES {
            let (addresses, texts) = batch(next % 4000);
            batches.push_back(next % 4000);
            next += 1;
            let version = track.announce(Change::addresses(&addresses, true));
            add((&mut client, done), "hand", &texts, None);
            version
        } else {
            let oldest = batches.pop_front().expect("they are many");
            let (addresses, texts) = batch(oldest);
            let version = track.announce(Change::addresses(&addresses, false));
            delete((&mut client, done), "hand", &texts);
            version
        };
        track.answered(version);
        done.by_hand.fetch_add(1, Ordering::Relaxed);
        sleep(Duration::from_micros(random.below(2000)));
    }
}

/// Adds a network with a timeout and waits until it is gone by itself.
pub(crate) fn timed(bridge: &Bridge, sides: &Sides, mut random: Random, done: &Done) {
    let (mut client, track) = (bridge.client(), &sides.tracks[TIMED]);
    while !sides.is_over() {
        let (text, within) = wide(512 + random.below(256) as u16);
        let within: Vec<u16> = within.collect();
        let timeout = 30 + random.below(400);
        let sent = Instant::now();
        let added = track.announce(Change::nets(within.clone(), true));
        // The daemon's clock of entries has whole milliseconds.
        let not_before = sent + Duration::from_millis(timeout - 2);
        let gone = track.announce(Change {
            not_before: Some(not_before),
            ..Change::nets(within, false)
        });
        add((&mut client, done), "timed", &[text], Some(timeout));
        track.answered(added);
        while facts(&mut client, "timed").timed > 0 {
            assert!(sent.elapsed() < PATIENCE, "an entry stays beyond its time");
            sleep(Duration::from_millis(2));
        }
        track.answered(gone);
        done.expired.fetch_add(1, Ordering::Relaxed);
    }
}

/// A list in a file, version by version: windows that move over all that could be in it.
pub(crate) struct FileList {
    addresses: u32,
    version: u32,
}

impl FileList {
    /// A list of about so many addresses, and 512 networks.
    pub(crate) fn new(addresses: u32) -> Self {
        let version = 0;
        Self { addresses, version }
    }

    /// An odd factor: no two numbers below 2^29 give one address.
    fn address(number: u32) -> u32 {
        0x4000_0000 | (number.wrapping_mul(0x9e37_79b1) & 0x1fff_ffff)
    }

    fn net(number: u32) -> u16 {
        0x4000 | (number.wrapping_mul(0x9e37_79b1) & 0x1fff) as u16
    }

    fn addresses_of(&self, version: u32) -> std::ops::Range<u32> {
        let first = version.wrapping_mul(self.addresses / 16);
        first..first + self.addresses
    }

    /// Each version has another number of entries, by which it is known.
    fn nets_of(version: u32) -> std::ops::Range<u32> {
        let first = version.wrapping_mul(48);
        first..first + 512 + version % 5
    }

    fn entries(&self) -> u64 {
        (self.addresses_of(self.version).len() + Self::nets_of(self.version).len()) as u64
    }

    pub(crate) fn text(&self) -> String {
        let mut text = String::with_capacity(self.addresses as usize * 16);
        for number in Self::nets_of(self.version) {
            let net = Self::net(number);
            writeln!(text, "{}.{}.0.0/16", net >> 8, net & 0xff).expect("memory");
        }
        for number in self.addresses_of(self.version) {
            writeln!(text, "{}", Ipv4Addr::from(Self::address(number))).expect("memory");
        }
        text
    }

    /// All of it, for the first version.
    pub(crate) fn whole(&self) -> Change {
        let nets = Self::nets_of(self.version).map(|number| (Self::net(number), true));
        let addresses = self.addresses_of(self.version);
        let addresses = addresses.map(|number| (Self::address(number), true));
        Change {
            nets: nets.collect(),
            addresses: addresses.collect(),
            ..Change::default()
        }
    }

    /// The next version, and what it changes.
    fn turn(&mut self) -> Change {
        let (old, new) = (self.version, self.version + 1);
        self.version = new;
        let (nets, new_nets) = (Self::nets_of(old), Self::nets_of(new));
        let gone = nets.clone().filter(|number| !new_nets.contains(number));
        let come = new_nets.clone().filter(|number| !nets.contains(number));
        let gone = gone.map(|number| (Self::net(number), false));
        let nets = gone.chain(come.map(|number| (Self::net(number), true)));
        let (olds, news) = (self.addresses_of(old), self.addresses_of(new));
        let gone = (olds.start..news.start).map(|number| (Self::address(number), false));
        let come = (olds.end..news.end).map(|number| (Self::address(number), true));
        Change {
            nets: nets.collect(),
            addresses: gone.chain(come).collect(),
            ..Change::default()
        }
    }
}

/// Replaces the file that a set watches, again and again.
pub(crate) fn replaced(bridge: &Bridge, sides: &Sides, mut list: FileList, done: &Done) {
    let (mut client, track) = (bridge.client(), &sides.tracks[FILE]);
    while !sides.is_over() {
        let version = track.announce(list.turn());
        bridge.replace("file.txt", &list.text());
        let begun = Instant::now();
        loop {
            let SetFacts {
                entries, refused, ..
            } = facts(&mut client, "file");
            if entries == list.entries() {
                break;
            }
            assert!(begun.elapsed() < PATIENCE, "not loaded: {refused:?}");
            sleep(Duration::from_millis(5));
        }
        track.answered(version);
        done.replaced.fetch_add(1, Ordering::Relaxed);
    }
}

/// A set blocks, counts and blocks again, its list as it is.
pub(crate) fn flipped(bridge: &Bridge, sides: &Sides, mut random: Random, done: &Done) {
    let (mut client, track) = (bridge.client(), &sides.tracks[FLIP]);
    let mut blocks = true;
    while !sides.is_over() {
        blocks = !blocks;
        let action = if blocks { Action::Block } else { Action::Count };
        let set = "flip".to_owned();
        let version = track.announce(Change::blocks(blocks));
        let params = ActionParams {
            set,
            action,
            side: None,
            port: None,
            force: false,
        };
        if let Some::<SetFacts>(facts) = answer(done, client.call("set.action", &params)) {
            assert_eq!(facts.action, action);
        }
        track.answered(version);
        done.flipped.fetch_add(1, Ordering::Relaxed);
        sleep(Duration::from_micros(random.below(20_000)));
    }
}

/// Marks from which frame on it is sure that what was answered is in force.
///
/// Counts are shown now and then, and asked for by way of others. The second time that a count
/// differs from the one before it was shown after the first was asked for, so after all that had
/// been answered by then: frames beyond it arrived later still.
pub(crate) fn marked(bridge: &Bridge, sides: &Sides) {
    let mut client = bridge.client();
    while !sides.is_over() {
        let answered = sides.all_answered();
        let mut count = received(&mut client);
        for _ in 0..2 {
            let before = count;
            while count == before && !sides.is_over() {
                count = received(&mut client);
            }
        }
        if !sides.is_over() {
            sides.mark(count, answered);
        }
        sleep(Duration::from_millis(5));
    }
}

//! The commands of ethtool that ports need: driver, queues and what is set on them, and offloads by
//! name.

use std::io;

use super::ioctl::{ControlSocket, InterfaceName};

// linux/ethtool.h.
const GET_DRIVER: u32 = 0x03;
const GET_COALESCING: u32 = 0x0e;
const GET_RINGS: u32 = 0x10;
const GET_PAUSE: u32 = 0x12;
const GET_STRINGS: u32 = 0x1b;
const GET_STATISTICS: u32 = 0x1d;
const GET_HASHED: u32 = 0x29;
const GET_STRING_COUNTS: u32 = 0x37;
const GET_FEATURES: u32 = 0x3a;
const SET_FEATURES: u32 = 0x3b;
const GET_CHANNELS: u32 = 0x3c;
const GET_RSS: u32 = 0x46;
/// `ETH_SS_STATS`: the set of strings that names the driver's counters.
const STATISTICS_NAMES: u32 = 1;
/// More counters than this no driver has: cards with hundreds of queues have some thousands. The
/// kernel writes as many as there are at that moment, whatever was asked for, and queues may come
/// in between: there is room for twice as many.
const STATISTICS_MAX: u32 = 1 << 15;
const STATISTICS_ROOM: usize = 2 << 15;
/// `ETH_SS_FEATURES`: the set of strings that names the offloads.
const FEATURE_NAMES: u32 = 4;

const DRIVER_WORDS: usize = 49;
const STRING_BYTES: usize = 32;
const CHANNELS_WORDS: usize = 9;
const COALESCING_WORDS: usize = 23;
const RINGS_WORDS: usize = 9;
const PAUSE_WORDS: usize = 4;
const RSS_WORDS: usize = 6;
const HASHED_WORDS: usize = 48;
/// Fields of a frame (`RXH_IP_SRC` and so on) as `ethtool -N IFACE rx-flow-hash` writes them.
const HASHED_FIELDS: [(u32, char); 7] = [
    (1, 'm'),
    (2, 'v'),
    (3, 't'),
    (4, 's'),
    (5, 'd'),
    (6, 'f'),
    (7, 'n'),
];
/// Longer tables and keys than any card has: what says more is not believed.
const RSS_BUCKETS_MAX: u32 = 1 << 16;
const RSS_KEY_BYTES_MAX: u32 = 1 << 10;
/// More offloads than this no kernel has: there are 64 today.
const FEATURES_MAX: u32 = 1024;

/// The driver's name, as in `veth` or `mlx5_core`.
pub(crate) fn driver(socket: &ControlSocket, name: &InterfaceName) -> io::Result<String> {
    let mut words = [0; DRIVER_WORDS];
    words[0] = GET_DRIVER;
    // SAFETY: `struct ethtool_drvinfo` has 196 bytes, 49 words.
    unsafe { socket.ethtool(name, &mut words)? };
    Ok(text(&words[1..1 + STRING_BYTES / 4]))
}

/// Receive queues in use: those for reception alone and those for both directions.
pub(crate) fn rx_queues(socket: &ControlSocket, name: &InterfaceName) -> io::Result<u32> {
    Ok(channels(socket, name)?.rx)
}

/// Receive queues of an interface, those for both directions included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Channels {
    /// In use.
    pub rx: u32,
    /// The most that can be set.
    pub rx_max: u32,
    /// Whether they are set as `combined`, which is what the command that changes them needs.
    pub combined: bool,
}

pub(crate) fn channels(socket: &ControlSocket, name: &InterfaceName) -> io::Result<Channels> {
    let mut words = [0; CHANNELS_WORDS];
    words[0] = GET_CHANNELS;
    // SAFETY: `struct ethtool_channels` has nine words.
    unsafe { socket.ethtool(name, &mut words)? };
    let [_, rx_max, _, _, combined_max, rx, _, _, combined] = words;
    Ok(Channels {
        rx: rx.saturating_add(combined),
        rx_max: rx_max.max(combined_max),
        combined: combined_max > 0,
    })
}

/// Places of an interface's own rings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingSizes {
    /// For reception, frames.
    pub rx: u32,
    /// The most that can be set.
    pub rx_max: u32,
    /// For transmission, frames.
    pub tx: u32,
    /// The most that can be set.
    pub tx_max: u32,
}

pub(crate) fn rings(socket: &ControlSocket, name: &InterfaceName) -> io::Result<RingSizes> {
    let mut words = [0; RINGS_WORDS];
    words[0] = GET_RINGS;
    // SAFETY: `struct ethtool_ringparam` has nine words.
    unsafe { socket.ethtool(name, &mut words)? };
    let [_, rx_max, _, _, tx_max, rx, _, _, tx] = words;
    Ok(RingSizes {
        rx,
        rx_max,
        tx,
        tx_max,
    })
}

/// How long an interface waits for more frames before it interrupts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coalescing {
    /// The driver chooses by the rate.
    pub rx_adaptive: bool,
    /// Microseconds.
    pub rx_us: u32,
    /// Frames, whichever comes first.
    pub rx_frames: u32,
}

pub(crate) fn coalescing(socket: &ControlSocket, name: &InterfaceName) -> io::Result<Coalescing> {
    let mut words = [0; COALESCING_WORDS];
    words[0] = GET_COALESCING;
    // SAFETY: `struct ethtool_coalesce` has 23 words.
    unsafe { socket.ethtool(name, &mut words)? };
    Ok(Coalescing {
        rx_adaptive: words[10] != 0,
        rx_us: words[1],
        rx_frames: words[2],
    })
}

/// Pause frames (IEEE 802.3x): a receiver that is full stops its sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    /// Those that come are obeyed.
    pub rx: bool,
    /// They are sent.
    pub tx: bool,
}

pub(crate) fn pause(socket: &ControlSocket, name: &InterfaceName) -> io::Result<Pause> {
    let mut words = [0; PAUSE_WORDS];
    words[0] = GET_PAUSE;
    // SAFETY: `struct ethtool_pauseparam` has four words.
    unsafe { socket.ethtool(name, &mut words)? };
    Ok(Pause {
        rx: words[2] != 0,
        tx: words[3] != 0,
    })
}

/// How an interface chooses a frame's queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rss {
    /// The queue of each bucket.
    pub indirection: Vec<u32>,
    /// The key of the hash; empty where the driver keeps it to itself.
    pub key: Vec<u8>,
}

pub(crate) fn rss(socket: &ControlSocket, name: &InterfaceName) -> io::Result<Rss> {
    let mut words = [0; RSS_WORDS];
    words[0] = GET_RSS;
    // SAFETY: `struct ethtool_rxfh` has six words, and with both lengths zero nothing follows.
    unsafe { socket.ethtool(name, &mut words)? };
    let (buckets, key_bytes) = (words[2], words[3]);
    if buckets > RSS_BUCKETS_MAX || key_bytes > RSS_KEY_BYTES_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let key_start = RSS_WORDS + buckets as usize;
    let mut words = vec![0; key_start + key_bytes.div_ceil(4) as usize];
    (words[0], words[2], words[3]) = (GET_RSS, buckets, key_bytes);
    // SAFETY: the kernel writes the table and the key of the lengths given here, and refuses when
    // they are no longer the device's.
    unsafe { socket.ethtool(name, &mut words)? };
    let key = words[key_start..]
        .iter()
        .flat_map(|word| word.to_ne_bytes());
    Ok(Rss {
        key: key.take(key_bytes as usize).collect(),
        indirection: words[RSS_WORDS..key_start].to_vec(),
    })
}

/// Which kind of frames a question about hashing is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlowKind {
    /// TCP over IPv4.
    Tcp4 = 1,
    /// UDP over IPv4.
    Udp4 = 2,
    /// TCP over IPv6.
    Tcp6 = 5,
    /// UDP over IPv6.
    Udp6 = 6,
}

/// What of a frame of this kind goes into the hash, in the letters of ethtool: `sd` for addresses,
/// `fn` for ports. Empty for nothing.
pub(crate) fn hashed(
    socket: &ControlSocket,
    name: &InterfaceName,
    kind: FlowKind,
) -> io::Result<String> {
    let mut words = [0; HASHED_WORDS];
    (words[0], words[1]) = (GET_HASHED, kind as u32);
    // SAFETY: `struct ethtool_rxnfc` has 192 bytes, 48 words, without rules behind it.
    unsafe { socket.ethtool(name, &mut words)? };
    // A number of 64 bits, of which the low half holds all fields there are.
    let fields = words[if cfg!(target_endian = "big") { 3 } else { 2 }];
    let set = HASHED_FIELDS
        .iter()
        .filter(|(bit, _)| fields >> bit & 1 == 1);
    Ok(set.map(|&(_, letter)| letter).collect())
}

/// One offload of an interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feature {
    /// Its place in the kernel's masks.
    pub(crate) bit: u32,
    /// Its name, as in `rx-gro`.
    pub name: String,
    /// Whether it is in effect.
    pub active: bool,
    /// Whether it is asked for: in effect as soon as nothing stands against it.
    pub requested: bool,
    /// Whether the driver lets it be changed.
    pub changeable: bool,
}

/// All offloads the kernel knows of, as they are on this interface.
pub(crate) fn features(socket: &ControlSocket, name: &InterfaceName) -> io::Result<Vec<Feature>> {
    let count = string_count(socket, name, FEATURE_NAMES, FEATURES_MAX)?;
    let names = strings(socket, name, FEATURE_NAMES, count)?;
    let blocks = count.div_ceil(32);
    let mut words = vec![0; 2 + 4 * blocks as usize];
    (words[0], words[1]) = (GET_FEATURES, blocks);
    // SAFETY: the header announces so many blocks of four words, and they are there.
    unsafe { socket.ethtool(name, &mut words)? };
    let feature = |(bit, name): (u32, String)| {
        let block = 2 + 4 * (bit / 32) as usize;
        let is_set = |word: u32| word >> (bit % 32) & 1 == 1;
        Feature {
            bit,
            name,
            changeable: is_set(words[block]),
            requested: is_set(words[block + 1]),
            active: is_set(words[block + 2]),
        }
    };
    Ok((0..count).zip(names).map(feature).collect())
}

/// The driver's own counters by name; none where it has none.
pub(crate) fn statistics(
    socket: &ControlSocket,
    name: &InterfaceName,
) -> io::Result<Vec<(String, u64)>> {
    let count = string_count(socket, name, STATISTICS_NAMES, STATISTICS_MAX)?;
    let names = strings(socket, name, STATISTICS_NAMES, count)?;
    let mut words = vec![0; 2 + 2 * STATISTICS_ROOM];
    (words[0], words[1]) = (GET_STATISTICS, count);
    // SAFETY: `struct ethtool_stats` has two words, and behind them the kernel writes a number of
    // 64 bits for each counter, of which there is room for twice as many as any driver has.
    unsafe { socket.ethtool(name, &mut words)? };
    if words[1] != count {
        return Err(io::ErrorKind::Interrupted.into());
    }
    let values = words[2..].chunks(2).map(|word| {
        let [a, b, c, d] = word[0].to_ne_bytes();
        let [e, f, g, h] = word[1].to_ne_bytes();
        u64::from_ne_bytes([a, b, c, d, e, f, g, h])
    });
    Ok(names.into_iter().zip(values).collect())
}

/// How many strings a set of them has.
fn string_count(
    socket: &ControlSocket,
    name: &InterfaceName,
    set: u32,
    most: u32,
) -> io::Result<u32> {
    // Command, reserved, a mask of 64 bits, and one count for the one bit set.
    let mut words = [GET_STRING_COUNTS, 0, 0, 0, 0];
    let mask = (1_u64 << set).to_ne_bytes();
    words[2] = u32::from_ne_bytes([mask[0], mask[1], mask[2], mask[3]]);
    words[3] = u32::from_ne_bytes([mask[4], mask[5], mask[6], mask[7]]);
    // SAFETY: `struct ethtool_sset_info` has four words, and one count is asked for.
    unsafe { socket.ethtool(name, &mut words)? };
    if words[2] | words[3] == 0 || words[4] > most {
        return Err(io::ErrorKind::Unsupported.into());
    }
    Ok(words[4])
}

fn strings(
    socket: &ControlSocket,
    name: &InterfaceName,
    set: u32,
    count: u32,
) -> io::Result<Vec<String>> {
    let mut words = vec![0; 3 + STATISTICS_ROOM * STRING_BYTES / 4];
    words[..3].copy_from_slice(&[GET_STRINGS, set, count]);
    // SAFETY: `struct ethtool_gstrings` has three words, and the kernel writes all strings of the
    // set, for twice as many of which there is room as any driver has.
    unsafe { socket.ethtool(name, &mut words)? };
    if words[2] != count {
        return Err(io::ErrorKind::Interrupted.into());
    }
    let texts = words[3..].chunks(STRING_BYTES / 4).map(text);
    Ok(texts.take(count as usize).collect())
}

/// Asks for one offload to be on or off. The kernel may say yes and not do it: read it again.
pub(crate) fn set_feature(
    socket: &ControlSocket,
    name: &InterfaceName,
    feature: &Feature,
    on: bool,
) -> io::Result<()> {
    let blocks = feature.bit / 32 + 1;
    // The kernel wants as many blocks as it has itself.
    let blocks = blocks.max(string_count(socket, name, FEATURE_NAMES, FEATURES_MAX)?.div_ceil(32));
    let mut words = vec![0; 2 + 2 * blocks as usize];
    (words[0], words[1]) = (SET_FEATURES, blocks);
    let block = 2 + 2 * (feature.bit / 32) as usize;
    let mask = 1 << (feature.bit % 32);
    words[block] = mask;
    words[block + 1] = if on { mask } else { 0 };
    // SAFETY: the header announces so many blocks of two words, and they are there.
    unsafe { socket.ethtool(name, &mut words) }
}

/// A string that ends at its first zero byte.
fn text(words: &[u32]) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let end = bytes.iter().position(|&byte| byte == 0);
    String::from_utf8_lossy(&bytes[..end.unwrap_or(bytes.len())]).into_owned()
}

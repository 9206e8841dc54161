//! The commands of ethtool that ports need: driver, queues and what is set on them, and offloads by
//! name.

use std::io;

use super::ioctl::{ControlSocket, InterfaceName};

// linux/ethtool.h.
const GET_SETTINGS: u32 = 0x01;
const GET_DRIVER: u32 = 0x03;
const GET_LINK: u32 = 0x0a;
const GET_COALESCING: u32 = 0x0e;
const GET_RINGS: u32 = 0x10;
const GET_PAUSE: u32 = 0x12;
const GET_STRINGS: u32 = 0x1b;
const GET_STATISTICS: u32 = 0x1d;
const GET_HASHED: u32 = 0x29;
const SET_HASHED: u32 = 0x2a;
const GET_STRING_COUNTS: u32 = 0x37;
const GET_FEATURES: u32 = 0x3a;
const SET_FEATURES: u32 = 0x3b;
const GET_CHANNELS: u32 = 0x3c;
const GET_RSS: u32 = 0x46;
const SET_RSS: u32 = 0x47;
/// `ETH_SS_STATS`: the set of strings that names the driver's counters.
const STATISTICS_NAMES: u32 = 1;
/// More counters than this no driver has: NICs with hundreds of queues have some thousands. The
/// kernel writes as many as there are at that moment, whatever was asked for, and queues may come
/// in between: there is room for twice as many.
const STATISTICS_MAX: u32 = 1 << 15;
const STATISTICS_ROOM: usize = 2 << 15;
/// `ETH_SS_FEATURES`: the set of strings that names the offloads.
const FEATURE_NAMES: u32 = 4;

const SETTINGS_WORDS: usize = 11;
const DRIVER_WORDS: usize = 49;
const STRING_BYTES: usize = 32;
const CHANNELS_WORDS: usize = 9;
const COALESCING_WORDS: usize = 23;
const RINGS_WORDS: usize = 9;
const PAUSE_WORDS: usize = 4;
const RSS_WORDS: usize = 6;
const HASHED_WORDS: usize = 48;
/// The fields are a number of 64 bits from the third word on, of which the low half holds all.
const FIELDS_WORD: usize = if cfg!(target_endian = "big") { 3 } else { 2 };
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
/// Longer tables and keys than any NIC has: what says more is not believed.
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

/// Where the device behind an interface is, as in `0000:00:03.0`; empty where there is none.
pub(crate) fn place(socket: &ControlSocket, name: &InterfaceName) -> io::Result<String> {
    const AT: usize = 1 + 3 * STRING_BYTES / 4;
    let mut words = [0; DRIVER_WORDS];
    words[0] = GET_DRIVER;
    // SAFETY: as above.
    unsafe { socket.ethtool(name, &mut words)? };
    Ok(text(&words[AT..AT + STRING_BYTES / 4]))
}

/// Mbit/s of an interface; `None` where it does not know.
pub(crate) fn speed(socket: &ControlSocket, name: &InterfaceName) -> io::Result<Option<u32>> {
    let mut words = [0; SETTINGS_WORDS];
    words[0] = GET_SETTINGS;
    // SAFETY: `struct ethtool_cmd` has 44 bytes, 11 words.
    unsafe { socket.ethtool(name, &mut words)? };
    let half = |word: u32, at: usize| {
        let bytes = word.to_ne_bytes();
        u32::from(u16::from_ne_bytes([bytes[at], bytes[at + 1]]))
    };
    // Its high half came to the structure later, behind what was there.
    let speed = half(words[7], 0) << 16 | half(words[3], 0);
    Ok((speed != 0 && speed != u32::MAX).then_some(speed))
}

/// Whether a carrier is there, as the driver says at this moment.
pub(crate) fn carrier(socket: &ControlSocket, name: &InterfaceName) -> io::Result<bool> {
    let mut words = [GET_LINK, 0];
    // SAFETY: `struct ethtool_value` has two words.
    unsafe { socket.ethtool(name, &mut words)? };
    Ok(words[1] != 0)
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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rss {
    /// The queue of each bucket.
    pub indirection: Vec<u32>,
    /// The key of the hash; empty where the driver keeps it to itself.
    pub key: Vec<u8>,
    /// The hash function, a bit of [`HASH_FUNCTIONS`]; 0 where the driver does not say.
    pub function: u8,
    /// What is done to the input first: 0 for nothing, 1 for both halves XORed, 2 for ORed too.
    pub transform: u8,
}

/// `ETH_RSS_HASH_...`: the hash functions as `ethtool -x` names them, each one bit.
pub const HASH_FUNCTIONS: [&str; 3] = ["toeplitz", "xor", "crc32"];

impl Rss {
    /// From the kernel's structure with what follows it; `None` where it announces more than is
    /// there, or than any NIC has.
    fn from_words(words: &[u32]) -> Option<Self> {
        let header = words.first_chunk::<RSS_WORDS>()?;
        let (buckets, key_bytes) = (header[2], header[3]);
        if buckets > RSS_BUCKETS_MAX || key_bytes > RSS_KEY_BYTES_MAX {
            return None;
        }
        let (table, key) = words[RSS_WORDS..].split_at_checked(buckets as usize)?;
        let key = key.get(..key_bytes.div_ceil(4) as usize)?;
        let key = key.iter().flat_map(|word| word.to_ne_bytes());
        let [function, transform, ..] = header[4].to_ne_bytes();
        Some(Self {
            indirection: table.to_vec(),
            key: key.take(key_bytes as usize).collect(),
            function,
            transform,
        })
    }

    /// The kernel's structure that sets all of this. An empty table or key is left as it is.
    fn to_words(&self) -> Vec<u32> {
        /// `ETH_RXFH_INDIR_NO_CHANGE`; 0 would ask for the driver's own table.
        const SAME_TABLE: u32 = u32::MAX;
        let buckets = match self.indirection.len() {
            0 => SAME_TABLE,
            buckets => buckets as u32,
        };
        let function = u32::from_ne_bytes([self.function, self.transform, 0, 0]);
        let mut words = vec![SET_RSS, 0, buckets, self.key.len() as u32, function, 0];
        words.extend(&self.indirection);
        words.extend(self.key.chunks(4).map(|chunk| {
            let byte = |at: usize| chunk.get(at).copied().unwrap_or(0);
            u32::from_ne_bytes([byte(0), byte(1), byte(2), byte(3)])
        }));
        words
    }
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
    let mut words = vec![0; RSS_WORDS + buckets as usize + key_bytes.div_ceil(4) as usize];
    (words[0], words[2], words[3]) = (GET_RSS, buckets, key_bytes);
    // SAFETY: the kernel writes the table and the key of the lengths given here, and refuses when
    // they are no longer the device's.
    unsafe { socket.ethtool(name, &mut words)? };
    Rss::from_words(&words).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Sets table, key and function. The driver may refuse any of them.
pub(crate) fn set_rss(socket: &ControlSocket, name: &InterfaceName, rss: &Rss) -> io::Result<()> {
    let mut words = rss.to_words();
    // SAFETY: the table and the key follow in the lengths that the structure announces; the kernel
    // reads them and writes no more than its six words.
    unsafe { socket.ethtool(name, &mut words) }
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
    let fields = words[FIELDS_WORD];
    let set = HASHED_FIELDS
        .iter()
        .filter(|(bit, _)| fields >> bit & 1 == 1);
    Ok(set.map(|&(_, letter)| letter).collect())
}

/// Sets it, by the same letters; those of no field count for nothing.
pub(crate) fn set_hashed(
    socket: &ControlSocket,
    name: &InterfaceName,
    kind: FlowKind,
    letters: &str,
) -> io::Result<()> {
    let mut words = [0; HASHED_WORDS];
    (words[0], words[1]) = (SET_HASHED, kind as u32);
    let bit = |letter: char| HASHED_FIELDS.iter().find(|(_, known)| *known == letter);
    let bits = letters.chars().filter_map(bit).map(|(bit, _)| 1 << bit);
    words[FIELDS_WORD] = bits.fold(0, |fields, bit| fields | bit);
    // SAFETY: `struct ethtool_rxnfc` has 192 bytes, 48 words, without rules behind it.
    unsafe { socket.ethtool(name, &mut words) }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn nic() -> Rss {
        Rss {
            indirection: (0..128).map(|bucket| bucket % 4).collect(),
            key: (1..=41).collect(),
            function: 1,
            transform: 1,
        }
    }

    #[test]
    fn what_is_set_is_what_was_read() {
        assert_eq!(Rss::from_words(&nic().to_words()), Some(nic()));
        let silent = Rss::default();
        assert_eq!(silent.to_words()[2], u32::MAX, "the table stays");
        assert_eq!(silent.to_words()[3], 0, "and so does the key");
    }

    /// A driver may say anything of lengths.
    #[test]
    fn no_answer_is_believed_beyond_its_end() {
        let whole = nic().to_words();
        for end in 0..whole.len() {
            assert_eq!(Rss::from_words(&whole[..end]), None, "cut at {end}");
        }
        for place in [2, 3] {
            for length in [129, 1 << 16, (1 << 16) + 1, i32::MAX as u32, u32::MAX] {
                let mut words = whole.clone();
                words[place] = length;
                assert_eq!(Rss::from_words(&words), None, "{place} {length}");
            }
        }
    }
}

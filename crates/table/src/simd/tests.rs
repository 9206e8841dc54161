//! Every level against what a plain loop would say.

mod codes;

use super::*;

struct Compare16<'a>(&'a [u16; 32], u16);
impl Job for Compare16<'_> {
    type Answer = u32;
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> u32 {
        lanes.equal16(self.0, self.1)
    }
}
struct Compare32<'a>(&'a [u32; 16], u32);
impl Job for Compare32<'_> {
    type Answer = u32;
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> u32 {
        lanes.equal32(self.0, self.1)
    }
}

struct Compare8<'a>(&'a [u8; 64], u8);
impl Job for Compare8<'_> {
    type Answer = u64;
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> u64 {
        lanes.equal8(self.0, self.1)
    }
}

struct Compare120<'a>(&'a [u64; 8], [u64; 2]);
impl Job for Compare120<'_> {
    type Answer = u32;
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> u32 {
        lanes.equal120(self.0, self.1)
    }
}

struct Find120<'a>(&'a [u64; 8], [u64; 2]);
impl Job for Find120<'_> {
    type Answer = u64;
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> u64 {
        lanes.find120(self.0, self.1)
    }
}

#[test]
fn every_level_finds_the_second_word() {
    let line = [
        1,
        2,
        3,
        4,
        5 << 56 | 10,
        6 << 56 | 20,
        7 << 56 | 30,
        8 << 56 | 40,
    ];
    for level in Level::here() {
        for place in 0..4 {
            let value = [line[place], line[4 + place] & BELOW_TOP];
            assert_eq!(
                run(level, Find120(&line, value)),
                line[4 + place],
                "{level}"
            );
            let other = [value[0], value[1] + 1];
            assert_eq!(run(level, Find120(&line, other)), 0, "{level}");
        }
    }
}

struct Look120<'a>(&'a [&'a [u64; 8]; 8], &'a [[u64; 2]; 8]);
impl Job for Look120<'_> {
    type Answer = Found120;
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> Found120 {
        lanes.look120(self.0, self.1)
    }
}

/// Lines of few different words, so that values are found in every place and in none, with codes
/// and without, whatever top bits say.
#[test]
fn every_level_looks_for_eight_values_alike() {
    let mut random = 1u64;
    let mut below = |end: u64| {
        random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (random >> 33) % end
    };
    let mut seen = [0; 4];
    for round in 0..if cfg!(miri) { 20 } else { 2000 } {
        let mut word = |top: bool| below(5) | (u64::from(top) * (below(2) << 63 | below(3) << 56));
        let lines: [[u64; 8]; 8] = [(); 8].map(|()| std::array::from_fn(|place| word(place >= 4)));
        let values = [(); 8].map(|()| [word(false), word(true)]);
        let lines = lines.each_ref();
        let wanted = run(Level::Portable, Look120(&lines, &values));
        for level in Level::here() {
            let found = run(level, Look120(&lines, &values));
            assert_eq!(found, wanted, "{level} {round}");
        }
        for (index, (line, value)) in lines.iter().zip(values).enumerate() {
            let equal = |place: &usize| {
                line[*place] == value[0] && (line[4 + place] ^ value[1]) & BELOW_TOP == 0
            };
            let code = (0..4)
                .find(equal)
                .map_or(0, |place| line[4 + place] >> 56 & 0x7f);
            let marked = line[4 + (value[0] as usize & 3)] >> 63 == 1;
            let passed = code == 0 && marked;
            assert_eq!(u64::from(wanted.codes[index]), code, "{round}");
            assert_eq!(wanted.is_there[index], code != 0, "{round}");
            assert_eq!(wanted.passed >> index & 1 == 1, passed, "{round}");
            seen[usize::from(code != 0) * 2 + usize::from(marked)] += 1;
        }
    }
    assert!(seen.iter().all(|&count| count > 0), "{seen:?}");
}

struct Mix<'a>(&'a WidePermutation, &'a [u128; 8]);
impl Job for Mix<'_> {
    type Answer = [[u64; 2]; 8];
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> Self::Answer {
        let mut words = [[0; 2]; 8];
        lanes.mix(self.0, self.1, &mut words);
        words
    }
}

#[test]
fn every_level_mixes_alike() {
    let mut address = 1u128;
    for seed in 0..100 {
        let by = crate::secret::Secret::from_seed(seed).wide_permutation();
        let addresses = [0; 8].map(|_| {
            address = address.wrapping_mul(0xda94_2042_e4dd_58b5_9e37_79b9_7f4a_7c15);
            address
        });
        for level in Level::here() {
            let words = run(level, Mix(&by, &addresses));
            assert_eq!(
                words,
                addresses.map(|address| by.apply(address)),
                "{level} {seed}"
            );
        }
    }
}

/// Every bit of a place alone decides, but for the top byte.
#[test]
fn every_level_compares_120_bits() {
    const VALUE: [u64; 2] = [0x8123_4567_89ab_cdef, 0x0076_5432_10fe_dcba];
    for level in Level::here() {
        for place in 0..4 {
            let mut line = [7u64; 8];
            line[place] = VALUE[0];
            line[4 + place] = VALUE[1];
            let equal = 1 << place;
            assert_eq!(run(level, Compare120(&line, VALUE)), equal, "{level}");
            let others = run(level, Compare120(&line, [7, 7]));
            assert_eq!(others, 0xf & !equal, "{level}");
            for bit in 0..128 {
                let mut value = VALUE;
                value[bit / 64] ^= 1 << (bit % 64);
                let wanted = if bit < 120 { 0 } else { equal };
                assert_eq!(
                    run(level, Compare120(&line, value)),
                    wanted,
                    "{level} {bit}"
                );
                let mut line = line;
                line[place + bit / 64 * 4] ^= 1 << (bit % 64);
                assert_eq!(
                    run(level, Compare120(&line, VALUE)),
                    wanted,
                    "{level} {bit}"
                );
            }
        }
    }
}

struct AtMost<'a>(&'a [u16; 32], u16, &'a [u32; 16], u32);
impl Job for AtMost<'_> {
    type Answer = (u32, u32);
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> (u32, u32) {
        (
            lanes.at_most16(self.0, self.1),
            lanes.at_most32(self.2, self.3),
        )
    }
}

#[test]
fn every_level_compares_as_unsigned() {
    let narrow: [u16; 32] = std::array::from_fn(|place| place as u16 * 0x801);
    let wide: [u32; 16] = std::array::from_fn(|place| place as u32 * 0x1001_0001);
    for level in Level::here() {
        for place in 0..32 {
            let wanted = (u32::MAX >> (31 - place), 0xffffu32 >> (15 - place.min(15)));
            let (short, word) = (narrow[place], wide[place.min(15)]);
            let (short_up, word_up) = (short | 0x7f, word | 0xffff);
            for (short, word) in [(short, word), (short_up, word_up)] {
                let found = run(level, AtMost(&narrow, short, &wide, word));
                assert_eq!(found, wanted, "{level} {place}");
            }
        }
        let all = run(level, AtMost(&narrow, u16::MAX, &wide, u32::MAX));
        assert_eq!(all, (u32::MAX, 0xffff), "{level}");
    }
}

struct Below<'a>(&'a [u16; 32], u16);
impl Job for Below<'_> {
    type Answer = (u32, u32);
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> (u32, u32) {
        // The signed number that `twice` makes of it is this one.
        let value = twice(self.1 ^ 1 << 15);
        (lanes.below16(self.0, value), lanes.below30(self.0, value))
    }
}

#[test]
fn every_level_counts_as_signed() {
    // Every place alone, and all up to one; the last two never count.
    for level in Level::here() {
        for place in 0..32 {
            let (short, long) = (u32::from(place >= 16), u32::from(place < 30));
            let mut alone = [7u16; 32];
            alone[place] = 6;
            assert_eq!(
                run(level, Below(&alone, 7)),
                (short, long),
                "{level} {place}"
            );
            alone[place] = 0x8000;
            assert_eq!(run(level, Below(&alone, 0xffff)), (short, long), "{level}");
            assert_eq!(run(level, Below(&alone, 0x8000)), (0, 0), "{level}");
            let mut upto = [0x7fff; 32];
            upto[..=place].fill(0x8001);
            let all = (place as u32 + 1).saturating_sub(16);
            let long = (place as u32 + 1).min(30);
            assert_eq!(run(level, Below(&upto, 0x7fff)), (all, long), "{level}");
        }
    }
}

#[test]
fn every_level_finds_every_place() {
    for level in Level::here() {
        for place in 0..32 {
            let mut line = [7u16; 32];
            line[place] = 0x8000 | place as u16;
            let found = run(level, Compare16(&line, 0x8000 | place as u16));
            assert_eq!(found, 1 << place, "{level}");
            assert_eq!(run(level, Compare16(&line, 7)), !(1 << place), "{level}");
            assert_eq!(run(level, Compare16(&line, 8)), 0, "{level}");
        }
        for place in 0..64 {
            let mut bytes = [7u8; 64];
            bytes[place] = 0x80 | place as u8;
            let found = run(level, Compare8(&bytes, 0x80 | place as u8));
            assert_eq!(found, 1 << place, "{level}");
            assert_eq!(run(level, Compare8(&bytes, 7)), !(1 << place), "{level}");
            assert_eq!(run(level, Compare8(&bytes, 8)), 0, "{level}");
        }
        for place in 0..16 {
            let mut line = [7u32; 16];
            line[place] = 0x8000_0000 | place as u32;
            let found = run(level, Compare32(&line, 0x8000_0000 | place as u32));
            assert_eq!(found, 1 << place, "{level}");
            assert_eq!(
                run(level, Compare32(&line, 7)),
                0xffff & !(1 << place),
                "{level}"
            );
        }
    }
}

struct Pick<'a>(&'a [u32; 32], &'a [u8; 8]);
impl Job for Pick<'_> {
    type Answer = [u32; 8];
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> [u32; 8] {
        lanes.pick(self.0, self.1)
    }
}

struct Pick16<'a>(&'a [u32; 32], &'a [u8; 16]);
impl Job for Pick16<'_> {
    type Answer = [u32; 16];
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> [u32; 16] {
        lanes.pick16(self.0, self.1)
    }
}

#[test]
fn every_level_picks_values() {
    let values = std::array::from_fn(|index| 0x8000_0000 | (index as u32) << 8);
    for level in Level::here() {
        for first in 0..=255u8 {
            let indices = std::array::from_fn(|at| first.wrapping_add((at as u8).wrapping_mul(37)));
            let wanted = indices.map(|index| values[usize::from(index) % 32]);
            assert_eq!(run(level, Pick(&values, &indices)), wanted, "{level}");
            let indices = std::array::from_fn(|at| first.wrapping_add((at as u8).wrapping_mul(53)));
            let wanted = indices.map(|index| values[usize::from(index) % 32]);
            assert_eq!(run(level, Pick16(&values, &indices)), wanted, "{level}");
        }
    }
}

struct Split<'a>(&'a [u128; 8]);
impl Job for Split<'_> {
    type Answer = [[u32; 8]; 3];
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> Self::Answer {
        lanes.split(self.0)
    }
}

#[test]
fn every_level_splits_addresses() {
    let factor = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835u128;
    for round in 0..50u128 {
        let keys: [u128; 8] = std::array::from_fn(|at| match round {
            0 => 0,
            1 => u128::MAX,
            _ => (8 * round + at as u128).wrapping_mul(factor),
        });
        for level in Level::here() {
            let [tops, middles, lows] = run(level, Split(&keys));
            assert_eq!(tops, keys.map(|key| (key >> 112) as u32), "{level}");
            let middle = |key: u128| (key >> 96) as u32 & 0xffff;
            assert_eq!(middles, keys.map(middle), "{level}");
            for half in [0, 16] {
                let lows = lows.map(|low| i32::from((low >> half) as i16) + 0x8000);
                let low = |key: u128| i32::from((key >> 80) as u16);
                assert_eq!(lows, keys.map(low), "{level}");
            }
        }
    }
}

struct Negative<'a>(&'a [i32; 8]);
impl Job for Negative<'_> {
    type Answer = u8;
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> u8 {
        lanes.negative(self.0)
    }
}

#[test]
fn every_level_tells_what_is_negative() {
    for signs in 0..=u8::MAX {
        let number = |at: u32| match signs >> at & 1 {
            0 => i32::MAX >> (4 * at),
            _ => i32::MIN >> (4 * at),
        };
        let numbers = std::array::from_fn(|at| number(at as u32));
        for level in Level::here() {
            assert_eq!(run(level, Negative(&numbers)), signs, "{level}");
        }
    }
}

#[test]
fn twice_is_in_order() {
    let mut before = i16::MIN;
    for number in 0..=u16::MAX {
        let both = twice(number);
        assert_eq!((both ^ 1 << 31) >> 16, u32::from(number));
        assert!(both as i16 == (both >> 16) as i16 && both as i16 >= before);
        before = both as i16;
    }
}

#[test]
fn bits_set_are_listed() {
    for (byte, bits) in BITS_SET.iter().enumerate() {
        let wanted = (0..8).filter(|bit| byte >> bit & 1 != 0);
        let wanted = wanted.chain(std::iter::repeat(0)).take(8);
        assert!(wanted.eq(bits.iter().copied()), "{byte:#b}: {bits:?}");
    }
}

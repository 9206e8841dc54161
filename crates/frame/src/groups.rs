//! Groups of values on the stack, written one group after another.

use core::fmt;
use core::mem::MaybeUninit;

/// Up to `GROUPS` groups of `N` values, in memory that nobody writes before the values come.
///
/// For loops whose next run begins while stores of the last one wait: an array is filled with
/// something when it is made, and read only after the values came. Where 128 lines are asked for
/// before the first is read that is 1.5 KB a burst, and 2 to 3 % of a lookup (Zen 4); where 64 are,
/// it is no difference.
///
/// The values begin a cache line, so that a group that divides one crosses none.
#[repr(C, align(64))]
pub struct Groups<T, const N: usize, const GROUPS: usize> {
    values: [[MaybeUninit<T>; N]; GROUPS],
    /// How many groups there are: at most `GROUPS`, and all their values are written.
    len: usize,
}

impl<T: Copy, const N: usize, const GROUPS: usize> Groups<T, N, GROUPS> {
    /// No groups.
    #[inline(always)]
    #[must_use]
    pub fn new() -> Self {
        Self {
            values: [const { [const { MaybeUninit::uninit() }; N] }; GROUPS],
            len: 0,
        }
    }

    /// Begins anew with these groups; what comes after `GROUPS` of them is not asked for.
    #[inline(always)]
    pub fn fill(&mut self, groups: impl Iterator<Item = [T; N]>) {
        // None if `groups` gives up. The count is kept in a register, `len` is not.
        self.len = 0;
        let mut len = 0;
        for (written, group) in self.values.iter_mut().zip(groups) {
            *written = group.map(MaybeUninit::new);
            len += 1;
        }
        self.len = len;
    }

    /// Adds a group: `value` is called for each of its values, in order.
    ///
    /// # Panics
    /// When there are `GROUPS` groups.
    #[inline(always)]
    pub fn push(&mut self, mut value: impl FnMut(usize) -> T) {
        let group = &mut self.values[self.len];
        for (index, slot) in group.iter_mut().enumerate() {
            slot.write(value(index));
        }
        self.len += 1;
    }

    /// Writes group `number`, which may be the next: `value` is called for each of its values, in
    /// order.
    ///
    /// # Panics
    /// When there are fewer groups than `number`, or `number` is `GROUPS`.
    #[inline(always)]
    pub fn set(&mut self, number: usize, mut value: impl FnMut(usize) -> T) {
        assert!(number <= self.len, "a group before this one is missing");
        for (index, slot) in self.values[number].iter_mut().enumerate() {
            slot.write(value(index));
        }
        self.len = self.len.max(number + 1);
    }

    /// The groups, in the order they came, to be written.
    #[inline(always)]
    #[must_use]
    pub fn as_mut_slice(&mut self) -> &mut [[T; N]] {
        let written = &mut self.values[..self.len];
        let values: *mut [[MaybeUninit<T>; N]] = written;
        // SAFETY: `self` owns the first `len` groups, and each of their values was written by
        // `push`, `set` or `fill`, the only ones that change `len`, and only after the values are
        // there; a `MaybeUninit` has the layout of its value. `self` is borrowed mutably for as
        // long as the slice is, through which only a `T` can be written.
        unsafe { &mut *(values as *mut [[T; N]]) }
    }

    /// The groups, in the order they came.
    #[inline(always)]
    #[must_use]
    pub fn as_slice(&self) -> &[[T; N]] {
        let written = &self.values[..self.len];
        let values: *const [[MaybeUninit<T>; N]] = written;
        // SAFETY: `self` owns the first `len` groups, and each of their values was written by
        // `push`, `set` or `fill`, the only ones that change `len`, and only after the values are
        // there; a `MaybeUninit` has the layout of its value. `self` is borrowed for as long as
        // the slice is.
        unsafe { &*(values as *const [[T; N]]) }
    }
}

impl<T: Copy, const N: usize, const GROUPS: usize> Default for Groups<T, N, GROUPS> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Copy + fmt::Debug, const N: usize, const GROUPS: usize> fmt::Debug
    for Groups<T, N, GROUPS>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Groups;

    #[test]
    fn groups_come_back_as_they_were_pushed() {
        let mut groups = Groups::<u32, 3, 2>::default();
        assert!(groups.as_slice().is_empty());
        groups.push(|index| 10 + index as u32);
        assert_eq!(groups.as_slice(), [[10, 11, 12]]);
        groups.push(|index| 20 + index as u32);
        assert_eq!(groups.as_slice(), [[10, 11, 12], [20, 21, 22]]);
        assert_eq!(format!("{groups:?}"), "[[10, 11, 12], [20, 21, 22]]");
        assert_eq!(groups.as_slice().as_ptr().addr() % 64, 0);
    }

    #[test]
    #[should_panic(expected = "missing")]
    fn no_group_is_left_out() {
        Groups::<u32, 2, 3>::new().set(1, |_| 0);
    }

    #[test]
    fn groups_are_filled_anew_and_written() {
        let mut groups = Groups::<u32, 2, 3>::new();
        groups.push(|_| 9);
        groups.set(0, |_| 8);
        groups.set(1, |index| index as u32);
        assert_eq!(groups.as_slice(), [[8, 8], [0, 1]]);
        groups.fill([[1, 2], [3, 4]].into_iter());
        assert_eq!(groups.as_slice(), [[1, 2], [3, 4]]);
        groups.as_mut_slice()[1][0] = 7;
        groups.push(|index| 5 + index as u32);
        assert_eq!(groups.as_slice(), [[1, 2], [7, 4], [5, 6]]);
        // No more is asked of them than there is room for.
        groups.fill((0..).map(|index| {
            if index < 3 {
                [index; 2]
            } else {
                panic!("asked")
            }
        }));
        assert_eq!(groups.as_slice(), [[0, 0], [1, 1], [2, 2]]);
        groups.fill(std::iter::empty());
        assert!(groups.as_mut_slice().is_empty());
    }

    #[test]
    #[should_panic = "index out of bounds"]
    fn no_group_is_written_past_the_end() {
        let mut groups = Groups::<u8, 1, 1>::new();
        groups.push(|_| 1);
        groups.push(|_| 2);
    }

    /// Groups that came before an iterator gave up are not there, nor are those of before.
    #[test]
    fn a_fill_that_gives_up_leaves_none() {
        let mut groups = Groups::<u8, 1, 4>::new();
        groups.push(|_| 7);
        let filled = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            groups.fill((0..).map(|index| if index < 2 { [8] } else { panic!("no more") }));
        }));
        assert!(filled.is_err());
        assert!(groups.as_slice().is_empty());
    }

    /// A group whose maker gave up is not there.
    #[test]
    fn half_a_group_is_none() {
        let mut groups = Groups::<u8, 4, 2>::new();
        groups.push(|_| 7);
        let pushed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            groups.push(|index| if index < 2 { 8 } else { panic!("no more") });
        }));
        assert!(pushed.is_err());
        assert_eq!(groups.as_slice(), [[7; 4]]);
    }
}

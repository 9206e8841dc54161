//! The smallest part of a set that still does it (delta debugging, Zeller and Hildebrandt 2002).

/// Parts at most: each is measured.
const PARTS_MAX: usize = 64;
/// Steps at most.
const STEPS_MAX: usize = 40;

/// A part of `set` that does it and of which no piece alone, and no rest without a piece, does.
///
/// `best` measures several candidates beside each other and returns the index of one that does it.
/// The whole is taken to do it.
///
/// # Errors
/// What `best` fails with.
pub(super) fn smallest<E>(
    mut set: Vec<usize>,
    mut best: impl FnMut(&[Vec<usize>]) -> Result<Option<usize>, E>,
) -> Result<Vec<usize>, E> {
    let mut parts = 2;
    for _ in 0..STEPS_MAX {
        if set.len() < 2 {
            break;
        }
        let pieces: Vec<Vec<usize>> = set
            .chunks(set.len().div_ceil(parts))
            .map(<[usize]>::to_vec)
            .collect();
        let mut candidates = pieces.clone();
        if pieces.len() > 2 {
            candidates.extend(pieces.iter().map(|piece| without(&set, piece)));
        }
        match best(&candidates)? {
            Some(found) => {
                parts = if found < pieces.len() { 2 } else { parts - 1 };
                set = candidates.swap_remove(found);
            }
            None if parts >= set.len().min(PARTS_MAX) => break,
            None => parts = (parts * 2).min(set.len()).min(PARTS_MAX),
        }
        parts = parts.max(2);
    }
    Ok(set)
}

fn without(set: &[usize], piece: &[usize]) -> Vec<usize> {
    let rest = set.iter().filter(|member| !piece.contains(member));
    rest.copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first candidate that `does`.
    fn found(all: usize, does: impl Fn(&[usize]) -> bool) -> Vec<usize> {
        let best = |candidates: &[Vec<usize>]| {
            Ok::<_, ()>(candidates.iter().position(|candidate| does(candidate)))
        };
        smallest((0..all).collect(), best).expect("no failure")
    }

    #[test]
    fn the_smallest_is_found() {
        let has = |wanted: &'static [usize]| {
            move |set: &[usize]| wanted.iter().all(|member| set.contains(member))
        };
        for (all, wanted) in [
            (1, &[0][..]),
            (2, &[1]),
            (40, &[17]),
            (40, &[0]),
            (40, &[39]),
            (40, &[3, 31]),
            (40, &[0, 20, 39]),
            (7, &[0, 1, 2, 3, 4, 5, 6]),
            (500, &[499]),
        ] {
            assert_eq!(found(all, has(wanted)), wanted, "{all}");
        }
        // Any eight of sixteen.
        assert_eq!(found(16, |set| set.len() >= 8).len(), 8);
        assert!(found(0, |_| true).is_empty());
        // Nothing smaller does it.
        assert_eq!(found(5, |_| false), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn work_is_bounded() {
        let (mut calls, mut most) = (0, 0);
        let best = |candidates: &[Vec<usize>]| {
            (calls, most) = (calls + 1, most.max(candidates.len()));
            Ok::<_, ()>(None)
        };
        assert_eq!(
            smallest((0..1024).collect(), best).expect("none").len(),
            1024
        );
        assert!(
            calls <= STEPS_MAX && most <= 2 * PARTS_MAX,
            "{calls} {most}"
        );
        assert!(smallest(vec![1, 2], |_| Err::<Option<usize>, _>("failed")).is_err());
    }
}

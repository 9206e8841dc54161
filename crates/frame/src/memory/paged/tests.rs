//! Columns in pages: what clones share, and what a change copies.

use super::*;

const PER_PAGE: usize = Paged::<u32>::PER_PAGE;

fn all(paged: &Paged<u32>) -> Vec<u32> {
    let view = paged.view();
    (0..view.len()).map(|index| view[index]).collect()
}

#[test]
fn a_clone_keeps_what_it_had() {
    let values: Vec<u32> = (0..PER_PAGE as u32 + 3).collect();
    let mut new = Paged::copy_of(&values).expect("memory");
    let old = new.clone();
    *new.get_mut(0).expect("memory") = 77;
    *new.get_mut(PER_PAGE + 2).expect("memory") = 78;
    assert_eq!(all(&old), values);
    let seen = new.view();
    assert_eq!(
        [seen[0], seen[1], seen[PER_PAGE], seen[PER_PAGE + 2]],
        [77, 1, PER_PAGE as u32, 78]
    );
    assert_eq!(new.view().get(PER_PAGE + 3), None);
}

#[test]
fn a_page_that_nobody_shares_is_written_in_place() {
    let mut paged = Paged::<u32>::zeroed(PER_PAGE).expect("memory");
    let before = paged.directory[0];
    *paged.get_mut(5).expect("memory") = 1;
    assert_eq!(paged.directory[0], before);
    let clone = paged.clone();
    *paged.get_mut(5).expect("memory") = 2;
    assert_ne!(paged.directory[0], before);
    assert_eq!((clone.view()[5], paged.view()[5]), (1, 2));
    drop(clone);
    let mine = paged.directory[0];
    *paged.get_mut(5).expect("memory") = 3;
    assert_eq!(paged.directory[0], mine);
}

#[test]
fn a_column_is_a_slice_until_a_page_moves() {
    let values: Vec<u32> = (0..2 * PER_PAGE as u32 + 3).collect();
    let mut paged = Paged::copy_of(&values).expect("memory");
    assert_eq!(paged.as_slice(), Some(&values[..]));
    *paged.get_mut(1).expect("memory") = 7;
    assert_eq!(paged.as_slice().map(|values| values[1]), Some(7));
    let clone = paged.clone();
    paged.push(9).expect("memory");
    assert_eq!((paged.as_slice(), all(&paged)[values.len()]), (None, 9));
    assert_eq!(
        clone.as_slice().map(|clone| (clone.len(), clone[1])),
        Some((values.len(), 7))
    );
    assert_eq!(Paged::<u32>::zeroed(0).expect("memory").as_slice(), None);
}

#[test]
fn portions_of_whole_pages_are_values_in_order() {
    let values: Vec<u32> = (0..3 * PER_PAGE as u32).collect();
    let paged = Paged::copy_of(&values).expect("memory");
    let view = paged.view();
    assert!(view.has_whole_pages());
    let step = (1 << 32) / values.len() as u64;
    for (index, value) in values.iter().enumerate().step_by(PER_PAGE / 8) {
        let first = ((index as u64) << 32).div_ceil(values.len() as u64);
        assert_eq!(view.portion(first as u32), value);
        assert_eq!(view.portion((first + step - 1) as u32), value);
    }
    assert_eq!(view.portion(u32::MAX), values.last().expect("values"));
    let ragged = Paged::copy_of(&values[..PER_PAGE + 1]).expect("memory");
    assert!(!ragged.view().has_whole_pages());
    assert_eq!(*ragged.view().portion(u32::MAX), 0);
}

#[test]
fn pages_are_used_again_and_new_values_are_what_was_pushed() {
    let mut paged = Paged::<u32>::zeroed(1).expect("memory");
    for round in 0..100 {
        let old = paged.clone();
        *paged.get_mut(0).expect("memory") = round;
        assert_eq!(old.view()[0], round.saturating_sub(1));
    }
    for value in 1..PER_PAGE as u32 + 10 {
        let old = (value.is_multiple_of(1000)).then(|| paged.clone());
        paged.push(value).expect("memory");
        assert!(old.is_none_or(|old| old.len() == value as usize));
    }
    let mut wanted: Vec<u32> = (0..PER_PAGE as u32 + 10).collect();
    wanted[0] = 99;
    assert_eq!(all(&paged), wanted);
}

#[test]
fn a_column_beside_another_is_its_own() {
    let wide = Paged::<u64>::zeroed(1).expect("memory");
    let values: Vec<u32> = (1..PER_PAGE as u32 + 4).collect();
    let mut beside = wide.copy_beside(&values).expect("memory");
    assert_eq!(beside.as_slice(), Some(&values[..]));
    let old = beside.clone();
    *beside.get_mut(PER_PAGE).expect("memory") = 7;
    beside.push(9).expect("memory");
    assert_eq!(all(&old), values);
    let seen = beside.view();
    let last = PER_PAGE as u32 + 3;
    assert_eq!(
        [PER_PAGE, PER_PAGE + 2, PER_PAGE + 3].map(|at| seen[at]),
        [7, last, 9]
    );
    assert_eq!(wide.view()[0], 0);
    assert_eq!(
        (old.as_slice(), beside.as_slice()),
        (Some(&values[..]), None)
    );
    assert!(wide.copy_beside::<u16>(&[]).expect("memory").is_empty());
}

/// Pages that were used before come in any order, and a column is made of neighbours all the same,
/// with zero bytes behind its last value.
#[test]
fn a_column_beside_another_takes_neighbours() {
    let mut wide = Paged::<u64>::zeroed(8).expect("memory");
    let values = vec![5u32; 2 * PER_PAGE + 1];
    // Every second of some pages goes back.
    let kept: Vec<_> = (0..12)
        .map(|round| {
            let old = wide.clone();
            *wide.get_mut(0).expect("memory") = u64::MAX - round;
            old
        })
        .step_by(2)
        .collect();
    let beside: Vec<_> = (0..5)
        .map(|_| wide.copy_beside(&values).expect("memory"))
        .collect();
    for column in &beside {
        assert_eq!(column.as_slice(), Some(&values[..]));
    }
    for column in &beside {
        // The last place of the last page, behind the values.
        assert_eq!(*column.view().portion(u32::MAX), 0);
    }
    let mut last = beside.into_iter().next_back().expect("columns");
    last.push(6).expect("memory");
    assert_eq!(all(&last)[2 * PER_PAGE..], [5, 6]);
    assert_eq!(kept.len(), 6);
}

/// Pages are written before they are used again, so that what they held is no value of the next.
#[test]
fn used_pages_come_back_as_zero_bytes() {
    let wide = Paged::<u64>::zeroed(1).expect("memory");
    for len in [1, 2 * PER_PAGE + 1, PER_PAGE - 1] {
        let full = wide
            .copy_beside(&vec![u32::MAX; 3 * PER_PAGE])
            .expect("memory");
        drop(full);
        let mut column = wide.copy_beside(&vec![1u32; len]).expect("memory");
        assert_eq!(*column.view().portion(u32::MAX), 0, "{len}");
        let kept = column.clone();
        column.as_mut_slice().expect("memory")[0] = 2;
        assert_eq!(*column.view().portion(u32::MAX), 0, "{len}");
        assert_eq!((kept.view()[0], column.view()[0]), (1, 2));
    }
}

#[test]
fn a_column_written_as_a_slice_is_one_and_no_clone_sees_it() {
    let values: Vec<u32> = (0..3 * PER_PAGE as u32 + 3).collect();
    let mut column = Paged::copy_of(&values).expect("memory");
    let first = column.directory[0];
    column.as_mut_slice().expect("memory")[1] = 70;
    assert_eq!(column.directory[0], first, "nobody else has it");
    let old = column.clone();
    let last = values.len() - 1;
    column.as_mut_slice().expect("memory")[last] = 71;
    assert_eq!((old.view()[1], old.view()[last]), (70, last as u32));
    assert_eq!((column.view()[1], column.view()[last]), (70, 71));
    // A page that was copied alone, and one that was added, lie elsewhere.
    let older = column.clone();
    *column.get_mut(PER_PAGE).expect("memory") = 72;
    assert!(column.as_slice().is_none());
    column.as_mut_slice().expect("memory")[0] = 73;
    for value in 0..PER_PAGE as u32 {
        column.push(value).expect("memory");
    }
    assert!(column.as_slice().is_none());
    let written = column.as_mut_slice().expect("memory");
    written[2] = 74;
    let mut wanted = values;
    (
        wanted[0],
        wanted[1],
        wanted[2],
        wanted[PER_PAGE],
        wanted[last],
    ) = (73, 70, 74, 72, 71);
    wanted.extend(0..PER_PAGE as u32);
    assert_eq!(column.as_slice(), Some(&wanted[..]));
    assert_eq!(
        (older.view()[0], older.view()[PER_PAGE]),
        (0, PER_PAGE as u32)
    );
    let mut none = Paged::<u32>::zeroed(0).expect("memory");
    assert!(none.as_mut_slice().expect("memory").is_empty());
}

#[test]
fn nothing_is_a_column_too() {
    let mut paged = Paged::<u64>::zeroed(0).expect("memory");
    assert!(paged.is_empty() && paged.view().is_empty() && paged.view().get(0).is_none());
    paged.push(7).expect("memory");
    assert_eq!(paged.view()[0], 7);
}

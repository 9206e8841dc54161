//! The schemes over real interfaces: one thread takes frames in and looks their addresses up. On
//! two CPUs the other one sends, so that nobody changes the table: what shows is what a lock that
//! nobody else holds costs a frame.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use table::{CompiledLists, ListMask};

use super::scheme::{BURST, Scheme, Shared};
use super::{array, list, published};
use crate::contest::refused;
use crate::experiment::{LabError, Outcome, Settings};
use crate::stamped::addresses;
use crate::wired::{self, Way, Wire};

/// One thread reads.
const READERS: usize = 1;

pub(super) fn run(settings: &mut Settings<'_>, wire: Wire<'_>) -> Result<Outcome, LabError> {
    let rounds = if settings.quick { 4 } else { 12 };
    let list = list(settings.seed);
    let table = CompiledLists::compile(&[&list]).map_err(refused)?;
    let array = Arc::new(array(&list)?);
    // Kept until the program ends, which is when this does.
    let shared: &'static Shared =
        Box::leak(Box::new(Shared::new(&Arc::new(table), &array, READERS)));
    let schemes = Scheme::EVERY.into_iter().filter(|&scheme| shows(scheme));
    let ways: Vec<Way> = schemes.map(|scheme| way(scheme, shared)).collect();
    let wanted = Duration::from_millis(60);
    let mut outcome = wired::measure(settings, wire, &ways, (rounds, wanted))?;
    outcome.varies = vec![
        "Varied: how the one thread that takes frames in comes to the table, and how many packets \
         it looks up together, as far as the scheme has it. Held: frames of 64 bytes with random \
         addresses, sent flat out; both are looked up among 6 million in a list, and the frame \
         ends. Nobody else reads, and nobody changes the table: the other CPU sends."
            .to_owned(),
    ];
    outcome.published = published(&outcome.rows);
    for beside in &mut outcome.published {
        beside.row += ways.len();
    }
    Ok(outcome)
}

/// Those that differ where there is one reader and no writer.
fn shows(scheme: Scheme) -> bool {
    !matches!(
        scheme,
        Scheme::Preempted | Scheme::OursReplaced | Scheme::Unchanged
    )
}

fn way(scheme: Scheme, shared: &'static Shared) -> Way {
    let access = RefCell::new(shared.access(scheme, 0));
    let keys = RefCell::new([[0; 2]; BURST]);
    let masks = RefCell::new([ListMask::EMPTY; 2 * BURST]);
    Way {
        variant: vec![
            ("scheme", scheme.name().into()),
            ("threads", READERS.into()),
            ("writer", 0_u64.into()),
            ("batch", scheme.batch().into()),
        ],
        stride: 1984,
        batch: BURST,
        work: Rc::new(move |frames| {
            let (mut keys, mut masks) = (keys.borrow_mut(), masks.borrow_mut());
            for (keys, frame) in keys.iter_mut().zip(frames) {
                *keys = addresses(frame);
            }
            let keys = keys[..frames.len().min(BURST)].as_flattened();
            access.borrow_mut().look_up(keys, &mut masks[..keys.len()]);
        }),
    }
}

//! What the workers of a switch tell each other: where stations are.

use table::fdb::{Applied, Fdb, Sighting};

use crate::Links;
use crate::links::Taken;

/// Tells the others; one that has no room for it hears of it at the station's next frame.
#[inline]
pub(super) fn tell(links: &mut Links<Sighting>, fdb: &mut Fdb, sighting: &Sighting) {
    if !links.tell(sighting) {
        fdb.not_told(sighting);
    }
}

/// Takes over what the others saw, and tells them where this worker knows better.
pub(super) fn take_over(links: &mut Links<Sighting>, fdb: &mut Fdb) {
    let mut taken = Taken::default();
    while let Some(sighting) = links.take(&mut taken) {
        if let Applied::Outdated(Some(ours)) = fdb.apply(&sighting) {
            tell(links, fdb, &ours);
        }
    }
}

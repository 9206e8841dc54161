//! Which frames were overtaken by a later one of their own flow.

/// Flows whose order is known at a time, a power of two: 256 KiB.
const FLOWS: usize = 1 << 14;

/// The highest number of each flow. A flow that meets another in its slot takes its place, so that
/// of more flows than there are slots some frames count as not overtaken.
pub(super) struct Order {
    slots: Box<[Slot]>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    flow: u64,
    /// The highest number plus one; 0 where nothing came.
    next: u64,
}

impl Order {
    pub(super) fn new() -> Self {
        Self {
            slots: vec![Slot::default(); FLOWS].into_boxed_slice(),
        }
    }

    /// Takes a frame of a flow; how far it is below the highest number of the same flow and stream
    /// before it, where that is higher.
    #[inline]
    pub(super) fn take(&mut self, stream: u16, flow: u64, number: u64) -> Option<u64> {
        // A flow has a stream of its own for each sender that makes it.
        let flow = flow ^ u64::from(stream) << 48;
        let slot = self.slots.get_mut(flow as usize & (FLOWS - 1))?;
        let next = number + 1;
        if slot.flow != flow || slot.next == 0 {
            *slot = Slot { flow, next };
            return None;
        }
        let below = slot.next.checked_sub(next).filter(|&below| below != 0);
        slot.next = slot.next.max(next);
        below
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_that_of_a_flow() {
        let mut order = Order::new();
        // Stream, flow, number, and by how much it was overtaken. The last flow takes the slot of
        // the first.
        let other = 7 + FLOWS as u64;
        let table = [
            (0, 7, 10, None),
            (0, 8, 20, None),
            (0, 7, 11, None),
            (0, 7, 9, Some(2)),
            (0, 7, 11, None),
            (0, 8, 19, Some(1)),
            (0, 8, 21, None),
            (1, 7, 3, None),
            (1, 7, 2, Some(1)),
            (0, other, 5, None),
            (0, 7, 8, None),
            (0, 7, (1 << 48) - 1, None),
            (0, 7, 0, Some((1 << 48) - 1)),
        ];
        for (row, (stream, flow, number, by)) in table.into_iter().enumerate() {
            assert_eq!(order.take(stream, flow, number), by, "row {row}");
        }
    }
}

//! The state of a TCP connection as a bridge sees it: flags alone (RFC 9293 section 3.3.2).
//!
//! Loosely: sequence numbers are not looked at, so that who knows both ends can end a flow
//! in the table, and both ends opening at the same time is taken for an attempt from outside.

use table::flows::ticks;

use super::{ANSWERED, Timeouts};

const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;

/// Of a record's state: the first end has acknowledged an answer.
const ACKNOWLEDGED: u8 = 1;
/// The first end has ended.
const FIRST_ENDED: u8 = 2;
/// The other end has ended.
const OTHER_ENDED: u8 = 4;
/// One of them has reset.
const RESET: u8 = 8;
/// All that this file keeps, but for who is where.
const OWN: u8 = ACKNOWLEDGED | FIRST_ENDED | OTHER_ENDED | RESET | ANSWERED;

/// Whether a packet of an unknown connection may begin one: an opening, or one in the middle of a
/// connection that is older than the table, but no answer and no reset.
pub(super) fn may_begin(flags: u8) -> bool {
    flags & RST == 0 && flags & (SYN | ACK) != SYN | ACK
}

/// Whether a packet asks for a new connection.
pub(super) fn is_opening(flags: u8) -> bool {
    flags & (SYN | ACK) == SYN
}

/// The state after a packet of the first end, or of the other one.
pub(super) fn next(state: u8, of_first: bool, flags: u8) -> u8 {
    if is_opening(flags) {
        // Also one with the ports of a connection that is over.
        let goes_on = state & OWN & (FIRST_ENDED | OTHER_ENDED | RESET) == 0;
        return if goes_on { state } else { state & !OWN };
    }
    let mut next = state;
    if of_first && state & ANSWERED != 0 && flags & ACK != 0 {
        next |= ACKNOWLEDGED;
    }
    if flags & FIN != 0 {
        next |= if of_first { FIRST_ENDED } else { OTHER_ENDED };
    }
    if flags & RST != 0 {
        next |= RESET;
    }
    next
}

/// Ticks without a packet after which a connection in this state is over.
pub(super) fn timeout(state: u8, timeouts: &Timeouts) -> u32 {
    let both = FIRST_ENDED | OTHER_ENDED;
    ticks(if state & RESET != 0 || state & both == both {
        timeouts.closed
    } else if state & both != 0 {
        timeouts.closing
    } else if state & ACKNOWLEDGED != 0 {
        timeouts.established
    } else {
        timeouts.half_open
    })
}

/// The state in a word.
pub(super) fn name(state: u8) -> &'static str {
    let both = FIRST_ENDED | OTHER_ENDED;
    if state & RESET != 0 {
        "reset"
    } else if state & both == both {
        "closed"
    } else if state & both != 0 {
        "closing"
    } else if state & ACKNOWLEDGED != 0 {
        "established"
    } else {
        "opening"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_opens_and_ends() {
        let timeouts = Timeouts::default();
        let after = |packets: &[(bool, u8)]| {
            let step = |state, &(of_first, flags): &(bool, u8)| {
                let answered = if of_first { 0 } else { ANSWERED };
                next(state | answered, of_first, flags)
            };
            timeout(packets.iter().fold(0, step), &timeouts)
        };
        let opened = [(true, SYN), (false, SYN | ACK), (true, ACK)];
        assert_eq!(after(&opened[..1]), ticks(timeouts.half_open));
        assert_eq!(after(&opened[..2]), ticks(timeouts.half_open));
        assert_eq!(after(&opened), ticks(timeouts.established));
        let with = |more: &[(bool, u8)]| after(&[&opened, more].concat());
        assert_eq!(with(&[(false, FIN | ACK)]), ticks(timeouts.closing));
        let ended = [(false, FIN | ACK), (true, FIN | ACK), (false, ACK)];
        assert_eq!(with(&ended), ticks(timeouts.closed));
        assert_eq!(with(&[(false, RST)]), ticks(timeouts.closed));
        let again = [(true, RST), (true, SYN)];
        assert_eq!(with(&again), ticks(timeouts.half_open));
    }

    #[test]
    fn answers_and_resets_begin_nothing() {
        let begin = (0..=255).filter(|&flags| may_begin(flags));
        assert!(begin.clone().all(|flags| flags & RST == 0));
        assert!(
            begin
                .clone()
                .all(|flags| flags & (SYN | ACK) != (SYN | ACK))
        );
        assert!(begin.clone().any(is_opening));
    }
}

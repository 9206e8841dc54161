//! Times at which connections want to be looked at again.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use frame::Nanos;

use crate::poller::Token;

/// Tokens by time. A connection may be in it several times: whoever is woken looks at what is due.
#[derive(Debug, Default)]
pub(crate) struct Timers(BinaryHeap<Reverse<(Nanos, Token)>>);

impl Timers {
    pub(crate) fn set(&mut self, at: Nanos, token: Token) {
        self.0.push(Reverse((at, token)));
    }

    /// The earliest.
    pub(crate) fn next(&self) -> Option<Nanos> {
        self.0.peek().map(|Reverse((at, _))| *at)
    }

    /// One that is due.
    pub(crate) fn pop_due(&mut self, now: Nanos) -> Option<Token> {
        self.next().filter(|at| *at <= now)?;
        self.0.pop().map(|Reverse((_, token))| token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_comes_first_and_none_before_its_time() {
        let mut timers = Timers::default();
        for at in [30, 10, 20] {
            timers.set(Nanos(at), Token::new(at as usize, 0));
        }
        assert_eq!(timers.next(), Some(Nanos(10)));
        assert_eq!(timers.pop_due(Nanos(9)), None);
        assert_eq!(timers.pop_due(Nanos(25)), Some(Token::new(10, 0)));
        assert_eq!(timers.pop_due(Nanos(25)), Some(Token::new(20, 0)));
        assert_eq!(timers.pop_due(Nanos(25)), None);
    }
}

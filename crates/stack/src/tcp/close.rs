//! How a connection ends (RFC 9293 section 3.6).

use super::connection::{Connection, State};
use super::{Application, Arrival, Event};

impl Connection {
    /// FIN of the other end is next: it sends no more.
    pub(super) fn take_end<A: Application>(&mut self, cx: &mut Arrival<'_, A>) {
        if self.rcv.end != Some(self.rcv.next) {
            return;
        }
        // FIN is taken once: from here on the states say that it came.
        let next = match self.state {
            State::Established => State::CloseWait,
            State::FinWait1 => State::Closing,
            State::FinWait2 => State::TimeWait,
            _ => return,
        };
        self.rcv.next = self.rcv.next.after(1);
        self.rcv.ack_now = true;
        self.state = next;
        self.tell(cx, Event::Ended);
    }

    /// FIN of this end leaves for the first time.
    pub(super) fn end_is_sent(&mut self) {
        self.state = match self.state {
            State::CloseWait => State::LastAck,
            State::Established => State::FinWait1,
            state => state,
        };
    }
}

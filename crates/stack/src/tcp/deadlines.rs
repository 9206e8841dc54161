//! What happens when nothing arrives: retransmission, probes, delayed acknowledgments, keep-alive,
//! giving up.

use frame::Nanos;

use super::Cause;
use super::connection::{Connection, Deadlines, State};

impl Deadlines {
    /// The earliest.
    pub(super) fn first(&self) -> Option<Nanos> {
        let all = [self.retransmit, self.probe, self.ack, self.keep_alive];
        all.into_iter().flatten().min()
    }
}

/// Whether a deadline has come; it is over then.
fn is_over(deadline: &mut Option<Nanos>, now: Nanos) -> bool {
    deadline.take_if(|at| *at <= now).is_some()
}

impl Connection {
    pub(super) fn arm_retransmit(&mut self, now: Nanos) {
        self.deadlines.retransmit = Some(now.after(self.round_trip.timeout()));
    }

    /// Does what is due.
    pub(super) fn run_deadlines(&mut self, now: Nanos) {
        if is_over(&mut self.deadlines.ack, now) {
            self.rcv.ack_now = true;
        }
        if is_over(&mut self.deadlines.probe, now) {
            self.snd.probes = true;
        }
        if is_over(&mut self.deadlines.retransmit, now) {
            self.time_out(now);
        }
        if is_over(&mut self.deadlines.keep_alive, now) {
            self.keep_alive(now);
        }
    }

    /// RFC 6298 section 5: everything in flight is taken as lost.
    fn time_out(&mut self, now: Nanos) {
        if self.snd.in_flight.is_empty() {
            return;
        }
        let is_open = !matches!(self.state, State::SynSent | State::SynReceived);
        let patience = match is_open {
            true => self.settings.user_timeout,
            false => self.settings.connect_timeout,
        };
        if now.since(self.progress) >= patience {
            return self.abort(Cause::TimedOut);
        }
        let in_flight = self.snd.next.since(self.snd.una);
        // Against a closed window nothing is lost by the path.
        if is_open && self.snd.window != 0 && !self.snd.in_flight.is_first_again() {
            self.congestion.collapse(in_flight);
        }
        self.round_trip.back_off();
        self.snd.in_flight.lose_all();
        self.snd.recovery = Some(self.snd.next);
        self.snd.duplicates = 0;
        self.arm_retransmit(now);
    }

    /// The other end lives: against a closed window this is progress too.
    pub(super) fn heard_from(&mut self, now: Nanos) {
        if self.snd.window == 0 {
            self.progress = now;
        }
        self.keep_alive_from(now);
    }

    pub(super) fn keep_alive_from(&mut self, now: Nanos) {
        self.keep_alive_probes = 0;
        let settings = self.settings.keep_alive;
        self.deadlines.keep_alive = settings.map(|settings| now.after(settings.idle));
    }

    /// RFC 9293 section 3.8.4: a number that is acknowledged already asks for an answer.
    fn keep_alive(&mut self, now: Nanos) {
        let Some(settings) = self.settings.keep_alive else {
            return;
        };
        if self.keep_alive_probes >= settings.probes {
            return self.abort(Cause::TimedOut);
        }
        self.keep_alive_probes += 1;
        self.asks_for_life = true;
        self.deadlines.keep_alive = Some(now.after(settings.interval));
    }
}

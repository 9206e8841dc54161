//! Two ends on a hostile network, and single segments at one end.

mod arrivals;
mod sim;

//! Both roles against each other, and each against a peer that means harm.

mod ends;
mod hostile;
mod pairs;
mod peer;
mod refusals;

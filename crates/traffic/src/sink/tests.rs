//! Sink tests.

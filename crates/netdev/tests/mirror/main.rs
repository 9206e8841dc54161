//! The mirror without a kernel: bytes that one sent once, bytes that none should send, and a
//! pretended kernel that lists while it changes and loses messages.

mod hostile;
mod made;
mod pretended;
mod recorded;
mod storm;

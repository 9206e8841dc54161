//! System calls of the laboratory that no crate offers without `unsafe`.

#![allow(unsafe_code)]

pub(crate) mod perf_event;
pub(crate) mod perf_ring;

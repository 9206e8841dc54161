//! libFuzzer's way into `fuzz::config`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::config(bytes));

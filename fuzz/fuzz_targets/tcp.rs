//! libFuzzer's way into `fuzz::tcp`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::tcp(bytes));

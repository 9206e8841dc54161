//! libFuzzer's way into `fuzz::sample`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::sample(bytes));

//! libFuzzer's way into `fuzz::rules`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::rules(bytes));

//! libFuzzer's way into `fuzz::spec`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::spec(bytes));

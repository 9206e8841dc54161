//! libFuzzer's way into `fuzz::list`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::list(bytes));

//! libFuzzer's way into `fuzz::journal`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::journal(bytes));

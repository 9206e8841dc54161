//! libFuzzer's way into `fuzz::tunnel`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::tunnel(bytes));

//! libFuzzer's way into `fuzz::control`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::control(bytes));

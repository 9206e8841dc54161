//! libFuzzer's way into `fuzz::routes`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::routes(bytes));

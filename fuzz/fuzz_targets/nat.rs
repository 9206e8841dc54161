//! libFuzzer's way into `fuzz::nat`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::nat(bytes));

//! libFuzzer's way into `fuzz::scrape`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::scrape(bytes));

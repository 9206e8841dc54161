//! Compiles what `layout` loads into the programs that it measures.

use std::env;
use std::path::Path;

const SOURCE: &str = "shim/layout.c";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={SOURCE}");
    let Ok(folder) = env::var("OUT_DIR") else {
        panic!("cargo names no folder for what is built");
    };
    let mut build = cc::Build::new();
    // Programs that it is loaded into have the C library of the system, whatever this one has.
    if let Ok(target) = env::var("TARGET") {
        build.target(&target.replace("-musl", "-gnu"));
    }
    // Its speed is part of what is measured, whatever the profile.
    build.opt_level(2).debug(false).pic(true);
    let mut compiler = build.get_compiler().to_command();
    compiler.args(["-shared", "-std=gnu11", "-fvisibility=hidden", "-Wall"]);
    compiler.args([
        "-o".as_ref(),
        Path::new(&folder).join("layout.so").as_os_str(),
    ]);
    compiler.args([SOURCE, "-ldl"]);
    match compiler.status() {
        Ok(status) if status.success() => {}
        other => panic!("{SOURCE} does not compile ({other:?}): a C compiler for Linux is needed"),
    }
}

//! The library in a program of its own, which tries each way to allocate.

use std::process::Command;

use super::*;

/// Checks alignment, contents and usable sizes of moved blocks itself, in threads and in a child.
const PROGRAM: &str = include_str!("tests/allocates.c");

#[test]
fn each_way_to_allocate_works_moved() {
    let folder = tempfile::tempdir().expect("a folder");
    let (source, program) = (folder.path().join("a.c"), folder.path().join("a"));
    std::fs::write(&source, PROGRAM).expect("a file");
    let compiled = Command::new("cc")
        .args(["-O1", "-w", "-fno-builtin", "-pthread", "-o"])
        .args([&program, &source])
        .status();
    assert!(compiled.expect("a compiler").success());
    let shim = Shim::new(65_536).expect("memory");
    for offset in [0, 16, 64, 100, 4160] {
        let layout = Layout {
            offsets: (0..BLOCKS_MAX as u64).map(|order| order * offset).collect(),
            stack: 0,
        };
        let command = [program.clone().into_os_string()];
        let ran = shim.run(&command, &layout, true).expect("it starts");
        assert_eq!(ran.failure, None, "{offset}: {}", ran.printed);
        assert!(ran.shimmed && ran.cpu_ns.is_some(), "{offset}: {ran:?}");
        let kinds = |kind| ran.blocks.iter().filter(|block| block.kind == kind).count();
        assert!(kinds(BlockKind::Heap) > 5 && kinds(BlockKind::Mapping) == 2);
        assert!(kinds(BlockKind::Aligned) > 3, "{ran:?}");
        let moved = ran.blocks.iter().filter(|block| block.offset > 0).count();
        assert_eq!(moved > 10, offset > 0, "{offset}: {ran:?}");
        let site = ran.blocks[0].site().expect("a site");
        assert!(
            site.starts_with("heap") || site.starts_with("a+0x"),
            "{site}"
        );
    }
}

#[test]
fn what_cannot_be_run_is_an_error() {
    let shim = Shim::new(65_536).expect("memory");
    let none = shim.run(&["/nonexistent".into()], &Layout::default(), false);
    assert!(none.is_err());
    let failing = shim.run(&["/bin/false".into()], &Layout::default(), false);
    assert!(failing.expect("it starts").failure.is_some());
}

/// A program whose work is done by others is known by that.
#[test]
fn children_are_counted_apart() {
    let shim = Shim::new(65_536).expect("memory");
    let work = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
    for (script, apart) in [(work.to_owned(), false), (format!("({work}); true"), true)] {
        let command = ["/bin/sh", "-c", &script].map(OsString::from);
        let ran = shim
            .run(&command, &Layout::default(), false)
            .expect("it starts");
        let own = ran.cpu_ns.expect("it ends by exit");
        assert_eq!(ran.children_ns > own, apart, "{script}: {ran:?}");
    }
    let replaced = ["/bin/sh", "-c", "exec /bin/true"].map(OsString::from);
    let ran = shim
        .run(&replaced, &Layout::default(), false)
        .expect("it starts");
    assert!(ran.shimmed && ran.cpu_ns.is_none(), "{ran:?}");
}

#[test]
fn the_stack_moves_by_what_is_asked() {
    let shim = Shim::new(65_536).expect("memory");
    let stack = |bytes| {
        let layout = Layout {
            offsets: Vec::new(),
            stack: bytes,
        };
        shim.run(&["/bin/true".into()], &layout, false)
            .expect("it starts")
    };
    let (first, moved) = (stack(0), stack(4080));
    if first.random {
        eprintln!("skipped: randomisation of addresses cannot be turned off here");
        return;
    }
    assert_eq!(first.stack - moved.stack, 4080);
    assert_eq!(stack(0).stack, first.stack);
}

#[test]
fn the_end_of_what_is_printed_is_kept() {
    let text = "x".repeat(3 * PRINTED_BYTES_MAX) + "end";
    let kept = last_of(&mut text.as_bytes()).expect("text");
    assert!(kept.ends_with("xend") && kept.len() <= 2 * PRINTED_BYTES_MAX + 3);
}

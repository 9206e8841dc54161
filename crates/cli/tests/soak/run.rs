//! A daemon is followed frame by frame while somebody changes its sets, and its books are held
//! against what was seen.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread::scope;

use serde_json::{Value, json};

use crate::bridge::Bridge;
use crate::model::{Judged, Sides};
use crate::replay::Follower;

/// What came of it.
pub(crate) struct Run<R> {
    pub(crate) changed: R,
    pub(crate) judged: Judged,
    pub(crate) report: Value,
}

/// Follows the daemon while `changing` goes on, then ends it.
pub(crate) fn followed<R>(
    bridge: &mut Bridge,
    sides: &Sides,
    changing: impl FnOnce(&Bridge) -> R,
) -> Run<R> {
    let mut follower = Follower::new(&bridge.generator, sides);
    let pipe = bridge.pipe();
    scope(|threads| {
        let follower = threads.spawn(|| {
            follower.follow(pipe);
            follower
        });
        let changed = catch_unwind(AssertUnwindSafe(|| changing(bridge)));
        sides.end();
        bridge.stop();
        let follower = follower.join().expect("the follower ends");
        let changed = changed.unwrap_or_else(|panic| {
            println!("{:?}\n{}", sides.wrong(), bridge.log());
            resume_unwind(panic)
        });
        let report = bridge.report();
        let judged = follower.finish(report["frames"]["rx"].as_u64().expect("a count"));
        Run {
            changed,
            judged,
            report,
        }
    })
}

impl<R> Run<R> {
    /// No frame is lost or wrongly judged: what came in left, or was dropped for its source, and
    /// nothing else.
    #[track_caller]
    pub(crate) fn must_be_right(&self, sides: &Sides) {
        let (report, judged) = (&self.report, &self.judged);
        assert_eq!(sides.wrong(), None, "{report}");
        assert_eq!(report["balanced"], true, "{report}");
        assert_eq!(report["ended_by"], "asked", "{report}");
        let frames = &report["frames"];
        assert_eq!(frames["rx"], judged.frames, "{report}");
        assert_eq!(frames["tx"], judged.passed, "{report}");
        let dropped = judged.frames - judged.passed;
        assert_eq!(
            frames["dropped"],
            json!({"blocked_src": dropped}),
            "{report}"
        );
        let sure = judged.sure as f64 / judged.of_tracks as f64;
        assert!(sure > 0.1, "{judged:?} show little");
    }
}

//! What a packet's comment says.

use daemon::capture::CapturedFrame;

/// `dropped: blocked_src; set spamhaus (src, block); stands for 12 frames`.
pub(super) fn comment(frame: &CapturedFrame) -> String {
    let mut text = match &frame.reason {
        Some(reason) => format!("dropped: {reason}"),
        None => "forwarded".to_owned(),
    };
    for set in &frame.sets {
        text += &format!("; set {} ({}, {})", set.set, set.side, set.action);
    }
    match frame.stands_for {
        0 | 1 => text,
        frames => text + &format!("; stands for {frames} frames"),
    }
}

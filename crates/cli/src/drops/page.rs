//! The declared drop reasons as a page of the documentation: what is dropped and what helps.

use plane::{DropReason, Severity};

const HEAD: &str = "\
# Troubleshooting by drop reason

This page is what `linerate drops --markdown` prints: it is made of the declarations in the program,
and a test holds it to them.

Every frame that does not go on has exactly one reason, and is counted once:

- `linerate show drops` and `linerate top` show the counts of a running daemon;
- the metric `linerate_drops_total` has them by `reason` and `severity`;
- `linerate capture --drops FILE` takes samples, with the reason in each packet's comment.

Frames that never came to a worker are no drops of linerate: the interface or the kernel lost them.
`linerate show ports` has them as errors and drops of the port, and `linerate doctor` says why that
may be.
";

/// The page.
pub(super) fn markdown() -> String {
    let sections = [
        (
            Severity::Policy,
            "## The policy asked for it",
            "Nothing is wrong, unless the frame should have passed.",
        ),
        (
            Severity::Resource,
            "## This machine could not send it",
            "A port, a ring or a worker had no room. In a daemon that keeps up these stay at 0.",
        ),
        (
            Severity::Frame,
            "## The frame breaks a protocol's rules",
            "A few are normal on any large network. The policy can let them pass \
             (`malformed = \"forward\"`).",
        ),
    ];
    let mut text = HEAD.to_owned();
    for (severity, title, about) in sections {
        text += &format!("\n{title}\n\n{about}\n\n| reason | the frame | what helps |\n");
        text += "| --- | --- | --- |\n";
        let reasons = DropReason::all().filter(|reason| reason.severity() == severity);
        text.extend(reasons.map(row));
    }
    text
}

fn row(reason: DropReason) -> String {
    format!(
        "| `{}` | {} | {} |\n",
        reason.name(),
        sentence(reason.sentence()),
        sentence(reason.remedy())
    )
}

/// The first letter large and a full stop behind.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    format!("{}{}.", first.collect::<String>(), letters.as_str())
}

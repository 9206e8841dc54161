//! One line of the page: what was looked at, how it is, what that means, what mends it.

use serde::Serialize;

/// What a fact means for a bridge. Unknown is never good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Judgement {
    Good,
    Unknown,
    /// It costs rate, or may be meant so.
    Doubtful,
    /// It changes, loses or hides frames.
    Wrong,
}

impl Judgement {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Unknown => "unknown",
            Self::Doubtful => "doubtful",
            Self::Wrong => "wrong",
        }
    }
}

/// The names of the fields are a contract, as those of the run report are.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub(super) what: &'static str,
    pub(super) value: String,
    pub(super) judgement: Judgement,
    /// Why it is so judged; empty where the value says it all.
    pub(super) why: String,
    /// A command that mends it.
    pub(super) remedy: Option<String>,
}

impl Finding {
    pub(super) fn good(what: &'static str, value: impl Into<String>) -> Self {
        Self::judged(what, value, Judgement::Good, "")
    }

    pub(super) fn doubtful(
        what: &'static str,
        value: impl Into<String>,
        why: impl Into<String>,
    ) -> Self {
        Self::judged(what, value, Judgement::Doubtful, why)
    }

    pub(super) fn wrong(
        what: &'static str,
        value: impl Into<String>,
        why: impl Into<String>,
    ) -> Self {
        Self::judged(what, value, Judgement::Wrong, why)
    }

    /// What the kernel or the driver does not say.
    pub(super) fn unknown(what: &'static str, why: impl Into<String>) -> Self {
        Self::judged(what, "unknown", Judgement::Unknown, why)
    }

    fn judged(
        what: &'static str,
        value: impl Into<String>,
        judgement: Judgement,
        why: impl Into<String>,
    ) -> Self {
        Self {
            what,
            value: value.into(),
            judgement,
            why: why.into(),
            remedy: None,
        }
    }

    /// With the command that mends it.
    pub(super) fn mended_by(mut self, command: impl Into<String>) -> Self {
        self.remedy = Some(command.into());
        self
    }
}

//! The names of differences: those of ports, of verdicts, and what only a whole run knows.

use plane::DropReason;
use port::Loss;

macro_rules! own_causes {
    ($($variant:ident = $name:literal, $sentence:literal, $remedy:literal;)+) => {
        /// What becomes of frames that neither a port nor a verdict names.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum OwnCause {
            $(#[doc = concat!($sentence, ".")] $variant,)+
        }

        impl OwnCause {
            /// All, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            fn sentence(self) -> &'static str {
                match self { $(Self::$variant => $sentence,)+ }
            }

            fn remedy(self) -> &'static str {
                match self { $(Self::$variant => $remedy,)+ }
            }
        }
    };
}

own_causes! {
    Behind = "behind",
        "its time had passed before a worker came to send it",
        "a lower rate, or more workers";
    Late = "late",
        "its time had passed as well, and it was sent all the same",
        "a lower rate, or more workers";
    Between = "between",
        "it left one interface and did not arrive at the other: what lies between them lost it",
        "this is what a loss test measures";
    Cut = "cut",
        "the capture kept too little of it to tell whether it is a test frame",
        "record with a snap length of 0 (tcpdump -s 0)";
    Foreign = "foreign",
        "it is no test frame of this run: somebody else's, or one whose signature is not whole",
        "keep other traffic off the interfaces of a test";
    Corrupted = "corrupted",
        "it is a test frame, and not as it was sent",
        "see what lies between the interfaces: it changed the frame, or a checksum in it";
    Duplicated = "duplicated",
        "it is a test frame that had come before",
        "see what lies between the interfaces: it sent the frame twice";
    OutsideWindow = "outside_window",
        "it is a test frame so late that it is not known any more whether it had come before",
        "see what lies between the interfaces: it kept the frame for long";
    Originated = "originated",
        "it was made here: an answer, a retransmission",
        "none needed";
    Cloned = "cloned",
        "it is a copy made to flood",
        "none needed";
    Consumed = "consumed",
        "it ended here, its purpose served",
        "none needed";
    Punted = "punted",
        "it was given to the host's own stack",
        "none needed";
    Held = "held",
        "a table kept it when the run ended",
        "none needed";
}

/// Why a frame was counted in one column and not in the next, or the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// Between an interface and a worker.
    Port(Loss),
    /// A worker dropped it.
    Drop(DropReason),
    /// What only a whole run knows.
    Own(OwnCause),
}

impl Cause {
    /// Every cause, each name once: what a verdict and a fault of a frame share, by the verdict.
    pub fn all() -> impl Iterator<Item = Self> {
        let ports = Loss::ALL.iter().copied().map(Self::Port);
        let own = OwnCause::ALL.iter().copied().map(Self::Own);
        ports.chain(own).chain(DropReason::all().map(Self::Drop))
    }

    /// The name in JSON, `snake_case`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Port(loss) => loss.name(),
            Self::Drop(reason) => reason.name(),
            Self::Own(cause) => cause.name(),
        }
    }

    /// One sentence for people, without capital and full stop.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Port(loss) => loss.sentence(),
            Self::Drop(reason) => reason.sentence(),
            Self::Own(cause) => cause.sentence(),
        }
    }

    /// What helps, without capital and full stop; of drops by a verdict the sentence says it.
    #[must_use]
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Port(loss) => loss.remedy(),
            Self::Drop(_) => "",
            Self::Own(cause) => cause.remedy(),
        }
    }
}

impl From<Loss> for Cause {
    fn from(loss: Loss) -> Self {
        Self::Port(loss)
    }
}

impl From<DropReason> for Cause {
    fn from(reason: DropReason) -> Self {
        Self::Drop(reason)
    }
}

impl From<OwnCause> for Cause {
    fn from(cause: OwnCause) -> Self {
        Self::Own(cause)
    }
}

//! The table of diagnostic codes. Numbers are never reused.

use std::fmt;

use serde::{Serialize, Serializer};

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal,)+) => {
        /// What kind of mistake it is. R01 the text, R02 names and values, R03 meaning, R04 not enforceable yet.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Code {
            /// Every code, in order.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// `R0101` and the like.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)+
                }
            }

            /// One sentence for the reference.
            #[must_use]
            pub const fn summary(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($($doc),+),)+
                }
            }
        }
    };
}

codes! {
    /// The file is longer than a policy file may be.
    FileTooLarge = "R0101",
    /// The file is not UTF-8.
    InvalidUtf8 = "R0102",
    /// A control character, a NUL or an invisible character that would mislead a reader.
    ForbiddenCharacter = "R0103",
    /// Brackets nest too deeply.
    NestedTooDeeply = "R0104",
    /// A string or a comment does not end.
    Unterminated = "R0105",
    /// An escape sequence that does not exist, or stands for no character.
    BadEscape = "R0106",
    /// A `${…}` that is not a parameter name.
    BadInterpolation = "R0107",
    /// Something else was expected here.
    UnexpectedToken = "R0108",
    /// A block is not closed.
    MissingBrace = "R0109",
    /// The file has no policy, or more than one.
    PolicyCount = "R0110",
    /// More mistakes than are shown.
    TooManyErrors = "R0111",
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

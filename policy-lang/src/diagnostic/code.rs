//! The table of diagnostic codes. Numbers are never reused.

use std::fmt;

use serde::{Serialize, Serializer};

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal,)+) => {
        /// What kind of mistake it is. R01 the text, R02 names and values, R03 meaning, R04 not enforceable yet, R05 compiling and
        /// testing.
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
    /// More findings than are shown.
    TooManyFindings = "R0111",
    /// The lines of the file end with CR LF.
    CarriageReturns = "R0112",
    /// The same thing is said twice.
    Repeated = "R0113",

    /// A parameter that no `param` declares.
    UnknownParameter = "R0201",
    /// A parameter without a value and without a default.
    MissingParameter = "R0202",
    /// A value that is not of its parameter's type.
    ParameterType = "R0203",
    /// A parameter in a place that its type cannot fill.
    ParameterPlace = "R0204",
    /// A syscall group that does not exist.
    UnknownGroup = "R0205",
    /// A system call that does not exist.
    UnknownSyscall = "R0206",
    /// An argument that the system call does not have.
    UnknownArgument = "R0207",
    /// A constant that is not known.
    UnknownConstant = "R0208",
    /// A requirement that is not known.
    UnknownRequirement = "R0209",
    /// A number or a unit that does not fit its place.
    BadQuantity = "R0210",
    /// A path that is not a path a policy can name.
    BadPath = "R0211",
    /// A glob that is malformed.
    BadGlob = "R0212",
    /// An address or a prefix that is malformed.
    BadAddress = "R0213",
    /// A prefix with bits behind its length.
    HostBits = "R0214",
    /// A port or a range of ports that is malformed.
    BadPort = "R0215",
    /// An IPv6 address that stands for an IPv4 address.
    EmbeddedAddress = "R0216",
    /// A name that no environment variable can have.
    BadVariable = "R0217",
    /// An identity that a run cannot have.
    BadIdentity = "R0218",
    /// A predicate that can never hold, or that a test cannot use.
    BadPredicate = "R0219",
    /// A text that is empty or does not fit its place.
    BadText = "R0220",

    /// A path that does not exist on this host.
    AbsentPath = "R0301",
    /// A rule on a symbolic link protects what it points to, not the link.
    LinkedPath = "R0302",
    /// A path that cannot be looked up.
    UnreadablePath = "R0303",
    /// `if present` where nothing can be absent.
    PointlessSuffix = "R0304",

    /// A rule on a host name, in a version that enforces addresses.
    HostNameNotEnforceable = "R0401",
    /// `ask`, in a version without approvals.
    AskNotEnforceable = "R0402",
    /// `broker`, in a version without a credential broker.
    BrokerNotEnforceable = "R0403",
    /// A workspace that is a copy, in a version that works in place.
    WorkspaceNotEnforceable = "R0404",
    /// `within`, in a version without ceilings.
    WithinNotEnforceable = "R0405",
    /// `use`, in a version without rule groups.
    UseNotEnforceable = "R0406",
    /// `unlock`, in a version whose floor cannot be opened.
    UnlockNotEnforceable = "R0407",
    /// `hide`, in a version that denies instead.
    HideNotEnforceable = "R0408",
    /// `record` of something that this version cannot record.
    RecordNotEnforceable = "R0409",

    /// The rule resolves, but no mechanism can do what it says.
    NotLowered = "R0501",
    /// A line of a `test` block does not hold.
    TestFails = "R0502",
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

//! The table of diagnostic codes. Numbers are never reused.

use std::fmt;

use serde::{Serialize, Serializer};

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal,)+) => {
        /// What kind of mistake it is. R01 the text, R02 names and values, R03 meaning, R05 compiling and testing, R06 what
        /// is legal and worth a second look, R07 files and groups, R08 guardrails. R0401 to R0409 are retired: what a host cannot enforce is
        /// refused when a run is admitted.
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
    /// A rule of the floor that does not exist, or that nothing opens.
    UnknownUnlock = "R0305",
    /// A workspace that says what it cannot mean.
    BadWorkspace = "R0306",
    /// A brokered credential that could go elsewhere than it is meant to.
    BadBroker = "R0307",
    /// A host name in a place that it cannot fill.
    HostPlace = "R0308",
    /// `ask` where nobody can be asked.
    AskPlace = "R0309",

    /// The rule resolves, but no mechanism can do what it says.
    NotLowered = "R0501",
    /// A line of a `test` block does not hold.
    TestFails = "R0502",

    /// A grant that a ceiling refuses.
    BeyondCeiling = "R0601",
    /// A variable that two layers set to different values.
    CeilingSetsOtherwise = "R0602",
    /// An identity that a ceiling does not have.
    CeilingIdentity = "R0603",
    /// Grants and ceilings that could not be compared within bounds.
    CeilingUndecided = "R0604",

    /// A rule that never decides anything.
    DeadRule = "R0610",
    /// A rule that says what another one says.
    RepeatedRule = "R0611",
    /// A rule without which every decision stays the same.
    RedundantRule = "R0612",
    /// A parameter that nothing uses.
    UnusedParameter = "R0613",
    /// A group that adds nothing.
    UnusedGroup = "R0614",

    /// A grant on the whole file tree.
    WholeTree = "R0620",
    /// A grant on a home directory, or on all of them.
    HomeGranted = "R0621",
    /// A tree that is written and executed.
    WriteExecute = "R0622",
    /// Secrets that can be read.
    SecretsReadable = "R0623",
    /// Files that people or their tools execute or obey later, and that the run can write.
    TrustedFilesWritable = "R0624",
    /// A broad grant on what the kernel shows of the machine.
    KernelTree = "R0625",
    /// The socket of a container engine within reach.
    EngineSocket = "R0626",
    /// The socket of a message bus, a service manager or a key agent within reach.
    AgentSocket = "R0627",
    /// A refusing glob that does not hold for files made later.
    LaterFiles = "R0628",
    /// The system itself can be changed.
    SystemWritable = "R0629",

    /// Connections to a broad range of addresses.
    BroadEgress = "R0630",
    /// Private or machine-local networks within reach of a broad grant.
    PrivateReachable = "R0631",
    /// Cloud metadata within reach.
    MetadataReachable = "R0632",
    /// Every port of this machine within reach.
    LoopbackBroad = "R0633",
    /// A server on every address of the machine.
    BindEverywhere = "R0634",
    /// A host pattern so broad that anybody can have a name in it.
    BroadHost = "R0635",
    /// Names can be asked for anywhere.
    AnyResolver = "R0636",

    /// The environment is passed as a whole.
    EnvironmentWholesale = "R0640",
    /// A long-lived secret is passed by environment.
    SecretPassed = "R0641",
    /// A secret is written in the policy.
    SecretInPolicy = "R0642",
    /// A variable that makes programs load or run something else.
    LoaderVariable = "R0643",
    /// A brokered credential that does not expire.
    BrokerWithoutEnd = "R0644",

    /// The run has root's user id.
    RootIdentity = "R0650",
    /// A resource without a limit.
    MissingLimit = "R0651",
    /// A part of the floor is opened.
    Unlocked = "R0652",
    /// Every system call that is known is allowed.
    EveryCall = "R0653",
    /// The run can look into or change other processes.
    ProcessInspection = "R0654",
    /// A scratch that is larger than the memory it lives in.
    ScratchBeyondMemory = "R0655",

    /// `permit degraded` without a reason.
    DegradedWithoutReason = "R0660",
    /// A refusal without a reason.
    RefusalWithoutReason = "R0661",
    /// `// remit: allow …` that stands for nothing.
    UnusedSuppression = "R0662",
    /// `// remit: allow …` that cannot be understood, or gives no reason.
    BadSuppression = "R0663",

    /// A rule that the target kernel cannot enforce.
    UnenforceableOnTarget = "R0670",

    /// A name that is no file beneath the policy root.
    BadFileName = "R0701",
    /// A file of the policy root that is not there or cannot be read.
    UnreadableFile = "R0702",
    /// A file name that leads through a symbolic link, or out of the policy root.
    FileOutsideRoot = "R0703",
    /// A file that reads itself, perhaps through others.
    FileCycle = "R0704",
    /// More files, or files nested deeper, than a policy may have.
    TooManyFiles = "R0705",
    /// A file that holds something else than what it is read for.
    WrongFile = "R0706",
    /// A group of rules that does not exist.
    UnknownRuleGroup = "R0707",
    /// A group of rules that uses itself, perhaps through others.
    GroupCycle = "R0708",
    /// A group of rules that is defined twice, or under a reserved name.
    GroupName = "R0709",
    /// A statement that cannot stand in a group of rules.
    GroupContent = "R0710",
    /// A parameter of a ceiling that has no default.
    CeilingParameter = "R0711",
    /// Something other than a grant that a ceiling does not permit.
    CeilingRefuses = "R0712",
    /// A limit that a ceiling's lower one replaces.
    CeilingLimit = "R0713",

    /// A guardrail refuses the policy.
    GuardrailDenies = "R0801",
    /// A guardrail has a remark.
    GuardrailWarns = "R0802",
    /// A guardrail would refuse the policy, and somebody answers for an exception.
    GuardrailExcepted = "R0803",
    /// The guardrails give no judgement, which is a refusal.
    GuardrailsFail = "R0804",
}

impl Code {
    /// The code with this text, in either case.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_it = |code: &&Self| code.as_str().eq_ignore_ascii_case(text);
        Self::ALL.iter().find(is_it).copied()
    }
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

//! The answer to "does this hold for every access?" when finding out may cost too much.

/// A bounded proof's outcome.
///
/// Precedence treats [`Proof::Undecided`] as [`Proof::Fails`]: a rule that cannot be shown to yield does not yield,
/// so a bound that is hit can only make a policy stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// It holds for every access.
    Holds,
    /// There is an access for which it does not hold.
    Fails,
    /// The bound was hit first.
    Undecided,
}

impl Proof {
    /// Whether it was shown to hold.
    #[must_use]
    pub fn holds(self) -> bool {
        self == Self::Holds
    }

    /// Both hold.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Fails, _) | (_, Self::Fails) => Self::Fails,
            (Self::Holds, Self::Holds) => Self::Holds,
            _ => Self::Undecided,
        }
    }
}

impl std::ops::Not for Proof {
    type Output = Self;

    /// What was proved of the opposite.
    fn not(self) -> Self {
        match self {
            Self::Holds => Self::Fails,
            Self::Fails => Self::Holds,
            Self::Undecided => Self::Undecided,
        }
    }
}

impl From<bool> for Proof {
    fn from(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::Fails }
    }
}

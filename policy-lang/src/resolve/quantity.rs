//! Numbers with units: sizes, durations, shares of a CPU, counts.

use super::Resolver;
use super::parameters::{Bound, Mistake};
use crate::ast::{Quantity, Value};
use crate::diagnostic::{Code, Diagnostic};
use crate::suggest::nearest;

const SIZES: &[(&str, u64)] = &[
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

const DURATIONS: &[(&str, u64)] = &[("s", 1), ("m", 60), ("h", 3600), ("d", 86_400)];

/// How other tools write the same units.
const OTHER_UNITS: &[(&str, &str)] = &[
    ("b", "B"),
    ("k", "KiB"),
    ("kb", "KiB"),
    ("m", "MiB"),
    ("mb", "MiB"),
    ("g", "GiB"),
    ("gb", "GiB"),
    ("t", "TiB"),
    ("tb", "TiB"),
    ("sec", "s"),
    ("secs", "s"),
    ("min", "m"),
    ("mins", "m"),
    ("hr", "h"),
    ("hours", "h"),
    ("days", "d"),
];

/// What a place for a number takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    /// Bytes.
    Size,
    /// Seconds.
    Duration,
    /// Hundredths.
    Percent,
    /// How many.
    Count,
}

impl Measure {
    fn units(self) -> &'static [(&'static str, u64)] {
        match self {
            Self::Size => SIZES,
            Self::Duration => DURATIONS,
            Self::Percent => &[("%", 1)],
            Self::Count => &[("", 1)],
        }
    }

    fn described(self) -> &'static str {
        match self {
            Self::Size => "a size, like `512MiB` (units `B`, `KiB`, `MiB`, `GiB`, `TiB`)",
            Self::Duration => "a duration, like `30m` (units `s`, `m`, `h`, `d`)",
            Self::Percent => "a percentage of one CPU, like `200%`",
            Self::Count => "a number without a unit",
        }
    }
}

/// Bytes of a size as text.
pub(super) fn size(text: &str) -> Result<u64, Mistake> {
    measured(text, Measure::Size)
}

/// Seconds of a duration as text.
pub(super) fn duration(text: &str) -> Result<u64, Mistake> {
    measured(text, Measure::Duration)
}

fn measured(text: &str, measure: Measure) -> Result<u64, Mistake> {
    let split = text
        .find(|next: char| !next.is_ascii_digit() && next != '_')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    amount(number, unit, measure)
}

fn amount(number: &str, unit: &str, measure: Measure) -> Result<u64, Mistake> {
    let described = measure.described();
    let shown = format!("{number}{unit}").escape_debug().to_string();
    let units = measure.units();
    let Some((_, factor)) = units.iter().find(|(known, _)| *known == unit) else {
        let lower = unit.to_lowercase();
        let known = |name: &str| units.iter().any(|(known, _)| *known == name);
        let near = OTHER_UNITS
            .iter()
            .find(|(other, real)| *other == lower && known(real))
            .map(|(_, real)| *real)
            .or_else(|| {
                nearest(
                    unit,
                    units
                        .iter()
                        .map(|(known, _)| *known)
                        .filter(|known| !known.is_empty()),
                )
            });
        let mistake = Mistake::new(
            if unit.is_empty() {
                format!("`{shown}` has no unit")
            } else {
                format!("`{}` is not a unit here", unit.escape_debug())
            },
            format!("write {described}"),
        );
        return Err(match near {
            Some(near) if !number.is_empty() => mistake.better(format!("{number}{near}")),
            _ if measure == Measure::Percent && unit.is_empty() => mistake.better(format!("{number}%")),
            _ if measure == Measure::Count => mistake.better(number.to_owned()),
            _ => mistake,
        });
    };
    let Some(count) = whole(number) else {
        return Err(Mistake::new(
            format!("`{shown}` is not a whole number"),
            format!("write {described}"),
        ));
    };
    match count.checked_mul(*factor) {
        Some(0) => Err(Mistake::new(
            format!("`{shown}` is nothing"),
            "a limit of zero lets nothing start; write a number above zero, or remove it",
        )),
        Some(total) if i64::try_from(total).is_ok() => Ok(total),
        _ => Err(Mistake::new(
            format!("`{shown}` is larger than the kernel can count"),
            "write a smaller number",
        )),
    }
}

/// A decimal number, `_` between its digits.
pub(super) fn whole(number: &str) -> Option<u64> {
    let digits: String = number.chars().filter(|next| *next != '_').collect();
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

/// A number without a unit, decimal or hexadecimal.
pub(super) fn integer(quantity: &Quantity) -> Option<u64> {
    if !quantity.unit.is_empty() {
        return None;
    }
    match quantity.number.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => whole(&quantity.number),
    }
}

impl Resolver<'_> {
    /// A number in its place.
    pub(super) fn amount(&mut self, value: &Value, measure: Measure) -> Option<u64> {
        let quantity = match value {
            Value::Quantity(quantity) => quantity,
            Value::Parameter(name) => {
                let bound = self.parameter(name)?;
                return match (&bound, measure) {
                    (Bound::Size(_, bytes), Measure::Size) => Some(*bytes),
                    (Bound::Duration(_, seconds), Measure::Duration) => Some(*seconds),
                    _ => {
                        self.report(
                            Diagnostic::error(
                                Code::ParameterPlace,
                                name.span,
                                format!("`{}` is {}, which does not fit here", name.text, bound.kind()),
                            )
                            .label("wrong type")
                            .help(format!("this place takes {}", measure.described())),
                        );
                        None
                    }
                };
            }
            Value::Text(_) => return None,
        };
        match amount(&quantity.number, &quantity.unit, measure) {
            Ok(total) => Some(total),
            Err(mistake) => {
                let mut found =
                    Diagnostic::error(Code::BadQuantity, quantity.span, mistake.message).help(mistake.help);
                found = match mistake.better {
                    Some(better) => found
                        .label(format!("did you mean `{better}`?"))
                        .suggest(quantity.span, better),
                    None => found.label("here"),
                };
                self.report(found);
                None
            }
        }
    }
}

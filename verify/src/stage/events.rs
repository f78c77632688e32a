//! The refusals of a run, from its events (docs/events.md).

use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::Ran;

/// A refusal on record.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// Its number in the run.
    pub seq: u64,
    /// Microseconds since 1970.
    pub time: u64,
    /// Its kind.
    pub kind: String,
    /// Who refused.
    pub mechanism: String,
    /// The rule.
    pub rule: Option<u64>,
    /// Rule and place, for people.
    pub shown: String,
    /// As recorded.
    pub details: Value,
}

#[derive(Deserialize)]
struct Line {
    seq: u64,
    time: String,
    kind: String,
    effect: Option<String>,
    mechanism: Option<String>,
    rule: Option<Value>,
    details: Value,
}

pub(super) fn read(path: &Path) -> std::io::Result<Ran> {
    let mut ran = Ran::default();
    for line in fs::read_to_string(path)?.lines() {
        let event: Line = serde_json::from_str(line)?;
        if event.kind == "run-started" {
            let number = |name: &str| event.details.get(name)?.as_u64()?.try_into().ok();
            ran.user = number("uid").zip(number("gid"));
        }
        if matches!(event.effect.as_deref(), Some("deny" | "forbid" | "ask")) {
            let text = |name: &str| event.rule.as_ref()?.get(name)?.as_str();
            ran.refusals.push(Recorded {
                seq: event.seq,
                time: microseconds(&event.time)
                    .ok_or_else(|| std::io::Error::other("an event has no time"))?,
                kind: event.kind,
                mechanism: event.mechanism.unwrap_or_default(),
                rule: event.rule.as_ref().and_then(|rule| rule.get("id")?.as_u64()),
                shown: format!(
                    "{} ({})",
                    text("text").unwrap_or("no rule"),
                    text("location").unwrap_or("?")
                ),
                details: event.details,
            });
        }
    }
    Ok(ran)
}

/// RFC 3339 in UTC, as events have it, as microseconds since 1970.
fn microseconds(text: &str) -> Option<u64> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<u64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let seconds = number(11, 13)? * 3600 + number(14, 16)? * 60 + number(17, 19)?;
    // Days of the civil calendar, counted from the first of March.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    let days = days.checked_sub(719_468)?;
    let micros = text
        .get(20..26)
        .map_or(Some(0), |fraction| fraction.parse::<u64>().ok())?;
    Some((days * 86_400 + seconds) * 1_000_000 + micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_events_are_read() {
        assert_eq!(microseconds("1970-01-01T00:00:00.000001000Z"), Some(1));
        assert_eq!(
            microseconds("2000-03-01T00:00:00.000000000Z"),
            Some(951_868_800_000_000)
        );
        assert_eq!(
            microseconds("2026-11-30T18:54:01.078000000Z"),
            Some(1_796_064_841_078_000)
        );
        assert_eq!(microseconds("yesterday"), None);
    }
}

//! Wall-clock time as RFC 3339 in UTC with nanoseconds, without a calendar library.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Serialize, Serializer};

const NANOS_PER_SECOND: u64 = 1_000_000_000;
const SECONDS_PER_DAY: u64 = 86_400;

/// Nanoseconds since 1970-01-01T00:00:00Z. Runs out in the year 2554.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

impl Time {
    /// The clock's time now.
    #[must_use]
    pub fn now() -> Self {
        let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX))
    }

    /// `2026-01-31T23:59:59.000000001Z`, 30 bytes.
    #[must_use]
    pub fn text(self) -> [u8; 30] {
        let seconds = self.0 / NANOS_PER_SECOND;
        let (year, month, day) = date(seconds / SECONDS_PER_DAY);
        let of_day = seconds % SECONDS_PER_DAY;
        let mut text = *b"0000-00-00T00:00:00.000000000Z";
        put(&mut text, 0..4, year);
        put(&mut text, 5..7, month);
        put(&mut text, 8..10, day);
        put(&mut text, 11..13, of_day / 3_600);
        put(&mut text, 14..16, of_day / 60 % 60);
        put(&mut text, 17..19, of_day % 60);
        put(&mut text, 20..29, self.0 % NANOS_PER_SECOND);
        text
    }
}

/// Year, month and day of a day number (Howard Hinnant, "chrono-compatible low-level date algorithms").
const fn date(days_since_epoch: u64) -> (u64, u64, u64) {
    let days = days_since_epoch + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}

fn put(text: &mut [u8; 30], place: std::ops::Range<usize>, mut value: u64) {
    if let Some(digits) = text.get_mut(place) {
        for digit in digits.iter_mut().rev() {
            *digit = b'0' + u8::try_from(value % 10).unwrap_or(0);
            value /= 10;
        }
    }
}

impl fmt::Display for Time {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(std::str::from_utf8(&self.text()).unwrap_or_default())
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(std::str::from_utf8(&self.text()).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::Time;

    #[test]
    fn times_print_as_rfc_3339_with_nanoseconds() {
        for (nanos, text) in [
            (0, "1970-01-01T00:00:00.000000000Z"),
            (951_782_399_999_999_999, "2000-02-28T23:59:59.999999999Z"),
            (951_782_400_000_000_000, "2000-02-29T00:00:00.000000000Z"),
            (1_709_251_200_000_000_001, "2024-03-01T00:00:00.000000001Z"),
            (4_107_542_400_000_000_000, "2100-03-01T00:00:00.000000000Z"),
            (1_798_761_599_123_456_789, "2026-12-31T23:59:59.123456789Z"),
        ] {
            assert_eq!(Time(nanos).to_string(), text);
        }
    }
}

//! The ring's clock in wall-clock time.

use rustix::time::{ClockId, clock_gettime};

use crate::event::Time;

/// How long one comparison of the two clocks is used, in nanoseconds. The wall clock may be set meanwhile.
const VALID_NS: u64 = 1_000_000_000;

/// Turns `CLOCK_BOOTTIME` into wall-clock time.
#[derive(Debug)]
pub(super) struct Clock {
    offset_ns: u64,
    compared_ns: u64,
}

impl Clock {
    pub(super) fn new() -> Self {
        let mut clock = Self {
            offset_ns: 0,
            compared_ns: 0,
        };
        clock.compare();
        clock
    }

    fn compare(&mut self) {
        let boot = nanoseconds(ClockId::Boottime);
        self.offset_ns = nanoseconds(ClockId::Realtime).saturating_sub(boot);
        self.compared_ns = boot;
    }

    pub(super) fn time(&mut self, boot_ns: u64) -> Time {
        if boot_ns.saturating_sub(self.compared_ns) > VALID_NS {
            self.compare();
        }
        Time(boot_ns.saturating_add(self.offset_ns))
    }
}

fn nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds
        .saturating_mul(1_000_000_000)
        .saturating_add(u64::try_from(time.tv_nsec).unwrap_or(0))
}

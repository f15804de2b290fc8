//! Dates: seconds since 1970 and the civil calendar, in UTC.

/// Days from 1 March of the year 0 to 1 January 1970.
const EPOCH_DAYS: u64 = 719_468;
/// Days of the 400 years after which the calendar repeats.
const ERA_DAYS: u64 = 146_097;
const DAY_S: u64 = 86_400;

/// A date and a time of day, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Utc {
    /// Year.
    pub year: u64,
    /// Month, from 1.
    pub month: u64,
    /// Day of the month, from 1.
    pub day: u64,
    /// Hour.
    pub hour: u64,
    /// Minute.
    pub minute: u64,
    /// Second.
    pub second: u64,
}

impl Utc {
    /// Now.
    #[must_use]
    pub fn now() -> Self {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Self::of_unix_s(since.map_or(0, |since| since.as_secs()))
    }

    /// The date so many seconds after 1970 began. Days become dates as in Howard Hinnant's
    /// `civil_from_days`: years are counted from 1 March, so that the leap day comes last.
    #[must_use]
    pub fn of_unix_s(unix_s: u64) -> Self {
        let (days, of_day_s) = (unix_s / DAY_S + EPOCH_DAYS, unix_s % DAY_S);
        let (era, day) = (days / ERA_DAYS, days % ERA_DAYS);
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let from_march = (5 * day + 2) / 153;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        Self {
            year: era * 400 + year + u64::from(month <= 2),
            month,
            day: day - (153 * from_march + 2) / 5 + 1,
            hour: of_day_s / 3_600,
            minute: of_day_s / 60 % 60,
            second: of_day_s % 60,
        }
    }

    /// `2026-03-14T15:09:26Z`, as RFC 3339 has it.
    #[must_use]
    pub fn rfc3339(&self) -> String {
        let Self { year, month, day, hour, minute, second } = self;
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }

    /// `20260314` and `150926`, for names of files.
    #[must_use]
    pub fn compact(&self) -> (String, String) {
        let Self { year, month, day, hour, minute, second } = self;
        (format!("{year:04}{month:02}{day:02}"), format!("{hour:02}{minute:02}{second:02}"))
    }
}

/// Seconds since 1970 of `2026-03-14T15:09:26Z`; none for what is no such date.
#[must_use]
pub fn unix_s_of(rfc3339: &str) -> Option<u64> {
    let number = |range: std::ops::Range<usize>| rfc3339.get(range)?.parse::<u64>().ok();
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    if year < 1970 || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leaps = year / 4 - year / 100 + year / 400;
    let days = 365 * year + leaps + (153 * month + 2) / 5 + day - 1;
    let of_day_s = number(11..13)? * 3_600 + number(14..16)? * 60 + number(17..19)?;
    Some((days - EPOCH_DAYS) * DAY_S + of_day_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right_there_and_back() {
        for (unix_s, date) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_826_554, "2000-02-29T12:15:54Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_704_067_199, "2023-12-31T23:59:59Z"),
            (1_763_164_800, "2025-11-15T00:00:00Z"),
            (1_767_225_599, "2025-12-31T23:59:59Z"),
            (4_102_444_799, "2099-12-31T23:59:59Z"),
        ] {
            assert_eq!(Utc::of_unix_s(unix_s).rfc3339(), date);
            assert_eq!(unix_s_of(date), Some(unix_s));
        }
        let (day, time) = Utc::of_unix_s(951_826_554).compact();
        assert_eq!((day.as_str(), time.as_str()), ("20000229", "121554"));
        assert_eq!((unix_s_of("nonsense"), unix_s_of("1969-12-31T00:00:00Z")), (None, None));
        // Every day of 400 years, there and back.
        for day in 0..146_097 {
            let unix_s = day * 86_400 + 3_723;
            assert_eq!(unix_s_of(&Utc::of_unix_s(unix_s).rfc3339()), Some(unix_s));
        }
    }
}

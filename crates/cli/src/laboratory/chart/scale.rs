//! From figures to places on a page.

/// Values that span more than this are spread by their logarithm.
const SPAN_LINEAR_MAX: f64 = 16.0;

/// One axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    log: bool,
    from: f64,
    to: f64,
}

impl Scale {
    /// From `low` to `high` and no further, logarithmic where that spans much.
    pub(super) fn exact(low: f64, high: f64, pixels: (f64, f64)) -> Self {
        let log = low > 0.0 && high / low > SPAN_LINEAR_MAX;
        Self::new(low, high, log, pixels)
    }

    /// From zero to a round number above `high`.
    pub(super) fn from_zero(high: f64, ticks: usize, pixels: (f64, f64)) -> Self {
        let high = if high > 0.0 { high } else { 1.0 };
        let step = nice_step(high / ticks as f64);
        Self::new(0.0, (high / step - 1e-9).ceil() * step, false, pixels)
    }

    /// From zero; where the values span much, from a round number below `low` by logarithm.
    pub(super) fn of_values(low: f64, high: f64, ticks: usize, pixels: (f64, f64)) -> Self {
        if low <= 0.0 || high / low <= SPAN_LINEAR_MAX {
            return Self::from_zero(high, ticks, pixels);
        }
        Self::new(round_down(low), round_up(high), true, pixels)
    }

    fn new(low: f64, high: f64, log: bool, (from, to): (f64, f64)) -> Self {
        Self {
            low,
            high,
            log,
            from,
            to,
        }
    }

    /// Where a value lies.
    pub(super) fn at(&self, value: f64) -> f64 {
        let share = if self.high <= self.low {
            0.5
        } else if self.log {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + (self.to - self.from) * share.clamp(0.0, 1.0)
    }

    pub(super) fn is_log(&self) -> bool {
        self.log
    }

    /// Round values from end to end, about `count` of them.
    pub(super) fn ticks(&self, count: usize) -> Vec<f64> {
        if self.log {
            return self.log_ticks(count);
        }
        let step = nice_step((self.high - self.low) / count as f64);
        let first = (self.low / step - 1e-9).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        (first..=last).map(|place| place as f64 * step).collect()
    }

    /// 1, 2 and 5 of each decade, or only 1 where that would be too many.
    fn log_ticks(&self, count: usize) -> Vec<f64> {
        let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let of = |digits: &[f64]| -> Vec<f64> {
            let all = decades.clone().flat_map(|power| {
                let decade = 10f64.powi(power);
                digits
                    .iter()
                    .map(move |digit| digit * decade)
                    .collect::<Vec<_>>()
            });
            let inside = |tick: &f64| *tick >= self.low * 0.999 && *tick <= self.high * 1.001;
            all.filter(inside).collect()
        };
        let fine = of(&[1.0, 2.0, 5.0]);
        if fine.len() <= 2 * count {
            fine
        } else {
            of(&[1.0])
        }
    }
}

/// The smallest of 1, 2, 5 times a power of ten that is not below.
fn nice_step(step: f64) -> f64 {
    if step > 0.0 { round_up(step) } else { 1.0 }
}

fn round_up(value: f64) -> f64 {
    let decade = 10f64.powf(value.log10().floor());
    let digit = [1.0, 2.0, 5.0]
        .into_iter()
        .find(|digit| digit * decade >= value * 0.999_999);
    digit.unwrap_or(10.0) * decade
}

fn round_down(value: f64) -> f64 {
    let decade = 10f64.powf(value.log10().floor());
    let digit = [5.0, 2.0]
        .into_iter()
        .find(|digit| digit * decade <= value * 1.000_001);
    digit.unwrap_or(1.0) * decade
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_from_zero_ends_on_a_round_number() {
        let scale = Scale::from_zero(8.9, 5, (0.0, 100.0));
        assert_eq!(
            (scale.at(0.0), scale.at(5.0), scale.at(10.0)),
            (0.0, 50.0, 100.0)
        );
        assert_eq!(scale.ticks(5), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        let turned = Scale::from_zero(286.0, 5, (200.0, 0.0));
        assert_eq!(
            (turned.at(0.0), turned.at(150.0), turned.at(300.0)),
            (200.0, 100.0, 0.0)
        );
        assert_eq!(Scale::from_zero(0.0, 5, (0.0, 1.0)).at(0.0), 0.0);
    }

    #[test]
    fn what_spans_much_is_spread_by_its_logarithm() {
        let scale = Scale::exact(256.0, 65_536.0, (0.0, 80.0));
        assert!(scale.is_log());
        assert!((scale.at(4096.0) - 40.0).abs() < 1e-9);
        assert!(!Scale::exact(1920.0, 4096.0, (0.0, 1.0)).is_log());
        assert!(!Scale::exact(0.0, 4096.0, (0.0, 1.0)).is_log());
        let rounded = Scale::of_values(3.0, 120.0, 5, (0.0, 100.0));
        assert_eq!(rounded.ticks(8), [2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0]);
        let decades = Scale::of_values(1.0, 1e6, 5, (0.0, 60.0));
        assert_eq!(decades.ticks(5).len(), 7);
        assert!((decades.at(1000.0) - 30.0).abs() < 1e-9);
    }

    #[test]
    fn nothing_lies_outside() {
        let scale = Scale::exact(5.0, 5.0, (0.0, 10.0));
        assert_eq!(scale.at(5.0), 5.0);
        let scale = Scale::of_values(1.0, 100.0, 5, (0.0, 10.0));
        assert_eq!((scale.at(-1.0), scale.at(1e9)), (0.0, 10.0));
    }
}

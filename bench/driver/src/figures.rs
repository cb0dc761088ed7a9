//! Medians, ranges and how figures are written.

/// Values of one measure over the rounds.
#[derive(Debug, Default, Clone)]
pub(crate) struct Series(Vec<f64>);

impl Series {
    pub(crate) fn push(&mut self, value: f64) {
        self.0.push(value);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
    }

    pub(crate) fn max(&self) -> f64 {
        self.0.iter().copied().fold(0.0, f64::max)
    }

    fn min(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// `33-170`, so that the noise is in sight.
    pub(crate) fn range(&self) -> String {
        if self.is_empty() {
            "-".to_owned()
        } else {
            format!("{}-{}", short(self.min()), short(self.max()))
        }
    }
}

/// Three significant digits are more than the noise allows.
pub(crate) fn short(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

/// A ratio such as `4.2x`, or a dash without a base.
pub(crate) fn ratio(value: f64, base: Option<f64>) -> String {
    match base {
        Some(base) if base > 0.0 => format!("{}x", short(value / base)),
        _ => "-".to_owned(),
    }
}

pub(crate) fn megabytes(kilobytes: f64) -> String {
    format!("{:.1}", kilobytes / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_ranges_are_those_of_the_values() {
        let mut series = Series::default();
        [170.0, 33.0, 48.0]
            .into_iter()
            .for_each(|value| series.push(value));
        assert_eq!(series.median(), 48.0);
        assert_eq!(series.range(), "33.0-170");
        assert_eq!(Series::default().range(), "-");
    }
}

//! Money: what a run has cost, out of what its engine says.

/// The cost of one run.
///
/// Engines give one number, and it counts on: over the turns of a process, and over the runs of
/// a session that is resumed. It begins anew when the conversation is cleared.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spending {
    /// Engine's total when the run, or the conversation, began.
    before: f64,
    /// The engine's number now.
    said: f64,
    /// Cost of conversations that this run has left behind.
    past: f64,
}

/// Sums of doubles differ in their last digits.
const ROUNDING: f64 = 1e-9;

impl Spending {
    /// Of a session that had cost this much before the run.
    pub fn resumed(before: f64) -> Self {
        Self {
            before,
            said: before,
            past: 0.0,
        }
    }

    /// Takes what the engine says now.
    pub fn engine_says(&mut self, total: f64) {
        if !total.is_finite() {
            return;
        }
        if total < self.said - ROUNDING {
            self.past += (self.said - self.before).max(0.0);
            self.before = 0.0;
        }
        self.said = total;
    }

    /// Returns the cost of the run so far, in US dollars.
    pub fn usd(&self) -> f64 {
        (self.past + self.said - self.before).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_pays_for_itself_only() {
        let cases: &[(&str, f64, &[f64], f64)] = &[
            ("nothing yet", 0.0, &[], 0.0),
            ("turns add up in the engine", 0.0, &[0.25, 0.75], 0.75),
            ("resumed, nothing yet", 2.0, &[], 0.0),
            ("resumed", 2.0, &[2.25, 2.5], 0.5),
            (
                "resumed, but the engine counts anew",
                2.0,
                &[0.25, 0.5],
                0.5,
            ),
            ("cleared", 0.0, &[0.5, 0.0, 0.25], 0.75),
            ("resumed and cleared", 2.0, &[2.5, 0.0, 0.25], 0.75),
            ("twice the same", 0.0, &[0.5, 0.5], 0.5),
            ("nonsense", 0.0, &[0.5, f64::NAN, f64::INFINITY], 0.5),
            ("a last digit", 0.0, &[0.1 + 0.2, 0.3], 0.3),
        ];
        for (name, before, said, expected) in cases {
            let mut spending = Spending::resumed(*before);
            for total in *said {
                spending.engine_says(*total);
            }
            assert!((spending.usd() - expected).abs() < 1e-6, "{name}");
        }
    }
}

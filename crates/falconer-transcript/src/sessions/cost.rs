//! What a session has cost, as its engine keeps it in the transcript.

use serde::Deserialize;

use super::ends::Ends;
use super::scan;

#[derive(Deserialize)]
struct CostState {
    #[serde(rename = "type")]
    kind: String,
    #[serde(rename = "totalCostUSD")]
    total: f64,
}

/// The last total at the end of a transcript; it is written after every turn.
pub(crate) fn cost(ends: &Ends) -> Option<f64> {
    let written = scan::lines(ends.tail()).filter(|line| scan::contains(line, "\"cost-state\""));
    let totals = written.filter_map(|line| {
        let state: CostState = scan::decode(line)?;
        (state.kind == "cost-state" && state.total.is_finite()).then_some(state.total.max(0.0))
    });
    totals.last()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;

    #[test]
    fn the_last_whole_total_counts() {
        let state = |total: &str| format!(r#"{{"type":"cost-state","totalCostUSD":{total}}}"#);
        let cases: &[(&[String], Option<f64>)] = &[
            (&[], None),
            (&[r#"{"type":"user"}"#.to_owned()], None),
            (&[state("0.5"), state("1.5")], Some(1.5)),
            (
                &[state("0.5"), r#"{"type":"cost-state","tot"#.to_owned()],
                Some(0.5),
            ),
            (&[state("0.5"), state("null")], Some(0.5)),
            (&[state("-3")], Some(0.0)),
            (
                &[r#"{"type":"user","text":"\"cost-state\"","totalCostUSD":9}"#.to_owned()],
                None,
            ),
        ];
        for (lines, expected) in cases {
            let ends = Ends::of_lines(lines.iter().map(String::as_str), Timestamp::UNIX_EPOCH);
            assert_eq!(cost(&ends), *expected, "{lines:?}");
        }
    }
}

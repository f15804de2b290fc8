//! How long each state lasts: a box with median and quartiles, whiskers from 5 % to 95 %.

use crate::charts::{Chart, WIDTH};
use crate::numbers::StateTimes;
use crate::svg::{Anchor, Scale, Svg, short};

const ROW: f64 = 32.0;
const TOP: f64 = 22.0;
const RIGHT: f64 = WIDTH - 112.0;
/// States of a chart; autopilots have ten.
const MOST_ROWS: usize = 24;

pub(crate) fn chart(states: &[StateTimes]) -> Option<Chart> {
    let states = states.get(..MOST_ROWS).unwrap_or(states);
    let longest_s = states.iter().map(|s| s.seconds.p95).fold(0.0, f64::max);
    if states.is_empty() {
        return None;
    }
    let letters = states.iter().map(|s| s.state.chars().count().min(24)).max().unwrap_or(0);
    let left = (letters as f64 * 9.0 + 16.0).clamp(80.0, 216.0);
    let bottom = TOP + ROW * states.len() as f64;
    let mut svg = Svg::new(WIDTH, bottom + 46.0);
    let scale = Scale { values: [0.0, longest_s.max(0.1)], pixels: [left, RIGHT] };
    svg.axis_below(&scale, [TOP, bottom], "seconds");
    svg.text("tick", [RIGHT + 60.0, TOP - 8.0], Anchor::End, "median");
    svg.text("tick", [WIDTH - 4.0, TOP - 8.0], Anchor::End, "times");
    for (row, StateTimes { state, seconds }) in states.iter().enumerate() {
        let y = TOP + ROW * (row as f64 + 0.5);
        svg.text("label", [left - 10.0, y + 4.5], Anchor::End, &short(state, 24));
        let [p5, q1, median, q3, p95] =
            [seconds.p5, seconds.q1, seconds.median, seconds.q3, seconds.p95].map(|s| scale.at(s));
        svg.line("whisker", [p5, y], [p95, y]);
        for end in [p5, p95] {
            svg.line("whisker", [end, y - 4.0], [end, y + 4.0]);
        }
        let hint = format!("{state}: quartiles {:.2} s and {:.2} s", seconds.q1, seconds.q3);
        // A box of equal times is still to be seen.
        svg.rect("box", [q1, y - 8.0], [(q3 - q1).max(1.5), 16.0], &hint);
        svg.line("median", [median, y - 8.0], [median, y + 8.0]);
        let shown = format!("{:.2} s", seconds.median);
        svg.text("value", [RIGHT + 60.0, y + 4.5], Anchor::End, &shown);
        svg.text("tick", [WIDTH - 4.0, y + 4.5], Anchor::End, &seconds.count.to_string());
    }
    let caption = "Box: the middle half of all times, with the median; whiskers: from 5 % to 95 %."
        .to_owned();
    Some(Chart { name: "durations", title: "How long each state lasts", caption, drawing: svg })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Spread;

    #[test]
    fn every_state_has_a_box_and_its_median() {
        let state = |state: &str, times: &[f64]| StateTimes {
            state: state.into(),
            seconds: Spread::of(times.iter().copied()).unwrap(),
        };
        assert!(chart(&[]).is_none());
        let text =
            chart(&[state("LIFT", &[1.0, 2.0, 3.0]), state("A<B", &[0.0])]).unwrap().inline();
        assert_eq!(text.matches(r#"class="box""#).count(), 2);
        assert!(text.contains("2.00 s") && text.contains("A&lt;B") && !text.contains("NaN"));
    }
}

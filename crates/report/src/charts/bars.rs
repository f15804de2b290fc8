//! Horizontal bars: how episodes ended, and what failed in which state.

use crate::charts::{Chart, WIDTH};
use crate::numbers::{FailureCount, OutcomeCount};
use crate::svg::{Anchor, Scale, Svg, nice_step, short};

/// Bars of a chart; what is rarer is added up in the last one.
const MOST_BARS: usize = 12;
const ROW: f64 = 30.0;
const TOP: f64 = 8.0;

/// A bar made of parts, each with its class.
struct Bar {
    label: String,
    parts: Vec<(&'static str, usize)>,
}

impl Bar {
    fn total(&self) -> usize {
        self.parts.iter().map(|(_, count)| count).sum()
    }
}

/// How episodes ended.
pub(crate) fn outcomes(outcomes: &[OutcomeCount]) -> Option<Chart> {
    let bar = |outcome: &OutcomeCount| {
        let class = match outcome.success {
            Some(true) => "good",
            Some(false) => "bad",
            None => "plain",
        };
        let reason = if outcome.reason.is_empty() { "not said" } else { &outcome.reason };
        Bar { label: reason.to_owned(), parts: vec![(class, outcome.count)] }
    };
    let said = |success| outcomes.iter().any(|outcome| outcome.success == success);
    let words = [
        (Some(true), "blue: the task was done"),
        (Some(false), "orange: it was not"),
        (None, "grey: nobody judged"),
    ];
    let words = words.into_iter().filter(|(success, _)| said(*success));
    let words: Vec<_> = words.map(|(_, word)| word).collect();
    let drawing = draw(outcomes.iter().map(bar).collect(), "episodes")?;
    let caption = format!("The reason noted at the end of each episode ({}).", words.join("; "));
    Some(Chart { name: "outcomes", title: "How episodes ended", caption, drawing })
}

/// What failed, by reason and state.
pub(crate) fn failures(failures: &[FailureCount]) -> Option<Chart> {
    let bar = |failure: &FailureCount| {
        let reason = if failure.reason.is_empty() { "not said" } else { &failure.reason };
        let label = match failure.state.is_empty() {
            true => reason.to_owned(),
            false => format!("{reason} · {}", failure.state),
        };
        Bar { label, parts: vec![("bad", failure.lost), ("mended", failure.recovered)] }
    };
    let drawing = draw(failures.iter().map(bar).collect(), "failed attempts")?;
    let caption = "Attempts that failed, by reason and state. Solid: the thing was not placed in \
                   the end; pale: a later attempt placed it."
        .to_owned();
    Some(Chart { name: "failures", title: "What failed, and in which state", caption, drawing })
}

fn draw(mut bars: Vec<Bar>, unit: &str) -> Option<Svg> {
    let most = bars.iter().map(Bar::total).max().filter(|most| *most > 0)?;
    if bars.len() > MOST_BARS {
        let rest = bars.split_off(MOST_BARS - 1);
        let total = rest.iter().map(Bar::total).sum();
        let label = format!("{} others", rest.len());
        bars.push(Bar { label, parts: vec![("plain", total)] });
    }
    let most = most.max(bars.last().map_or(0, Bar::total));
    let longest = bars.iter().map(|bar| bar.label.chars().count().min(34)).max().unwrap_or(0);
    let left = (longest as f64 * 7.6 + 16.0).clamp(70.0, 274.0);
    let bottom = TOP + ROW * bars.len() as f64;
    let mut svg = Svg::new(WIDTH, bottom + 46.0);
    let scale = Scale { values: [0.0, most as f64], pixels: [left, WIDTH - 48.0] };
    // Half an episode is none: steps are whole.
    let step = nice_step(most as f64 / 5.0).max(1.0);
    let mut tick = 0.0;
    while tick <= most as f64 {
        let x = scale.at(tick);
        svg.line("grid", [x, TOP], [x, bottom]);
        svg.text("tick", [x, bottom + 17.0], Anchor::Middle, &format!("{tick:.0}"));
        tick += step;
    }
    svg.text("unit", [(left + WIDTH - 48.0) / 2.0, bottom + 37.0], Anchor::Middle, unit);
    for (row, bar) in bars.iter().enumerate() {
        let y = TOP + ROW * row as f64;
        svg.text("label", [left - 10.0, y + 19.5], Anchor::End, &short(&bar.label, 34));
        let mut done = 0;
        for (class, count) in bar.parts.iter().filter(|(_, count)| *count > 0) {
            let (from, to) = (scale.at(done as f64), scale.at((done + count) as f64));
            let hint = format!("{}: {count}", bar.label);
            svg.rect(class, [from, y + 5.0], [to - from, ROW - 10.0], &hint);
            done += count;
        }
        let end = [scale.at(done as f64) + 7.0, y + 19.5];
        svg.text("value", end, Anchor::Start, &done.to_string());
    }
    Some(svg)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(reason: &str, lost: usize, recovered: usize) -> FailureCount {
        FailureCount { reason: reason.into(), state: "LIFT".into(), recovered, lost }
    }

    #[test]
    fn nothing_to_draw_is_no_chart() {
        assert!(outcomes(&[]).is_none());
        assert!(failures(&[]).is_none());
    }

    #[test]
    fn rare_reasons_are_added_up_and_names_are_harmless() {
        let mut many: Vec<_> = (0..20).map(|i| failure(&format!("r{i}"), 30 - i, 1)).collect();
        many[0].reason = "<script>".into();
        let text = failures(&many).unwrap().inline();
        assert!(text.contains("9 others") && !text.contains("<script>"), "{text}");
        assert!(text.contains("&lt;script&gt; · LIFT"));
        assert_eq!(text.matches(r#"class="bad""#).count(), 11);
        assert_eq!(text.matches(r#"class="mended""#).count(), 11);
    }
}

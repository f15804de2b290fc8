//! Success over the episodes: mean of all so far, with its interval, and where failures lie.

use crate::charts::{Chart, WIDTH};
use crate::stats::Rate;
use crate::survey::EpisodeFacts;
use crate::svg::{Anchor, Scale, Svg};

const LEFT: f64 = 62.0;
const RIGHT: f64 = WIDTH - 20.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 232.0;
/// Points of the line: more would not be seen.
const MOST_POINTS: usize = 500;

pub(crate) fn chart(episodes: &[EpisodeFacts]) -> Option<Chart> {
    let judged: Vec<_> =
        episodes.iter().filter_map(|facts| Some((facts.episode, facts.success?))).collect();
    let [(first, _), .., (last, _)] = judged[..] else { return None };
    let across =
        Scale { values: [first as f64, last.max(first + 1) as f64], pixels: [LEFT, RIGHT] };
    let up = Scale { values: [0.0, 100.0], pixels: [BOTTOM, TOP] };
    let mut svg = Svg::new(WIDTH, BOTTOM + 60.0);
    svg.axis_left(&up, [LEFT, RIGHT], "success so far (%)");

    let every = judged.len().div_ceil(MOST_POINTS);
    let (mut mean, mut low, mut high) = (Vec::new(), Vec::new(), Vec::new());
    let mut good = 0;
    for (index, (episode, success)) in judged.iter().enumerate() {
        good += usize::from(*success);
        let is_shown = (index + 1) % every == 0 || index + 1 == judged.len() || index == 0;
        let Some(rate) = Rate::new(good, index + 1).filter(|_| is_shown) else { continue };
        let at = |fraction: f64| [across.at(*episode as f64), up.at(100.0 * fraction)];
        mean.push(at(rate.fraction));
        low.push(at(rate.interval_95[0]));
        high.push(at(rate.interval_95[1]));
    }
    let band: Vec<_> = low.into_iter().chain(high.into_iter().rev()).collect();
    svg.path("band", &band, true);
    svg.path("curve", &mean, false);
    for (episode, _) in judged.iter().filter(|(_, success)| !success) {
        let x = across.at(*episode as f64);
        svg.line("failed", [x, BOTTOM + 2.0], [x, BOTTOM + 11.0]);
    }
    // Episodes are whole: steps are, too.
    let step = crate::svg::nice_step((last - first) as f64 / 6.0).max(1.0);
    let mut tick = (first as f64 / step).ceil() * step;
    while tick <= last as f64 {
        let at = [across.at(tick), BOTTOM + 28.0];
        svg.text("tick", at, Anchor::Middle, &format!("{tick:.0}"));
        tick += step;
    }
    svg.text("unit", [(LEFT + RIGHT) / 2.0, BOTTOM + 50.0], Anchor::Middle, "episode");
    let caption = "Mean of all episodes so far with its 95 % interval; a mark below the axis is a \
                   failed episode."
        .to_owned();
    Some(Chart { name: "success", title: "Success over the episodes", caption, drawing: svg })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(episode: usize, success: Option<bool>) -> EpisodeFacts {
        EpisodeFacts { episode, frames: 30, seconds: 1.0, success, ..EpisodeFacts::default() }
    }

    #[test]
    fn one_episode_and_none_have_no_course() {
        assert!(chart(&[]).is_none());
        assert!(chart(&[facts(0, None)]).is_none());
        assert!(chart(&[facts(0, Some(true))]).is_none(), "one episode has no course");
        let text = chart(&[facts(0, Some(true)), facts(1, Some(true))]).unwrap().inline();
        assert!(text.contains("curve") && !text.contains("NaN"), "{text}");
    }

    #[test]
    fn thousands_of_episodes_stay_a_small_drawing() {
        let many: Vec<_> = (0..5000).map(|i| facts(i, Some(i % 50 != 0))).collect();
        let text = chart(&many).unwrap().inline();
        assert_eq!(text.matches(r#"class="failed""#).count(), 100);
        assert!(text.len() < 60_000, "{}", text.len());
    }
}

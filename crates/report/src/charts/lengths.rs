//! How long episodes are.

use crate::charts::{Chart, WIDTH};
use crate::survey::EpisodeFacts;
use crate::svg::{Anchor, Scale, Svg, nice_step, number};

const LEFT: f64 = 62.0;
const RIGHT: f64 = WIDTH - 20.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 212.0;

pub(crate) fn chart(episodes: &[EpisodeFacts]) -> Option<Chart> {
    if episodes.len() < 2 {
        return None;
    }
    let lengths = || episodes.iter().map(|facts| facts.seconds);
    let shortest = lengths().reduce(f64::min)?;
    let longest = lengths().reduce(f64::max)?;
    // Few episodes need few bars; equal ones get one bar that is a tenth of them wide.
    let bars = (2.0 * (episodes.len() as f64).sqrt()).clamp(5.0, 30.0);
    let step = nice_step((longest - shortest).max(longest / 10.0).max(0.01) / bars);
    let first = (shortest / step).floor();
    let count = ((longest / step).floor() - first) as usize + 1;
    let mut bins = vec![[0_usize; 3]; count];
    for facts in episodes {
        let at = ((facts.seconds / step).floor() - first) as usize;
        let kind = match facts.success {
            Some(true) => 0,
            Some(false) => 1,
            None => 2,
        };
        if let Some(bin) = bins.get_mut(at) {
            bin[kind] += 1;
        }
    }
    let most = bins.iter().map(|bin| bin.iter().sum::<usize>()).max()?;
    // Room beside the bars, so that a single one does not fill the chart.
    let values = [(first - 1.0) * step, (first + count as f64 + 1.0) * step];
    let across = Scale { values: [values[0].max(0.0), values[1]], pixels: [LEFT, RIGHT] };
    let up = Scale { values: [0.0, most as f64], pixels: [BOTTOM, TOP] };
    let mut svg = Svg::new(WIDTH, BOTTOM + 46.0);
    let rows = nice_step(most as f64 / 5.0).max(1.0);
    let mut tick = 0.0;
    while tick <= most as f64 {
        svg.line("grid", [LEFT, up.at(tick)], [RIGHT, up.at(tick)]);
        svg.text("tick", [LEFT - 8.0, up.at(tick) + 4.0], Anchor::End, &format!("{tick:.0}"));
        tick += rows;
    }
    svg.upright([14.0, (TOP + BOTTOM) / 2.0], "episodes");
    let ticks = across.ticks(7);
    let gap = ticks.get(1).zip(ticks.first()).map_or(1.0, |(b, a)| b - a);
    for tick in ticks {
        svg.text("tick", [across.at(tick), BOTTOM + 17.0], Anchor::Middle, &number(tick, gap));
    }
    svg.text("unit", [(LEFT + RIGHT) / 2.0, BOTTOM + 37.0], Anchor::Middle, "length (s)");
    for (index, bin) in bins.iter().enumerate() {
        let from_s = (first + index as f64) * step;
        let (left, right) = (across.at(from_s), across.at(from_s + step));
        let mut done = 0;
        for (class, count) in ["good", "bad", "plain"].into_iter().zip(bin) {
            if *count > 0 {
                let (low, high) = (up.at(done as f64), up.at((done + count) as f64));
                let hint = format!("{} to {} s: {count}", number(from_s, step), {
                    number(from_s + step, step)
                });
                svg.rect(class, [left + 0.5, high], [right - left - 1.0, low - high], &hint);
                done += count;
            }
        }
    }
    let caption = "Blue: the task was done; orange: it was not; grey: nobody judged.".to_owned();
    Some(Chart { name: "lengths", title: "How long episodes are", caption, drawing: svg })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(seconds: f64) -> EpisodeFacts {
        EpisodeFacts {
            episode: 0,
            frames: 30,
            seconds,
            success: Some(true),
            ..EpisodeFacts::default()
        }
    }

    #[test]
    fn equal_single_and_far_lengths_are_drawn() {
        assert!(chart(&[]).is_none());
        assert!(chart(&[facts(1.0)]).is_none(), "a length of one is a number");
        for lengths in [vec![0.0; 2], vec![1.0; 2], vec![16.2; 40], vec![1.0, 36_000.0]] {
            let all: Vec<_> = lengths.iter().map(|s| facts(*s)).collect();
            let text = chart(&all).unwrap().inline();
            assert!(text.contains(r#"class="good""#) && !text.contains("NaN"), "{lengths:?}");
            assert!(text.len() < 20_000, "{lengths:?}: {} bytes", text.len());
        }
    }
}

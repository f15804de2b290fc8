//! Where things lay before and after, seen from above.

use crate::charts::{Chart, WIDTH};
use crate::stats::Rate;
use crate::survey::EpisodeFacts;
use crate::svg::{Anchor, Scale, Svg, nice_step};
use crate::workspace::SceneFromAbove;

const LEFT: f64 = 62.0;
const TOP: f64 = 12.0;
const SIDE: f64 = 392.0;
/// With fewer things each is drawn as a point; cells of a few things would mean nothing.
const FEWEST_FOR_CELLS: usize = 60;
/// Smallest side of a cell, for things that all start in one place.
const SMALLEST_CELL_M: f64 = 0.005;
/// Crosses on cells: more would hide the colours, which tell the same.
const MOST_CROSSES: usize = 40;
/// Points at the goal: more would hide each other.
const MOST_POINTS: usize = 1500;
/// Lower bounds of the colours of a fraction, worst first, and their words.
const LEVELS: [(f64, &str, &str); 5] = [
    (0.0, "s0", "below 50 %"),
    (0.5, "s1", "50 % +"),
    (0.75, "s2", "75 % +"),
    (0.9, "s3", "90 % +"),
    (1.0, "s4", "all"),
];

/// Both axes have one scale, so that circles are round.
struct Ground {
    x: Scale,
    y: Scale,
}

impl Ground {
    /// A square picture of everything between two corners.
    fn around([low, high]: [[f64; 2]; 2]) -> Self {
        let half = (high[0] - low[0]).max(high[1] - low[1]).max(0.02) * 0.54;
        let middle = [(low[0] + high[0]) / 2.0, (low[1] + high[1]) / 2.0];
        let axis =
            |at: usize, pixels| Scale { values: [middle[at] - half, middle[at] + half], pixels };
        Self { x: axis(0, [LEFT, LEFT + SIDE]), y: axis(1, [TOP + SIDE, TOP]) }
    }

    fn at(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [self.x.at(x), self.y.at(y)]
    }

    fn pixels(&self, length: f64) -> f64 {
        self.x.at(length) - self.x.at(0.0)
    }

    fn holds(&self, [x, y]: [f64; 2]) -> bool {
        let inside = |scale: &Scale, v: f64| v >= scale.values[0] && v <= scale.values[1];
        inside(&self.x, x) && inside(&self.y, y)
    }

    fn draw_axes(&self, svg: &mut Svg, units: [&str; 2]) {
        svg.axis_below(&self.x, [TOP, TOP + SIDE], units[0]);
        svg.axis_left(&self.y, [LEFT, LEFT + SIDE], units[1]);
    }
}

/// Corners of a box around points.
fn corners(points: impl IntoIterator<Item = [f64; 2]>) -> Option<[[f64; 2]; 2]> {
    let grow = |[low, high]: [[f64; 2]; 2], [x, y]: [f64; 2]| {
        [[low[0].min(x), low[1].min(y)], [high[0].max(x), high[1].max(y)]]
    };
    points
        .into_iter()
        .filter(|p| p.iter().all(|v| v.is_finite()))
        .map(|p| [p, p])
        .reduce(|all, [point, _]| grow(all, point))
}

fn drawing() -> Svg {
    Svg::new(WIDTH, TOP + SIDE + 46.0)
}

/// Where things lay at the start, and how often they were placed from there.
pub(crate) fn starts(
    episodes: &[EpisodeFacts],
    workspace: Option<&SceneFromAbove>,
) -> Option<Chart> {
    let mut things = Vec::new();
    for facts in episodes {
        let told = facts.things.iter().filter_map(|thing| Some((thing, thing.start_m?)));
        things.extend(told.map(|(thing, [x, y, _])| ([x, y], thing.placed, facts.episode)));
    }
    let marks = workspace.into_iter().flat_map(|space| {
        let disc = space.goal.into_iter().flat_map(|goal| {
            let ([x, y], r) = (goal.center_m, goal.radius_m);
            [[x - r, y - r], [x + r, y + r]]
        });
        space.robots_m.iter().copied().chain(space.starts_m.iter().flatten().copied()).chain(disc)
    });
    corners(things.iter().map(|(at, ..)| *at))?;
    let ground = Ground::around(corners(things.iter().map(|(at, ..)| *at).chain(marks))?);
    let mut svg = drawing();
    ground.draw_axes(&mut svg, ["x (m)", "y (m)"]);
    let in_cells = things.len() >= FEWEST_FOR_CELLS;
    if in_cells {
        draw_cells(&mut svg, &ground, &things);
    }
    if let Some(space) = workspace {
        draw_marks(&mut svg, &ground, space);
    }
    let lost = things.iter().filter(|(_, placed, _)| !placed).count();
    let crosses = !in_cells || lost <= MOST_CROSSES;
    for (at, placed, episode) in &things {
        let hint = format!("episode {episode}");
        match placed {
            true if !in_cells => svg.circle("dot", ground.at(*at), 4.0, &hint),
            false if crosses => svg.cross(ground.at(*at), &hint),
            _ => {}
        }
    }
    let caption = match (in_cells, crosses) {
        (true, true) => {
            "Fraction of things placed, by where they lay at the start; a cross is a thing that was \
             not placed."
        }
        (true, false) => "Fraction of things placed, by where they lay at the start.",
        _ => "Where things lay at the start: a dot was placed, a cross was not.",
    };
    let range = workspace.is_some_and(|space| !space.starts_m.is_empty());
    let range = if range { " Dashed: where things may start." } else { "" };
    let caption = format!("{caption}{range}");
    let (name, title) = ("starts", "Start positions and success");
    Some(Chart { name, title, caption, drawing: svg })
}

/// Cells of the ground, coloured by how often things from there were placed.
fn draw_cells(svg: &mut Svg, ground: &Ground, things: &[([f64; 2], bool, usize)]) {
    let Some([low, high]) = corners(things.iter().map(|(at, ..)| *at)) else { return };
    let span = (high[0] - low[0]).max(high[1] - low[1]);
    // About nine things in a cell, so that its fraction means something.
    let across = (things.len() as f64 / 9.0).sqrt().clamp(3.0, 16.0);
    let side = nice_step((span / across / 1.6).max(SMALLEST_CELL_M));
    let cell = |at: [f64; 2]| at.map(|v| (v / side).floor() as i64);
    let mut counts = std::collections::BTreeMap::<[i64; 2], [usize; 2]>::new();
    for (at, placed, _) in things {
        let [good, of] = counts.entry(cell(*at)).or_default();
        *good += usize::from(*placed);
        *of += 1;
    }
    let size = ground.pixels(side);
    for (at, [good, of]) in counts {
        let Some(rate) = Rate::new(good, of) else { continue };
        let corner = [at[0] as f64 * side, (at[1] + 1) as f64 * side];
        let hint = format!("{good} of {of} placed");
        let class = level(rate.fraction);
        svg.rect(class, ground.at(corner).map(|v| v + 0.5), [size - 1.0, size - 1.0], &hint);
    }
    for (row, (_, class, words)) in LEVELS.iter().rev().enumerate() {
        let y = TOP + 4.0 + 22.0 * row as f64;
        svg.rect(class, [LEFT + SIDE + 12.0, y], [12.0, 12.0], "");
        svg.text("tick", [LEFT + SIDE + 30.0, y + 10.5], Anchor::Start, words);
    }
}

fn level(fraction: f64) -> &'static str {
    LEVELS.iter().rev().find(|(from, ..)| fraction >= *from).map_or("s0", |(_, class, _)| class)
}

fn draw_marks(svg: &mut Svg, ground: &Ground, space: &SceneFromAbove) {
    for [low, high] in &space.starts_m {
        let (from, to) = (ground.at([low[0], high[1]]), ground.at([high[0], low[1]]));
        svg.rect("range", from, [to[0] - from[0], to[1] - from[1]], "");
    }
    if let Some(goal) = space.goal {
        let at = ground.at(goal.center_m);
        svg.circle("goal", at, ground.pixels(goal.radius_m), "");
        svg.text("mark", [at[0], at[1] + 4.0], Anchor::Middle, space.goal_name());
    }
    for robot in &space.robots_m {
        let at = ground.at(*robot);
        svg.rect("robot", [at[0] - 6.0, at[1] - 6.0], [12.0, 12.0], "");
        svg.text("mark", [at[0] + 11.0, at[1] + 4.0], Anchor::Start, "robot");
    }
}

/// Where things lie in the end, measured from the goal's middle.
pub(crate) fn ends(episodes: &[EpisodeFacts], workspace: Option<&SceneFromAbove>) -> Option<Chart> {
    let mut things = Vec::new();
    for facts in episodes {
        let Some([goal_x, goal_y]) = facts.goal_m else { continue };
        let told = facts.things.iter().filter_map(|thing| Some((thing, thing.end_m?)));
        things.extend(told.map(|(thing, [x, y, _])| {
            ([1e3 * (x - goal_x), 1e3 * (y - goal_y)], thing.placed, facts.episode)
        }));
    }
    let (radius_m, name) = (workspace?.goal_radius_m, workspace?.goal_name());
    let view_mm = 1e3 * radius_m.map_or(0.1, |radius| 1.35 * radius);
    let ground = Ground::around([[-view_mm; 2], [view_mm; 2]]);
    let (inside, outside): (Vec<_>, Vec<_>) =
        things.into_iter().partition(|(at, ..)| ground.holds(*at));
    if inside.is_empty() {
        return None;
    }
    let mut svg = drawing();
    ground.draw_axes(&mut svg, ["x from the middle (mm)", "y from the middle (mm)"]);
    if let Some(radius_m) = radius_m {
        let middle = ground.at([0.0, 0.0]);
        svg.circle("goal", middle, ground.pixels(1e3 * radius_m), "");
        let top = [middle[0], middle[1] - ground.pixels(1e3 * radius_m) - 8.0];
        svg.text("mark", top, Anchor::Middle, name);
    }
    let every = inside.len().div_ceil(MOST_POINTS);
    for (at, placed, episode) in inside.iter().step_by(every) {
        let hint = format!("episode {episode}");
        match placed {
            true => svg.circle("dot", ground.at(*at), 3.5, &hint),
            false => svg.cross(ground.at(*at), &hint),
        }
    }
    let away = match outside.len() {
        0 => String::new(),
        1 => " One more lies outside the picture.".to_owned(),
        many => format!(" {many} more lie outside the picture."),
    };
    let thinned = if every > 1 { format!(" One of {every} is shown.") } else { String::new() };
    let caption = format!(
        "Where things lie in the end, measured from where the {name} stood at the start: a dot \
         was placed, a cross was not.{thinned}{away}"
    );
    Some(Chart { name: "ends", title: "End positions", caption, drawing: svg })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::story::Thing;
    use crate::workspace::Disc;

    fn facts(count: usize) -> Vec<EpisodeFacts> {
        let one = |i: usize| EpisodeFacts {
            episode: i,
            goal_m: Some([0.2, -0.1]),
            things: vec![Thing {
                name: "a".into(),
                placed: !i.is_multiple_of(10),
                start_m: Some([0.1 + 0.01 * (i % 9) as f64, 0.01 * (i % 13) as f64, 0.0]),
                end_m: Some([if !i.is_multiple_of(10) { 0.21 } else { 5.0 }, -0.1, 0.0]),
                ..Thing::default()
            }],
            ..EpisodeFacts::default()
        };
        (0..count).map(one).collect()
    }

    fn space() -> SceneFromAbove {
        SceneFromAbove {
            robots_m: vec![[0.0, 0.0]],
            starts_m: vec![[[0.1, 0.0], [0.2, 0.1]]],
            goal_object: Some("<plate>".into()),
            goal_radius_m: Some(0.088),
            goal: Some(Disc { center_m: [0.2, -0.1], radius_m: 0.088 }),
        }
    }

    #[test]
    fn few_things_are_points_and_many_are_cells() {
        let few = starts(&facts(20), Some(&space())).unwrap().inline();
        assert_eq!(few.matches(r#"class="dot""#).count(), 18);
        assert_eq!(few.matches(r#"class="cross""#).count(), 2);
        assert!(few.contains(r#"class="goal""#) && few.contains("&lt;plate&gt;"));
        let many = starts(&facts(400), None).unwrap().inline();
        assert_eq!(many.matches(r#"class="dot""#).count(), 0);
        assert!(many.matches("of ").count() > 10, "cells say how many were placed");
        assert_eq!(many.matches(r#"class="cross""#).count(), 40);
        let more = starts(&facts(500), None).unwrap().inline();
        assert_eq!(more.matches(r#"class="cross""#).count(), 0);
    }

    #[test]
    fn things_far_away_are_counted_not_drawn() {
        let ends = ends(&facts(20), Some(&space())).unwrap();
        assert!(ends.caption.contains("2 more lie outside"), "{}", ends.caption);
        assert_eq!(ends.inline().matches(r#"class="dot""#).count(), 18);
    }

    #[test]
    fn thousands_of_ends_are_thinned_and_the_caption_says_so() {
        let ends = ends(&facts(4000), Some(&space())).unwrap();
        assert_eq!(ends.inline().matches(r#"class="dot""#).count(), 1200);
        assert!(ends.caption.contains("One of 3 is shown."), "{}", ends.caption);
    }

    #[test]
    fn without_positions_there_is_no_map() {
        assert!(starts(&[], Some(&space())).is_none());
        assert!(starts(&[EpisodeFacts::default()], Some(&space())).is_none());
        assert!(ends(&facts(3), None).is_none());
        assert!(starts(&facts(1), None).is_some());
    }

    #[test]
    fn colours_follow_the_fraction() {
        let fractions = [0.0, 0.5, 0.8, 0.95, 1.0];
        assert_eq!(fractions.map(level), ["s0", "s1", "s2", "s3", "s4"]);
    }
}

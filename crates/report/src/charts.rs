//! The charts of a report. Each is pure: numbers in, a drawing out.

mod bars;
mod lengths;
mod places;
mod running;
mod times;

use crate::style::CHART_CSS;
use crate::survey::Survey;
use crate::svg::Svg;

/// Width of every chart; two stand side by side on a page.
const WIDTH: f64 = 560.0;

/// A chart with its words.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    /// Name of its file, without the ending.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// What the marks mean.
    pub(crate) caption: String,
    drawing: Svg,
}

impl Chart {
    /// The chart inside a page that has the style.
    pub(crate) fn inline(&self) -> String {
        self.drawing.render(self.title, None)
    }

    /// The chart as a file of its own.
    pub(crate) fn file(&self) -> String {
        self.drawing.render(self.title, Some(CHART_CSS))
    }
}

/// The charts for which there is something to draw.
pub(crate) fn charts(survey: &Survey) -> Vec<Chart> {
    let (numbers, episodes) = (&survey.numbers, survey.episodes.as_slice());
    let workspace = survey.workspace.as_ref();
    // How one episode ended stands in words already.
    let outcomes = if episodes.len() > 1 { bars::outcomes(&numbers.outcomes) } else { None };
    let all = [
        running::chart(episodes),
        outcomes,
        bars::failures(&numbers.failures),
        times::chart(&numbers.states),
        places::starts(episodes, workspace),
        places::ends(episodes, workspace),
        lengths::chart(episodes),
    ];
    all.into_iter().flatten().collect()
}

//! The page: one file without scripts that shows everything.

use citrange_core::png::PngEffort;

use crate::base64::base64;
use crate::charts::Chart;
use crate::error::ReportError;
use crate::stats::Rate;
use crate::stills::{LostThing, MOST_FAILURES};
use crate::style::{CHART_CSS, PAGE_CSS};
use crate::survey::{About, Survey};
use crate::svg::escape;

/// Problems that are told; more would bury the rest.
const MOST_PROBLEMS: usize = 10;

/// What a page is made of.
#[derive(Debug)]
pub(crate) struct Parts<'a> {
    pub(crate) survey: &'a Survey,
    pub(crate) charts: &'a [Chart],
    pub(crate) lost: &'a [LostThing<'a>],
    /// The contact sheet as PNG.
    pub(crate) sheet: Option<&'a [u8]>,
    /// The episode in `film.mp4`.
    pub(crate) film: Option<usize>,
    /// Whether `poster.png` lies beside it.
    pub(crate) has_poster: bool,
}

/// The page as text.
pub(crate) fn page(parts: &Parts<'_>) -> Result<String, ReportError> {
    let survey = parts.survey;
    let scene = survey.about.scene.as_deref().filter(|scene| !scene.is_empty());
    let name = escape(scene.unwrap_or(&survey.about.dataset));
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"script-src 'none'; \
         object-src 'none'; base-uri 'none'; form-action 'none'\">\n\
         <title>{name}</title>\n<style>{CHART_CSS}{PAGE_CSS}</style>\n</head>\n<body>\n<main>\n\
         <h1>{name}</h1>\n"
    );
    for line in about(&survey.about) {
        html.push_str(&format!("<p class=\"about\">{}</p>\n", escape(&line)));
    }
    html.push_str(&film(parts));
    html.push_str(&tiles(survey));
    html.push_str(&problems(survey));
    html.push_str("<div class=\"charts\">\n");
    for chart in parts.charts {
        html.push_str(&format!(
            "<figure><h3>{}</h3>{}<figcaption>{}</figcaption></figure>\n",
            escape(chart.title),
            chart.inline(),
            escape(&chart.caption)
        ));
    }
    html.push_str("</div>\n");
    html.push_str(&pictures(parts));
    html.push_str(&failures(parts.lost, !survey.about.cameras.is_empty())?);
    html.push_str(&footer(survey));
    html.push_str("</main>\n</body>\n</html>\n");
    Ok(html)
}

/// Where the data comes from, in a few lines.
fn about(about: &About) -> Vec<String> {
    let list = |names: &std::collections::BTreeSet<String>| {
        let mut shown: Vec<_> = names.iter().take(4).cloned().collect();
        if names.len() > shown.len() {
            shown.push(format!("{} more", names.len() - shown.len()));
        }
        shown.join(", ")
    };
    let mut lines = Vec::new();
    if about.scene.as_ref().is_some_and(|scene| !scene.is_empty()) {
        lines.push(format!("Dataset: {}", about.dataset));
    }
    if !about.tasks.is_empty() {
        lines.push(format!("Task: {}", list(&about.tasks)));
    }
    let mut made = Vec::new();
    made.extend(about.robot.as_ref().map(|robot| format!("robot {robot}")));
    if !about.pilots.is_empty() {
        made.push(format!("pilot {}", list(&about.pilots)));
    }
    if !about.engines.is_empty() {
        made.push(list(&about.engines));
    }
    if let Some([first, last]) = &about.began_utc {
        let day = |time: &String| time.get(..10).unwrap_or(time).to_owned();
        let (first, last) = (day(first), day(last));
        made.push(if first == last { first } else { format!("{first} to {last}") });
    } else if let Some(saved) = &about.saved_utc {
        made.push(format!("saved {}", saved.get(..10).unwrap_or(saved)));
    }
    if !made.is_empty() {
        lines.push(made.join(" · "));
    }
    lines
}

fn tiles(survey: &Survey) -> String {
    let numbers = &survey.numbers;
    let mut tiles = Vec::new();
    match numbers.success {
        // One episode went well or it did not; a rate of it says nothing.
        Some(rate) if rate.of == 1 => {
            let (word, why) = (if rate.good == 1 { "yes" } else { "no" }, &survey.episodes);
            let why = why.iter().find(|facts| facts.success.is_some()).map(|facts| &facts.reason);
            tiles.push(("success", word.into(), escape(why.map_or("", String::as_str))));
        }
        Some(rate) => {
            let of = format!("{} of {}", rate.good, rate.of);
            tiles.push(("success", percent(&rate), format!("{of}<br>95 %: {}", interval(&rate))));
        }
        None => {}
    }
    let judged = if numbers.success.is_none() { "<br>nobody judged them" } else { "" };
    let median = if numbers.episodes == 1 { "" } else { "median " };
    let length = numbers.length_s.map(|s| format!("{median}{:.1} s long{judged}", s.median));
    let length = length.unwrap_or_else(|| "none yet".to_owned());
    tiles.push(("episodes", numbers.episodes.to_string(), length));
    if let Some(rate) = numbers.things {
        let how = match rate.of {
            1 => "of 1".to_owned(),
            of => format!("{} of {of}<br>95 %: {}", percent(&rate), interval(&rate)),
        };
        tiles.push(("things placed", rate.good.to_string(), how));
        let retried = format!("first attempt<br>{} with retries", numbers.placed_by_retry);
        tiles.push(("placed at once", numbers.placed_at_once.to_string(), retried));
    }
    if let Some(time) = numbers.thing_s {
        let median = format!("mean<br>median {:.1} s", time.median);
        tiles.push(("time per thing", format!("{:.1} s", time.mean), median));
    }
    let what = if survey.about.engines.is_empty() { "recorded" } else { "simulated" };
    let resets = match numbers.hard_resets {
        0 => String::new(),
        1 => "one hard reset".to_owned(),
        many => format!("{many} hard resets"),
    };
    tiles.push((what, duration(3600.0 * numbers.hours), resets));
    let mut html = "<div class=\"tiles\">\n".to_owned();
    for (label, value, more) in tiles {
        html.push_str(&format!(
            "<div class=\"tile\"><span>{label}</span><b>{value}</b><span>{more}</span></div>\n"
        ));
    }
    html.push_str("</div>\n");
    html
}

/// A fraction without false precision: the interval says how much is known.
fn percent(rate: &Rate) -> String {
    let fraction = 100.0 * rate.fraction;
    // Nearly all is not all.
    let rounded = if rate.good < rate.of { fraction.min(99.9) } else { fraction };
    if rate.of >= 100 && rate.good < rate.of {
        return format!("{rounded:.1} %");
    }
    format!("{:.0} %", rounded.min(if rate.good < rate.of { 99.0 } else { 100.0 }))
}

fn interval(rate: &Rate) -> String {
    let [low, high] = rate.interval_95.map(|fraction| 100.0 * fraction);
    format!("{low:.1}–{high:.1} %")
}

fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

fn problems(survey: &Survey) -> String {
    let count = survey.problems.len();
    if count == 0 {
        return String::new();
    }
    let told = survey.problems.iter().take(MOST_PROBLEMS);
    let told: String = told.map(|problem| format!("<li>{}</li>", escape(problem))).collect();
    let more = match count.saturating_sub(MOST_PROBLEMS) {
        0 => String::new(),
        more => format!("<li>and {more} more, see report.json</li>"),
    };
    format!("<div class=\"note\">Could not be read:<ul>{told}{more}</ul></div>\n")
}

fn image(png: &[u8], words: &str) -> String {
    format!("<img alt=\"{}\" src=\"data:image/png;base64,{}\">", escape(words), base64(png))
}

/// The film, with a picture until it is played.
fn film(parts: &Parts<'_>) -> String {
    let Some(episode) = parts.film else { return String::new() };
    let facts = parts.survey.episodes.iter().find(|facts| facts.episode == episode);
    let how = facts.filter(|facts| !facts.reason.is_empty()).map_or_else(String::new, |facts| {
        format!(", {:.1} s, {}", facts.seconds, escape(&facts.reason))
    });
    let poster = if parts.has_poster { " poster=\"poster.png\"" } else { "" };
    format!(
        "<section class=\"film\"><figure><video controls preload=\"metadata\"{poster} \
         src=\"film.mp4\"></video><figcaption>Episode {episode}{how}; all cameras side by \
         side.</figcaption></figure></section>\n"
    )
}

fn pictures(parts: &Parts<'_>) -> String {
    let mut html = "<h2>Pictures</h2>\n".to_owned();
    if parts.survey.about.cameras.is_empty() {
        return html + "<p>The dataset was recorded without cameras: there are no pictures.</p>\n";
    }
    if let Some(sheet) = parts.sheet {
        let words = "A row for each episode, a column for each moment";
        html.push_str(&format!("<figure>{}</figure>\n", image(sheet, words)));
    }
    html
}

fn failures(lost: &[LostThing<'_>], has_cameras: bool) -> Result<String, ReportError> {
    if lost.is_empty() {
        return Ok(String::new());
    }
    let mut html = "<h2>Failed episodes</h2>\n<div class=\"wide\"><table>\n<thead><tr>\
                    <th>Episode</th><th>Thing</th><th>Reason</th><th>State</th><th>Attempt</th>"
        .to_owned();
    html.push_str(if has_cameras { "<th>At that moment</th></tr>" } else { "</tr>" });
    html.push_str("</thead>\n<tbody>\n");
    let dash = |text: &str| if text.is_empty() { "–".to_owned() } else { escape(text) };
    for LostThing { episode, failure, still } in lost.iter().take(MOST_FAILURES) {
        let attempt = failure.attempt.map_or_else(|| "–".to_owned(), |n| n.to_string());
        html.push_str(&format!(
            "<tr><td class=\"number\">{episode}</td><td>{}</td><td>{}</td><td>{}</td>\
             <td class=\"number\">{attempt}</td>",
            dash(&failure.target),
            dash(&failure.reason),
            dash(&failure.state),
        ));
        if has_cameras {
            let words = format!("episode {episode}, frame {}", failure.frame);
            let png = still.as_ref().map(|still| still.png(PngEffort::Small)).transpose()?;
            let cell = png.map_or_else(|| "–".to_owned(), |png| image(&png, &words));
            html.push_str(&format!("<td>{cell}</td>"));
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody></table></div>\n");
    let more = lost.len().saturating_sub(MOST_FAILURES);
    if more > 0 {
        html.push_str(&format!("<p>{more} more are in report.json.</p>\n"));
    }
    Ok(html)
}

fn footer(survey: &Survey) -> String {
    let tapeless = match survey.about.without_tape {
        0 => String::new(),
        count => format!(
            " {count} of the {} episodes have no tape that can be read: only their lengths and \
             outcomes are counted.",
            survey.numbers.episodes
        ),
    };
    format!(
        "<footer><p>Intervals are Wilson score intervals at 95 %. The time per thing runs from the \
         begin of its first attempt to its placing.{tapeless} All numbers are in report.json, \
         every chart is a file beside this page. Made by Citrange {}.</p></footer>\n",
        env!("CARGO_PKG_VERSION")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearly_all_is_not_shown_as_all() {
        let shown = |good, of| percent(&Rate::new(good, of).unwrap());
        assert_eq!(shown(9_999, 10_000), "99.9 %");
        assert_eq!(shown(199, 200), "99.5 %");
        assert_eq!(shown(10_000, 10_000), "100 %");
        assert_eq!(shown(0, 3), "0 %");
        assert_eq!(shown(2, 3), "67 %");
    }

    #[test]
    fn times_have_the_unit_that_fits() {
        assert_eq!([16.2, 600.0, 90_000.0].map(duration), ["16 s", "10 min", "25.0 h"]);
    }
}

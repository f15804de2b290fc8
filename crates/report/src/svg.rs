//! Drawing with SVG: shapes with classes, axes, and names that cannot break out.

/// Text made harmless for HTML and SVG, inside elements and quoted attributes. Characters that
/// XML forbids become the replacement character.
pub(crate) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\t' | '\n' | '\r' => safe.push(' '),
            _ if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => {
                safe.push('\u{fffd}');
            }
            _ => safe.push(letter),
        }
    }
    safe
}

/// A text of at most `letters` letters, shortened with an ellipsis.
pub(crate) fn short(text: &str, letters: usize) -> String {
    if text.chars().count() <= letters {
        return text.to_owned();
    }
    let kept: String = text.chars().take(letters.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// Numbers onto a line of the picture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    pub(crate) values: [f64; 2],
    pub(crate) pixels: [f64; 2],
}

impl Scale {
    pub(crate) fn at(&self, value: f64) -> f64 {
        let ([low, high], [from, to]) = (self.values, self.pixels);
        let fraction = if high > low { (value - low) / (high - low) } else { 0.5 };
        from + fraction * (to - from)
    }

    /// Round numbers along the scale, about as many as asked for.
    pub(crate) fn ticks(&self, about: usize) -> Vec<f64> {
        let [low, high] = self.values;
        let step = nice_step((high - low) / about.max(1) as f64);
        let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
        let count = (last - first).clamp(-1.0, 100.0) as i64;
        // Adding 0 turns -0 into 0.
        (0..=count).map(|i| (first + i as f64) * step + 0.0).collect()
    }
}

/// The next round step: 1, 2 or 5 times a power of ten.
pub(crate) fn nice_step(rough: f64) -> f64 {
    if !rough.is_finite() || rough <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(rough.log10().floor());
    let nice = [1.0, 2.0, 5.0, 10.0].into_iter().find(|n| n * power >= rough * (1.0 - 1e-9));
    nice.unwrap_or(10.0) * power
}

/// A number as short as its step allows.
pub(crate) fn number(value: f64, step: f64) -> String {
    let decimals = (-step.log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{value:.decimals$}")
}

/// Where a text is held.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A drawing.
#[derive(Clone, Debug)]
pub(crate) struct Svg {
    width: f64,
    height: f64,
    body: String,
}

impl Svg {
    pub(crate) fn new(width: f64, height: f64) -> Self {
        Self { width, height, body: String::new() }
    }

    /// A rectangle; `hint` is shown when the mouse rests on it.
    pub(crate) fn rect(&mut self, class: &str, [x, y]: [f64; 2], [w, h]: [f64; 2], hint: &str) {
        let (w, h, hint) = (w.max(0.0), h.max(0.0), title(hint));
        self.body.push_str(&format!(
            r#"<rect class="{class}" x="{x:.1}" y="{y:.1}" width="{w:.1}" height="{h:.1}">{hint}</rect>"#
        ));
    }

    pub(crate) fn line(&mut self, class: &str, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2]) {
        self.body.push_str(&format!(
            r#"<line class="{class}" x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}"/>"#
        ));
    }

    pub(crate) fn circle(&mut self, class: &str, [x, y]: [f64; 2], radius: f64, hint: &str) {
        let hint = title(hint);
        self.body.push_str(&format!(
            r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="{radius:.1}">{hint}</circle>"#
        ));
    }

    /// A small cross: failures differ from successes by shape as well as by colour.
    pub(crate) fn cross(&mut self, [x, y]: [f64; 2], hint: &str) {
        let hint = title(hint);
        self.body.push_str(&format!(
            r#"<path class="cross" d="M{:.1} {:.1}l7 7m0 -7l-7 7">{hint}</path>"#,
            x - 3.5,
            y - 3.5
        ));
    }

    /// A line through points, or an area when `closed`.
    pub(crate) fn path(&mut self, class: &str, points: &[[f64; 2]], closed: bool) {
        let mut d = String::new();
        for (index, [x, y]) in points.iter().enumerate() {
            d.push_str(&format!("{}{x:.1} {y:.1}", if index == 0 { 'M' } else { 'L' }));
        }
        let end = if closed { "Z" } else { "" };
        self.body.push_str(&format!(r#"<path class="{class}" d="{d}{end}"/>"#));
    }

    pub(crate) fn text(&mut self, class: &str, [x, y]: [f64; 2], anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escape(text);
        self.body.push_str(&format!(
            r#"<text class="{class}" x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{text}</text>"#
        ));
    }

    /// A title of the vertical axis, read from below.
    pub(crate) fn upright(&mut self, [x, y]: [f64; 2], text: &str) {
        let text = escape(text);
        self.body.push_str(&format!(
            r#"<text class="unit" transform="translate({x:.1} {y:.1}) rotate(-90)" text-anchor="middle">{text}</text>"#
        ));
    }

    /// Grid lines and numbers of a horizontal axis whose chart spans `top..bottom`.
    pub(crate) fn axis_below(&mut self, scale: &Scale, [top, bottom]: [f64; 2], unit: &str) {
        let ticks = scale.ticks(6);
        let step = ticks.get(1).zip(ticks.first()).map_or(1.0, |(b, a)| b - a);
        for tick in ticks {
            let x = scale.at(tick);
            self.line("grid", [x, top], [x, bottom]);
            self.text("tick", [x, bottom + 17.0], Anchor::Middle, &number(tick, step));
        }
        let middle = (scale.pixels[0] + scale.pixels[1]) / 2.0;
        self.text("unit", [middle, bottom + 37.0], Anchor::Middle, unit);
    }

    /// Grid lines and numbers of a vertical axis whose chart spans `left..right`.
    pub(crate) fn axis_left(&mut self, scale: &Scale, [left, right]: [f64; 2], unit: &str) {
        let ticks = scale.ticks(5);
        let step = ticks.get(1).zip(ticks.first()).map_or(1.0, |(b, a)| b - a);
        for tick in ticks {
            let y = scale.at(tick);
            self.line("grid", [left, y], [right, y]);
            self.text("tick", [left - 8.0, y + 4.0], Anchor::End, &number(tick, step));
        }
        self.upright([14.0, (scale.pixels[0] + scale.pixels[1]) / 2.0], unit);
    }

    /// The drawing as an element; `style` makes it a file that stands alone.
    pub(crate) fn render(&self, label: &str, style: Option<&str>) -> String {
        let (w, h, label) = (self.width, self.height, escape(label));
        let style = style.map(|css| format!("<style>{css}</style>")).unwrap_or_default();
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {w:.0} {h:.0}" width="{w:.0}" height="{h:.0}" role="img" aria-label="{label}">{style}{}</svg>"#,
            self.body
        )
    }
}

fn title(hint: &str) -> String {
    if hint.is_empty() { String::new() } else { format!("<title>{}</title>", escape(hint)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_out() {
        assert_eq!(escape(r#"<b a="1">&'"#), "&lt;b a=&quot;1&quot;&gt;&amp;&#39;");
        assert_eq!(escape("a\u{0}b\nc\u{1b}"), "a\u{fffd}b c\u{fffd}");
        let mut svg = Svg::new(10.0, 10.0);
        svg.text("label", [0.0, 0.0], Anchor::Start, "</text><script>");
        svg.rect("good", [0.0, 0.0], [1.0, 1.0], "</title>\"");
        let text = svg.render("\"><script>", None);
        assert!(!text.contains("<script>") && text.matches("</title>").count() == 1, "{text}");
    }

    #[test]
    fn ticks_are_round_and_inside() {
        let scale = |low, high| Scale { values: [low, high], pixels: [0.0, 100.0] };
        assert_eq!(scale(0.0, 10.0).ticks(5), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        let ticks = scale(-0.07, 0.21).ticks(6);
        let shown: Vec<_> = ticks.iter().map(|t| number(*t, 0.05)).collect();
        assert_eq!(shown, ["-0.05", "0.00", "0.05", "0.10", "0.15", "0.20"]);
        // Nothing to span is no reason to draw a million lines.
        assert!(scale(3.0, 3.0).ticks(5).len() <= 1);
        assert!(scale(f64::NAN, 1.0).ticks(5).len() <= 1);
    }

    #[test]
    fn scales_map_ends_to_ends() {
        let scale = Scale { values: [1.0, 3.0], pixels: [100.0, 0.0] };
        assert_eq!([scale.at(1.0), scale.at(2.0), scale.at(3.0)], [100.0, 50.0, 0.0]);
        assert_eq!(Scale { values: [1.0, 1.0], pixels: [0.0, 8.0] }.at(1.0), 4.0);
    }

    #[test]
    fn long_names_are_shortened_by_letters_not_bytes() {
        assert_eq!(short("äöüäöü", 4), "äöü…");
        assert_eq!(short("äöü", 3), "äöü");
    }
}

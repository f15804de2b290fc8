//! An evaluation as one page.

use super::figures::{Figures, RungFigures, Share};

/// Looks of the page.
const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;\
padding:0 1rem;color:#222;background:#fff}table{border-collapse:collapse;margin:1rem 0}\
td,th{padding:.3rem .8rem;border-bottom:1px solid #ddd;text-align:right}\
td:first-child,th:first-child{text-align:left}h2{margin-top:2.5rem}.note{color:#555}\
@media(prefers-color-scheme:dark){body{background:#161616;color:#ddd}\
td,th{border-color:#444}.note{color:#aaa}}";

impl Figures {
    /// One page of HTML that needs nothing else. `curve`: steps and success of the training, where
    /// they are known.
    #[must_use]
    pub fn page(&self, curve: &[(u64, f64)]) -> String {
        let mut text = format!(
            "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport \
             content=\"width=device-width\"><title>Policy {robot}</title><style>{STYLE}</style>\
             <h1>Policy of {robot}</h1><p>Trained on rung {rung} with seed {seed}: {steps} steps, \
             {cpu:.0} s of a processor. Every episode is one that training never draws, and one \
             that the planner found a way in. Intervals are Wilson's, 95 %.</p>",
            robot = escaped(&self.robot),
            rung = self.trained_on.map_or("of its own", |rung| rung.name()),
            seed = self.training_seed,
            steps = self.training.steps,
            cpu = self.training.cpu_s,
        );
        if !self.disturbance.is_none() {
            let d = &self.disturbance;
            text.push_str(&format!(
                "<p>Disturbed: actions up to {} steps late, joints seen with {} rad of noise, \
                 {:.0} % of boxes not seen, ghosts in {:.0} % of steps.</p>",
                d.latency_steps,
                d.joint_noise_rad,
                100.0 * d.drop_out,
                100.0 * d.ghosts
            ));
        }
        if curve.len() > 1 {
            text.push_str(&curve_picture(curve));
        }
        self.rungs.iter().for_each(|rung| text.push_str(&section(rung)));
        text.push_str("</html>\n");
        text
    }
}

fn section(of: &RungFigures) -> String {
    let mut rows = vec![("single attempt, mean action".to_owned(), of.success)];
    rows.extend(of.best_of.iter().skip(1).map(|b| (format!("best of {}", b.attempts), b.success)));
    if let Some(proof) = &of.proof {
        rows.push(("single attempt, proved".to_owned(), proof.single));
        rows.push(("one of all, proved".to_owned(), proof.best));
    }
    if let Some(planner) = &of.planner {
        rows.push(("planner".to_owned(), planner.solved));
    }
    let families = of.families.iter().filter(|_| of.families.len() > 1);
    rows.extend(families.map(|f| (format!("in {}", f.family), f.success)));
    let mut text = format!("<h2>Rung {}</h2><table><tr><th><th>reached<th>", of.rung.name());
    for (name, share) in &rows {
        text.push_str(&format!("<tr><td>{}<td>{}<td>{}", escaped(name), share.text(), bar(share)));
    }
    let ended = &of.ended;
    text.push_str(&format!(
        "</table><p>Single attempts: {} reached, {} touched a box, {} the floor, {} the arm \
         itself, {} were too slow.</p>",
        ended.reached, ended.boxes, ended.floor, ended.itself, ended.late
    ));
    text.push_str("<table><tr><th>of those that reached<th>mean<th>median<th>95 of 100 below");
    let rows = [
        ("steps", of.steps, 1.0),
        ("way in joint space, rad", of.length_rad, 1.0),
        ("way of the tool, m", of.tool_m, 1.0),
        ("least clearance, mm", of.clearance_m, 1e3),
    ];
    for (name, spread, scale) in rows {
        text.push_str(&format!(
            "<tr><td>{name}<td>{:.2}<td>{:.2}<td>{:.2}",
            scale * spread.mean,
            scale * spread.median,
            scale * spread.p95
        ));
    }
    if let Some(planner) = &of.planner {
        text.push_str(&format!(
            "<tr><td>planner's way, rad<td>{:.2}<td>{:.2}<td>{:.2}<tr><td>planner's time, \
             µs<td>{:.0}<td>{:.0}<td>{:.0}</table><p>The planner, which is given a posture at the \
             goal, solves every episode of these (worlds in which it found no way, {} of them, \
             were drawn anew); in {} the straight line is free. The policy's way is {:.2} times \
             as long in the middle. An attempt takes {:.0} µs of a processor.</p>",
            planner.length_rad.mean,
            planner.length_rad.median,
            planner.length_rad.p95,
            planner.time_us.mean,
            planner.time_us.median,
            planner.time_us.p95,
            planner.refused,
            planner.straight.text(),
            planner.ratio,
            of.attempt_us
        ));
    } else {
        text.push_str("</table>");
    }
    if let Some(proof) = &of.proof {
        text.push_str(&format!(
            "<p>Of attempts that reached the proof refused {}. A second checker looked at {} \
             motions that were proved: {} touch something.</p>",
            proof.refused, proof.checked, proof.touching
        ));
    }
    text
}

/// A bar from 90 to 100 %, with its interval.
fn bar(share: &Share) -> String {
    let x = |share: f64| (share - 0.9).max(0.0) * 2000.0;
    let [low, high] = share.interval;
    format!(
        "<svg width=204 height=12><rect width={:.1} height=12 fill=\"#4a90d9\"/><line x1={:.1} \
         x2={:.1} y1=6 y2=6 stroke=\"#111\" stroke-width=2 /></svg>",
        x(share.share),
        x(low),
        x(high)
    )
}

/// The learning curve, from 50 to 100 %.
fn curve_picture(curve: &[(u64, f64)]) -> String {
    let most = curve.last().map_or(1, |last| last.0).max(1) as f64;
    let point = |(steps, success): &(u64, f64)| {
        let (x, y) =
            (*steps as f64 / most * 560.0 + 40.0, 190.0 - (success - 0.5).max(0.0) * 340.0);
        format!("{x:.1},{y:.1}")
    };
    let points: Vec<String> = curve.iter().map(point).collect();
    let mut text = "<h2>Learning</h2><svg viewBox=\"0 0 620 215\" width=620>".to_owned();
    for percent in [50, 60, 70, 80, 90, 100] {
        let y = 190.0 - (f64::from(percent) / 100.0 - 0.5) * 340.0;
        text.push_str(&format!(
            "<line x1=40 x2=600 y1={y} y2={y} stroke=\"#8884\"/><text x=0 y={} font-size=11 \
             fill=\"#888\">{percent} %</text>",
            y + 4.0
        ));
    }
    text.push_str(&format!(
        "<polyline fill=none stroke=\"#4a90d9\" stroke-width=2 points=\"{}\"/><text x=480 y=208 \
         font-size=11 fill=\"#888\">{:.1} million steps</text></svg>",
        points.join(" "),
        most / 1e6
    ));
    text
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

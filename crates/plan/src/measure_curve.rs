//! How long paths become for how much effort, beside the best path that is known.

use std::collections::BTreeMap;
use std::time::Duration;

use rayon::prelude::*;
use serde_json::{Value, json};

use crate::error::PlanError;
use crate::measure::{Bench, quantile};
use crate::problems::{Problem, Problems};
use crate::search::Effort;

/// What stands for all families together.
const ALL: &str = "all";

/// Which budgets are tried.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveSettings {
    /// Collision checks for a better path, each its own search.
    pub checks: Vec<u64>,
    /// One more search of every problem, this long, for the best path that is known.
    pub long: Option<Duration>,
    /// Only so many problems of each family: the first ones.
    pub first: Option<usize>,
}

/// Lengths of the paths of problems for several budgets.
#[derive(Clone, Debug)]
pub struct BudgetCurve {
    checks: Vec<u64>,
    long: Option<Duration>,
    rows: Vec<Row>,
}

#[derive(Clone, Debug)]
struct Row {
    name: String,
    family: String,
    /// For each budget, and for the long search behind them; none where no path was found.
    lengths_rad: Vec<Option<f64>>,
    /// Search and all, of each.
    whole_us: Vec<f64>,
    touches: Option<String>,
}

impl Bench {
    /// Solves problems with every budget, on all threads.
    ///
    /// # Errors
    /// As [`Bench::solve`].
    pub fn curve(
        &self,
        problems: &Problems,
        settings: &CurveSettings,
    ) -> Result<BudgetCurve, PlanError> {
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        let first = settings.first.unwrap_or(usize::MAX);
        let chosen: Vec<&Problem> = self
            .chosen(problems)
            .filter(|problem| {
                let count = seen.entry(&problem.kind).or_default();
                *count += 1;
                *count <= first
            })
            .collect();
        let rows: Result<Vec<Row>, PlanError> = chosen
            .par_iter()
            .map_init(|| self.clone(), |bench, problem| bench.row(problem, settings))
            .collect();
        Ok(BudgetCurve { checks: settings.checks.clone(), long: settings.long, rows: rows? })
    }

    fn row(&mut self, problem: &Problem, settings: &CurveSettings) -> Result<Row, PlanError> {
        let budgets =
            settings.checks.iter().map(|checks| Effort { checks: *checks, time_limit: None });
        let long = settings.long.map(|long| Effort { checks: u64::MAX, time_limit: Some(long) });
        let mut row = Row {
            name: problem.name.clone(),
            family: problem.kind.clone(),
            lengths_rad: Vec::new(),
            whole_us: Vec::new(),
            touches: None,
        };
        for effort in budgets.chain(long) {
            self.set_effort(effort);
            let solved = self.solve(problem, 1)?;
            row.lengths_rad.push(solved.length_rad());
            row.whole_us.push(solved.whole_us());
            row.touches = row.touches.or(solved.contact);
        }
        Ok(row)
    }
}

impl Row {
    /// The shortest of all.
    fn best_rad(&self) -> Option<f64> {
        self.lengths_rad.iter().flatten().copied().min_by(f64::total_cmp)
    }
}

/// One budget and one family.
struct Point {
    solved: usize,
    median_rad: f64,
    /// Of median lengths; the median and the 90th of the quotients, problem by problem.
    over_best: f64,
    each_over_best: [f64; 2],
    median_us: f64,
}

impl BudgetCurve {
    /// Whether a returned path touches something: its problem, and what it touches.
    pub fn touching(&self) -> impl Iterator<Item = (&str, &str)> {
        self.rows.iter().filter_map(|row| Some((row.name.as_str(), row.touches.as_deref()?)))
    }

    fn families(&self) -> Vec<&str> {
        let mut all: Vec<&str> = Vec::new();
        for row in &self.rows {
            if !all.contains(&row.family.as_str()) {
                all.push(&row.family);
            }
        }
        all.push(ALL);
        all
    }

    fn of<'a>(&'a self, family: &'a str) -> impl Iterator<Item = &'a Row> {
        self.rows.iter().filter(move |row| family == ALL || row.family == family)
    }

    fn point(&self, family: &str, budget: usize) -> Point {
        let solved = |row: &&Row| row.lengths_rad[budget].is_some();
        let rows: Vec<&Row> = self.of(family).filter(solved).collect();
        let mut lengths: Vec<f64> = rows.iter().filter_map(|row| row.lengths_rad[budget]).collect();
        let mut bests: Vec<f64> = rows.iter().filter_map(|row| row.best_rad()).collect();
        let quotients = lengths.iter().zip(&bests).map(|(length, best)| length / best.max(1e-9));
        let mut quotients: Vec<f64> = quotients.collect();
        let mut times: Vec<f64> = rows.iter().map(|row| row.whole_us[budget]).collect();
        let median_rad = quantile(&mut lengths, 0.5);
        Point {
            solved: rows.len(),
            median_rad,
            over_best: median_rad / quantile(&mut bests, 0.5).max(1e-9),
            each_over_best: [0.5, 0.9].map(|share| quantile(&mut quotients, share)),
            median_us: quantile(&mut times, 0.5),
        }
    }

    /// Names of the budgets.
    fn budgets(&self) -> Vec<String> {
        let checks = self.checks.iter().map(|checks| format!("{checks} checks"));
        let long = self.long.map(|long| format!("{:.1} s", long.as_secs_f64()));
        checks.chain(long).collect()
    }

    /// As JSON: a summary for each family and budget, and every problem.
    #[must_use]
    pub fn json(&self) -> Value {
        let budgets = self.budgets();
        let mut families = serde_json::Map::new();
        for family in self.families() {
            let points = budgets.iter().enumerate().map(|(index, name)| {
                let point = self.point(family, index);
                json!({
                    "budget": name,
                    "solved": point.solved,
                    "length_rad": {"median": point.median_rad},
                    "median_over_best": point.over_best,
                    "over_best": {"median": point.each_over_best[0], "p90": point.each_over_best[1]},
                    "whole_us": {"median": point.median_us},
                })
            });
            families.insert(
                family.to_owned(),
                json!({"problems": self.of(family).count(), "budgets": points.collect::<Vec<_>>()}),
            );
        }
        let problems = self.rows.iter().map(|row| {
            json!({
                "name": row.name,
                "cls": row.family,
                "length_rad": row.lengths_rad,
                "whole_us": row.whole_us,
                "best_rad": row.best_rad(),
                "touches": row.touches,
            })
        });
        json!({
            "budgets": budgets,
            // A search that time ended is another one on every machine.
            "is_reproducible": self.long.is_none(),
            "families": families,
            "problems": problems.collect::<Vec<_>>(),
        })
    }

    /// As a table.
    #[must_use]
    pub fn text(&self) -> String {
        let mut lines = vec![format!(
            "{:<16}{:>8}{:>16}{:>8}{:>12}{:>16}{:>16}{:>12}{:>12}",
            "family",
            "problems",
            "budget",
            "solved",
            "median rad",
            "median / best",
            "each / best",
            "90th",
            "median µs"
        )];
        for family in self.families() {
            let problems = self.of(family).count();
            for (index, budget) in self.budgets().iter().enumerate() {
                let point = self.point(family, index);
                lines.push(format!(
                    "{family:<16}{problems:>8}{budget:>16}{:>8}{:>12.3}{:>16.3}{:>16.3}{:>12.3}\
                     {:>12.0}",
                    point.solved,
                    point.median_rad,
                    point.over_best,
                    point.each_over_best[0],
                    point.each_over_best[1],
                    point.median_us,
                ));
            }
        }
        if self.long.is_some() {
            lines.push("budgets of time are not reproducible".to_owned());
        }
        lines.join("\n")
    }
}

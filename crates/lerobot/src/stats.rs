//! Statistics of features: exact per episode, put together over episodes by lerobot's rules.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::column::Column;
use crate::info::{Feature, Features};

/// Names of the quantiles, with what they are.
pub const QUANTILES: [(&str, f64); 5] =
    [("q01", 0.01), ("q10", 0.10), ("q50", 0.50), ("q90", 0.90), ("q99", 0.99)];

/// Statistics by feature name.
pub type Stats = BTreeMap<String, FeatureStats>;

/// Statistics of one feature, one number per component, in the order of its shape.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeatureStats {
    /// Smallest values.
    pub min: Vec<f64>,
    /// Largest values.
    pub max: Vec<f64>,
    /// Mean values.
    pub mean: Vec<f64>,
    /// Standard deviations of the whole population.
    pub std: Vec<f64>,
    /// Frames they are of.
    pub count: u64,
    /// The [`QUANTILES`]; older datasets have none.
    pub quantiles: Option<[Vec<f64>; 5]>,
}

impl FeatureStats {
    /// Exact statistics of a column; nothing for texts, pictures and empty columns.
    #[must_use]
    pub fn of(column: &Column, width: usize) -> Option<Self> {
        if width == 0 || column.is_empty() || column.number(0).is_none() {
            return None;
        }
        let frames = column.len() / width;
        let mut stats = Self { count: frames as u64, ..Self::default() };
        let mut quantiles: [Vec<f64>; 5] = Default::default();
        for component in 0..width {
            let mut values: Vec<f64> =
                (0..frames).filter_map(|f| column.number(f * width + component)).collect();
            let n = frames as f64;
            let mean = values.iter().sum::<f64>() / n;
            let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
            values.sort_by(f64::total_cmp);
            stats.min.push(values[0]);
            stats.max.push(values[frames - 1]);
            stats.mean.push(mean);
            stats.std.push(variance.sqrt());
            for (list, (_, q)) in quantiles.iter_mut().zip(QUANTILES) {
                list.push(quantile_of_sorted(&values, q));
            }
        }
        stats.quantiles = Some(quantiles);
        Some(stats)
    }

    /// Statistics of everything the given ones are of. Quantiles are the mean of the parts',
    /// weighted by their frames, as in lerobot; they are not exact.
    #[must_use]
    pub fn aggregate<'a>(parts: impl IntoIterator<Item = &'a Self>) -> Option<Self> {
        let parts: Vec<&Self> = parts.into_iter().filter(|p| p.count > 0).collect();
        let width = parts.first()?.mean.len();
        if parts.iter().any(|p| !p.has_width(width)) {
            return None;
        }
        let count: u64 = parts.iter().map(|p| p.count).sum();
        let weight = |p: &Self| p.count as f64 / count as f64;
        let mut all = Self { count, ..Self::default() };
        for k in 0..width {
            let mean: f64 = parts.iter().map(|p| weight(p) * p.mean[k]).sum();
            let variance: f64 = parts
                .iter()
                .map(|p| weight(p) * (p.std[k] * p.std[k] + (p.mean[k] - mean).powi(2)))
                .sum();
            all.min.push(parts.iter().map(|p| p.min[k]).fold(f64::INFINITY, f64::min));
            all.max.push(parts.iter().map(|p| p.max[k]).fold(f64::NEG_INFINITY, f64::max));
            all.mean.push(mean);
            all.std.push(variance.sqrt());
        }
        let lists: Option<Vec<&[Vec<f64>; 5]>> =
            parts.iter().map(|p| p.quantiles.as_ref()).collect();
        all.quantiles = lists.map(|lists| {
            std::array::from_fn(|q| {
                (0..width)
                    .map(|k| parts.iter().zip(&lists).map(|(p, l)| weight(p) * l[q][k]).sum())
                    .collect()
            })
        });
        Some(all)
    }

    /// True when every list has that many numbers.
    pub(crate) fn has_width(&self, width: usize) -> bool {
        [&self.min, &self.max, &self.mean, &self.std].iter().all(|l| l.len() == width)
            && self.quantiles.as_ref().is_none_or(|q| q.iter().all(|l| l.len() == width))
    }

    /// The list of that name: `min`, …, `q99`; not `count`.
    #[must_use]
    pub fn list(&self, name: &str) -> Option<&[f64]> {
        match name {
            "min" => Some(&self.min),
            "max" => Some(&self.max),
            "mean" => Some(&self.mean),
            "std" => Some(&self.std),
            _ => {
                let at = QUANTILES.iter().position(|(q, _)| *q == name)?;
                self.quantiles.as_ref().map(|lists| lists[at].as_slice())
            }
        }
    }

    /// Sets the list of that name; other names are ignored.
    pub(crate) fn set_list(&mut self, name: &str, values: Vec<f64>) {
        match name {
            "min" => self.min = values,
            "max" => self.max = values,
            "mean" => self.mean = values,
            "std" => self.std = values,
            _ => {
                if let Some(at) = QUANTILES.iter().position(|(q, _)| *q == name) {
                    self.quantiles.get_or_insert_default()[at] = values;
                }
            }
        }
    }
}

/// Names of the lists in the order of lerobot's columns, `count` among them.
pub(crate) const LISTS: [&str; 10] =
    ["min", "max", "mean", "std", "count", "q01", "q10", "q50", "q90", "q99"];

/// Whether min and max of the feature are written as integers.
pub(crate) fn has_integer_bounds(feature: &Feature, list: &str) -> bool {
    matches!(list, "min" | "max")
        && (feature.dtype.starts_with("int") || feature.dtype.starts_with("uint"))
}

/// Linear interpolation between order statistics, as numpy does by default.
pub(crate) fn quantile_of_sorted(sorted: &[f64], q: f64) -> f64 {
    let position = q * (sorted.len() - 1) as f64;
    let low = position.floor() as usize;
    let high = (low + 1).min(sorted.len() - 1);
    sorted[low] + (position - low as f64) * (sorted[high] - sorted[low])
}

/// Statistics over episodes, for every feature that all of them have.
pub(crate) fn over_episodes<'a>(episodes: impl Iterator<Item = &'a Stats> + Clone) -> Stats {
    let Some(first) = episodes.clone().next() else { return Stats::new() };
    first
        .keys()
        .filter_map(|name| {
            let parts: Option<Vec<_>> = episodes.clone().map(|e| e.get(name)).collect();
            Some((name.clone(), FeatureStats::aggregate(parts?)?))
        })
        .collect()
}

/// The text of `meta/stats.json`, features in the order of info.json.
pub(crate) fn to_json(stats: &Stats, features: &Features) -> Vec<u8> {
    // The order is kept by writing the outer map by hand: serde_json's own map sorts.
    struct InOrder<'a>(&'a Stats, &'a Features);
    impl serde::Serialize for InOrder<'_> {
        fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            s.collect_map(self.1.iter().filter_map(|(name, feature)| {
                self.0.get(name).map(|stats| (name, one_to_json(stats, feature)))
            }))
        }
    }
    crate::info::pretty(&InOrder(stats, features))
}

fn one_to_json(stats: &FeatureStats, feature: &Feature) -> Value {
    let mut map = Map::new();
    map.insert("count".into(), json!([stats.count]));
    for name in LISTS {
        let Some(list) = stats.list(name) else { continue };
        let whole = has_integer_bounds(feature, name);
        let leaf = |x: &f64| if whole { json!(*x as i64) } else { json!(x) };
        let mut level: Vec<Value> = list.iter().map(leaf).collect();
        for size in feature.stats_shape().iter().skip(1).rev() {
            level = level.chunks((*size).max(1)).map(|chunk| json!(chunk)).collect();
        }
        map.insert(name.into(), Value::Array(level));
    }
    Value::Object(map)
}

/// Reads `meta/stats.json`; features whose entry makes no sense are left out.
pub(crate) fn from_json(text: &[u8]) -> Result<Stats, String> {
    fn numbers(value: &Value, out: &mut Vec<f64>) {
        match value {
            Value::Array(list) => list.iter().for_each(|v| numbers(v, out)),
            Value::Number(n) => out.push(n.as_f64().unwrap_or(f64::NAN)),
            // Python writes NaN as a word that is not JSON; null stands for it elsewhere.
            _ => out.push(f64::NAN),
        }
    }
    let map: Map<String, Value> =
        serde_json::from_slice(text).map_err(|e| format!("not JSON: {e}"))?;
    let mut stats = Stats::new();
    for (name, value) in map {
        let Value::Object(lists) = value else { continue };
        let mut one = FeatureStats::default();
        for (list, value) in &lists {
            let mut values = Vec::new();
            numbers(value, &mut values);
            if list == "count" {
                one.count = values.first().map_or(0, |n| *n as u64);
            } else {
                one.set_list(list, values);
            }
        }
        if one.has_width(one.mean.len()) && !one.mean.is_empty() {
            stats.insert(name, one);
        }
    }
    Ok(stats)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numpy_gives_the_same() {
        // numpy: x = [3, 1, 4, 1, 5]; mean 2.8, std 1.6, quantiles linear.
        let stats = FeatureStats::of(&Column::F64(vec![3.0, 1.0, 4.0, 1.0, 5.0]), 1).unwrap();
        assert_eq!((stats.min[0], stats.max[0], stats.count), (1.0, 5.0, 5));
        assert!((stats.mean[0] - 2.8).abs() < 1e-15 && (stats.std[0] - 1.6).abs() < 1e-15);
        let q = stats.quantiles.unwrap();
        let expected = [1.0, 1.0, 3.0, 4.6, 4.96];
        for (got, want) in q.iter().zip(expected) {
            assert!((got[0] - want).abs() < 1e-12, "{got:?} {want}");
        }
    }

    #[test]
    fn integer_bounds_and_camera_shapes_in_json() {
        let features = Features(vec![
            ("n".into(), Feature::new("int64", &[1])),
            ("cam".into(), Feature::video(2, 2, 30, "h264")),
        ]);
        let mut camera = FeatureStats::of(&Column::F64(vec![0.0, 0.5, 1.0]), 3).unwrap();
        camera.count = 7;
        let stats = Stats::from([
            ("n".to_string(), FeatureStats::of(&Column::I64(vec![1, 2]), 1).unwrap()),
            ("cam".to_string(), camera),
        ]);
        let text = to_json(&stats, &features);
        let value: Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(value["n"]["min"], json!([1]));
        assert_eq!(value["n"]["mean"], json!([1.5]));
        assert_eq!(value["cam"]["max"], json!([[[0.0]], [[0.5]], [[1.0]]]));
        assert_eq!(value["cam"]["count"], json!([7]));
        assert_eq!(from_json(&text).unwrap(), stats);
    }

    proptest! {
        #[test]
        fn parts_give_what_the_whole_gives(
            values in proptest::collection::vec(-1e3f64..1e3, 2..60), cut in 1usize..59
        ) {
            let cut = cut.min(values.len() - 1);
            let whole = FeatureStats::of(&Column::F64(values.clone()), 1).unwrap();
            let a = FeatureStats::of(&Column::F64(values[..cut].to_vec()), 1).unwrap();
            let b = FeatureStats::of(&Column::F64(values[cut..].to_vec()), 1).unwrap();
            let both = FeatureStats::aggregate([&a, &b]).unwrap();
            prop_assert_eq!(both.count, whole.count);
            prop_assert_eq!(&both.min, &whole.min);
            prop_assert_eq!(&both.max, &whole.max);
            prop_assert!((both.mean[0] - whole.mean[0]).abs() < 1e-9);
            prop_assert!((both.std[0] - whole.std[0]).abs() < 1e-9);
            let q = both.quantiles.unwrap();
            prop_assert!(q.iter().all(|l| l[0] >= both.min[0] - 1e-9 && l[0] <= both.max[0] + 1e-9));
        }
    }
}

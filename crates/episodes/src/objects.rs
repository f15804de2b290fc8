//! Where objects are, compared frame by frame with where a file has them: an arm that repeats a
//! recorded motion in the air has not done the task.

use std::collections::BTreeMap;
use std::fmt;

use citrange_core::tape::FrameRecord;
use citrange_core::{RestoreReport, RigSpec};
use citrange_tape::Motion;
use serde::Serialize;

/// Compares while an episode is played.
pub(crate) struct ObjectMeter {
    /// Names in the order in which the rig sees objects.
    names: Vec<String>,
    recorded: BTreeMap<String, Vec<[f64; 7]>>,
    report: ObjectReport,
}

/// How far objects were from where the file has them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ObjectReport {
    /// Objects that both have, each with its largest distance.
    pub objects: BTreeMap<String, Worst>,
    /// Joints of objects that only the file has.
    pub not_in_scene: Vec<String>,
    /// Largest distance that passes as the same.
    pub tolerance_m: f64,
    /// Distance of bodies at the start, where the file has their places.
    pub bodies_at_start_m: Option<f64>,
}

/// The largest distance of an object.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Worst {
    /// How far.
    pub position_m: f64,
    /// At which frame.
    pub frame: u64,
}

impl ObjectMeter {
    pub(crate) fn new(
        rig: &RigSpec,
        motion: &Motion,
        start: &RestoreReport,
        tolerance_m: f64,
    ) -> Self {
        let names = rig.objects.iter().map(|o| o.name.clone()).collect();
        let objects = motion.objects.keys().map(|name| (name.clone(), Worst::default()));
        let report = ObjectReport {
            objects: objects.collect(),
            not_in_scene: motion.foreign_objects.clone(),
            tolerance_m,
            bodies_at_start_m: start.check.as_ref().map(|check| check.position_m),
        };
        Self { names, recorded: motion.objects.clone(), report }
    }

    pub(crate) fn frame(&mut self, frame: &FrameRecord<'_>) {
        for (name, seen) in self.names.iter().zip(&frame.seen.objects) {
            let was = self.recorded.get(name).and_then(|rows| rows.get(frame.index as usize));
            let (Some(seen), Some(was)) = (seen, was) else { continue };
            let is = seen.pose.pos_m;
            let far = (0..3).map(|i| (is[i] - was[i]).powi(2)).sum::<f64>().sqrt();
            let worst = self.report.objects.entry(name.clone()).or_default();
            // NaN counts as worst.
            if far > worst.position_m || far.is_nan() {
                *worst = Worst { position_m: far, frame: frame.index };
            }
        }
    }

    pub(crate) fn report(&self) -> &ObjectReport {
        &self.report
    }

    pub(crate) fn into_report(self) -> ObjectReport {
        self.report
    }
}

impl ObjectReport {
    /// Why this is not the demonstrated task; `None` when nothing speaks against it.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        let beyond = |far: f64| far.is_nan() || far > self.tolerance_m;
        let far = self.objects.iter().filter(|(_, worst)| beyond(worst.position_m));
        let mut parts: Vec<String> = far
            .map(|(name, worst)| {
                let Worst { position_m, frame } = worst;
                format!(
                    "{name} is up to {position_m:.3} m from where the file has it (frame {frame})"
                )
            })
            .collect();
        if !self.not_in_scene.is_empty() {
            parts.push(format!("the scene lacks {}", self.not_in_scene.join(", ")));
        }
        if let Some(far) = self.bodies_at_start_m.filter(|far| beyond(*far)) {
            parts.push(format!("bodies begin up to {far:.3} m from where the file has them"));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

impl fmt::Display for ObjectReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(problem) = self.problem() {
            return write!(f, "NOT THE DEMONSTRATED TASK: {problem}");
        }
        match self.objects.values().map(|w| w.position_m).reduce(f64::max) {
            Some(most) => write!(
                f,
                "{} objects within {:.1} mm of where the file has them",
                self.objects.len(),
                most * 1e3
            ),
            None => f.write_str("the file has no places of objects to compare"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_far_or_missing_is_a_problem() {
        let worst = |position_m| Worst { position_m, frame: 7 };
        let mut report = ObjectReport { tolerance_m: 0.01, ..ObjectReport::default() };
        assert_eq!(report.problem(), None);
        report.objects.insert("cube".into(), worst(0.009));
        assert_eq!(report.problem(), None);
        for far in [0.8, f64::NAN] {
            report.objects.insert("cube".into(), worst(far));
            assert!(report.problem().unwrap().contains("(frame 7)"));
        }
        report.objects.clear();
        report.not_in_scene.push("milk_joint0".into());
        assert!(report.to_string().contains("NOT THE DEMONSTRATED TASK: the scene lacks milk"));
    }
}

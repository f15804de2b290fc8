//! Whether what shall go into a dataset fits what is in it.

use std::path::Path;

use crate::error::{LerobotError, Result};
use crate::info::Info;

/// Every difference that makes frames of `ours` unfit for `theirs`, one line each.
#[must_use]
pub fn differences(ours: &Info, theirs: &Info) -> Vec<String> {
    let mut lines = Vec::new();
    if ours.fps != theirs.fps {
        lines.push(format!("fps: ours {}, theirs {}", ours.fps, theirs.fps));
    }
    if ours.robot_type != theirs.robot_type {
        let name = |r: &Option<String>| r.clone().unwrap_or_else(|| "null".into());
        let (a, b) = (name(&ours.robot_type), name(&theirs.robot_type));
        lines.push(format!("robot_type: ours {a}, theirs {b}"));
    }
    for (name, a) in ours.features.iter() {
        let Some(b) = theirs.features.get(name) else {
            lines.push(format!("feature {name}: ours {} {:?}, theirs has none", a.dtype, a.shape));
            continue;
        };
        if a.dtype != b.dtype {
            lines.push(format!("feature {name}: ours {}, theirs {}", a.dtype, b.dtype));
        }
        if a.shape != b.shape {
            lines.push(format!("feature {name}: ours {:?}, theirs {:?}", a.shape, b.shape));
        }
        let (ours, theirs) = (a.component_names(), b.component_names());
        if ours != theirs && !a.is_camera() {
            lines.push(format!("names of {name}: ours {ours:?}, theirs {theirs:?}"));
        }
    }
    for (name, b) in theirs.features.iter() {
        if ours.features.get(name).is_none() {
            lines.push(format!("feature {name}: ours has none, theirs {} {:?}", b.dtype, b.shape));
        }
    }
    lines
}

pub(crate) fn require(ours: &Info, theirs: &Info, root: &Path) -> Result<()> {
    let differences = differences(ours, theirs);
    if differences.is_empty() {
        Ok(())
    } else {
        Err(LerobotError::Disagrees { path: root.into(), differences })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::info::Feature;

    #[test]
    fn each_difference_is_a_line() {
        let make = |fps, robot, names: &[&str], size| {
            Info::new(
                Some(robot),
                fps,
                vec![
                    ("action".into(), Feature::vector(names)),
                    ("cam".into(), Feature::video(size, 48, fps, "h264")),
                ],
            )
        };
        let a = make(30, "so101", &["x", "y"], 32);
        assert!(differences(&a, &a).is_empty());
        let mut b = make(60, "panda", &["x", "z"], 64);
        b.features.0.push(("extra".into(), Feature::new("bool", &[1])));
        let lines = differences(&a, &b);
        let text = lines.join("\n");
        assert_eq!(lines.len(), 5, "{text}");
        for part in ["fps: ours 30, theirs 60", "so101", "[\"x\", \"z\"]", "[64, 48, 3]", "extra"] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}

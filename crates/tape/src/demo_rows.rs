//! Recordings that have all joints of an arm, or of several, in one array: SO-101's and ALOHA's.

use citrange_hdf5::{AlohaEpisode, Attr, RobomimicDemo, RobomimicHeader, Series};

use crate::demo::{FRAME_HZ, TASK};
use crate::demo_in::{ArmRows, DemoEpisode, sane};

impl DemoEpisode {
    pub(crate) fn of_so101(demo: RobomimicDemo, header: &RobomimicHeader, name: String) -> Self {
        let RobomimicDemo { obs, attrs, unread, .. } = demo;
        let mut episode = Self {
            name,
            environment: header.env.clone(),
            task: attrs.get(TASK).and_then(Attr::text).map(str::to_owned),
            success: attrs.get("success").and_then(Attr::bool),
            is_so101: true,
            targets_said: true,
            unread,
            ..Self::default()
        };
        if let Some(Attr::Texts(names)) = attrs.get("joint_names") {
            episode.joint_names = Some(names.clone());
        }
        for (key, series) in obs {
            match (key.as_str(), series) {
                ("joint_pos", Series::Numbers(array)) => {
                    let joint_pos = Some(array);
                    episode.arms = vec![ArmRows { joint_pos, ..ArmRows::named("robot0") }];
                }
                ("actions", Series::Numbers(array)) => episode.actions = Some(array),
                (_, Series::Images(images)) => drop(episode.pictures.insert(key, images)),
                _ => {}
            }
        }
        if let Some(joints) = episode.joint_pos().and_then(|j| j.row(0)).map(<[f64]>::to_vec) {
            episode.start.named.insert("robot0".into(), joints);
        }
        let said = |key: &str| attrs.get(key).or(header.other.get(key)).and_then(Attr::number);
        let counted = said("frame_count").zip(said("duration"));
        let counted = counted.and_then(|(frames, secs)| whole(frames / secs));
        let keys = [FRAME_HZ, "fps", "control_freq", "control_hz"];
        episode.rate_hz = sane(keys.iter().find_map(|key| said(key)).or(counted));
        episode
    }

    pub(crate) fn of_aloha(file: AlohaEpisode, name: String) -> Self {
        let AlohaEpisode { attrs, qpos, action, unread, .. } = file;
        let number = |key: &&str| attrs.get(*key).and_then(Attr::number);
        let rate_hz = sane([FRAME_HZ, "fps", "control_freq"].iter().find_map(number));
        let names = attrs.get("joint_names").cloned();
        Self {
            name,
            task: attrs.get(TASK).and_then(Attr::text).map(str::to_owned),
            success: attrs.get("success").and_then(Attr::bool),
            rate_hz,
            targets_said: true,
            grips_are_fractions: true,
            joint_names: names.and_then(|a| if let Attr::Texts(n) = a { Some(n) } else { None }),
            arms: vec![ArmRows { joint_pos: qpos, ..ArmRows::default() }],
            actions: action,
            unread,
            ..Self::default()
        }
    }
}

/// Whether a demonstration is one of an SO-101: all of it is in `obs`, its actions too.
pub(crate) fn is_so101(demo: &RobomimicDemo) -> bool {
    let numbers = |key: &str| demo.obs.get(key).is_some_and(|s| s.numbers().is_some());
    let own = demo.states.is_none() && demo.actions.is_none();
    own && numbers("joint_pos") && numbers("actions")
}

/// A rate that is a whole number but for the last frame's fraction.
fn whole(hz: f64) -> Option<f64> {
    let near = hz.round();
    ((hz - near).abs() < 0.02 * near).then_some(near)
}

//! A guessed description as YAML that people mend.

use std::fmt::Write as _;

use citrange_core::robot::{JointLimits, PerJoint};

use super::Guess;

/// Writes it.
pub(crate) fn yaml(guess: &Guess) -> String {
    let d = &guess.description;
    let mut out = String::from(
        "# Guessed from the model by `citrange robot describe`. Look at it, mend it, and put it in \
         a scene:\n# robots: {robot0: {model: THIS FILE}}\n",
    );
    for note in &guess.notes {
        line(&mut out, format_args!("# - {note}"));
    }
    line(&mut out, format_args!("name: {}", word(&d.name)));
    line(&mut out, format_args!("title: {}", word(&d.title)));
    line(&mut out, format_args!("model: {}", word(&d.model)));
    if let Some(root) = &d.root {
        line(&mut out, format_args!("root: {}", word(root)));
    }
    if let Some(hand) = &d.hand {
        let (model, at) = (word(&hand.model), word(&hand.at));
        line(&mut out, format_args!("hand: {{model: {model}, at: {at}}}"));
    }
    line(&mut out, format_args!("base_height_m: {}", d.base_height_m));
    line(&mut out, format_args!("arm_joints: {}", words(&d.arm_joints)));
    if let Some(g) = &d.gripper {
        let joints = words(&g.joints);
        let (open, closed) = (numbers(&g.open), numbers(&g.closed));
        line(
            &mut out,
            format_args!("gripper: {{joints: {joints}, open: {open}, closed: {closed}}}"),
        );
    }
    if let Some(grasp) = &d.grasp {
        line(
            &mut out,
            format_args!(
                "grasp: {{point_m: {}, jaw_axis: {}, tool_axis: {}, from_face: {}}}  # in the \
                 frame `tool`",
                numbers(&grasp.point_m),
                numbers(&grasp.jaw_axis),
                numbers(&grasp.tool_axis),
                grasp.from_face
            ),
        );
    }
    if !d.sites.is_empty() {
        line(&mut out, format_args!("sites:  # of the model"));
        for (role, site) in &d.sites {
            line(&mut out, format_args!("  {role}: {}", word(site)));
        }
    }
    if !d.frames.is_empty() {
        line(&mut out, format_args!("frames:  # on bodies of the model"));
        for (role, frame) in &d.frames {
            let (body, pos, quat) =
                (word(&frame.body), numbers(&frame.pos_m), numbers(&frame.quat_wxyz));
            line(
                &mut out,
                format_args!("  {role}: {{body: {body}, pos_m: {pos}, quat_wxyz: {quat}}}"),
            );
        }
    }
    line(&mut out, format_args!("home: {}", word(&d.home)));
    line(&mut out, format_args!("poses:  # arm_joints, then gripper joints"));
    for (name, pose) in &d.poses {
        line(&mut out, format_args!("  {}: {}", word(name), numbers(pose)));
    }
    line(&mut out, format_args!("joint_limits:"));
    for joint in d.joints() {
        if let Some(limits) = d.joint_limits.get(joint) {
            line(&mut out, format_args!("  {}: {{{}}}", word(joint), limit_words(limits)));
        }
    }
    if !d.servos.is_empty() {
        line(&mut out, format_args!("servos:"));
        for (name, servo) in &d.servos {
            line(&mut out, format_args!("  {}:", word(name)));
            for (key, values) in [("kp", &servo.kp), ("kv", &servo.kv), ("force", &servo.force)] {
                let values = match values {
                    PerJoint::All(one) => one.to_string(),
                    PerJoint::Each(each) => numbers(each),
                };
                line(&mut out, format_args!("    {key}: {values}"));
            }
        }
    }
    out
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _infallible = writeln!(out, "{text}");
}

fn limit_words(limits: &JointLimits) -> String {
    let numbers_of = [
        ("velocity_rad_s", limits.velocity_rad_s),
        ("acceleration_rad_s2", limits.acceleration_rad_s2),
        ("jerk_rad_s3", limits.jerk_rad_s3),
        ("effort_nm", limits.effort_nm),
        ("velocity_m_s", limits.velocity_m_s),
        ("acceleration_m_s2", limits.acceleration_m_s2),
        ("jerk_m_s3", limits.jerk_m_s3),
        ("effort_n", limits.effort_n),
    ];
    let range = limits.range.map(|range| format!("range: {}", numbers(&range)));
    let known = numbers_of.iter().filter_map(|(key, n)| n.map(|n| format!("{key}: {n}")));
    range.into_iter().chain(known).collect::<Vec<_>>().join(", ")
}

fn numbers(list: &[f64]) -> String {
    format!("[{}]", list.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
}

fn words(list: &[String]) -> String {
    format!("[{}]", list.iter().map(|w| word(w)).collect::<Vec<_>>().join(", "))
}

/// A text as YAML takes it for a text.
fn word(text: &str) -> String {
    let is_plain = text.chars().next().is_some_and(char::is_alphabetic)
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c))
        && !["true", "false", "null", "yes", "no", "on", "off"]
            .contains(&text.to_lowercase().as_str());
    if is_plain {
        return text.to_owned();
    }
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}

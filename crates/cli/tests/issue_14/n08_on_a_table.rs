//! 8: every robot bolted to a table or the floor plans; what reaches into it is refused.

use std::path::Path;

use crate::common::{citrange, stderr, temp};
use serde_json::Value;

/// A robot on a table whose top is where it stands, or on the floor.
fn scene(folder: &Path, robot: &str, on: &str) -> String {
    let stand = match on {
        "table" => {
            "look: {floor_z_m: -0.7}\n\
             fixtures: {table: {parts: [{shape: {box: {half_m: [0.7, 0.7, 0.02]}}, \
             pos_m: [0, 0, -0.02]}]}}\n"
        }
        _ => "",
    };
    let text = format!(
        "name: t\ntitle: t\nrates: {{physics_hz: 500, control_hz: 100, frame_hz: 20}}\n\
         robots: {{robot0: {{model: {robot}}}}}\n{stand}"
    );
    let name = format!("{robot}_{on}.yaml");
    std::fs::write(folder.join(&name), text).unwrap();
    name
}

const ROBOTS: [(&str, [&str; 3]); 4] = [
    ("so101", ["0.2 0.1 0.1", "0.25 -0.05 0.15", "0.15 -0.12 0.12"]),
    ("panda", ["0.5 0.2 0.3", "0.4 -0.3 0.5", "0.3 0.3 0.2"]),
    ("ur5e", ["0.4 0.3 0.3", "0.5 -0.2 0.15", "-0.3 0.4 0.4"]),
    ("ur5", ["0.4 0.3 0.3", "0.5 -0.2 0.15", "-0.3 0.4 0.4"]),
];

#[test]
fn every_robot_plans_where_it_is_bolted() {
    let folder = temp();
    for (robot, goals) in ROBOTS {
        for on in ["table", "floor"] {
            let scene = scene(folder.path(), robot, on);
            // Twice the usual margin, too.
            let margin = if on == "table" { "0.005" } else { "0.01" };
            let mut words = vec!["plan", &scene, "--json", "--time-ms", "20000"];
            words.extend(["--margin-m", margin]);
            goals.iter().for_each(|goal| words.extend(["--goal", goal]));
            let done = citrange(folder.path(), &words, &[]);
            assert!(done.status.success(), "{robot} on the {on}: {}", stderr(&done));
            let told: Value = serde_json::from_slice(&done.stdout).unwrap();
            let plans = told["plans"].as_array().unwrap();
            assert_eq!(plans.len(), 3, "{robot} on the {on}");
            assert!(plans.iter().all(|plan| plan["outcome"] == "found"), "{robot} on the {on}");
        }
    }
}

#[test]
fn what_reaches_into_the_table_is_refused() {
    let folder = temp();
    for (robot, goals) in ROBOTS {
        let scene = scene(folder.path(), robot, "table");
        // The same place, just below the table's top.
        let place: Vec<&str> = goals[0].split(' ').collect();
        let below = format!("{} {} -0.005", place[0], place[1]);
        let words = ["plan", &scene, "--goal", &below];
        let done = citrange(folder.path(), &words, &[]);
        let said = stderr(&done);
        assert_eq!(done.status.code(), Some(4), "{robot}: {said}");
        assert!(said.contains("at the goal") && said.contains("into table"), "{robot}: {said}");
    }
    // The upper arm, too, right beside the shoulder that is so near to the table.
    let scene = scene(folder.path(), "ur5", "table");
    let down = ["plan", &scene, "--goal-joints", "0 0.25 0 0 0 0"];
    let done = citrange(folder.path(), &down, &[]);
    assert_eq!(done.status.code(), Some(4), "{}", stderr(&done));
    assert!(stderr(&done).contains("into table"), "{}", stderr(&done));
}

//! Verbs of policies, from the training to the plan.

mod common;

use common::{citrange, ok, stderr, stdout, temp};
use serde_json::Value;

#[test]
fn a_policy_is_trained_goes_on_is_shown_and_plans() {
    let folder = temp();
    let here = folder.path();
    // Half of it, then the rest.
    ok(here, "train reach --robot ur5e --out reach --steps 81920 --seed 3 --threads 1");
    let again = citrange(here, &["train", "reach", "--out", "reach"], &[]);
    assert_eq!(again.status.code(), Some(3));
    assert!(stderr(&again).contains("--resume"), "{}", stderr(&again));
    ok(here, "train reach --resume reach --steps 163840");
    let shown = citrange(here, &["policy", "show", "reach"], &[]);
    let text = stdout(&shown);
    assert!(text.contains("ur5e") && text.contains("nearer(elbow_joint)"), "{text}");
    let words = ["eval", "reach", "--episodes", "100", "--attempts", "4", "--json"];
    let figures: Value = serde_json::from_str(&stdout(&citrange(here, &words, &[]))).unwrap();
    let rung = &figures["rungs"][0];
    assert!(rung["success"]["share"].as_f64().unwrap() > 0.7, "{rung}");
    assert_eq!(rung["proof"]["touching"], 0);
    let page = std::fs::read_to_string(here.join("reach_eval/index.html")).unwrap();
    assert!(page.contains("Learning") && page.contains("planner"), "{}", page.len());
    // The same goal by the planner and with the policy: both come to it.
    let goal = ["plan", "ur5_cell", "--goal", "0.5 0.2 0.4", "--json"];
    for with in [None, Some("reach")] {
        let mut words = goal.to_vec();
        words.extend(with.iter().flat_map(|with| ["--with", with]));
        let output = citrange(here, &words, &[]);
        assert!(output.status.success(), "{}", stderr(&output));
        let plan: Value = serde_json::from_str(&stdout(&output)).unwrap();
        let plan = &plan["plans"][0];
        assert!(plan["reached_m"].as_f64().unwrap() < 2e-4, "{plan}");
        let by = plan["found_by"].as_str().unwrap();
        match with {
            None => assert_eq!(by, "birrt"),
            // A policy of a few seconds may fail; then it is said.
            Some(_) => {
                let told = plan["warnings"].as_array().unwrap().iter();
                let told = told.filter(|w| w.as_str().unwrap().contains("the policy"));
                assert_eq!(by == "policy", told.count() == 0, "{by}");
            }
        }
    }
    // Another robot's policy is refused.
    let words = ["plan", "orange_plate", "--goal", "0.2 0.1 0.1", "--with", "reach"];
    let output = citrange(here, &words, &[]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("ur5e"), "{}", stderr(&output));
}

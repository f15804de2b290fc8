//! What independent trials found (issue "Mend"): one file per number, through the binary or the page.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/page.rs"]
mod page;
#[path = "../common/wheel.rs"]
mod wheel;

mod n01_verify_interrupted;
mod n02_check_tells;
mod n03_robosuite;
mod n04_units;
mod n05_lost_pictures;
mod n06_last_page;
mod n07_gripper_of_the_start;
mod n08_on_a_table;
mod n09_plan_bench;
mod n10_collect_from;
mod n10_readme_lines;
mod n11_stall;
mod n12_dead_man;
mod n13_wind_up;
mod n14_limiter;
mod n15_links_and_viewers;
mod n16_portrait;
mod n17_page;
mod n18_cameras_idle;
mod n19_kills;
mod n20_index;
mod n21_edits_from_inside;
mod n22_imports;
mod n23_json;
mod n24_features;
mod n24_so101_hdf5;
mod soak;

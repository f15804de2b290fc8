//! Chains against the engine: frames, Jacobians and gravity torques at random joint positions.

use std::sync::Arc;

use citrange_core::rng::Rng;
use citrange_robot::{Chain, Kinematics};
use citrange_sim::{CompiledScene, Threads, World};
use nalgebra::Vector3;

use crate::common;

const ROBOTS: [&str; 4] = ["so101", "panda", "ur5e", "ur5"];
const POSES: usize = 200;

/// A turned and lifted robot alone, so that the base's pose counts.
fn alone(robot: &str) -> Arc<CompiledScene> {
    let text = format!(
        "name: t\ntitle: t\nrates: {{physics_hz: 500, control_hz: 500, frame_hz: 50}}\n\
         robots: {{robot0: {{model: {robot}, pos_m: [0.3, -0.2, 0.1], yaw_deg: 40}}}}\n\
         look: {{floor_z_m: -5}}\n"
    );
    common::scene_from(&text, std::path::Path::new("")).unwrap()
}

fn positions(chain: &Chain, rng: &mut Rng) -> Vec<f64> {
    let draw = |range: Option<[f64; 2]>| range.unwrap_or([-3.0, 3.0]);
    chain.joints.iter().map(|j| draw(j.range)).map(|[low, high]| rng.uniform(low, high)).collect()
}

/// The engine, placed at joint positions at rest.
fn place(world: &mut World, positions: &[f64]) {
    use citrange_core::{DictObjectState, DictRobotState, DictState};
    let names = world.scene().joint_names("robot0").unwrap();
    let zero = names.iter().map(|n| ((*n).to_owned(), 0.0)).collect();
    let dof = names.iter().map(|n| (*n).to_owned()).zip(positions.iter().copied()).collect();
    let object =
        DictObjectState { dof_pos: Some(dof), dof_vel: Some(zero), ..DictObjectState::default() };
    let state = DictRobotState { object, ..DictRobotState::default() };
    let robots = [("robot0".to_owned(), state)].into();
    world.set_dict_states(&[DictState { robots, ..DictState::default() }], None).unwrap();
}

#[test]
fn frames_jacobians_and_gravity_agree_with_the_engine() {
    for robot in ROBOTS {
        let scene = alone(robot);
        let chain = scene.chain("robot0").unwrap();
        let mut kinematics = Kinematics::new(&chain);
        let mut world = World::new(Arc::clone(&scene), 1, Threads::Exactly(1)).unwrap();
        let model = scene.model();
        let sites = &scene.robots["robot0"].sites;
        let site_id = |role: &str| {
            let full = format!("robot0/{}", sites[role]);
            (0..model.ffi().nsite as usize)
                .find(|id| {
                    model.id_to_name(mujoco_rs::prelude::MjtObjBase::mjOBJ_SITE, *id) == Some(&full)
                })
                .unwrap()
        };
        let mut rng = Rng::new(11);
        let mut worst = [0.0_f64; 4];
        let mut torques = vec![0.0; chain.joints.len()];
        for _ in 0..POSES {
            let q = positions(&chain, &mut rng);
            kinematics.update(&q);
            place(&mut world, &q);
            let data = world.data(0).unwrap();
            for (role, site) in [("wrist", &chain.wrist), ("tool", &chain.tool)] {
                let id = site_id(role);
                let frame = kinematics.site(site);
                let theirs = Vector3::from(data.site_xpos()[id]);
                worst[0] = worst[0].max((frame.pos_m - theirs).norm());
                let rot = data.site_xmat()[id];
                for k in 0..9 {
                    worst[1] = worst[1].max((frame.rot[(k / 3, k % 3)] - rot[k]).abs());
                }
                let (linear, angular) = data.jac_site(true, true, id);
                let nv = model.ffi().nv as usize;
                let norm = linear.iter().chain(&angular).fold(0.0_f64, |a, b| a.max(b.abs()));
                for joint in 0..chain.joints.len() {
                    let (p, r) = kinematics.column(joint, site.link, &frame.pos_m);
                    for row in 0..3 {
                        let off = (p[row] - linear[row * nv + joint]).abs();
                        let rotation = (r[row] - angular[row * nv + joint]).abs();
                        worst[2] = worst[2].max(off.max(rotation) / norm);
                    }
                }
            }
            kinematics.gravity_torques(&mut torques);
            let bias = data.qfrc_bias();
            let largest = bias.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
            for (ours, theirs) in torques.iter().zip(bias) {
                worst[3] = worst[3].max((ours - theirs).abs() / largest);
            }
        }
        println!("{robot}: position, rotation, Jacobian, gravity {worst:?}");
        assert!(worst[0] < 1e-10 && worst[1] < 1e-10, "{robot}: {worst:?}");
        assert!(worst[2] < 1e-9 && worst[3] < 1e-9, "{robot}: {worst:?}");
    }
}

#[test]
fn jacobians_are_the_slopes_of_the_frames() {
    for robot in ROBOTS {
        let chain = alone(robot).chain("robot0").unwrap();
        let mut kinematics = Kinematics::new(&chain);
        let mut rng = Rng::new(5);
        let step = 1e-6;
        for _ in 0..50 {
            let q = positions(&chain, &mut rng);
            for site in [&chain.wrist, &chain.tool] {
                for joint in 0..chain.joints.len() {
                    let mut at = |by: f64| {
                        let mut moved = q.clone();
                        moved[joint] += by;
                        kinematics.update(&moved);
                        kinematics.site(site)
                    };
                    let (plus, minus) = (at(step), at(-step));
                    kinematics.update(&q);
                    let here = kinematics.site(site);
                    let (p, r) = kinematics.column(joint, site.link, &here.pos_m);
                    let slope = (plus.pos_m - minus.pos_m) / (2.0 * step);
                    assert!((p - slope).norm() < 1e-8, "{robot}, joint {joint}: {p} {slope}");
                    let rotation = (plus.rot - minus.rot) / (2.0 * step) * here.rot.transpose();
                    let slope = Vector3::new(rotation[(2, 1)], rotation[(0, 2)], rotation[(1, 0)]);
                    assert!((r - slope).norm() < 1e-8, "{robot}, joint {joint}: {r} {slope}");
                }
            }
        }
    }
}

/// The lowest guard point is at or below every collision shape's lowest point of the hand.
#[test]
fn guards_cover_the_hand() {
    for (robot, first_body) in
        [("so101", "wrist"), ("panda", "link6"), ("ur5e", "wrist_2_link"), ("ur5", "wrist_2_link")]
    {
        let scene = alone(robot);
        let chain = scene.chain("robot0").unwrap();
        let mut kinematics = Kinematics::new(&chain);
        let mut world = World::new(Arc::clone(&scene), 1, Threads::Exactly(1)).unwrap();
        let model = scene.model();
        let mut rng = Rng::new(3);
        for _ in 0..POSES {
            let q = positions(&chain, &mut rng);
            kinematics.update(&q);
            place(&mut world, &q);
            let data = world.data(0).unwrap();
            let mut lowest = f64::INFINITY;
            let mut is_hand = vec![false; model.ffi().nbody as usize];
            for body in 1..is_hand.len() {
                let name = model.id_to_name(mujoco_rs::prelude::MjtObjBase::mjOBJ_BODY, body);
                is_hand[body] = is_hand[model.body_parentid()[body] as usize]
                    || name == Some(&format!("robot0/{first_body}"));
            }
            for geom in 0..model.ffi().ngeom as usize {
                if !is_hand[model.geom_bodyid()[geom] as usize] || model.geom_contype()[geom] == 0 {
                    continue;
                }
                let (pos, mat) = (data.geom_xpos()[geom], data.geom_xmat()[geom]);
                let size = model.geom_size()[geom];
                use mujoco_rs::prelude::MjtGeomBase;
                let down = match model.geom_type()[geom] {
                    MjtGeomBase::mjGEOM_BOX => (0..3).map(|k| size[k] * mat[6 + k].abs()).sum(),
                    MjtGeomBase::mjGEOM_CAPSULE => size[0] + size[1] * mat[8].abs(),
                    MjtGeomBase::mjGEOM_SPHERE => size[0],
                    MjtGeomBase::mjGEOM_CYLINDER => {
                        let rim = (1.0 - mat[8] * mat[8]).max(0.0).sqrt();
                        size[0] * rim + size[1] * mat[8].abs()
                    }
                    other => panic!("a {other:?} in {robot}"),
                };
                lowest = lowest.min(pos[2] - down);
            }
            // A cylinder's rim is covered by points a little outside of it.
            let spare = lowest - kinematics.lowest_m();
            assert!((-1e-9..0.005).contains(&spare), "{robot}: {spare}");
        }
    }
}

#[test]
fn floors_are_where_the_scene_says() {
    let floor = |scene: &str| common::scene(scene).floor_z_m("robot0").unwrap();
    assert_eq!(floor("multi_table_assembly"), 0.8);
    assert_eq!(floor("orange_plate"), 0.0);
    assert_eq!(alone("so101").floor_z_m("robot0").unwrap(), 0.1);
    assert!(common::scene("orange_plate").floor_z_m("robot1").is_err());
}

/// The chains that the control crate's own tests run on are those of the robots.
/// `CITRANGE_WRITE_CHAINS=1 cargo test -p citrange-sim --test all chain::` writes them anew.
#[test]
fn kept_chains_are_up_to_date() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../robot/tests/chains");
    for (robot, scene) in [
        ("so101", "orange_plate"),
        ("panda", "multi_table_assembly"),
        ("ur5e", "ur5_cell"),
        ("ur5", ""),
    ] {
        let scene = if scene.is_empty() { alone(robot) } else { common::scene(scene) };
        let chain = scene.chain("robot0").unwrap();
        let path = folder.join(format!("{robot}.json"));
        if std::env::var_os("CITRANGE_WRITE_CHAINS").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, serde_json::to_string(&chain).unwrap() + "\n").unwrap();
        }
        let kept: Chain = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(kept, chain, "{robot} changed; see this test's comment");
    }
}

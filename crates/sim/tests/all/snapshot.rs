//! Snapshots: restored anywhere, what follows is bit-identical.

use citrange_core::Snapshot;
use citrange_sim::{Threads, World};

use crate::common;

#[test]
fn a_dirty_environment_continues_exactly_for_1000_steps_with_contacts() {
    for name in citrange_sim::catalog::scene_names() {
        let mut original = common::world(name, 1);
        common::stir(&mut original, 250);
        let bytes = original.snapshot(0).unwrap().to_bytes();
        let steps_then = original.steps(0);
        let commands = common::sweep(&original, 1000, 2.5);
        let mut contacts = 0;
        let actuators = commands.len() / 1000;
        let mut trace = Vec::new();
        for chunk in commands.chunks(actuators * 50) {
            original.rollout(50, chunk).unwrap();
            contacts += original.contact_summary(0).unwrap().0;
            trace.push(common::bits(&common::read(&mut original)));
        }
        assert!(contacts > 20, "{name}: {contacts} contacts say little");
        // Another world, another episode, other motions before; and two threads.
        let mut dirty = World::new(common::scene(name), 3, Threads::Exactly(2)).unwrap();
        dirty.reset(77, &[4, 5, 6]).unwrap();
        common::stir(&mut dirty, 90);
        let snapshot = Snapshot::from_bytes(&bytes).unwrap();
        for env in 0..3 {
            dirty.restore(env, &snapshot).unwrap();
            assert_eq!(dirty.steps(env), steps_then);
        }
        for (chunk, expected) in commands.chunks(actuators * 50).zip(&trace) {
            dirty.rollout(50, &chunk.repeat(3)).unwrap();
            for env in 0..3 {
                let state = dirty.get_state(Some(&[env]), &Default::default()).unwrap();
                assert_eq!(&common::bits(&state), expected, "{name} environment {env}");
            }
        }
        assert_eq!(dirty.snapshot(1).unwrap().to_bytes(), original.snapshot(0).unwrap().to_bytes());
    }
}

#[test]
fn a_snapshot_of_a_restored_world_is_the_same_bytes() {
    let mut world = common::world("block_box", 2);
    common::stir(&mut world, 100);
    let first = world.snapshot(0).unwrap();
    world.restore(1, &first).unwrap();
    assert_eq!(world.snapshot(1).unwrap().to_bytes(), first.to_bytes());
}

#[test]
fn snapshots_that_do_not_belong_here_are_refused_and_change_nothing() {
    let mut world = common::world("block_box", 1);
    common::stir(&mut world, 40);
    let before = common::bits(&common::read(&mut world));
    let own = world.snapshot(0).unwrap();
    let mut refuse = |snapshot: &Snapshot, expected: &[&str]| {
        let error = world.restore(0, snapshot).unwrap_err().to_string();
        for part in expected {
            assert!(error.contains(part), "{error:?} should say {part:?}");
        }
        assert_eq!(common::bits(&common::read(&mut world)), before);
    };
    let other = common::world("orange_plate", 1).snapshot(0).unwrap();
    refuse(&other, &["orange_plate", &other.model_hash[..12], "block_box", &own.model_hash[..12]]);
    let mut older = own.clone();
    older.engine = "mujoco 3.3.0".into();
    refuse(&older, &["mujoco 3.3.0", "mujoco 3.17.0"]);
    let mut poor = own.clone();
    poor.fields.remove("mujoco/qacc_warmstart");
    refuse(&poor, &["mujoco/qacc_warmstart is missing"]);
    let mut short = own.clone();
    short.fields.get_mut("mujoco/qpos").unwrap().pop();
    refuse(&short, &["mujoco/qpos", "needed"]);
    let mut broken = own;
    broken.fields.get_mut("mujoco/qvel").unwrap()[0] = f64::NAN;
    refuse(&broken, &["mujoco/qvel holds NaN"]);
}

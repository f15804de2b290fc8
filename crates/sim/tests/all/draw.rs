//! Pictures of the simulated rig, drawn beside the loop.

use std::collections::BTreeSet;
use std::sync::mpsc::channel;
use std::time::Duration;

use citrange_core::{Command, Commanded, Observation, Picture, Rig as _, Snapshot, Want};
use citrange_render::{Antialias, Settings};
use citrange_sim::{SimRig, Threads, World};
use mujoco_rs::prelude::MjtJoint;

use crate::common;

/// Two frames wait and one is drawn.
const IN_FLIGHT: usize = 3;

fn rig() -> SimRig {
    let cameras = ["top", "wrist"].map(str::to_owned);
    SimRig::new(common::scene("block_box"), Some(&cameras)).unwrap()
}

/// Drives the arm for a frame, and answers its pictures and state at the beginning.
fn one_frame(rig: &mut SimRig, start: &[f64], frame: usize) -> (Vec<Picture>, Snapshot) {
    let (mut seen, mut commanded) = (Observation::default(), Commanded::default());
    rig.observe(Want::Images, &mut seen).unwrap();
    let snapshot = rig.snapshot().unwrap().unwrap();
    let targets: Vec<f64> = start.iter().map(|t| t + 0.2 * (frame as f64).sin()).collect();
    let command = Command::at(&targets);
    for _ in 0..rig.spec().rates.ticks_per_frame() {
        rig.tick(&command, &mut commanded).unwrap();
    }
    (seen.pictures().cloned().collect(), snapshot)
}

#[test]
fn pictures_show_the_moment_they_were_asked_for() {
    let mut rig = rig();
    let start = rig.targets();
    let mut frames = Vec::new();
    let mut ran_ahead = 0;
    for frame in 0..12 {
        frames.push(one_frame(&mut rig, &start, frame));
        let undrawn = |(p, _): &&(Vec<Picture>, _)| !p.iter().all(Picture::is_ready);
        let behind = frames.iter().filter(undrawn).count();
        assert!(behind <= IN_FLIGHT, "the drawer is {behind} frames behind");
        ran_ahead += usize::from(behind > 0);
    }
    assert!(ran_ahead > 6, "the loop ran ahead at {ran_ahead} of 12 frames only");
    let last = frames.last().unwrap().0[1].pixels().map(<[u8]>::to_vec);
    // One after the other: when the last is there, all are.
    assert!(frames.iter().flat_map(|f| &f.0).all(Picture::is_ready));
    assert_ne!(frames[0].0[1].pixels().map(<[u8]>::to_vec), last, "the arm did not move");
    let mut world = World::new(common::scene("block_box"), 1, Threads::Exactly(1)).unwrap();
    for (index, (pictures, snapshot)) in frames.iter().enumerate() {
        world.restore(0, snapshot).unwrap();
        for (picture, camera) in pictures.iter().zip(["top", "wrist"]) {
            let drawn = world.frame(0, camera).unwrap();
            assert!(picture.pixels().unwrap() == drawn.rgb, "frame {index}, camera {camera}");
        }
    }
}

#[test]
fn the_loop_is_not_held_while_the_drawer_keeps_up() {
    let mut rig = rig();
    let mut seen = Observation::default();
    let mut held = 0;
    let mut buffers = BTreeSet::new();
    for _ in 0..15 {
        rig.observe(Want::Images, &mut seen).unwrap();
        // Had it waited for the pictures, they would be here.
        held += usize::from(seen.pictures().all(Picture::is_ready));
        let pixels = |p: &Picture| p.pixels().unwrap().as_ptr() as usize;
        buffers.extend(seen.pictures().map(pixels));
    }
    assert!(held < 5, "held at {held} of 15 frames");
    // One in use, one just left, for two cameras; another if the drawer lets go of it late.
    assert!(buffers.len() <= 6, "{} buffers for two cameras", buffers.len());
}

#[test]
fn settings_of_the_world_are_those_of_the_pictures() {
    let mut rig = rig();
    let mut seen = Observation::default();
    rig.observe(Want::Images, &mut seen).unwrap();
    let before: Vec<Picture> = seen.pictures().cloned().collect();
    let plain = Settings { shadows: false, antialias: Antialias::Off, ..Settings::default() };
    rig.world_mut().set_render_settings(plain).unwrap();
    rig.observe(Want::Images, &mut seen).unwrap();
    let now = rig.world_mut().frame(0, "top").unwrap();
    assert!(seen.pictures().next().unwrap().pixels().unwrap() == now.rgb);
    assert!(seen.pictures().next().unwrap() != &before[0]);
}

#[test]
fn what_cannot_be_drawn_is_reported_to_all() {
    let mut rig = rig();
    let good = rig.snapshot().unwrap().unwrap();
    let mut far = good.clone();
    // The block, beyond what can be drawn.
    let model = rig.world().scene().model();
    let free = model.jnt_type().iter().position(|t| *t == MjtJoint::mjJNT_FREE).unwrap();
    let block = model.jnt_qposadr()[free] as usize;
    far.fields.get_mut("mujoco/qpos").unwrap()[block] = 1e7;
    rig.world_mut().restore(0, &far).unwrap();
    let mut seen = Observation::default();
    rig.observe(Want::Images, &mut seen).unwrap();
    for (picture, camera) in seen.pictures().zip(["top", "wrist"]) {
        let error = picture.pixels().err().unwrap().to_string();
        assert!(error.contains(camera) && error.contains("position"), "{error}");
    }
    // Whoever drives learns of it once, and without looking at pictures.
    rig.world_mut().restore(0, &good).unwrap();
    let error = rig.observe(Want::Images, &mut seen).unwrap_err().to_string();
    assert!(error.contains("camera top at step 0") && error.contains("position"), "{error}");
    assert!(seen.images.is_empty());
    rig.observe(Want::Images, &mut seen).unwrap();
    assert!(seen.pictures().all(|p| p.pixels().is_ok()));
}

#[test]
fn a_rig_can_go_while_its_pictures_are_drawn() {
    let (done, told) = channel();
    std::thread::spawn(move || {
        let mut rig = rig();
        let (mut first, mut second) = (Observation::default(), Observation::default());
        rig.observe(Want::Images, &mut first).unwrap();
        rig.observe(Want::Images, &mut second).unwrap();
        drop(rig);
        let all = first.pictures().chain(second.pictures());
        done.send(all.map(|p| p.pixels().map(<[u8]>::len)).collect::<Vec<_>>()).unwrap();
    });
    let lengths = told.recv_timeout(Duration::from_secs(60)).expect("the drop hangs");
    assert_eq!(lengths, vec![Ok(640 * 480 * 3); 4]);
}

#[test]
fn a_loop_in_a_hurry_leaves_pictures_out_rather_than_wait() {
    let mut rig = rig();
    rig.leave_pictures_out(true);
    let start = rig.targets();
    let mut pictures = Vec::new();
    for frame in 0..20 {
        pictures.extend(one_frame(&mut rig, &start, frame).0);
    }
    let left_out: Vec<bool> = pictures.iter().map(Picture::is_left_out).collect();
    assert!(!left_out[0] && !left_out[1], "the first frame always has its pictures");
    assert!(left_out.iter().filter(|l| **l).count() >= 10, "frames take far less than drawing");
    for picture in pictures {
        assert_eq!(picture.pixels().is_err(), picture.is_left_out());
    }
}

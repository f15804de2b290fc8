//! Environments: the same physics as a rig's, ends and beginnings, what is done and what it is worth.

use std::sync::Arc;

use citrange_core::{Command, Commanded, DictObjectState, DictState, Rig as _};
use citrange_env::{Actions, Autoreset, Batch, EnvSettings, Hold, Reward, Seeding};
use citrange_sim::{CompiledScene, SimRig, load_scene};

fn batch(scene: &str, envs: usize, settings: EnvSettings) -> Batch {
    Batch::new(load_scene(scene).unwrap(), envs, settings).unwrap()
}

/// Actions within the joints' ranges, another one each step.
fn action(batch: &Batch, step: usize) -> Vec<f32> {
    let limits = batch.action_limits().iter().enumerate();
    let one = limits.map(|(joint, limit)| {
        let share = 0.5 + 0.2 * ((step * 7 + joint * 3) as f64 * 0.37).sin();
        (limit.low + share * (limit.high - limit.low)) as f32
    });
    let one: Vec<f32> = one.collect();
    one.repeat(batch.num_envs())
}

/// What a rig's own loop makes of the same commands, bit for bit; whatever the others do.
#[test]
fn steps_are_those_of_a_rig() {
    for (scene, hold) in [("orange_plate", Hold::Frame), ("multi_table_assembly", Hold::Tick)] {
        let mut envs = batch(scene, 3, EnvSettings { hold, ..EnvSettings::default() });
        envs.reset(&Seeding::Run(7)).unwrap();
        let compiled = Arc::new(CompiledScene::new(&load_scene(scene).unwrap()).unwrap());
        let mut rig = SimRig::new(compiled, Some(&[])).unwrap();
        rig.world_mut().reset_env(0, 7, 1).unwrap();
        let (mut command, mut commanded) = (Command::default(), Commanded::default());
        rig.begin(&mut command).unwrap();
        let ticks = match hold {
            Hold::Frame => rig.spec().rates.ticks_per_frame(),
            Hold::Tick => 1,
        };
        for step in 0..15 {
            let actions = action(&envs, step);
            envs.step(&actions).unwrap();
            let joints = rig.spec().joints.len();
            command.pos = actions[..joints].iter().map(|a| f64::from(*a)).collect();
            for _ in 0..ticks {
                rig.tick(&command, &mut commanded).unwrap();
            }
            let (ours, theirs) =
                (envs.world().snapshot(1).unwrap(), rig.world().snapshot(0).unwrap());
            assert_eq!(ours.fields, theirs.fields, "{scene}, step {step}");
        }
    }
}

#[test]
fn episodes_end_and_begin_by_the_mode() {
    let most = 5;
    let with = |autoreset| {
        let settings = EnvSettings { autoreset, max_steps: Some(most), ..EnvSettings::default() };
        let mut envs = batch("reach", 2, settings);
        envs.reset(&Seeding::Run(3)).unwrap();
        envs
    };
    let (mut same, mut next) = (with(Autoreset::SameStep), with(Autoreset::NextStep));
    let mut off = with(Autoreset::Disabled);
    let start = same.observations().to_vec();
    for step in 0..5 {
        let actions = action(&same, step);
        for envs in [&mut same, &mut next, &mut off] {
            envs.step(&actions).unwrap();
        }
        assert_eq!(same.ended(), [step == 4; 2]);
    }
    assert_eq!(same.truncated(), [true; 2]);
    // What was seen last is kept, and equals what the others see still.
    assert_eq!(same.final_observations(), next.observations());
    assert_eq!(next.observations(), off.observations());
    let begun = same.observations().to_vec();
    assert_ne!(begun, start);
    assert_eq!([same.episode(0), same.episode(1)], [Some((3, 2)), Some((3, 3))]);
    let actions = action(&same, 9);
    for envs in [&mut same, &mut next, &mut off] {
        envs.step(&actions).unwrap();
    }
    assert_eq!(next.observations(), begun, "the action of the step after the end does not count");
    assert_eq!((next.rewards(), next.ended()), (&[0.0; 2][..], &[false; 2][..]));
    assert_eq!(off.ended(), [true; 2], "nobody began it anew");
    off.reset_envs(&[1], None).unwrap();
    assert_eq!(off.episode(1), Some((3, 3)));
    // The same pair is the same start, however it came to be.
    let mut again = with(Autoreset::Disabled);
    again.begin_episode(0, 3, 2).unwrap();
    let width = again.observation_names().len();
    assert_eq!(again.observations()[..width], begun[..width]);
}

#[test]
fn a_reached_place_ends_the_episode() {
    let settings = EnvSettings { reward: Reward::Dense, ..EnvSettings::default() };
    let mut envs = batch("reach", 1, settings);
    let names: Vec<String> = envs.observation_names().iter().map(|e| e.name.clone()).collect();
    let at = |name: &str| names.iter().position(|known| known == name).unwrap();
    let (goal, tool, ball) = (at("goal.x"), at("tool.x"), at("ball.pos.x"));
    let seen = envs.observations().to_vec();
    assert!((seen[goal + 2] - seen[ball + 2] - 0.06).abs() < 1e-6);
    let hold: Vec<f32> = envs.targets().iter().map(|t| *t as f32).collect();
    envs.step(&hold).unwrap();
    assert_eq!(envs.terminated(), [false]);
    let far = envs.rewards()[0];
    // The ball is put below the tool: now the place is reached.
    let seen = envs.observations().to_vec();
    let pos = [seen[tool], seen[tool + 1], seen[tool + 2] - 0.06].map(f64::from);
    let object = DictObjectState { pos: Some(pos), ..DictObjectState::default() };
    let state = DictState { objects: [("ball".into(), object)].into(), ..DictState::default() };
    envs.world_mut().set_dict_states(&[state], None).unwrap();
    envs.look_again().unwrap();
    envs.step(&hold).unwrap();
    assert_eq!(
        (envs.terminated(), envs.success(), envs.ended()),
        (&[true][..], &[true][..], &[true][..])
    );
    assert!(far.abs() < 0.5 && envs.rewards()[0] > 0.5, "{far}, {}", envs.rewards()[0]);
}

/// Things that lie on the plate are the job done, and things that lie beside it are not.
#[test]
fn brought_things_are_the_job_done() {
    let settings = EnvSettings { ends_when_done: false, max_steps: None, ..EnvSettings::default() };
    let mut envs = batch("orange_plate", 2, settings);
    envs.reset(&Seeding::Run(1)).unwrap();
    let hold: Vec<f32> = envs.targets().iter().map(|t| *t as f32).collect();
    let around = [[0.05, 0.0], [-0.025, 0.043], [-0.025, -0.043]];
    let objects = around.iter().enumerate().map(|(n, [x, y])| {
        let pos = Some([0.165 + x, -0.15 + y, 0.008 + 0.0255]);
        let still = Some([0.0; 3]);
        let object = DictObjectState { pos, vel: still, ang_vel: still, ..Default::default() };
        (format!("orange_{}", n + 1), object)
    });
    let state = DictState { objects: objects.collect(), ..DictState::default() };
    envs.world_mut().set_dict_states(&[state], Some(&[1])).unwrap();
    envs.look_again().unwrap();
    for _ in 0..60 {
        envs.step(&hold).unwrap();
    }
    assert_eq!(envs.success(), [false, true]);
    assert_eq!(envs.rewards(), [0.0, 1.0]);
    assert_eq!(envs.ended(), [false, false]);
    let width = envs.observation_names().len();
    let placed = &envs.observations()[2 * width - 3..];
    assert_eq!(placed, [1.0; 3]);
}

#[test]
fn deltas_go_as_far_as_a_joint_may() {
    let settings = EnvSettings { actions: Actions::Deltas, ..EnvSettings::default() };
    let mut envs = batch("reach", 1, settings);
    let before = envs.targets().to_vec();
    envs.step(&[0.0; 6]).unwrap();
    assert_eq!(envs.targets(), before);
    envs.step(&[1.0, -9.0, 0.5, 0.0, 0.0, 0.0]).unwrap();
    let scene = envs.world().scene();
    let limit = scene.robots["robot0"].joint_limits["shoulder_pan"].velocity_rad_s.unwrap();
    assert!((envs.targets()[0] - before[0] - limit / 30.0).abs() < 1e-12);
    assert!(envs.targets()[1] <= before[1]);
    assert_eq!(envs.targets()[3..], before[3..]);
}

#[test]
fn what_makes_no_sense_is_named() {
    let mut envs = batch("reach", 2, EnvSettings::default());
    let said = |error: citrange_env::EnvError| error.to_string();
    assert!(said(envs.step(&[0.0; 11]).unwrap_err()).contains("actions: 11 numbers; 2 x 6"));
    let mut bad = [0.0; 12];
    bad[7] = f32::NAN;
    let why = said(envs.step(&bad).unwrap_err());
    assert!(why.contains("shoulder_lift, environment 1"), "{why}");
    let why = said(envs.reset(&Seeding::Each(vec![1])).unwrap_err());
    assert!(why.contains("seed: 1 seeds for 2"), "{why}");
    let why = said(envs.reset_envs(&[2], None).unwrap_err());
    assert!(why.contains("no environment 2"), "{why}");
    let source = || load_scene("reach").unwrap();
    let cameras = [("frnt".to_owned(), citrange_sim::CameraQuery::RGB)].into();
    let why = Batch::new(source(), 1, EnvSettings { cameras, ..EnvSettings::default() });
    assert!(said(why.unwrap_err()).contains("did you mean \"front\"?"));
    let settings = EnvSettings { picture_px: Some([0, 4]), ..EnvSettings::default() };
    assert!(said(Batch::new(source(), 1, settings).unwrap_err()).contains("picture size"));
}

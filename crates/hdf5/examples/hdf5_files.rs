//! Writes sample files and prints files as JSON, for tests against h5py.
//!
//! `hdf5_files demo PATH gzip|plain`, `hdf5_files robomimic PATH`, `hdf5_files dump PATH`

use std::collections::BTreeMap;
use std::io::Write;

use citrange_hdf5::{
    Array, Attr, Compression, Demo, DemoAttrs, FileLayout, Images, InitialStateData, RobomimicDemo,
    RobomimicHeader, RobomimicWriter, Series, read_aloha, read_demo, read_robomimic, sniff,
    write_demo_with,
};
use serde_json::{Value, json};

type Anything = Box<dyn std::error::Error>;

fn main() -> Result<(), Anything> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["demo", path, "gzip"] => write_demo_with(path, &demo()?, Compression::Gzip(4))?,
        ["demo", path, "plain"] => write_demo_with(path, &demo()?, Compression::None)?,
        ["robomimic", path] => robomimic(path)?,
        ["dump", path] => {
            let value = dump(path)?;
            writeln!(std::io::stdout(), "{value}")?;
        }
        _ => return Err("usage: demo PATH gzip|plain, robomimic PATH, dump PATH".into()),
    }
    Ok(())
}

/// Numbers that Python computes with the same bits.
fn ramp(count: usize, step: f64) -> Vec<f64> {
    (0..count).map(|k| k as f64 * step - 1.0).collect()
}

fn pictures(frames: usize, height: usize, width: usize) -> Result<Images, Anything> {
    Ok(Images::from_fn(frames, height, width, |frame, out| {
        for (k, byte) in out.iter_mut().enumerate() {
            *byte = ((frame * 31 + k * 7) % 251) as u8;
        }
        Ok(())
    })?)
}

fn model() -> String {
    format!("<mujoco model=\"Würfel\">{}</mujoco>", "<body name=\"b\"/>".repeat(6000))
}

fn demo() -> Result<Demo, Anything> {
    let table = |rows, cols, step| Array::matrix(rows, cols, ramp(rows * cols, step));
    let mut demo = Demo {
        attrs: DemoAttrs {
            episode_number: Some(7),
            environment: Some("Stack".into()),
            robots: Some("['Panda']".into()),
            total_steps: Some(70),
            start_time: Some(Attr::Text("2026-03-14T15:09:26".into())),
            duration: Some(3.5),
            success: Some(true),
            randomization_enabled: Some(false),
            randomization_seed: Some(Attr::Int(-3)),
            other: BTreeMap::from([
                ("format".into(), Attr::Text("citrange 1".into())),
                ("empty".into(), Attr::Text(String::new())),
                ("large".into(), Attr::Unsigned(u64::MAX)),
                ("gains".into(), Attr::Floats(vec![0.1, f64::MIN_POSITIVE])),
            ]),
        },
        model_xml: Some(model()),
        initial_state: Some(ramp(45, 0.1)),
        initial_state_data: Some(InitialStateData {
            qpos: Some(ramp(23, 0.1)),
            qvel: Some(ramp(21, 0.2)),
            time: Some(0.3),
            body_pos: Some(vec![[0.1, 0.2, 0.3], [-0.0, 1e-300, 2.5]]),
            body_rot: Some(vec![[1.0; 9], [0.5; 9]]),
            body_names: Some(vec!["world".into(), "Würfel".into()]),
        }),
        actions: Some(table(70, 7, 0.01)?),
        rewards: Some(ramp(70, 0.5)),
        dones: Some((0..70).map(|k| k == 69).collect()),
        timestamps: Some(ramp(70, 0.05)),
        ..Demo::default()
    };
    demo.named_joints.insert("cubeA_joint_qpos".into(), ramp(7, 0.1));
    demo.named_joints.insert("robot0_joint_pos".into(), ramp(7, 0.3));
    demo.cameras.insert("agentview".into(), pictures(70, 12, 16)?);
    demo.cameras.insert("robot0_eye_in_hand".into(), pictures(70, 5, 3)?);
    demo.robot_states.insert("robot0_joint_pos".into(), table(70, 7, 0.1)?);
    demo.gripper_states.insert("robot0_right_gripper_qpos".into(), table(70, 2, 0.1)?);
    demo.observables.insert("reward_like".into(), Series::Numbers(Array::vector(ramp(70, 0.7))));
    demo.blobs.insert("tape".into(), (0..=255).collect());
    demo.blobs.insert("nothing".into(), vec![]);
    Ok(demo)
}

fn robomimic(path: &str) -> Result<(), Anything> {
    let header = RobomimicHeader {
        env: Some("Stack".into()),
        env_info: Some("{\"env_name\": \"Stack\"}".into()),
        env_args: Some(
            "{\"env_name\": \"Stack\", \"type\": 1, \"env_version\": \"1.5.2\", \"env_kwargs\": {}}"
                .into(),
        ),
        repository_version: Some("1.5.2".into()),
        date: Some("3-14-2026".into()),
        time: Some("15:9:26".into()),
        other: BTreeMap::new(),
    };
    let mut file = RobomimicWriter::create(path, &header)?;
    for k in 0..12 {
        let steps = 20 + k;
        let numbers =
            |cols, step| Array::matrix(steps, cols, ramp(steps * cols, step)).map(Series::Numbers);
        let obs = |shift: f64| -> Result<BTreeMap<String, Series>, Anything> {
            Ok(BTreeMap::from([
                ("robot0_eef_pos".to_owned(), numbers(3, 0.1 + shift)?),
                ("object".to_owned(), numbers(10, 0.2 + shift)?),
                ("agentview_image".to_owned(), Series::Images(pictures(steps, 8, 8)?)),
            ]))
        };
        file.add(&RobomimicDemo {
            model_file: Some(model()),
            ep_meta: Some("{}".into()),
            states: Some(Array::matrix(steps, 45, ramp(steps * 45, 0.1))?),
            actions: Some(Array::matrix(steps, 7, ramp(steps * 7, 0.002))?),
            rewards: Some(ramp(steps, 0.5)),
            dones: Some((0..steps).map(|i| i + 1 == steps).collect()),
            obs: obs(0.0)?,
            next_obs: obs(0.5)?,
            ..RobomimicDemo::default()
        })?;
    }
    file.mask("train", &["demo_0", "demo_2", "demo_11"])?;
    file.mask("valid", &["demo_1"])?;
    file.finish()?;
    Ok(())
}

fn dump(path: &str) -> Result<Value, Anything> {
    Ok(match sniff(path)? {
        FileLayout::Demo => dump_demo(&read_demo(path)?)?,
        FileLayout::Robomimic => {
            let file = read_robomimic(path)?;
            let mut demos = Vec::new();
            for (k, name) in file.demos.iter().enumerate() {
                let demo = file.read_demo(k)?;
                demos.push(json!({
                    "name": name, "steps": demo.steps(),
                    "model_file": demo.model_file, "ep_meta": demo.ep_meta,
                    "states": demo.states.as_ref().map(array),
                    "actions": demo.actions.as_ref().map(array),
                    "rewards": demo.rewards, "dones": demo.dones,
                    "obs": all_series(&demo.obs)?, "next_obs": all_series(&demo.next_obs)?,
                    "attrs": attrs(&demo.attrs), "skipped": demo.skipped, "unread": demo.unread,
                }));
            }
            let header = &file.header;
            json!({
                "kind": "robomimic", "total": file.total, "masks": file.masks, "demos": demos,
                "env": header.env, "env_info": header.env_info, "env_args": header.env_args,
                "repository_version": header.repository_version, "date": header.date,
                "time": header.time, "other": attrs(&header.other),
            })
        }
        FileLayout::Aloha => {
            let file = read_aloha(path)?;
            json!({
                "kind": "aloha", "qpos": file.qpos.as_ref().map(array),
                "action": file.action.as_ref().map(array), "attrs": attrs(&file.attrs),
                "cameras": file.cameras, "unread": file.unread,
            })
        }
        FileLayout::Other(what) => json!({"kind": "other", "what": what}),
    })
}

fn dump_demo(demo: &Demo) -> Result<Value, Anything> {
    let start = demo.initial_state_data.as_ref().map(|s| {
        let rot = s.body_rot.as_ref().map(|r| r.iter().map(|m| m.to_vec()).collect::<Vec<_>>());
        json!({
            "qpos": s.qpos, "qvel": s.qvel, "time": s.time, "body_pos": s.body_pos,
            "body_rot": rot, "body_names": s.body_names,
        })
    });
    let a = &demo.attrs;
    let arrays = |map: &BTreeMap<String, Array>| -> BTreeMap<String, Value> {
        map.iter().map(|(name, a)| (name.clone(), array(a))).collect()
    };
    let cameras: Result<BTreeMap<_, _>, Anything> =
        demo.cameras.iter().map(|(name, i)| Ok((name.clone(), images(i)?))).collect();
    Ok(json!({
        "kind": "demo",
        "attrs": {
            "episode_number": a.episode_number, "environment": a.environment,
            "robots": a.robots, "total_steps": a.total_steps,
            "start_time": a.start_time.as_ref().map(attr), "duration": a.duration,
            "success": a.success, "randomization_enabled": a.randomization_enabled,
            "randomization_seed": a.randomization_seed.as_ref().map(attr),
            "other": attrs(&a.other),
        },
        "model_xml": demo.model_xml, "initial_state": demo.initial_state,
        "initial_state_data": start, "named_joints": demo.named_joints,
        "actions": demo.actions.as_ref().map(array), "rewards": demo.rewards,
        "dones": demo.dones, "timestamps": demo.timestamps, "cameras": cameras?,
        "robot_states": arrays(&demo.robot_states),
        "gripper_states": arrays(&demo.gripper_states),
        "observables": all_series(&demo.observables)?, "blobs": demo.blobs,
        "skipped": demo.skipped, "unread": demo.unread,
    }))
}

fn array(array: &Array) -> Value {
    json!({"shape": array.shape(), "data": array.data()})
}

fn images(images: &Images) -> Result<Value, Anything> {
    let mut crc = flate2::Crc::new();
    for k in 0..images.frames() {
        crc.update(&images.frame(k)?);
    }
    let shape = [images.frames(), images.height(), images.width(), images.channels()];
    Ok(json!({"shape": shape, "crc32": crc.sum()}))
}

fn all_series(all: &BTreeMap<String, Series>) -> Result<BTreeMap<String, Value>, Anything> {
    let value = |series: &Series| match series {
        Series::Numbers(numbers) => Ok(array(numbers)),
        Series::Images(pictures) => images(pictures),
    };
    all.iter().map(|(name, series)| Ok((name.clone(), value(series)?))).collect()
}

fn attrs(all: &BTreeMap<String, Attr>) -> BTreeMap<String, Value> {
    all.iter().map(|(name, value)| (name.clone(), attr(value))).collect()
}

fn attr(value: &Attr) -> Value {
    match value {
        Attr::Bool(v) => json!(v),
        Attr::Int(v) => json!(v),
        Attr::Unsigned(v) => json!(v),
        Attr::Float(v) => json!(v),
        Attr::Text(v) => json!(v),
        Attr::Texts(v) => json!(v),
        Attr::Floats(v) => json!(v),
    }
}

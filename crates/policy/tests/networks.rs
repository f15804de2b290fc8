//! Networks of others: read as they are, refused when damaged, never executed.

use std::io::{Cursor, Write as _};

use citrange_core::rng::Rng;
use citrange_policy::{Aabb, Activation, Asked, ForeignPolicy, Layer, Mapping, Mlp, to_onnx};
use citrange_robot::Robot;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

fn network(sizes: &[usize], activation: Activation) -> Mlp {
    let mut rng = Rng::new(4);
    let count = sizes.len() - 1;
    let layers = sizes.windows(2).enumerate().map(|(index, pair)| {
        let mut numbers =
            |n: usize| -> Vec<f32> { (0..n).map(|_| rng.uniform(-0.3, 0.3) as f32).collect() };
        let activation = if index + 1 == count { Activation::None } else { activation };
        let (weights, bias) = (numbers(pair[0] * pair[1]), numbers(pair[1]));
        Layer::new(&weights, &bias, pair[0], activation).unwrap()
    });
    Mlp::new(layers.collect()).unwrap()
}

fn inputs(rng: &mut Rng, count: usize) -> Vec<f32> {
    (0..count).map(|_| rng.uniform(-2.0, 2.0) as f32).collect()
}

/// What full layers answer, summed in double precision.
fn plain(network: &Mlp, inputs: &[f32]) -> Vec<f64> {
    let mut values: Vec<f64> = inputs.iter().map(|x| f64::from(*x)).collect();
    for layer in network.layers() {
        let weights = layer.weights_by_output();
        values = (0..layer.outputs())
            .map(|output| {
                let row = &weights[output * layer.inputs()..(output + 1) * layer.inputs()];
                let sum: f64 = row.iter().zip(&values).map(|(w, x)| f64::from(*w) * x).sum();
                let sum = sum + f64::from(layer.bias()[output]);
                match layer.activation() {
                    Activation::None => sum,
                    Activation::Relu => sum.max(0.0),
                    Activation::Tanh => sum.tanh(),
                }
            })
            .collect();
    }
    values
}

#[test]
fn onnx_that_we_write_is_what_we_read() {
    let mut rng = Rng::new(1);
    // Sizes that are no whole vectors too.
    for sizes in [&[58, 256, 256, 5][..], &[7, 20, 33, 3], &[90, 128, 128, 6]] {
        for activation in [Activation::Relu, Activation::Tanh] {
            let net = network(sizes, activation);
            let read = ForeignPolicy::of_bytes(&to_onnx(&net), "net.onnx").unwrap();
            assert_eq!(read.network, net);
            assert_eq!(read.inputs, [("observation".to_owned(), sizes[0])]);
            for _ in 0..20 {
                let x = inputs(&mut rng, sizes[0]);
                let answers = read.act(&x).unwrap();
                for (a, b) in answers.iter().zip(plain(&net, &x)) {
                    assert!((f64::from(*a) - b).abs() < 1e-5 * (1.0 + b.abs()), "{a} {b}");
                }
            }
        }
    }
}

/// A pickle as torch writes one, of tensors and their shapes; `evil` calls something.
fn pickle(tensors: &[(String, Vec<usize>)], evil: bool) -> Vec<u8> {
    let mut out = b"\x80\x02ccollections\nOrderedDict\nq\x00)Rq\x01(".to_vec();
    let text = |out: &mut Vec<u8>, text: &str| {
        out.push(b'X');
        out.extend((text.len() as u32).to_le_bytes());
        out.extend(text.as_bytes());
    };
    let int = |out: &mut Vec<u8>, n: usize| {
        out.push(b'J');
        out.extend((n as i32).to_le_bytes());
    };
    for (key, (name, shape)) in tensors.iter().enumerate() {
        text(&mut out, name);
        if evil {
            out.extend(b"cos\nsystem\n");
            text(&mut out, "touch executed");
            out.extend(b"\x85R");
            continue;
        }
        out.extend(b"ctorch._utils\n_rebuild_tensor_v2\n((");
        text(&mut out, "storage");
        out.extend(b"ctorch\nFloatStorage\n");
        text(&mut out, &key.to_string());
        text(&mut out, "cpu");
        int(&mut out, shape.iter().product());
        out.extend(b"tQ");
        int(&mut out, 0);
        out.push(b'(');
        shape.iter().for_each(|n| int(&mut out, *n));
        out.extend(b"t(");
        let stride = if shape.len() == 2 { vec![shape[1], 1] } else { vec![1] };
        stride.iter().for_each(|n| int(&mut out, *n));
        out.extend(b"t\x89ccollections\nOrderedDict\n)RtR");
    }
    out.extend(b"u.");
    out
}

fn zipped(entries: &[(&str, Vec<u8>)], packed: bool) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let method =
        if packed { zip::CompressionMethod::Deflated } else { zip::CompressionMethod::Stored };
    for (name, bytes) in entries {
        zip.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A network as Stable-Baselines3 saves it.
fn sb3(net: &Mlp, spaces: &str, packed: bool, evil: bool) -> Vec<u8> {
    let count = net.layers().len();
    let mut tensors = vec![("log_std".to_owned(), vec![net.outputs()])];
    let mut raw = vec![vec![0.0; net.outputs()]];
    for (index, layer) in net.layers().iter().enumerate() {
        let name = if index + 1 == count {
            "action_net".to_owned()
        } else {
            format!("mlp_extractor.policy_net.{}", 2 * index)
        };
        tensors.push((format!("{name}.weight"), vec![layer.outputs(), layer.inputs()]));
        raw.push(layer.weights_by_output());
        tensors.push((format!("{name}.bias"), vec![layer.outputs()]));
        raw.push(layer.bias().to_vec());
    }
    let names: Vec<String> = (0..raw.len()).map(|n| format!("archive/data/{n}")).collect();
    let mut entries = vec![("archive/data.pkl", pickle(&tensors, evil))];
    for (name, numbers) in names.iter().zip(&raw) {
        entries.push((name, numbers.iter().flat_map(|x| x.to_le_bytes()).collect()));
    }
    entries.push(("archive/byteorder", b"little".to_vec()));
    let bounds = vec!["-1."; net.outputs()].join(" ");
    let data = serde_json::json!({
        "policy_kwargs": {"activation_fn": "<class 'torch.nn.modules.activation.Tanh'>"},
        "observation_space": {":type:": "<class 'gymnasium.spaces.dict.Dict'>", "spaces": spaces},
        "action_space": {"low": format!("[{bounds}]"), "high": format!("[{}]", bounds.replace('-', ""))},
        "num_timesteps": 19_440_000,
    });
    let entries = [
        ("data", data.to_string().into_bytes()),
        ("policy.pth", zipped(&entries, packed)),
        ("_stable_baselines3_version", b"2.9.2".to_vec()),
    ];
    zipped(&entries, packed)
}

/// The text of a dictionary space with the keys of the mapping that comes with Citrange.
fn spaces_58() -> String {
    let mapping = Mapping::voxels_58().unwrap();
    let sizes = |name: &str| match name {
        "PositionGoal_ur5_1" => 4,
        "joints_angles_ur5_1" => 5,
        "obstacle_distances" => 1,
        _ => 3,
    };
    let each = mapping.inputs.iter().map(|input| {
        format!("'{}': Box(-50.0, 50.0, ({},), float32)", input.name, sizes(&input.name))
    });
    format!("{{{}}}", each.collect::<Vec<_>>().join(", "))
}

#[test]
fn a_policy_of_58_inputs_drives_a_ur5_by_its_mapping() {
    let net = network(&[58, 256, 256, 5], Activation::Tanh);
    let mapping = Mapping::voxels_58().unwrap();
    let robot = Robot::load("ur5").unwrap();
    for packed in [false, true] {
        let bytes = sb3(&net, &spaces_58(), packed, false);
        let policy = ForeignPolicy::of_bytes(&bytes, "model.zip").unwrap();
        assert_eq!(policy.network, net);
        assert_eq!(policy.inputs.len(), 19);
        assert_eq!(policy.bounds, Some([vec![-1.0; 5], vec![1.0; 5]]));
        mapping.check(&policy).unwrap();
        let posture = [0.3, -1.2, 1.5, -1.8, -1.5, 0.0];
        let boxes = [Aabb::around([0.5, 0.2, 0.5], [0.1; 3])];
        let seen = mapping.inputs(&robot, &posture, [0.4, 0.3, 0.5], &boxes).unwrap();
        assert_eq!(seen.len(), 58);
        // Joints as they are; the distance is the length of the way.
        assert!((seen[4] - 0.3).abs() < 1e-6);
        let way = (seen[0].powi(2) + seen[1].powi(2) + seen[2].powi(2)).sqrt();
        assert!((way - seen[3]).abs() < 1e-6);
        // The frame is turned by half a turn: x and y have other signs.
        let tool = robot.tool_at(&posture).unwrap();
        assert!((f64::from(seen[0]) + (0.4 - tool[0])).abs() < 1e-5);
        let answer = policy.act(&seen).unwrap();
        assert!(answer.iter().all(|x| (-1.0..=1.0).contains(x)));
        let Asked::Positions(joints) = mapping.asked(&robot, &answer).unwrap() else {
            panic!("positions are asked for")
        };
        assert_eq!(joints.iter().map(|(joint, _)| *joint).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        assert!((joints[2].1 - f64::from(answer[2]) * std::f64::consts::PI).abs() < 1e-6);
        // Nothing around: what stands for nothing.
        let alone = mapping.inputs(&robot, &posture, [0.4, 0.3, 0.5], &[]).unwrap();
        assert_eq!(alone[9..12], [0.4; 3]);
        assert_eq!(alone[30..34], [0.4, 0.0, 0.0, -10.0]);
    }
    // Another network does not fit.
    let other = network(&[60, 8, 5], Activation::Tanh);
    let bytes = sb3(&other, "{'a': Box(-1.0, 1.0, (60,), float32)}", false, false);
    let other = ForeignPolicy::of_bytes(&bytes, "other.zip").unwrap();
    assert!(mapping.check(&other).is_err());
}

#[test]
fn what_a_pickle_would_call_is_not_called() {
    let net = network(&[4, 8, 2], Activation::Tanh);
    let bytes = sb3(&net, "{'a': Box(-1.0, 1.0, (4,), float32)}", false, true);
    let error = ForeignPolicy::of_bytes(&bytes, "evil.zip").unwrap_err().to_string();
    assert!(error.contains("os.system") && error.contains("nothing is executed"), "{error}");
    assert!(!std::path::Path::new("executed").exists());
}

/// Cut and flipped in 200 ways each: an error or another network, never a panic.
#[test]
fn damaged_files_are_refused_without_a_panic() {
    let net = network(&[12, 16, 3], Activation::Tanh);
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("theirs.policy");
    let whole = to_onnx(&net);
    ForeignPolicy::of_bytes(&whole, "a").unwrap().save(&own).unwrap();
    let files = [
        whole,
        sb3(&net, "{'a': Box(-1.0, 1.0, (12,), float32)}", false, false),
        sb3(&net, "{'a': Box(-1.0, 1.0, (12,), float32)}", true, false),
        std::fs::read(&own).unwrap(),
    ];
    let mut rng = Rng::new(8);
    for (kind, whole) in files.iter().enumerate() {
        let read = ForeignPolicy::of_bytes(whole, "whole").unwrap();
        assert_eq!(read.network, net);
        let mut refused = 0;
        for way in 0..200 {
            let mut broken = whole.clone();
            match way % 4 {
                0 => broken.truncate(rng.below(whole.len())),
                1 => {
                    let at = rng.below(whole.len());
                    broken[at] ^= 1 << rng.below(8);
                }
                2 => {
                    let at = rng.below(whole.len());
                    broken[at..].iter_mut().take(8).for_each(|b| *b = 0xff);
                }
                _ => {
                    let at = rng.below(whole.len());
                    broken.splice(at..at, [0x80, 0xff, 0x7f]);
                }
            }
            refused += usize::from(ForeignPolicy::of_bytes(&broken, "broken").is_err());
        }
        assert!(refused > 100, "kind {kind}: {refused}");
    }
    // Tuples in tuples, without end.
    let deep = [b"\x80\x02)".as_slice(), &[0x85; 90_000], b"."].concat();
    let pth = zipped(&[("archive/data.pkl", deep)], false);
    let deep = zipped(&[("data", b"{}".to_vec()), ("policy.pth", pth)], false);
    let error = ForeignPolicy::of_bytes(&deep, "deep.zip").unwrap_err().to_string();
    assert!(error.contains("in each other"), "{error}");
    assert!(ForeignPolicy::of_bytes(b"", "empty").is_err());
    assert!(ForeignPolicy::of_bytes(&[0xff; 100], "noise").is_err());
}

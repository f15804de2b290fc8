//! Times of collision checks on the planning problems: per configuration and per motion of 1 rad.
//!
//! `cargo run --release -p citrange-plan --example motion_times -- problems.json body.json`

use std::sync::Arc;
use std::time::Instant;

use citrange_core::rng::Rng;
use citrange_core::shape::PosedShape;
use citrange_plan::{
    Collider, ColliderSettings, Config, JointLimit, Motions, Obstacles, PlannedArm,
};
use citrange_robot::Robot;
use citrange_space::{Grid, MapSnapshot};
use serde_json::Value;

type Failure = Box<dyn std::error::Error>;

fn numbers<const N: usize>(value: &Value) -> [f64; N] {
    std::array::from_fn(|i| value[i].as_f64().unwrap_or(f64::NAN))
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn solids(problem: &Value) -> Obstacles {
    let cuboid = |b: &Value| {
        let [x, y, z, w] = numbers(&b["quat_xyzw"]);
        let (centre_m, half_m) = (numbers(&b["center"]), numbers(&b["half"]));
        PosedShape::cuboid(centre_m, [w, x, y, z], half_m)
    };
    let radius = |v: &Value| v["radius"].as_f64().unwrap_or(f64::NAN);
    let sphere = |b: &Value| PosedShape::sphere(numbers(&b["center"]), radius(b));
    let capsule = |c: &Value| PosedShape::capsule(numbers(&c["a"]), numbers(&c["b"]), radius(c));
    let boxes = list(&problem["boxes"]).map(cuboid);
    let spheres = list(&problem["spheres"]).map(sphere);
    let capsules = list(&problem["capsules"]).map(capsule);
    Obstacles::of(boxes.chain(spheres).chain(capsules).collect())
}

fn voxels(problem: &Value) -> Result<Obstacles, Failure> {
    let grid = Grid::new([-1.3, -1.3, -0.3], [1.3, 1.3, 2.3], 0.05)?;
    let cells = list(&problem["voxels"]).filter_map(|v| grid.cell(numbers(v)));
    let keys: Vec<u32> = cells.map(|cell| grid.key(cell)).collect();
    let map = Some(Arc::new(MapSnapshot::from_voxels(&grid, &keys)?));
    Ok(Obstacles { map, ..Obstacles::default() })
}

fn random(rng: &mut Rng) -> Config {
    Config::of(&std::array::from_fn::<f64, 6, _>(|_| {
        rng.uniform(-std::f64::consts::PI, std::f64::consts::PI)
    }))
}

/// Runs something on all of a list several times; seconds per call of the fastest time, which
/// other work on the machine disturbs least.
fn time<T>(list: &[T], mut run: impl FnMut(&T) -> bool) -> f64 {
    let mut best = f64::NAN;
    for _ in 0..8 {
        let start = Instant::now();
        for item in list {
            std::hint::black_box(run(item));
        }
        best = best.min(start.elapsed().as_secs_f64() / list.len() as f64);
    }
    best
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.retain(|n| !n.is_nan());
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

#[expect(clippy::print_stdout, reason = "a report for people")]
fn main() -> Result<(), Failure> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let [problems, body] = paths.as_slice() else { return Err("problems.json body.json".into()) };
    let problems: Value = serde_json::from_slice(&std::fs::read(problems)?)?;
    let body: Robot = serde_json::from_slice(&std::fs::read(body)?)?;
    let limit = JointLimit { range: [-3.2, 3.2], velocity: 3.0, acceleration: 10.0, jerk: 100.0 };
    let arm = PlannedArm::new(body, vec![limit; 6], &[0.0; 6])?;
    for is_voxels in [false, true] {
        let mut rows: [Vec<f64>; 7] = Default::default();
        let (mut free_share, mut as_said) = (0.0, 0);
        let flag = if is_voxels { "valid_voxels" } else { "valid_primitives" };
        let settings = ColliderSettings::default();
        let mut collider = Collider::new(&arm, &Obstacles::default(), &settings)?;
        for problem in list(&problems["problems"]) {
            let obstacles = if is_voxels { voxels(problem)? } else { solids(problem) };
            let start = Instant::now();
            collider.set_obstacles(&obstacles)?;
            rows[0].push(start.elapsed().as_secs_f64());
            let ends = ["start", "goal"].map(|end| Config::of(&numbers::<6>(&problem[end])));
            let are_free = ends.iter().all(|end| collider.is_free(end));
            as_said += usize::from(problem[flag] == Value::Bool(are_free));
            let mut rng = Rng::new(1);
            let at: Vec<Config> = (0..300).map(|_| random(&mut rng)).collect();
            let (free, hit): (Vec<Config>, Vec<Config>) =
                at.iter().partition(|at| collider.is_free(at));
            rows[1].push(time(&free, |at| collider.is_free(at)));
            rows[2].push(time(&hit, |at| collider.is_free(at)));
            // From free configurations toward random ones, 1 rad: what a search asks.
            let motions: Vec<(Config, Config)> = free
                .iter()
                .map(|from| {
                    let to = random(&mut rng);
                    (*from, from.toward(&to, 1.0 / from.distance(&to)))
                })
                .collect();
            let (free, blocked): (Vec<_>, Vec<_>) =
                motions.iter().partition(|(from, to)| collider.is_motion_free(from, to));
            free_share += free.len() as f64 / motions.len() as f64 / 51.0;
            rows[3].push(time(&free, |(from, to)| collider.is_motion_free(from, to)));
            rows[4].push(time(&blocked, |(from, to)| collider.is_motion_free(from, to)));
            rows[5].push(time(&motions, |(from, to)| collider.is_motion_free(from, to)));
            let short: Vec<_> = free.iter().map(|(a, b)| (*a, a.toward(b, 0.1))).collect();
            rows[6].push(time(&short, |(from, to)| collider.is_motion_free(from, to)));
        }
        println!("{}", if is_voxels { "voxels" } else { "solids" });
        let names = [
            "set_obstacles",
            "free configuration",
            "blocked configuration",
            "free motion of 1 rad",
            "blocked motion of 1 rad",
            "motion of 1 rad",
            "free motion of 0.1 rad",
        ];
        for (name, times) in names.iter().zip(rows) {
            let most = times.iter().copied().fold(0.0, f64::max);
            println!("{name:24} median {:8.3} µs, most {:8.3} µs", median(times) * 1e6, most * 1e6);
        }
        println!("ends are as said          {as_said} problems");
        println!("share of free motions    {free_share:.3}");
    }
    Ok(())
}

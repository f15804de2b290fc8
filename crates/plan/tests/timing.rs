//! Motions over time: limits, continuity, corners, and that blends go only where it is free.

use citrange_core::rng::Rng;
use citrange_plan::{Config, JointLimit, Moment, Motions, TimingSettings, Trajectory};

/// Balls in joint space: everything about them can be decided exactly.
struct Balls {
    joints: usize,
    balls: Vec<(Vec<f64>, f64)>,
}

impl Balls {
    fn none(joints: usize) -> Self {
        Self { joints, balls: vec![] }
    }

    /// Whether everything of which `nearest` gives the point nearest to a ball is free.
    fn is_clear(&self, nearest: impl Fn(&[f64]) -> Vec<f64>) -> bool {
        self.balls.iter().all(|(middle, radius)| {
            let near = nearest(middle);
            near.iter().zip(middle).map(|(n, m)| (n - m).powi(2)).sum::<f64>() > radius * radius
        })
    }
}

impl Motions for Balls {
    fn joints(&self) -> usize {
        self.joints
    }
    fn is_free(&mut self, at: &Config) -> bool {
        self.is_clear(|_| at.positions(self.joints))
    }
    fn is_motion_free(&mut self, from: &Config, to: &Config) -> bool {
        let (a, b) = (from.positions(self.joints), to.positions(self.joints));
        self.is_clear(|middle| {
            let (mut dot, mut square) = (0.0, 0.0);
            for j in 0..a.len() {
                dot += (middle[j] - a[j]) * (b[j] - a[j]);
                square += (b[j] - a[j]).powi(2);
            }
            let share = if square > 0.0 { (dot / square).clamp(0.0, 1.0) } else { 0.0 };
            a.iter().zip(&b).map(|(a, b)| a + share * (b - a)).collect()
        })
    }
    fn is_box_free(&mut self, at: &Config, half_width: &Config) -> bool {
        let (at, half) = (at.positions(self.joints), half_width.positions(self.joints));
        self.is_clear(|middle| {
            (0..at.len()).map(|j| middle[j].clamp(at[j] - half[j], at[j] + half[j])).collect()
        })
    }
}

/// Nothing is ever proved.
struct Unproved;

impl Motions for Unproved {
    fn joints(&self) -> usize {
        2
    }
    fn is_free(&mut self, _: &Config) -> bool {
        true
    }
    fn is_motion_free(&mut self, _: &Config, _: &Config) -> bool {
        false
    }
    fn is_box_free(&mut self, _: &Config, _: &Config) -> bool {
        false
    }
}

fn limit(velocity: f64, acceleration: f64, jerk: f64) -> JointLimit {
    JointLimit { range: [-100.0, 100.0], velocity, acceleration, jerk }
}

fn timed(points: &[Vec<f64>], limits: &[JointLimit], world: &mut Balls) -> Trajectory {
    Trajectory::along(points, limits, &TimingSettings::default(), world).unwrap()
}

fn below(rng: &mut Rng, count: usize) -> usize {
    (rng.unit() * count as f64) as usize
}

fn random_limits(joints: usize, rng: &mut Rng) -> Vec<JointLimit> {
    let mut draw = |low: f64, high: f64| (rng.uniform(low.ln(), high.ln())).exp();
    (0..joints).map(|_| limit(draw(0.3, 5.0), draw(0.5, 30.0), draw(3.0, 9000.0))).collect()
}

fn spread(count: usize, joints: usize, rng: &mut Rng) -> Vec<Vec<f64>> {
    (0..count).map(|_| (0..joints).map(|_| rng.uniform(-2.0, 2.0)).collect()).collect()
}

/// Random corners, with edges of all lengths, repeated points and ways back among them.
fn random_points(joints: usize, rng: &mut Rng) -> Vec<Vec<f64>> {
    let mut points = spread(1, joints, rng);
    for _ in 0..1 + below(rng, 9) {
        let last = points[points.len() - 1].clone();
        let next = match below(rng, 10) {
            0 => last,
            1 if points.len() > 1 => points[points.len() - 2].clone(),
            kind => {
                let size = [1e-8, 1e-5, 1e-3, 0.03, 0.3, 1.0, 1.0, 2.0, 20.0][kind % 9];
                last.iter().map(|p| p + size * rng.uniform(-1.0, 1.0)).collect()
            }
        };
        points.push(next);
    }
    points
}

fn cosine(corner: &[Vec<f64>]) -> f64 {
    let way = |from: usize| -> Vec<f64> {
        corner[from].iter().zip(&corner[from + 1]).map(|(a, b)| b - a).collect()
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (a, b) = (way(0), way(1));
    dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt()
}

/// Everything that must hold for every motion, looked at a thousand times a second and more.
fn check(motion: &Trajectory, points: &[Vec<f64>], limits: &[JointLimit], what: &str) {
    let (first, end) = (motion.sample(0.0), motion.sample(motion.duration_s()));
    if motion.duration_s() > 0.0 {
        assert_eq!(first.positions, points[0], "{what}");
    }
    assert_eq!(end.positions, points[points.len() - 1], "{what}");
    for at_rest in [&first, &end] {
        let mut rates = at_rest.velocities.iter().chain(&at_rest.accelerations);
        assert!(rates.all(|n| *n == 0.0), "{what}: {at_rest:?}");
    }
    let hz = 1000.0_f64.max(2000.0 / motion.duration_s().max(1e-9));
    let mut before = first;
    for now in motion.moments(hz) {
        let dt = now.time_s - before.time_s;
        for (j, limit) in limits.iter().enumerate() {
            let within = |n: f64, most: f64| n.abs() <= most * (1.0 + 1e-9);
            assert!(within(now.velocities[j], limit.velocity), "{what}: joint {j}, {now:?}");
            assert!(within(now.accelerations[j], limit.acceleration), "{what}: {j}, {now:?}");
            assert!(within(now.jerks[j], limit.jerk), "{what}: joint {j}, {now:?}");
            // What one moment says of the next, as far as the jerk may change it.
            let (v, a) = (before.velocities[j], before.accelerations[j]);
            let position = before.positions[j] + dt * (v + dt * a / 2.0);
            let change = limit.jerk * dt * (1.0 + 1e-6);
            let round = 1e-12 * (1.0 + now.positions[j].abs());
            let off = (now.positions[j] - position).abs();
            assert!(off <= change * dt * dt / 6.0 + round, "{what}: position by {off}, {now:?}");
            let off = (now.velocities[j] - v - dt * a).abs();
            assert!(off <= change * dt / 2.0 + 1e-9 * limit.velocity, "{what}: velocity by {off}");
            let off = (now.accelerations[j] - a).abs();
            assert!(off <= change + 1e-9 * limit.acceleration, "{what}: acceleration by {off}");
        }
        before = now;
    }
}

#[test]
fn every_motion_keeps_every_limit_and_has_no_jumps() {
    let (mut blends, mut stops) = (0, 0);
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let joints = 2 + below(&mut rng, 6);
        let limits = random_limits(joints, &mut rng);
        let points = random_points(joints, &mut rng);
        let motion = timed(&points, &limits, &mut Balls::none(joints));
        check(&motion, &points, &limits, &format!("seed {seed}"));
        blends += motion.blends();
        stops += motion.stops();
        // In a free world the robot stops only where the path turns back.
        let mut way = points.clone();
        way.dedup();
        let back = way.windows(3).filter(|p| cosine(p) < -0.9999).count();
        assert!(motion.stops() <= back, "seed {seed}: {} of {back}", motion.stops());
    }
    assert!(blends > 350 && stops > 15, "{blends} blends, {stops} stops");
}

#[test]
fn one_edge_takes_the_shortest_time_possible() {
    // Up with full jerk, full acceleration, full speed, and down: v/a + a/j + way/v.
    let limits = [limit(2.0, 4.0, 20.0), limit(9.0, 90.0, 900.0)];
    let motion = timed(&[vec![0.0, 0.0], vec![6.0, 1.0]], &limits, &mut Balls::none(2));
    assert!((motion.duration_s() - (2.0 / 4.0 + 4.0 / 20.0 + 6.0 / 2.0)).abs() < 1e-9);
    // Too short for any bound but the jerk's: four pieces of the cube root of way / (2 j).
    let way = 2.0 * 20.0 * 0.1_f64.powi(3);
    let motion = timed(&[vec![0.0, 0.0], vec![way, 0.0]], &limits, &mut Balls::none(2));
    assert!((motion.duration_s() - 0.4).abs() < 1e-9, "{}", motion.duration_s());
    let still = timed(&[vec![1.0, 2.0], vec![1.0, 2.0]], &limits, &mut Balls::none(2));
    assert_eq!((still.duration_s(), still.sample(0.0).positions), (0.0, vec![1.0, 2.0]));
}

#[test]
fn collinear_way_points_cost_nothing() {
    let limits = [limit(1.0, 5.0, 50.0); 3];
    let ends = [vec![0.0, 0.5, -1.0], vec![2.0, -0.5, 1.0]];
    let direct = timed(&ends, &limits, &mut Balls::none(3));
    let on = |at: f64| ends[0].iter().zip(&ends[1]).map(|(a, b)| a + at * (b - a)).collect();
    let many: Vec<Vec<f64>> = (0..=40).map(|n| on(f64::from(n) / 40.0)).collect();
    let motion = timed(&many, &limits, &mut Balls::none(3));
    assert!((motion.duration_s() - direct.duration_s()).abs() < 1e-9);
    assert_eq!(motion.stops(), 0);
}

#[test]
fn a_motion_never_stops_between_its_ends() {
    let (joints, limits) = (7, [limit(3.0, 6.0, 60.0); 7]);
    let mut ratios = Vec::new();
    for seed in 0..100 {
        let points = spread(6, joints, &mut Rng::new(1000 + seed));
        let motion = timed(&points, &limits, &mut Balls::none(joints));
        assert_eq!((motion.blends(), motion.stops()), (4, 0));
        let speed = |m: &Moment| m.velocities.iter().map(|v| v.abs()).fold(0.0, f64::max);
        let inner = 0.3..motion.duration_s() - 0.3;
        for m in motion.moments(500.0).filter(|m| inner.contains(&m.time_s)) {
            assert!(speed(&m) > 0.1, "seed {seed}: {} rad/s at {} s", speed(&m), m.time_s);
        }
        let largest =
            |p: &[Vec<f64>]| (0..joints).map(|j| (p[1][j] - p[0][j]).abs()).fold(0.0, f64::max);
        let bound: f64 = points.windows(2).map(|p| largest(p) / 3.0).sum();
        let edge_s = |p| timed(p, &limits, &mut Balls::none(joints)).duration_s();
        let stopping_s: f64 = points.windows(2).map(edge_s).sum();
        assert!(motion.duration_s() < 0.9 * stopping_s, "seed {seed}: {stopping_s}");
        ratios.push(motion.duration_s() / bound);
    }
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    assert!(mean < 1.6 && ratios.iter().all(|r| *r < 2.0), "{mean} of the bound, {ratios:?}");
}

#[test]
fn blends_go_only_where_it_is_free() {
    let (mut blends, mut stops, mut hit) = (0, 0, 0);
    for seed in 0..60 {
        let mut rng = Rng::new(7000 + seed);
        let joints = 2 + below(&mut rng, 3);
        let limits = random_limits(joints, &mut rng);
        let points = spread(5, joints, &mut rng);
        // A ball in the inside of every corner, as near to it as the edges allow.
        let mut world = Balls::none(joints);
        for corner in points.windows(3) {
            let gap = 10.0_f64.powf(rng.uniform(-2.5, -0.6));
            let inwards =
                |j: usize| corner[1][j] + gap * (corner[0][j] + corner[2][j] - 2.0 * corner[1][j]);
            let middle: Vec<f64> = (0..joints).map(inwards).collect();
            for radius in (1..60).map(|n| 2.0 * gap * 0.95_f64.powi(n)) {
                world.balls.push((middle.clone(), radius));
                let mut edges = points.windows(2);
                if edges.all(|e| world.is_motion_free(&Config::of(&e[0]), &Config::of(&e[1]))) {
                    break;
                }
                world.balls.pop();
            }
        }
        let motion = timed(&points, &limits, &mut world);
        check(&motion, &points, &limits, &format!("seed {seed}"));
        for moment in motion.moments(4000.0) {
            assert!(world.is_clear(|_| moment.positions.clone()), "seed {seed}: {moment:?}");
        }
        // Who does not know of the balls goes through them.
        let blind = timed(&points, &limits, &mut Balls::none(joints));
        let hits = blind.moments(4000.0).any(|m| !world.is_clear(|_| m.positions.clone()));
        hit += usize::from(hits);
        blends += motion.blends();
        stops += motion.stops();
    }
    assert!(hit > 20, "{hit} of 60 worlds matter");
    assert!(blends > 150 && stops * 10 < blends, "{blends} blends, {stops} stops");
}

#[test]
fn where_nothing_is_proved_free_the_robot_stops() {
    let limits = [limit(1.0, 5.0, 50.0); 2];
    let points = [vec![0.0, 0.0], vec![1.0, 0.0], vec![1.0, 1.0], vec![2.0, 1.0]];
    let settings = TimingSettings::default();
    let motion = Trajectory::along(&points, &limits, &settings, &mut Unproved).unwrap();
    assert_eq!((motion.blends(), motion.stops()), (0, 2));
    check(&motion, &points, &limits, "stops");
    let alone = timed(&points[..2], &limits, &mut Balls::none(2));
    assert!((motion.duration_s() - 3.0 * alone.duration_s()).abs() < 1e-9);
}

#[test]
fn a_scale_is_the_same_motion_in_slow() {
    let mut rng = Rng::new(3);
    let limits = random_limits(4, &mut rng);
    let points = spread(5, 4, &mut rng);
    let full = timed(&points, &limits, &mut Balls::none(4));
    let settings = TimingSettings { scale: 0.25, ..TimingSettings::default() };
    let slow = Trajectory::along(&points, &limits, &settings, &mut Balls::none(4)).unwrap();
    for slow in [&slow, &full.slowed(0.25)] {
        assert!((slow.duration_s() - 4.0 * full.duration_s()).abs() < 1e-6);
        for m in slow.moments(100.0) {
            let fast = full.sample(m.time_s / 4.0);
            for j in 0..4 {
                assert!((m.positions[j] - fast.positions[j]).abs() < 1e-6);
                assert!((m.velocities[j] - fast.velocities[j] / 4.0).abs() < 1e-5);
            }
        }
    }
}

#[test]
fn moments_are_written_as_a_robot_reads_them() {
    let limits = [limit(1.0, 5.0, 50.0); 2];
    let motion = timed(&[vec![0.0, 0.0], vec![1.0, 0.5]], &limits, &mut Balls::none(2));
    let mut text = Vec::new();
    motion.write_json(10.0, &mut text).unwrap();
    let read: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let list = read.as_array().unwrap();
    assert_eq!(list.len() as f64, (motion.duration_s() * 10.0 - 1e-9).ceil() + 1.0);
    let last = &list[list.len() - 1];
    assert_eq!(last["positions"], serde_json::json!([1.0, 0.5]));
    assert_eq!(last["time_s"].as_f64(), Some(motion.duration_s()));
    for (index, point) in list.iter().enumerate() {
        let moment = motion.sample(point["time_s"].as_f64().unwrap());
        assert_eq!(point["velocities"], serde_json::json!(moment.velocities), "{index}");
        assert_eq!(point["accelerations"], serde_json::json!(moment.accelerations), "{index}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let limits = [limit(1.0, 5.0, 50.0); 2];
    let good = [vec![0.0, 0.0], vec![1.0, 0.0]];
    let refused = |points: &[Vec<f64>], limits: &[JointLimit], scale: f64, word: &str| {
        let settings = TimingSettings { scale, ..TimingSettings::default() };
        let answer = Trajectory::along(points, limits, &settings, &mut Balls::none(2));
        let error = answer.unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    };
    refused(&[], &limits, 1.0, "0 way-points");
    refused(&good[..1], &limits, 1.0, "1 way-points");
    refused(&[vec![0.0, 0.0], vec![1.0]], &limits, 1.0, "way-point 1 has 1 joints");
    refused(&[vec![0.0, 0.0], vec![1.0, f64::NAN]], &limits, 1.0, "NaN");
    refused(&[vec![0.0, 0.0], vec![101.0, 0.0]], &limits, 1.0, "joint 0 of way-point 1");
    refused(&good, &limits[..1], 1.0, "1 limits for 2 joints");
    refused(&good, &[limits[0], limit(1.0, 0.0, 1.0)], 1.0, "above 0");
    refused(&good, &[limits[0], limit(f64::NAN, 1.0, 1.0)], 1.0, "above 0");
    for scale in [0.0, -1.0, 1.5, f64::NAN] {
        refused(&good, &limits, scale, "scale");
    }
}

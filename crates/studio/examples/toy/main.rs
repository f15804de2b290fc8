//! A toy arm to look at the page with: `cargo run -p citrange-studio --example toy [port [secs]]`.
//!
//! Two links, a gripper, two drawn cameras; no physics. Prints the link to open.

mod stage;

use std::error::Error;
use std::f64::consts::{FRAC_PI_2, PI};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use citrange_core::Picture;
use citrange_studio::{Phase, Sample, ServeOptions, Telemetry, serve};
use citrange_teleop::{DriverLock, Key, Order, Speeds};
use stage::{HEIGHT, LINK_M, SHOULDER_M, WIDTH, stage};

const TICK: Duration = Duration::from_millis(20);
const EPISODE_S: f64 = 20.0;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let port: u16 = words.next().map_or(Ok(8420), |word| word.parse())?;
    let longest: f64 = words.next().map_or(Ok(f64::INFINITY), |word| word.parse())?;
    let (board, driver_lock) =
        (Telemetry::new(stage()), DriverLock::new(DriverLock::LONGEST_SILENCE));
    let listen = ([127, 0, 0, 1], port).into();
    let token = std::env::var("TOY_TOKEN").ok();
    let options = ServeOptions { listen, token, ..ServeOptions::default() };
    let server = serve(Arc::clone(&board), Arc::clone(&driver_lock), &options)?;
    println!("{}", server.link());

    let begin = Instant::now();
    let mut toy = Toy::default();
    let mut next = begin;
    while begin.elapsed().as_secs_f64() < longest && !toy.stopped {
        toy.tick(&driver_lock);
        let late = begin.elapsed().saturating_sub(next - begin);
        // Drawn before, not while others wait for the board.
        let pictures = toy.pictures();
        board.write(|live| {
            toy.show(live, late);
            if let Some(pictures) = pictures {
                live.pictures = pictures;
                live.picture_frame += 1;
            }
        });
        next += TICK;
        thread::sleep(next.saturating_duration_since(Instant::now()));
    }
    server.stop();
    Ok(())
}

struct Toy {
    hand_m: [f64; 3],
    roll_rad: f64,
    opening: f64,
    joints: [f64; 5],
    ticks: u64,
    phase_ticks: u64,
    saved: u64,
    held: Vec<&'static str>,
    limited: Vec<&'static str>,
    brake: bool,
    seq: u64,
    stopped: bool,
    message: String,
}

impl Default for Toy {
    fn default() -> Self {
        Self {
            hand_m: [0.24, 0.05, 0.12],
            roll_rad: 0.0,
            opening: 0.5,
            joints: [0.0; 5],
            ticks: 0,
            phase_ticks: 0,
            saved: 0,
            held: Vec::new(),
            limited: Vec::new(),
            brake: false,
            seq: 0,
            stopped: false,
            message: String::new(),
        }
    }
}

impl Toy {
    fn tick(&mut self, driver_lock: &DriverLock) {
        let dt = TICK.as_secs_f64();
        let grip = driver_lock.grip(Instant::now());
        let speeds =
            Speeds { linear_m_s: 0.15, angular_rad_s: 1.2, gripper_per_s: 0.8, facing_rad: 0.0 };
        let wanted = speeds.velocity(&grip.held);
        self.limited.clear();
        for axis in 0..3 {
            self.hand_m[axis] += dt * wanted.linear_m_s[axis];
        }
        if self.hand_m[2] < 0.03 {
            self.hand_m[2] = 0.03;
            self.limited.push("floor");
        }
        let [x, y, z] = self.hand_m;
        let reach = (x * x + y * y + (z - SHOULDER_M).powi(2)).sqrt();
        let most = 1.98 * LINK_M;
        if reach > most {
            self.hand_m =
                [x * most / reach, y * most / reach, SHOULDER_M + (z - SHOULDER_M) * most / reach];
            self.limited.push("reach");
        }
        self.roll_rad += dt * wanted.roll_rad_s;
        self.opening = (self.opening + dt * wanted.gripper_per_s).clamp(0.0, 1.0);
        self.held = grip.held.keys().map(Key::name).collect();
        (self.brake, self.seq) = (grip.brake, grip.seq);
        self.ticks += 1;
        self.phase_ticks += 1;
        while let Some(order) = driver_lock.next_order() {
            self.message = format!("{order:?}");
            match order {
                Order::Save | Order::Success | Order::Failure => {
                    self.saved += 1;
                    self.phase_ticks = 0;
                }
                Order::Discard => self.phase_ticks = 0,
                Order::Reset => {
                    *self = Self { ticks: self.ticks, saved: self.saved, ..Self::default() };
                }
                Order::Stop => self.stopped = true,
            }
        }
    }

    /// Turn, shoulder and elbow that put the hand where it is.
    fn angles(&self) -> [f64; 3] {
        let [x, y, z] = self.hand_m;
        let (flat, up) = (x.hypot(y), z - SHOULDER_M);
        let far = flat.hypot(up).clamp(0.02, 1.99 * LINK_M);
        let bend = (far / (2.0 * LINK_M)).acos();
        [y.atan2(x), up.atan2(flat) + bend, -2.0 * bend]
    }

    fn show(&mut self, live: &mut Sample, late: Duration) {
        let [turn, shoulder, elbow] = self.angles();
        let targets = [turn, shoulder, elbow, self.roll_rad, self.opening];
        // Joints follow their targets with a lag, so that plots have two lines.
        for (joint, target) in self.joints.iter_mut().zip(targets) {
            *joint += 0.25 * (target - *joint);
        }
        let [turn, shoulder, elbow, roll, opening] = self.joints;
        let about_z = [(turn / 2.0).cos(), 0.0, 0.0, (turn / 2.0).sin()];
        // A link's z points along it, `rise` above the horizon.
        let along = |rise: f64| product(about_z, about_y(FRAC_PI_2 - rise));
        let end = |from: [f64; 3], rise: f64, length: f64| {
            [
                from[0] + length * rise.cos() * turn.cos(),
                from[1] + length * rise.cos() * turn.sin(),
                from[2] + length * rise.sin(),
            ]
        };
        let top = [0.0, 0.0, SHOULDER_M];
        let middle = end(top, shoulder, LINK_M);
        let hand = end(middle, shoulder + elbow, LINK_M);
        let tool = product(
            about_z,
            product(about_y(PI), [(roll / 2.0).cos(), 0.0, 0.0, (roll / 2.0).sin()]),
        );
        let side = |way: f64| {
            let angle = turn - roll;
            let out = way * (0.008 + 0.025 * opening);
            [hand[0] - out * angle.sin(), hand[1] + out * angle.cos(), hand[2] - 0.03]
        };
        let still = [1.0, 0.0, 0.0, 0.0];
        let poses = [
            ([0.0; 3], still),
            ([0.0; 3], about_z),
            (top, along(shoulder)),
            (middle, along(shoulder + elbow)),
            (hand, tool),
            (side(1.0), tool),
            (side(-1.0), tool),
            ([0.0; 3], still),
        ];
        live.bodies = poses
            .iter()
            .map(|(p, q)| [p[0], p[1], p[2], q[0], q[1], q[2], q[3]].map(|value| value as f32))
            .collect();
        live.time_s = self.ticks as f64 * TICK.as_secs_f64();
        live.joint_pos = self.joints.iter().map(|value| *value as f32).collect();
        live.targets = targets.iter().map(|value| *value as f32).collect();
        live.hand_m = hand.map(|value| value as f32);
        live.tilt_rad = 0.0;
        live.limited_by = self.limited.iter().map(|l| (*l).to_owned()).collect();
        live.held.clone_from(&self.held);
        (live.brake, live.seq) = (self.brake, self.seq);
        live.loop_hz = 50.0;
        let late_ms = late.as_secs_f32() * 1e3;
        live.worst_late_ms =
            if self.ticks.is_multiple_of(50) { late_ms } else { late_ms.max(live.worst_late_ms) };
        live.late_ticks += u64::from(late_ms > 5.0);
        let seconds = self.phase_ticks as f64 * TICK.as_secs_f64();
        if seconds >= EPISODE_S {
            self.phase_ticks = 0;
        }
        let session = &mut live.session;
        session.phase = if seconds < 3.0 { Phase::Countdown } else { Phase::Recording };
        (session.seconds, session.limit_s) = (seconds, Some(EPISODE_S));
        (session.saved, session.episode, session.wanted) = (self.saved, self.saved, Some(10));
        session.dataset = Some("toy".into());
        session.message.clone_from(&self.message);
    }

    fn pictures(&self) -> Option<Vec<Picture>> {
        self.ticks.is_multiple_of(2).then(|| (0..2).map(|camera| self.picture(camera)).collect())
    }

    /// A drawn camera: a table with a disc where the hand is.
    fn picture(&self, camera: usize) -> Picture {
        let (across, down) = if camera == 0 {
            (0.5 - self.hand_m[1], 1.0 - 2.0 * self.hand_m[0])
        } else {
            (0.2 + self.hand_m[0], 0.9 - 2.0 * self.hand_m[2])
        };
        let (disc_x, disc_y) = (across * f64::from(WIDTH), down * f64::from(HEIGHT));
        let mut rgb = Vec::with_capacity((WIDTH * HEIGHT * 3) as usize);
        for row in 0..HEIGHT {
            for column in 0..WIDTH {
                let far = (f64::from(column) - disc_x).hypot(f64::from(row) - disc_y);
                let tile = if (column / 40 + row / 40).is_multiple_of(2) { 70 } else { 90 };
                let pixel = if far < 14.0 + 10.0 * self.opening {
                    [255, 150, 50]
                } else {
                    [tile, tile + 10, tile + (row / 4) as u8]
                };
                rgb.extend_from_slice(&pixel);
            }
        }
        Picture::ready(rgb)
    }
}

fn about_y(angle: f64) -> [f64; 4] {
    [(angle / 2.0).cos(), 0.0, (angle / 2.0).sin(), 0.0]
}

fn product([a, b, c, d]: [f64; 4], [e, f, g, h]: [f64; 4]) -> [f64; 4] {
    [
        a * e - b * f - c * g - d * h,
        a * f + b * e + c * h - d * g,
        a * g - b * h + c * e + d * f,
        a * h + b * g - c * f + d * e,
    ]
}

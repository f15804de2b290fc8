//! `citrange demo`: an SO-101 puts three oranges on a plate, by a fixed script; pictures, film.
//!
//! The script knows where the oranges are and does not look whether it holds them. The autopilot
//! that judges itself comes with the task crate.

use std::f64::consts::{FRAC_PI_2, PI};
use std::path::PathBuf;

use citrange_sim::{StateQuery, Threads, World};

use super::compiled;
use crate::exit::ProblemsFound;
use crate::images::{Image, save_film};
use crate::say;

const SCENE: &str = "orange_plate";
const ROBOT: &str = "robot0";
/// Film frames per second; a divisor of the scene's frame rate.
const FILM_HZ: u32 = 10;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folder for the pictures.
    #[arg(short, long, default_value = "out/demo")]
    output: PathBuf,
    /// Seed of the run.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Episode index.
    #[arg(long, default_value_t = 0)]
    episode: u64,
}

/// A pose to move to, and how long the move takes.
struct Move {
    joints: [f64; 6],
    secs: f64,
    /// Whether a still is taken at its end.
    still: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let scene = compiled(SCENE)?;
    let rates = scene.scene.rates;
    let mut world = World::new(scene, 1, Threads::Exactly(1))?;
    world.reset_env(0, args.seed, args.episode)?;
    let (home, moves) = script(&mut world)?;
    let ticks_of = |m: &Move| (m.secs * f64::from(rates.control_hz)).round() as u64;
    let total: u64 = moves.iter().map(ticks_of).sum();
    let ticks_per_film = u64::from(rates.control_hz / FILM_HZ);
    let bar = say::progress("the arm is at work", total);
    let (mut film, mut stills) = (Vec::new(), Vec::new());
    let (mut from, mut tick) = (home, 0);
    for next in &moves {
        let count = ticks_of(next);
        for step in 1..=count {
            // Minimum-jerk blend: starts and ends at rest.
            let t = step as f64 / count as f64;
            let s = t * t * t * (10.0 - 15.0 * t + 6.0 * t * t);
            let target: [f64; 6] =
                std::array::from_fn(|i| from[i] + s * (next.joints[i] - from[i]));
            world.set_joint_targets(ROBOT, &target)?;
            world.step(rates.steps_per_tick())?;
            tick += 1;
            if tick % ticks_per_film == 0 {
                let front = Image::colors(world.frame(0, "front")?).halved();
                let wrist = Image::colors(world.frame(0, "wrist")?).halved();
                film.push(Image::sheet(&[front, wrist], 2));
                bar.set_position(tick);
            }
        }
        if next.still {
            stills.push(Image::colors(world.frame(0, "front")?).halved());
        }
        from = next.joints;
    }
    bar.finish_and_clear();
    let front = world.frame(0, "front")?;
    let views = [
        ("front.png", Image::colors(front)),
        ("depth.png", Image::distances(front)),
        ("ids.png", Image::ids(front)),
        ("sheet.png", Image::sheet(&stills, 5)),
    ];
    save_film(&film, FILM_HZ as u16, &args.output.join("film.png"))?;
    say::data(&args.output.join("film.png").display().to_string())?;
    for (name, image) in &views {
        image.save(&args.output.join(name))?;
        say::data(&args.output.join(name).display().to_string())?;
    }
    let placed = on_plate(&mut world)?;
    let secs = total as f64 / f64::from(rates.control_hz);
    say::talk(&format!("{placed} of 3 oranges lie on the plate after {secs:.0} s of simulation."));
    say::talk("film.png moves when opened in a browser; the other files are stills.");
    if placed < 3 {
        return Err(ProblemsFound(format!("only {placed} of 3 oranges lie on the plate")).into());
    }
    Ok(())
}

/// The SO-101's dimensions: the arm moves in a vertical plane through the pan axis.
mod arm {
    /// Pan axis in front of the base frame, and the shoulder axis from there.
    pub(super) const PAN_X_M: f64 = 0.0388353;
    pub(super) const SHOULDER_R_M: f64 = 0.0303992;
    pub(super) const SHOULDER_Z_M: f64 = 0.1190;
    /// Upper arm and lower arm at zero: out, up.
    pub(super) const UPPER_M: [f64; 2] = [0.028, 0.11257];
    pub(super) const LOWER_M: [f64; 2] = [0.1349, 0.0052];
    /// Wrist axis down to the middle between the jaws.
    pub(super) const TOOL_M: f64 = 0.0611 + 0.0824;
    /// A ball between the open jaws lies beside the roll axis, towards the moving jaw.
    pub(super) const JAW_OFFSET_M: f64 = 0.019;
    pub(super) const ROLL_RAD: f64 = -std::f64::consts::FRAC_PI_2;
    pub(super) const JAW_OPEN_RAD: f64 = 0.86;
    pub(super) const JAW_CLOSED_RAD: f64 = 0.16;
}

/// Joints that hold the jaws around the point `at`, tool straight down; as near as it can reach.
fn tool_down(at: [f64; 3], jaw: f64) -> [f64; 6] {
    let (x, y) = (at[0] - arm::PAN_X_M, at[1]);
    let reach = x.hypot(y);
    // The roll axis passes beside the point, on the side away from the moving jaw.
    let azimuth = y.atan2(x) + (arm::JAW_OFFSET_M / reach).min(1.0).asin();
    let out = (reach.powi(2) - arm::JAW_OFFSET_M.powi(2)).max(0.0).sqrt() - arm::SHOULDER_R_M;
    let up = at[2] + arm::TOOL_M - arm::SHOULDER_Z_M;
    let length = |v: [f64; 2]| v[0].hypot(v[1]);
    let angle = |v: [f64; 2]| v[1].atan2(v[0]);
    let (upper, lower) = (length(arm::UPPER_M), length(arm::LOWER_M));
    let distance = out.hypot(up).clamp((upper - lower).abs() + 1e-6, upper + lower - 1e-6);
    let corner =
        |a: f64, b: f64| ((a * a + distance * distance - b * b) / (2.0 * a * distance)).acos();
    let elevation = up.atan2(out);
    let lift = angle(arm::UPPER_M) - (elevation + corner(upper, lower));
    let elbow = angle(arm::LOWER_M) - (elevation - corner(lower, upper)) - lift;
    // Positive pan turns towards -Y.
    [-azimuth, lift, elbow, FRAC_PI_2 - lift - elbow, arm::ROLL_RAD, jaw]
}

/// For every orange: over it, down, grip, up, over the plate, down, let go, up; then home.
fn script(world: &mut World) -> anyhow::Result<([f64; 6], Vec<Move>)> {
    const OVER_M: f64 = 0.10;
    const GRIP_M: f64 = 0.026;
    const LET_GO_M: f64 = 0.045;
    const RING_M: f64 = 0.045;
    let state = world.get_state(None, &StateQuery::default())?;
    let center = |name: &str| -> [f64; 2] {
        let root = state.objects[name].root_state.as_ref();
        root.map_or([0.0; 2], |r| [r[[0, 0]], r[[0, 1]]])
    };
    let targets = state.robots[ROBOT].joint_pos_target.as_ref();
    let home: [f64; 6] = std::array::from_fn(|i| targets.map_or(0.0, |t| t[[0, i]]));
    let plate = center("plate");
    let mut moves = Vec::new();
    let (open, closed) = (arm::JAW_OPEN_RAD, arm::JAW_CLOSED_RAD);
    for (index, name) in ["orange_1", "orange_2", "orange_3"].into_iter().enumerate() {
        let [x, y] = center(name);
        let angle = 2.0 * PI * index as f64 / 3.0;
        let [u, v] = [plate[0] + RING_M * angle.cos(), plate[1] + RING_M * angle.sin()];
        let mut go = |at: [f64; 3], jaw: f64, secs: f64, still: bool| {
            moves.push(Move { joints: tool_down(at, jaw), secs, still });
        };
        go([x, y, OVER_M], open, 0.9, true);
        go([x, y, GRIP_M], open, 0.6, false);
        go([x, y, GRIP_M], closed, 0.5, true);
        go([x, y, OVER_M], closed, 0.6, false);
        go([u, v, OVER_M], closed, 1.0, true);
        go([u, v, LET_GO_M], closed, 0.5, false);
        go([u, v, LET_GO_M], open, 0.4, false);
        go([u, v, OVER_M], open, 0.5, false);
    }
    moves.push(Move { joints: home, secs: 1.2, still: true });
    Ok((home, moves))
}

/// Oranges that rest inside the plate's rim.
fn on_plate(world: &mut World) -> anyhow::Result<usize> {
    const RIM_M: f64 = 0.09;
    let state = world.get_state(None, &StateQuery::default())?;
    let root = |name: &str| state.objects[name].root_state.as_ref().map(|r| r.row(0).to_vec());
    let Some(plate) = root("plate") else { return Ok(0) };
    let rests = |name: &str| {
        root(name).is_some_and(|o| {
            let inside = (o[0] - plate[0]).hypot(o[1] - plate[1]) < RIM_M;
            let height = o[2] - plate[2];
            let speed = (7..10).map(|i| o[i] * o[i]).sum::<f64>().sqrt();
            inside && (0.02..0.05).contains(&height) && speed < 0.05
        })
    };
    Ok(["orange_1", "orange_2", "orange_3"].into_iter().filter(|name| rests(name)).count())
}

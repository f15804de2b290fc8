//! `citrange plan SCENE`: a motion of the scene's robot, as a file and as a film.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use citrange_core::names::suggestion;
use citrange_core::run::run as run_episode;
use citrange_core::{Rig as _, RunSettings};
use citrange_plan::{
    Arm, Collider, ColliderSettings, Effort, Feedforward, Goal, GoalSettings, Made, ObstacleNames,
    PilotSettings, PlanError, PlanPilot, Planner, Request, SearchSettings, Start, TimingSettings,
    Trajectory, make_plan, mount_in_words, reason_in_words,
};
use citrange_sim::SimRig;
use serde_json::{Value, json};

use super::film::PlanFilm;
use super::setting::{obstacles_of, stand_at};
use super::text;
use citrange_episodes::EpisodesError;

use crate::exit::problems_found;
use crate::output;
use crate::stop::{catch_stop, stopped};
use crate::verbs::compiled;

/// Version of the file that a plan is written as.
const FORMAT: u32 = 1;

#[derive(Debug, clap::Args)]
#[group(id = "motion")]
#[command(group = clap::ArgGroup::new("where").required(true).args(["goal", "goal_joints"]))]
pub(crate) struct MakeArgs {
    /// Scene name or YAML file; its first robot moves.
    #[arg(required = true)]
    scene: Option<String>,
    /// Where the arm starts: a pose of the robot by name, or joint positions in radians; where the
    /// scene has it if it is not given.
    #[arg(long, value_name = "POSE", allow_hyphen_values = true)]
    start: Option<String>,
    /// Opening of the gripper that the plan is made for: open, closed, positions of its joints, or
    /// sweep, so that it may open and close on the way. As it is at the start if it is not given.
    #[arg(long, value_name = "OPENING", allow_hyphen_values = true)]
    gripper: Option<String>,
    /// Where the tool should come: "x y z" in metres, in the world; or "x y z roll pitch yaw", in
    /// radians. Give it again to go on from there.
    #[arg(long, value_name = "PLACE", allow_hyphen_values = true)]
    goal: Vec<String>,
    /// The same as joint positions in radians, or as a pose of the robot by name.
    #[arg(long, value_name = "POSE", allow_hyphen_values = true)]
    goal_joints: Vec<String>,
    /// A map of voxels (`citrange space run --map`). It takes the place of the scene's objects;
    /// fixtures stay.
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
    /// Distance that everything must keep from the arm.
    #[arg(long, default_value_t = 0.005)]
    margin_m: f64,
    /// How near the tool must come where it cannot come exactly; 0 is exactly (0.1 mm).
    #[arg(long, default_value_t = 0.0)]
    tolerance_m: f64,
    /// How nearly it must be turned as asked where it cannot be exactly; 0 is exactly (0.1
    /// degrees).
    #[arg(long, default_value_t = 0.0)]
    tolerance_deg: f64,
    /// Go to the nearest free place if the goal touches something, and back out slowly if the
    /// start does.
    #[arg(long)]
    proceed_anyway: bool,
    /// Seed of the search; 0 if it is not given.
    #[arg(long)]
    seed: Option<u64>,
    /// Seed of where the scene's objects are: that of a collection, to plan in its episodes.
    #[arg(long, default_value_t = 0)]
    episode_seed: u64,
    /// Episode index: where the scene's objects are.
    #[arg(long, default_value_t = 0)]
    episode: u64,
    /// Searches of which the shortest path is taken.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Most milliseconds that a search may take.
    #[arg(long, default_value_t = 1000)]
    time_ms: u32,
    /// Share of the arm's full speed.
    #[arg(long, default_value_t = 1.0)]
    speed: f64,
    /// Write the plan as JSON: way-points, and positions, velocities and accelerations over time.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Moments per second in that file.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    hz: u32,
    /// Have the simulated arm follow the plan, and film it.
    #[arg(long, value_name = "FILE")]
    film: Option<PathBuf>,
    /// Camera of the film; the scene's last one if it is not given.
    #[arg(long)]
    camera: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// A planned motion and what was asked.
pub(super) struct Leg {
    pub(super) start: Vec<f64>,
    pub(super) goal: String,
    pub(super) made: Made,
}

pub(crate) fn run(args: &MakeArgs) -> anyhow::Result<()> {
    let scene = args.scene.as_deref().context("name a scene, such as ur5_cell")?;
    let scene = compiled(scene)?;
    let camera = args.camera.clone().or_else(|| scene.camera_names().last().map(str::to_owned));
    let cameras: Vec<String> = camera.into_iter().filter(|_| args.film.is_some()).collect();
    let mut rig = SimRig::new(scene, Some(&cameras))?;
    rig.world_mut().reset_env(0, args.episode_seed, args.episode)?;
    let setting = Setting::new(args, &mut rig)?;
    setting.tell(args);
    let legs = setting.legs(args)?;
    if let Some(path) = &args.output {
        let text = serde_json::to_string_pretty(&setting.file(args, &legs))?;
        std::fs::write(path, text + "\n")
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    if args.json {
        output::data(&setting.file(args, &legs).to_string())?;
    }
    for leg in &legs {
        if !args.json
            && let Some(line) = text::summary(leg)
        {
            output::data(&line)?;
        }
        leg.made.goal.warnings.iter().for_each(|warning| output::talk(warning));
    }
    if let Some(path) = &args.film {
        setting.film(&mut rig, &legs, path)?;
    }
    match legs
        .iter()
        .find_map(|leg| reason_in_words(&leg.made.outcome, &setting.names, args.margin_m))
    {
        Some(reason) => Err(problems_found(reason)),
        None => Ok(()),
    }
}

/// The robot, what is in its way, and how to plan.
struct Setting {
    poses: std::collections::BTreeMap<String, Vec<f64>>,
    home: String,
    start: Start,
    arm: Arm,
    space: Collider,
    feedforward: Option<Feedforward>,
    obstacles: citrange_plan::Obstacles,
    names: ObstacleNames,
    request: Request,
}

impl Setting {
    fn new(args: &MakeArgs, rig: &mut SimRig) -> anyhow::Result<Self> {
        let robot = rig.robot().to_owned();
        let scene = rig.world().scene().clone();
        let described = scene.robots.get(&robot).context("the robot has no description")?;
        let body = scene.robot(&robot)?;
        // The gains in force: what the scene asks for, or the robot's own.
        let asked = scene.scene.robots.get(&robot).and_then(|placed| placed.servo.as_deref());
        let feedforward = match described.servos.get(asked.unwrap_or("default")) {
            Some(servo) => {
                let inertias = scene.link_inertias(&robot)?;
                Some(Feedforward::new(body.chain(), servo, Some(&inertias))?)
            }
            None => None,
        };
        let (obstacles, names) = obstacles_of(rig.world(), &robot, args.map.as_deref())?;
        let home = described.pose(&described.home).map_err(anyhow::Error::msg)?;
        let plain = Arm::described(body.clone(), described, home)?;
        let seen = rig.joint_positions();
        let start =
            Start::new(&plain, described, &seen, args.start.as_deref(), args.gripper.as_deref())?;
        let (body, held) = start.gripper.body(body, home)?;
        let arm = Arm::described(body, described, &held)?;
        let collider = ColliderSettings { margin_m: args.margin_m, ..ColliderSettings::default() };
        let space = Collider::new(&arm, &obstacles, &collider)?;
        let seed = args.seed.unwrap_or(0);
        let request = Request {
            goal: GoalSettings {
                tolerance_m: args.tolerance_m,
                tolerance_rad: args.tolerance_deg.to_radians(),
                proceed_anyway: args.proceed_anyway,
                seed,
                ..GoalSettings::default()
            },
            search: SearchSettings {
                seed,
                time_limit_s: Some(f64::from(args.time_ms) / 1e3),
                ..SearchSettings::default()
            },
            effort: Effort {
                rounds: args.rounds as usize,
                time_limit: Some(Duration::from_millis(u64::from(args.time_ms))),
            },
            timing: TimingSettings { scale: args.speed, ..TimingSettings::default() },
        };
        Ok(Self {
            poses: described.poses.clone(),
            home: described.home.clone(),
            start,
            arm,
            space,
            feedforward,
            obstacles,
            names,
            request,
        })
    }

    /// What was assumed, for people.
    fn tell(&self, args: &MakeArgs) {
        if args.json {
            return;
        }
        self.start.gripper.text().iter().for_each(|line| output::talk(line));
        for mount in self.space.mounts() {
            output::talk(&mount_in_words(&self.arm, mount, &self.names));
        }
        if args.seed.is_some() && args.episode_seed == 0 {
            output::talk(
                "--seed is of the search alone; where things are is --episode-seed (here 0) and \
                 --episode",
            );
        }
    }

    /// Joints of the arm by the name of a pose, or as numbers.
    fn joints(&self, text: &str) -> anyhow::Result<Vec<f64>> {
        let name = if text == "home" { &self.home } else { text };
        if let Some(pose) = self.poses.get(name) {
            return Ok(pose[..self.arm.joints()].to_vec());
        }
        if text.contains(char::is_alphabetic) {
            let known = self.poses.keys().map(String::as_str).chain(["home"]);
            let reason = suggestion(text, known);
            let what = format!("the robot has no pose {text:?}");
            return Err(PlanError::Bad { what, reason }.into());
        }
        match Goal::parse_joints(text, &self.arm)? {
            Goal::Joints(joints) => Ok(joints),
            Goal::Point { .. } | Goal::Pose { .. } => anyhow::bail!("joint positions are needed"),
        }
    }

    /// Plans from goal to goal, until one cannot be reached.
    fn legs(&self, args: &MakeArgs) -> anyhow::Result<Vec<Leg>> {
        let goals: Result<Vec<(String, Goal)>, anyhow::Error> = if args.goal.is_empty() {
            let joints = args.goal_joints.iter();
            joints.map(|text| Ok((text.clone(), Goal::Joints(self.joints(text)?)))).collect()
        } else {
            args.goal.iter().map(|text| Ok((text.clone(), Goal::parse(text)?))).collect()
        };
        let goals = goals?;
        let mut collider = self.space.clone();
        let mut planner = Planner::new(self.arm.limits(), self.request.search.clone())?;
        let mut start = self.start.arm.clone();
        let mut legs = Vec::new();
        for (text, goal) in goals {
            let made =
                make_plan(&self.arm, &mut collider, &mut planner, &start, &goal, &self.request)?;
            let end = made.trajectory.as_ref().map(|t| t.goal().to_vec());
            legs.push(Leg { start, goal: text, made });
            let Some(end) = end else { break };
            start = end;
        }
        Ok(legs)
    }

    /// Everything that was found, as it is written.
    fn file(&self, args: &MakeArgs, legs: &[Leg]) -> Value {
        let names: Vec<&str> =
            self.arm.body().chain().joint_names().take(self.arm.joints()).collect();
        let plans: Vec<Value> = legs.iter().map(|leg| text::told(leg, args.hz)).collect();
        let mounts = self.space.mounts().iter().map(|mount| {
            json!({
                "link": self.arm.body().links().nth(1),
                "with": self.names.solids.get(mount.number),
                "gap_m": mount.gap_m,
            })
        });
        json!({
            "format": FORMAT,
            "tool_version": env!("CARGO_PKG_VERSION"),
            "robot": self.arm.body().chain().robot,
            "scene": args.scene,
            "map": args.map,
            "seed": self.request.search.seed,
            "episode_seed": args.episode_seed,
            "episode": args.episode,
            "margin_m": args.margin_m,
            "tolerance_m": args.tolerance_m,
            "tolerance_deg": args.tolerance_deg,
            "gripper": self.start.gripper.json(),
            "mounts": mounts.collect::<Vec<_>>(),
            "joints": names,
            "plans": plans,
        })
    }

    /// Lets the simulated arm follow all motions and films it.
    fn film(&self, rig: &mut SimRig, legs: &[Leg], path: &std::path::Path) -> anyhow::Result<()> {
        let Some(first) = legs.first().filter(|leg| leg.made.trajectory.is_some()) else {
            return Ok(());
        };
        let mut all = self.arm.held().to_vec();
        all[..first.start.len()].copy_from_slice(&first.start);
        stand_at(rig, &all)?;
        let mut film = PlanFilm::begin(path, rig)?;
        let stop = catch_stop()?;
        for (number, leg) in legs.iter().enumerate() {
            let motions = leg.made.escape.iter().chain(&leg.made.trajectory);
            for motion in motions {
                let way = self.way_of_tool(motion)?;
                let caption = format!("plan {} of {}: {}", number + 1, legs.len(), leg.goal);
                film.show(caption, &way, self.obstacles.map.as_deref());
                let mut pilot = PlanPilot::new(
                    motion.clone(),
                    rig.spec(),
                    self.feedforward.clone(),
                    PilotSettings::default(),
                )?;
                let settings =
                    RunSettings { pictures: true, stop: Some(stop), ..RunSettings::default() };
                let ran = run_episode(&mut pilot, &mut *rig, &mut film, &settings)?;
                if stopped() {
                    return Err(EpisodesError::Interrupted.into());
                }
                if ran.outcome.success != Some(true) {
                    let reason =
                        format!("the simulated arm did not follow: {}", ran.outcome.reason);
                    return Err(problems_found(reason));
                }
            }
        }
        film.finish()?;
        output::talk(&format!("film: {}", path.display()));
        Ok(())
    }

    /// Where the tool goes, every few centimetres.
    fn way_of_tool(&self, motion: &Trajectory) -> anyhow::Result<Vec<[f64; 3]>> {
        let mut joints = self.arm.held().to_vec();
        let places = motion.moments(40.0).map(|moment| {
            joints[..moment.positions.len()].copy_from_slice(&moment.positions);
            Ok(self.arm.body().tool_at(&joints)?)
        });
        places.collect()
    }
}

//! `citrange plan SCENE`: a motion of the scene's robot, as a file and as a film.

mod bench;
mod effort;
mod generate;

use std::path::PathBuf;

use citrange_episodes::planning::{PlanOptions, plan_in_scene};
use citrange_plan::{GoalText, SceneSettings, ToolCone};
use citrange_space::UnknownCells;

use crate::exit::{Context as _, Result, problems_found};
use crate::output::{self, Output};
use crate::stop::catch_stop;

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    motion: MotionArgs,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Solve the problems of a file; how many, how fast, how long the paths are.
    Bench(bench::Args),
    /// Make problems for a robot: tables, shelves, cages, boxes, bars, clutter in its size.
    Generate(generate::Args),
}

/// Cells that no camera has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Unknown {
    Free,
    Blocked,
}

#[derive(Debug, clap::Args)]
#[group(id = "motion")]
#[command(group = clap::ArgGroup::new("where").required(true).multiple(true)
    .args(["goal", "goal_joints", "replan_from"]))]
#[command(group = clap::ArgGroup::new("whose").required(true).args(["scene", "robot"]))]
struct MotionArgs {
    /// Scene name or YAML file; its first robot moves.
    scene: Option<String>,
    /// Instead of a scene: a robot alone at the world's origin, by name (so101, panda, ur5, ur5e) or
    /// by its robot.yaml, MJCF or URDF file.
    #[arg(long, value_name = "ROBOT")]
    robot: Option<String>,
    /// What is in the way besides: a YAML file of fixtures, as scenes have them, and meshes
    /// (`citrange config schema world`). May be given again.
    #[arg(long, value_name = "FILE")]
    obstacles: Vec<PathBuf>,
    /// Where the arm starts: a pose of the robot by name, or joint positions in radians; where the
    /// scene has it if it is not given.
    #[arg(long, value_name = "POSE", allow_hyphen_values = true)]
    start: Option<String>,
    /// Opening of the gripper that the plan is made for: open, closed, positions of its joints, or
    /// sweep, so that it may open and close on the way. As it is at the start if it is not given.
    #[arg(long, value_name = "OPENING", allow_hyphen_values = true)]
    gripper: Option<String>,
    /// Where the tool should come: "x y z" in metres, in the world; or "x y z roll pitch yaw", in
    /// radians. A range such as 0.3..0.5 for a number of the place leaves it free, "|" separates
    /// goals of which any will do, "straight x y z" is a straight line. Give it again to go on from
    /// there.
    #[arg(long, value_name = "PLACE", allow_hyphen_values = true)]
    goal: Vec<String>,
    /// The same as joint positions in radians, or as a pose of the robot by name.
    #[arg(long, value_name = "POSE", allow_hyphen_values = true, conflicts_with = "goal")]
    goal_joints: Vec<String>,
    /// The tool goes to every --goal in a straight line, turned as it is (or on the way to what the
    /// goal says): proved, at most --line-mm off.
    #[arg(long)]
    straight: bool,
    /// How far the tool may be off a straight line, in millimetres.
    #[arg(long, default_value_t = 1.0, value_name = "MM")]
    line_mm: f64,
    /// The tool stays as level as it is at the start, within so many degrees, all the way.
    #[arg(long, value_name = "DEG", num_args = 0..=1, default_missing_value = "5",
          conflicts_with = "cone")]
    upright: Option<f64>,
    /// A direction of the tool stays within a cone all the way: "x y z X Y Z DEG", the direction in
    /// the tool's frame, where it should point in the world, how far it may be off.
    #[arg(long, value_name = "CONE", allow_hyphen_values = true)]
    cone: Option<String>,
    /// What is in the hand: a thing of the scene by name, or a shape in the tool's frame such as
    /// "box 0.04 0.04 0.1 at 0 0 0.05", then called held. It must touch nothing either.
    #[arg(long, value_name = "THING")]
    hold: Vec<String>,
    /// What may touch, by name: link:thing, link:link, held:thing.
    #[arg(long, value_name = "LINK:THING")]
    allow: Vec<String>,
    /// A file that `plan -o` wrote: its paths are proved again first, mended where they are blocked,
    /// and looked for anew where that fails. Without goals and start they are its own.
    #[arg(long, value_name = "FILE")]
    replan_from: Option<PathBuf>,
    /// A map of voxels (`citrange space run --map`). It takes the place of the scene's objects;
    /// fixtures stay.
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
    /// What cells of the map are that no camera has seen: free, or blocked but for the arm's own
    /// place.
    #[arg(long, value_enum, default_value_t = Unknown::Free, requires = "map")]
    unknown: Unknown,
    /// A policy to ask first (`citrange train reach`): of sixteen attempts the shortest that the
    /// planner proves free is shortened and timed; where there is none, the planner is asked.
    #[arg(long, value_name = "POLICY")]
    with: Option<PathBuf>,
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
    #[command(flatten)]
    effort: effort::EffortArgs,
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

impl Args {
    /// Whether its `--json` is one object per line.
    pub(crate) fn tells_lines(&self) -> bool {
        matches!(&self.command, Some(Command::Bench(args)) if args.tells_lines())
    }
}

pub(crate) fn run(args: &Args) -> Result {
    match &args.command {
        Some(Command::Bench(args)) => bench::run(args),
        Some(Command::Generate(args)) => generate::run(args),
        None => plan(&args.motion),
    }
}

fn plan(args: &MotionArgs) -> Result {
    let mut plan = plan_in_scene(&args.options()?)?;
    if !args.json {
        plan.legs.assumptions().iter().for_each(|line| output::talk(line));
        if args.seed.is_some() && args.episode_seed == 0 {
            output::talk(
                "--seed is of the search alone; where things are is --episode-seed (here 0) and \
                 --episode",
            );
        }
    }
    if let Some(path) = &args.output {
        std::fs::write(path, format!("{:#}\n", plan.json(args.hz)))
            .context(|| format!("cannot write {}", path.display()))?;
    }
    if args.json {
        output::data(&plan.json(args.hz).to_string())?;
    }
    for leg in &plan.legs.legs {
        if let Some(line) = leg.text().filter(|_| !args.json) {
            output::data(&line)?;
        }
        leg.made.goal.warnings.iter().for_each(|warning| output::talk(warning));
    }
    if let Some(path) = &args.film {
        catch_stop()?;
        if plan.film(path, Output::Talk.context())? {
            output::talk(&format!("film: {}", path.display()));
        }
    }
    plan.legs.reason().map_or(Ok(()), |reason| Err(problems_found(reason)))
}

impl MotionArgs {
    fn options(&self) -> Result<PlanOptions> {
        let scene = self.scene.clone().unwrap_or_default();
        let place = if self.straight { GoalText::Straight } else { GoalText::Place };
        let places = self.goal.iter().cloned().map(place);
        let joints = self.goal_joints.iter().cloned().map(GoalText::Joints);
        Ok(PlanOptions {
            scene,
            robot: self.robot.clone(),
            obstacles: self.obstacles.clone(),
            replan_from: self.replan_from.clone(),
            seed: self.episode_seed,
            episode: self.episode,
            map: self.map.clone(),
            goals: places.chain(joints).collect(),
            with: self.with.clone(),
            settings: self.settings()?,
            camera: self.camera.clone().filter(|_| self.film.is_some()),
        })
    }

    fn settings(&self) -> Result<SceneSettings> {
        let time = self.effort.time_limit();
        let mut settings = SceneSettings::with_seed_and_time(self.seed.unwrap_or(0), time);
        settings.start.clone_from(&self.start);
        settings.gripper.clone_from(&self.gripper);
        settings.collider.margin_m = self.margin_m;
        settings.unknown = match self.unknown {
            Unknown::Free => UnknownCells::Free,
            Unknown::Blocked => UnknownCells::Blocked,
        };
        let request = &mut settings.request;
        request.goal.tolerance_m = self.tolerance_m;
        request.goal.tolerance_rad = self.tolerance_deg.to_radians();
        request.goal.proceed_anyway = self.proceed_anyway;
        request.effort = self.effort.effort();
        request.timing.scale = self.speed;
        request.cone = self.cone.as_deref().map(ToolCone::parse).transpose()?;
        settings.upright_rad = self.upright.map(f64::to_radians);
        settings.straight.deviation_m = self.line_mm / 1e3;
        settings.hold.clone_from(&self.hold);
        settings.allow.clone_from(&self.allow);
        Ok(settings)
    }
}

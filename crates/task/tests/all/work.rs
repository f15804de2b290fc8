//! Episodes in the simulator, and the truth about them: a judgement of its own that knows nothing
//! of the autopilot's detectors.
#![allow(unreachable_pub)] // shared by the test files

use std::sync::Arc;
use std::time::{Duration, Instant};

use citrange_core::run;
use citrange_core::scene::{Goal, Job, Scene};
use citrange_core::tape::{FrameRecord, TickRecord};
use citrange_core::{
    BoxError, Command, Commanded, Event, Extra, Halt, Notes, Observation, Outcome, Pilot, Rig,
    RigSpec, RunSettings, Snapshot, Tape, Verdict, Want,
};
use citrange_robot::{Chain, LinkShape};
use citrange_sim::{CompiledScene, SimRig, StateQuery, load_scene};
use citrange_task::{Autopilot, AutopilotSettings, PoseNoise, Setup};

/// How long things are left alone before the truth is told.
const LEFT_ALONE_S: f64 = 2.0;

pub struct Site {
    pub rig: SimRig,
    pub job: Job,
    pub settings: AutopilotSettings,
    /// With what errors the autopilot sees things.
    pub noise: Option<PoseNoise>,
    /// Whether it is told what stands fixed around it.
    pub knows_fixtures: bool,
    chain: Chain,
    shapes: Vec<LinkShape>,
    floor_z_m: f64,
}

/// What the autopilot says of one thing, and what is true.
#[derive(Clone, Debug, PartialEq)]
pub struct Thing {
    pub name: String,
    pub says_placed: bool,
    pub is_placed: bool,
    pub attempts: u64,
    pub reason: String,
    pub start_m: [f64; 3],
    pub end_m: [f64; 3],
}

pub struct Done {
    pub outcome: Outcome,
    pub things: Vec<Thing>,
    pub events: Vec<(u64, Event)>,
}

impl Done {
    pub fn reasons(&self) -> Vec<&str> {
        let failed = self.events.iter().filter_map(|(_, event)| match event {
            Event::Failed(failed) => Some(failed.reason.name()),
            _ => None,
        });
        failed.collect()
    }

    pub fn states(&self) -> Vec<&str> {
        let entered = self.events.iter().filter_map(|(_, event)| match event {
            Event::State(entered) => Some(entered.state.name()),
            _ => None,
        });
        entered.collect()
    }
}

/// A built-in scene, perhaps changed before it is compiled.
pub fn site(name: &str, change: impl FnOnce(&mut Scene)) -> Site {
    let mut source = load_scene(name).unwrap();
    change(&mut source.scene);
    let scene = Arc::new(CompiledScene::new(&source).unwrap());
    let job = scene.scene.job.clone().unwrap();
    let settings = AutopilotSettings::load(job.profile.as_deref().unwrap_or("default")).unwrap();
    let chain = scene.chain("robot0").unwrap();
    let floor_z_m = scene.floor_z_m("robot0").unwrap();
    let shapes = scene.link_shapes("robot0").unwrap();
    let rig = SimRig::new(scene, Some(&[])).unwrap();
    Site { rig, job, settings, noise: None, knows_fixtures: true, chain, shapes, floor_z_m }
}

impl Site {
    pub fn autopilot(&mut self) -> Autopilot {
        let home = self.rig.targets();
        self.autopilot_from(&home)
    }

    /// An autopilot with this home pose.
    pub fn autopilot_from(&self, home: &[f64]) -> Autopilot {
        let solids = self.rig.world().solids_around(0, "robot0").unwrap();
        let fixed = solids.into_iter().filter(|s| self.knows_fixtures && !s.can_move);
        let fixtures: Vec<_> = fixed.map(|s| s.solid).collect();
        Autopilot::new(Setup {
            fixtures: &fixtures,
            chain: &self.chain,
            shapes: &self.shapes,
            home,
            floor_z_m: self.floor_z_m,
            spec: self.rig.spec(),
            job: &self.job,
            settings: self.settings.clone(),
        })
        .unwrap()
        .with_noise(self.noise)
    }

    pub fn episode(&mut self, seed: u64, episode: u64) -> Done {
        self.pranked(seed, episode, &mut NoPrank)
    }

    /// An episode in which somebody interferes.
    pub fn pranked(&mut self, seed: u64, episode: u64, prank: &mut dyn Prank) -> Done {
        self.rig.world_mut().reset_env(0, seed, episode).unwrap();
        let mut pilot = self.autopilot();
        let mut tape = Events(Vec::new());
        let mut rig = Pranked { rig: &mut self.rig, prank };
        let report = run(&mut pilot, &mut rig, &mut tape, &RunSettings::default()).unwrap();
        let summary = tape.0.iter().rev().find(|(_, e)| e.name() == "summary").unwrap();
        let rows = summary.1.detail()["targets"].as_array().unwrap().clone();
        let truth = self.truth();
        let things = rows.iter().zip(truth).map(|(row, (is_placed, end_m))| Thing {
            name: row["name"].as_str().unwrap().to_owned(),
            says_placed: row["placed"] == true,
            is_placed,
            attempts: row["attempts"].as_u64().unwrap(),
            reason: row["reason"].as_str().unwrap_or_default().to_owned(),
            start_m: serde_json::from_value(row["start_m"].clone()).unwrap_or_default(),
            end_m,
        });
        let things = things.collect();
        Done { outcome: report.outcome, things, events: tape.0 }
    }

    /// How long the autopilot took at each tick of an episode, with its number; the longest last.
    pub fn tick_times(&mut self, seed: u64, episode: u64) -> Vec<(u64, Duration)> {
        self.rig.world_mut().reset_env(0, seed, episode).unwrap();
        let mut pilot = Timed(self.autopilot(), Vec::new());
        let mut tape = Events(Vec::new());
        run(&mut pilot, &mut self.rig, &mut tape, &RunSettings::default()).unwrap();
        pilot.1.sort_by_key(|(_, took)| *took);
        pilot.1
    }

    /// Per target: whether it lies at the goal after being left alone, untouched by the robot,
    /// and where.
    pub fn truth(&mut self) -> Vec<(bool, [f64; 3])> {
        let targets = Command::at(&self.rig.targets());
        let hz = f64::from(self.rig.spec().rates.control_hz);
        let mut commanded = Commanded::default();
        for _ in 0..(LEFT_ALONE_S * hz) as u64 {
            self.rig.tick(&targets, &mut commanded).unwrap();
        }
        let world = self.rig.world_mut();
        let state = world.get_state(None, &StateQuery::default()).unwrap();
        let root = |name: &str| state.objects[name].root_state.as_ref().unwrap().row(0).to_vec();
        let Extra::Contacts(contacts) = world.extra("contacts", &[0]).unwrap() else { panic!() };
        // A thing from a model file may have bodies of its own names.
        let is_of = |body: &str, name: &str| {
            body == name || body.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'))
        };
        let robot = |body: &str| is_of(body, "robot0");
        let touched = |name: &str| {
            contacts[0].iter().any(|c| {
                (is_of(&c.body_a, name) && robot(&c.body_b))
                    || (is_of(&c.body_b, name) && robot(&c.body_a))
            })
        };
        let below = |name: &str| {
            let spec = self.rig.spec().objects.iter().find(|o| o.name == name).unwrap();
            -spec.box_m[0][2]
        };
        let touch = |a: &str, b: &dyn Fn(&str) -> bool| {
            let pairs = contacts[0].iter();
            pairs.clone().any(|c| {
                (is_of(&c.body_a, a) && b(&c.body_b)) || (is_of(&c.body_b, a) && b(&c.body_a))
            })
        };
        let is_target = |body: &str| self.job.targets.iter().any(|name| is_of(body, name));
        let lies = |name: &String| {
            let at = root(name);
            let speed = (at[7] * at[7] + at[8] * at[8] + at[9] * at[9]).sqrt();
            let inside = |center: &[f64], half: [f64; 2], yaw: f64| {
                let (sin, cos) = yaw.sin_cos();
                let [x, y] = [at[0] - center[0], at[1] - center[1]];
                (x * cos + y * sin).abs() < half[0] && (y * cos - x * sin).abs() < half[1]
            };
            let on = |object: &str| touch(name, &|body| is_of(body, object) || is_target(body));
            let is_there = match &self.job.goal {
                // On the plate or on what lies there, whatever its height is.
                Goal::Plate { object, .. } => {
                    let plate = root(object);
                    (at[0] - plate[0]).hypot(at[1] - plate[1]) < 0.090 && on(object)
                }
                Goal::VirtualPlate { center_m, radius_m } => {
                    (at[0] - center_m[0]).hypot(at[1] - center_m[1]) < *radius_m
                        && (at[2] - center_m[2] - below(name)).abs() < 0.004
                }
                Goal::Tray { object, half_m, .. } => {
                    let tray = root(object);
                    let yaw = 2.0 * tray[6].atan2(tray[3]);
                    inside(&tray, *half_m, yaw) && on(object)
                }
                Goal::VirtualTray { center_m, half_m, yaw_deg, .. } => {
                    inside(center_m, *half_m, yaw_deg.to_radians()) && at[2] > center_m[2]
                }
                // Half the lower cube: its middle of mass is above it.
                Goal::TopOf { object } => {
                    let under = root(object);
                    (at[0] - under[0]).hypot(at[1] - under[1]) < 0.03
                        && (at[2] - under[2] - below(object) - below(name)).abs() < 0.004
                }
            };
            (is_there && speed < 0.03 && !touched(name), [at[0], at[1], at[2]])
        };
        self.job.targets.iter().map(lies).collect()
    }
}

/// An autopilot and how long it took.
struct Timed(Autopilot, Vec<(u64, Duration)>);

impl Pilot for Timed {
    fn name(&self) -> &str {
        self.0.name()
    }
    fn decide(
        &mut self,
        seen: &Observation,
        command: &mut Command,
        events: &mut Notes,
    ) -> Result<Verdict, BoxError> {
        let began = Instant::now();
        let verdict = self.0.decide(seen, command, events);
        self.1.push((seen.tick, began.elapsed()));
        verdict
    }
}

/// Interferes with an episode.
pub trait Prank {
    /// May change what the arm is told to do, or the world, before a tick.
    fn act(&mut self, _rig: &mut SimRig, _targets: &mut [f64]) {}
    /// May change what the arm sees.
    fn observe(&mut self, _seen: &mut Observation) {}
}

pub struct NoPrank;
impl Prank for NoPrank {}

struct Pranked<'a> {
    rig: &'a mut SimRig,
    prank: &'a mut dyn Prank,
}

impl Rig for Pranked<'_> {
    fn spec(&self) -> &RigSpec {
        self.rig.spec()
    }
    fn begin(&mut self, command: &mut Command) -> Result<(), BoxError> {
        self.rig.begin(command)
    }
    fn advance(&mut self, commanded: &mut Commanded) -> Result<(), BoxError> {
        self.rig.advance(commanded)
    }
    fn halt(&mut self, how: Halt) {
        self.rig.halt(how);
    }
    fn observe(&mut self, want: Want, seen: &mut Observation) -> Result<(), BoxError> {
        self.rig.observe(want, seen)?;
        self.prank.observe(seen);
        Ok(())
    }
    fn act(&mut self, command: &Command, commanded: &mut Commanded) -> Result<(), BoxError> {
        let mut command = command.clone();
        self.prank.act(self.rig, &mut command.pos);
        self.rig.act(&command, commanded)
    }
    fn snapshot(&mut self) -> Result<Option<Snapshot>, BoxError> {
        self.rig.snapshot()
    }
}

struct Events(Vec<(u64, Event)>);

impl Tape for Events {
    fn frame(&mut self, _: &FrameRecord<'_>) -> Result<(), BoxError> {
        Ok(())
    }
    fn tick(&mut self, _: &TickRecord<'_>) -> Result<(), BoxError> {
        Ok(())
    }
    fn event(&mut self, tick: u64, event: &Event) -> Result<(), BoxError> {
        self.0.push((tick, event.clone()));
        Ok(())
    }
    fn end(&mut self, _: &Outcome, _: Option<&Snapshot>) -> Result<(), BoxError> {
        Ok(())
    }
}

/// What many episodes came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Tally {
    pub episodes: u64,
    pub things: u64,
    /// Truly placed, at the first attempt.
    pub at_once: u64,
    /// Truly placed.
    pub placed: u64,
    /// Said to be placed, but not.
    pub false_success: Vec<String>,
    /// Said not to be placed, but it is.
    pub false_failure: Vec<String>,
    pub failures: Vec<String>,
    /// Smallest distance between two things that were placed.
    pub nearest_m: f64,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            episodes: 0,
            things: 0,
            at_once: 0,
            placed: 0,
            false_success: vec![],
            false_failure: vec![],
            failures: vec![],
            nearest_m: f64::INFINITY,
        }
    }
}

impl Tally {
    pub fn add(&mut self, episode: u64, done: &Done) {
        self.episodes += 1;
        for thing in &done.things {
            let what = format!("episode {episode}: {thing:?}");
            self.things += 1;
            self.placed += u64::from(thing.is_placed && thing.says_placed);
            self.at_once += u64::from(thing.is_placed && thing.says_placed && thing.attempts == 1);
            match (thing.says_placed, thing.is_placed) {
                (true, false) => self.false_success.push(what),
                (false, true) => self.false_failure.push(what),
                (false, false) => self.failures.push(what),
                (true, true) => {}
            }
        }
        let placed: Vec<&Thing> = done.things.iter().filter(|t| t.is_placed).collect();
        for (n, a) in placed.iter().enumerate() {
            for b in &placed[n + 1..] {
                let away = (a.end_m[0] - b.end_m[0]).hypot(a.end_m[1] - b.end_m[1]);
                self.nearest_m = self.nearest_m.min(away);
            }
        }
        let all = done.things.iter().all(|t| t.says_placed);
        assert_eq!(done.outcome.success, Some(all), "episode {episode}: {:?}", done.outcome);
    }

    fn merge(mut self, other: Self) -> Self {
        self.episodes += other.episodes;
        self.things += other.things;
        self.at_once += other.at_once;
        self.placed += other.placed;
        self.false_success.extend(other.false_success);
        self.false_failure.extend(other.false_failure);
        self.failures.extend(other.failures);
        self.nearest_m = self.nearest_m.min(other.nearest_m);
        self
    }
}

/// How many episodes a test runs: few in the suite, more by `CITRANGE_EPISODES`.
pub fn episodes(few: u64) -> u64 {
    let wanted = std::env::var("CITRANGE_EPISODES").ok();
    wanted.and_then(|n| n.parse().ok()).unwrap_or(few)
}

/// Runs episodes on two threads; `begin` makes the site of an episode (or the thread's own).
pub fn many(count: u64, run: impl Fn(u64, u64, &mut Option<Site>) -> Done + Sync) -> Tally {
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    let part = |worker: usize| {
        let run = &run;
        move || {
            let mut tally = Tally::default();
            let mut site = None;
            for episode in (worker as u64..count).step_by(workers) {
                tally.add(episode, &run(7, episode, &mut site));
            }
            tally
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|worker| scope.spawn(part(worker))).collect();
        threads.into_iter().map(|t| t.join().unwrap()).fold(Tally::default(), Tally::merge)
    })
}

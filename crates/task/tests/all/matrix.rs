//! Things of every shape and size on both grippers, judged by the truth of the simulator.
//!
//! A few episodes of a few cells belong to the suite. The whole matrix:
//! `CITRANGE_EPISODES=100 cargo test -r -p citrange-task --test all whole_matrix -- --ignored --nocapture`
//! (`CITRANGE_CELLS=panda/ball` for some of its rows). Rows with a `*` are those that nothing was
//! tuned on.
#![allow(unreachable_pub)] // shared by the test files

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use citrange_core::Event;
use citrange_core::scene::{Object, Physics};
use citrange_core::yaml::from_yaml;

use crate::things::{Kind, Robot, blind, held_aside, tried};
use crate::work::{Done, Site, episodes, site};

/// One thing on one robot.
#[derive(Clone, Debug)]
pub struct Cell {
    pub robot: Robot,
    pub kind: Kind,
    pub is_held_aside: bool,
    /// Where it starts.
    pub place: &'static str,
}

impl Cell {
    fn name(&self) -> String {
        let mark = if self.is_held_aside { "*" } else { "" };
        format!("{}/{}{mark}", self.robot.name(), self.kind.name())
    }
}

/// What the episodes of a cell came to.
#[derive(Clone, Debug, Default)]
pub struct Row {
    pub episodes: u64,
    pub at_once: u64,
    pub placed: u64,
    pub false_success: u64,
    pub false_failure: u64,
    /// Refused before moving.
    pub refused: u64,
    /// Reasons of attempts that failed, and one text for each.
    pub reasons: BTreeMap<String, (u64, String)>,
}

impl Row {
    fn add(&mut self, done: &Done) {
        self.episodes += 1;
        let thing = &done.things[0];
        self.at_once += u64::from(thing.says_placed && thing.is_placed && thing.attempts == 1);
        self.placed += u64::from(thing.says_placed && thing.is_placed);
        self.false_success += u64::from(thing.says_placed && !thing.is_placed);
        self.false_failure += u64::from(!thing.says_placed && thing.is_placed);
        self.refused += u64::from(!done.states().contains(&"APPROACH"));
        for (_, event) in &done.events {
            if let Event::Failed(failed) = event {
                let state = failed.state.as_ref().map_or("", |state| state.name());
                let detail = failed.detail.clone().unwrap_or_else(|| state.to_owned());
                let row =
                    self.reasons.entry(failed.reason.name().to_owned()).or_insert((0, detail));
                row.0 += 1;
            }
        }
    }

    fn merge(&mut self, part: Self) {
        self.episodes += part.episodes;
        self.at_once += part.at_once;
        self.placed += part.placed;
        self.false_success += part.false_success;
        self.false_failure += part.false_failure;
        self.refused += part.refused;
        for (reason, (count, text)) in part.reasons {
            self.reasons.entry(reason).or_insert((0, text)).0 += count;
        }
    }

    /// Whether every episode was refused before anything moved.
    pub fn is_refused(&self) -> bool {
        self.refused == self.episodes
    }
}

/// A thing of a kind, to be put on a plate by a robot.
pub fn desk(cell: &Cell) -> Site {
    let Cell { robot, kind, place, .. } = cell;
    site(robot.scene(), |scene| {
        let parse = |text: &str| -> Object { from_yaml(text, "thing").unwrap() };
        // Physics that holds without creeping, whatever the scene compares itself with.
        scene.physics = Physics { multi_contact: true, ..Physics::default() };
        scene.rates = robot.rates();
        scene.objects.clear();
        scene.objects.insert("thing".into(), parse(&kind.object(place)));
        scene.objects.insert("plate".into(), parse(&robot.plate()));
        let text = robot.job("[thing]");
        scene.job = Some(from_yaml(&text, "job").unwrap());
    })
}

/// Episodes of a cell that one thread does in a go.
const PART: u64 = 10;

/// Runs all cells on all cores; the rows in the order of the cells.
pub fn rows(cells: &[Cell], count: u64, seed: u64) -> Vec<Row> {
    let parts = count.div_ceil(PART) as usize;
    let next = AtomicUsize::new(0);
    let rows = Mutex::new(vec![Row::default(); cells.len()]);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(cell) = cells.get(index / parts) else { return };
                    let start = (index % parts) as u64 * PART;
                    let mut site = desk(cell);
                    let mut part = Row::default();
                    for episode in start..(start + PART).min(count) {
                        part.add(&site.episode(seed, episode));
                    }
                    let mut rows = rows.lock().unwrap();
                    let row = &mut rows[index / parts];
                    row.merge(part);
                    if row.episodes == count {
                        eprintln!("{}", line(cell, row));
                    }
                }
            });
        }
    });
    rows.into_inner().unwrap()
}

fn line(cell: &Cell, row: &Row) -> String {
    let verdict = if row.is_refused() {
        "refused".to_owned()
    } else {
        format!("{:5.1} %", 100.0 * row.at_once as f64 / row.episodes as f64)
    };
    let reasons = row.reasons.iter().map(|(name, (n, text))| format!("{name} x{n} ({text})"));
    let reasons = reasons.collect::<Vec<_>>().join("; ");
    let lies = match (row.false_success, row.false_failure) {
        (0, 0) => String::new(),
        (yes, no) => format!(" FALSE +{yes} -{no}"),
    };
    format!(
        "{:32} {verdict:8} {:3} of {:3}, {:3} in the end, {:3} refused{lies}  {reasons}",
        cell.name(),
        row.at_once,
        row.episodes,
        row.placed,
        row.refused
    )
}

/// Those cells whose names are wanted.
fn wanted(mut cells: Vec<Cell>) -> Vec<Cell> {
    let wanted = std::env::var("CITRANGE_CELLS").unwrap_or_default();
    cells.retain(|cell| wanted.split(',').any(|w| cell.name().contains(w)));
    cells
}

fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for robot in [Robot::So101, Robot::Panda] {
        let place = robot.place();
        for (kinds, is_held_aside) in [(tried(robot), false), (held_aside(robot), true)] {
            let cell = |kind| Cell { robot, kind, is_held_aside, place };
            cells.extend(kinds.into_iter().map(cell));
        }
    }
    wanted(cells)
}

/// Cells with things and places that nothing was tuned on.
fn blind_cells() -> Vec<Cell> {
    let of = |robot: Robot| {
        let place = robot.other_place();
        let cell = move |kind| Cell { robot, kind, is_held_aside: true, place };
        blind(robot).into_iter().map(cell)
    };
    wanted(of(Robot::So101).chain(of(Robot::Panda)).collect())
}

fn seed(usual: u64) -> u64 {
    std::env::var("CITRANGE_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(usual)
}

#[test]
#[ignore = "takes minutes to an hour; see the head of the file"]
fn whole_matrix() {
    measure(&cells(), seed(11));
}

#[test]
#[ignore = "takes an hour: the same with things and places that nothing was tuned on"]
fn blind_matrix() {
    measure(&blind_cells(), seed(77));
}

fn measure(cells: &[Cell], seed: u64) {
    let rows = rows(cells, episodes(10), seed);
    let mut sums: BTreeMap<String, [u64; 6]> = BTreeMap::new();
    for (cell, row) in cells.iter().zip(&rows).filter(|(_, row)| !row.is_refused()) {
        let mark = if cell.is_held_aside { "*" } else { "" };
        let sum =
            sums.entry(format!("{}/{}{mark}", cell.robot.name(), cell.kind.shape())).or_default();
        let lies = [row.false_success, row.false_failure];
        let own = [row.episodes, row.at_once, row.placed, lies[0], lies[1], row.refused];
        for (sum, own) in sum.iter_mut().zip(own) {
            *sum += own;
        }
    }
    eprintln!(
        "\nper shape, cells that are held: episodes, at once, in the end, false +, -, refused"
    );
    for (name, [all, once, placed, yes, no, refused]) in sums {
        let fraction = 100.0 * once as f64 / all as f64;
        eprintln!(
            "{name:24} {all:5} {once:5} {placed:5} {yes:3} {no:3} {refused:3}  {fraction:.1} %"
        );
    }
}

/// A few cells of every shape: what is held, what is refused, nobody lies.
#[test]
fn things_of_all_shapes_come_to_the_plate_or_are_refused() {
    let some = |robot: Robot, name: &str| {
        let kind = tried(robot).into_iter().find(|kind| kind.name() == name);
        let kind = kind.unwrap_or_else(|| panic!("no kind {name}"));
        Cell { robot, kind, is_held_aside: false, place: robot.place() }
    };
    let cells = [
        some(Robot::So101, "ball 15"),
        some(Robot::So101, "ball 30"),
        some(Robot::So101, "cube 30"),
        some(Robot::Panda, "ball 20"),
        some(Robot::Panda, "cube 40"),
        some(Robot::Panda, "ball 45"),
    ];
    let count = episodes(3);
    let rows = rows(&cells, count, 5);
    for (cell, row) in cells.iter().zip(&rows) {
        assert_eq!((row.false_success, row.false_failure), (0, 0), "{}", line(cell, row));
        let is_too_wide = cell.kind.name() == "ball 45";
        assert_eq!(row.is_refused(), is_too_wide, "{}", line(cell, row));
        if is_too_wide {
            let (name, (_, text)) = row.reasons.first_key_value().unwrap();
            assert!(["too_wide", "no_grip"].contains(&name.as_str()), "{name}");
            assert!(text.contains(char::is_numeric), "{text}");
        } else {
            assert!(row.placed >= count - 1, "{}", line(cell, row));
        }
    }
}

#[test]
#[ignore = "for people: one episode of the first cell of CITRANGE_CELLS"]
fn show_one() {
    let cell = &cells().into_iter().chain(blind_cells()).next().unwrap();
    let mut site = desk(cell);
    let done = site.episode(11, episodes(0));
    for (tick, event) in &done.events {
        eprintln!("{tick:6} {} {}", event.name(), event.detail());
    }
    eprintln!("{:?}", done.things);
}

/// How long the autopilot takes at its slowest ticks.
#[test]
#[ignore = "for people: one episode each of the cells of CITRANGE_CELLS"]
fn longest_ticks() {
    for cell in cells() {
        let mut site = desk(&cell);
        let times = site.tick_times(11, episodes(0));
        let ms = |n: usize| times[times.len() - n].1.as_secs_f64() * 1e3;
        let (tick, _) = times[times.len() - 1];
        let name = cell.name();
        eprintln!(
            "{name:24} longest {:.2} ms (tick {tick}), then {:.2}, {:.2}",
            ms(1),
            ms(2),
            ms(3)
        );
    }
}

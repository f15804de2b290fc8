//! Many episodes without recording: how often it works, and why not.
//! `cargo run --release -p citrange-task --example trial -- orange_plate 100 [first] [verbose]`

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

use citrange_core::run::run;
use citrange_core::tape::{FrameRecord, TickRecord};
use citrange_core::{Event, Fault, Outcome, Rig as _, RunSettings, Snapshot, Tape};
use citrange_sim::{CompiledScene, SimRig, load_scene};
use citrange_task::{Autopilot, Settings, Setup};

#[derive(Default)]
struct Events(Vec<(u64, Event)>);

impl Tape for Events {
    fn frame(&mut self, _: &FrameRecord<'_>) -> Result<(), Fault> {
        Ok(())
    }
    fn tick(&mut self, _: &TickRecord<'_>) -> Result<(), Fault> {
        Ok(())
    }
    fn event(&mut self, tick: u64, event: &Event) -> Result<(), Fault> {
        self.0.push((tick, event.clone()));
        Ok(())
    }
    fn end(&mut self, _: &Outcome, _: Option<&Snapshot>) -> Result<(), Fault> {
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let name = words.first().map_or("orange_plate", String::as_str);
    let count: u64 = words.get(1).map_or(Ok(20), |w| w.parse())?;
    let first: u64 = words.get(2).map_or(Ok(0), |w| w.parse())?;
    let verbose = words.get(3).is_some();
    let scene = Arc::new(CompiledScene::new(&load_scene(name)?)?);
    let job = scene.scene.job.clone().ok_or("the scene has no job")?;
    let settings = Settings::load(job.profile.as_deref().unwrap_or("default"))?;
    let mut rig = SimRig::new(Arc::clone(&scene), Some(&[]))?;
    let chain = scene.chain("robot0")?;
    let floor_z_m = scene.floor_z_m("robot0")?;
    let (mut things, mut at_once, mut placed, mut good, mut ticks) = (0, 0, 0, 0, 0_u64);
    let mut reasons = BTreeMap::<String, u32>::new();
    let begun = std::time::Instant::now();
    for episode in first..first + count {
        rig.world_mut().reset_env(0, 0, episode)?;
        let targets = rig.begin();
        let setup = Setup {
            chain: &chain,
            home: &targets,
            floor_z_m,
            spec: rig.spec(),
            job: &job,
            settings: settings.clone(),
        };
        let mut pilot = Autopilot::new(setup)?;
        let mut tape = Events::default();
        let report = run(&mut pilot, &mut rig, &mut tape, &targets, &RunSettings::default())?;
        ticks += report.ticks;
        good += u32::from(report.outcome.success == Some(true));
        for (tick, event) in &tape.0 {
            if verbose {
                println!(
                    "{:7.2} {} {}",
                    *tick as f64 / f64::from(rig.spec().rates.control_hz),
                    event.name,
                    event.detail
                );
            }
            if event.name == "failed" {
                let d = &event.detail;
                println!("episode {episode}: {d}");
                *reasons.entry(format!("{} in {}", d["reason"], d["state"])).or_default() += 1;
            }
            if event.name == "summary" {
                for row in event.detail["targets"].as_array().ok_or("no targets")? {
                    things += 1;
                    let is_placed = row["placed"] == true;
                    placed += u32::from(is_placed);
                    at_once += u32::from(is_placed && row["attempts"] == 1);
                }
            }
        }
        if verbose {
            println!("episode {episode}: {:?}", report.outcome);
        }
    }
    let secs = begun.elapsed().as_secs_f64();
    let sim = ticks as f64 / f64::from(rig.spec().rates.control_hz);
    println!(
        "{good} of {count} episodes; things {things}, placed {placed}, at once {at_once}; {reasons:?}"
    );
    println!("{:.1} s each; {secs:.1} s, {:.0} times real time", sim / count as f64, sim / secs);
    Ok(())
}

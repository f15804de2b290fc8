//! Playing an episode of an HDF5 file that has no tape: the scene, the start, the motion.

use std::path::PathBuf;
use std::sync::Arc;

use citrange_core::{Level, RestoreReport, Rig as _, Snapshot};
use citrange_sim::{CompiledScene, OwnModel, SimRig};
use citrange_tape::{ALOHA_HZ, DemoEpisode, Motion, Play, SO101_HZ, StateRow};

use super::{chosen, compiled, start_at};
use crate::cell::{EpisodeRig, RigChoice};
use crate::context::RunContext;
use crate::error::{Context as _, EpisodesError, Result, bad_input};

/// Frames per second of a file's own model when nothing says them.
const OWN_HZ: f64 = 20.0;
/// An arm that begins further than this from its first target is hardly the arm of the file.
const FAR_START: f64 = 0.6;

/// Where and how files without a tape are played.
#[derive(Clone, Debug)]
pub struct PlayOptions {
    /// Play it in its own model, where it has one, by its recorded states.
    pub own_scene: bool,
    /// Where meshes and textures of a file's own model are.
    pub assets: Vec<PathBuf>,
    /// Whether the arm moves and the rest is simulated, or every frame is set from the file's
    /// states; by default targets, in the file's own model states.
    pub play: Option<Play>,
    /// How far objects may be from where the file has them to count as the demonstrated task.
    pub object_tolerance_m: f64,
}

impl Default for PlayOptions {
    fn default() -> Self {
        Self { own_scene: false, assets: Vec::new(), play: None, object_tolerance_m: 0.01 }
    }
}

impl PlayOptions {
    pub(crate) fn how(&self) -> Play {
        let usual = if self.own_scene { Play::States } else { Play::Targets };
        self.play.unwrap_or(usual)
    }
}

/// A rig at the start of an episode without a tape.
pub(crate) struct Prepared {
    pub(crate) rig: Box<dyn EpisodeRig>,
    pub(crate) motion: Motion,
    pub(crate) report: RestoreReport,
}

/// Builds the scene, restores the start by the best level, and says what that is worth.
pub(crate) fn prepare(
    demo: &DemoEpisode,
    scene: Option<&str>,
    how: &PlayOptions,
    choice: &RigChoice,
    ctx: RunContext<'_>,
) -> Result<Prepared> {
    let scene = match how.own_scene {
        true => own_scene(demo, &how.assets)?,
        false => named_scene(demo, scene)?,
    };
    let mut demo = demo.clone();
    for (path, why) in &demo.unread {
        ctx.say(&format!("{}: {path} is not read: {why}", demo.name));
    }
    let robots: Vec<String> = scene.robot_names().map(str::to_owned).collect();
    demo.rename_robots(&robots);
    for said in demo.arrange(&scene.joint_slots()) {
        ctx.say(&format!("{}: {said}", demo.name));
    }
    let usual_hz = [(demo.is_so101, SO101_HZ), (demo.is_aloha(), ALOHA_HZ)];
    if let Some((_, hz)) = usual_hz.into_iter().find(|(is, _)| *is && demo.rate_hz.is_none()) {
        ctx.say(&format!("{}: it does not say its rate: taken as {hz} Hz", demo.name));
        demo.rate_hz = Some(hz);
    }
    let (mut rig, motion) = rig_that_fits(&scene, &demo, choice)?;
    if demo.is_aloha() {
        ctx.say(&format!("{}: grippers are read as 0 closed to 1 open", demo.name));
        let joints = motion.seen.first().map(Vec::as_slice).unwrap_or_default();
        demo.start = start_at(&rig, joints);
    }
    // Where the file says nothing, things stand as in the first episode.
    rig.world_mut().reset_env(0, 0, 0)?;
    let mut report = rig.world_mut().restore_best(0, &demo.start)?;
    let frame_hz = f64::from(rig.spec().rates.frame_hz);
    if how.how() == Play::States {
        let states = states(&demo, &mut rig, frame_hz)?;
        rig.world_mut().restore(0, states.first().context("the file has no states")?)?;
        rig.follow(states);
        report.level = Level::States;
    }
    ctx.say(&format!("{}: {report}\n  targets: {}", demo.name, motion.source));
    match demo.rate_hz {
        Some(hz) if hz != frame_hz => {
            ctx.say(&format!("  its {hz} rows per second are held for frames at {frame_hz} Hz"));
        }
        Some(_) => {}
        None => ctx.say(&format!("  it does not say its rate: taken as {frame_hz} Hz")),
    }
    tell_far(&rig, &motion, ctx);
    Ok(Prepared { rig: Box::new(rig), motion, report })
}

/// A rig with as many arms as the file moves: all that are chosen, or the first alone.
fn rig_that_fits(
    scene: &Arc<CompiledScene>,
    demo: &DemoEpisode,
    choice: &RigChoice,
) -> Result<(SimRig, Motion)> {
    let try_with = |choice: &RigChoice| {
        let rig = chosen(Arc::clone(scene), choice)?;
        let places = rig.robots().iter().map(|robot| scene.joint_places(robot));
        let places = places.collect::<Result<Vec<_>, _>>()?.concat();
        let motion = demo.motion(rig.spec(), &places)?;
        Ok((rig, motion))
    };
    let all = try_with(choice);
    let first: Vec<String> = scene.robot_names().take(1).map(str::to_owned).collect();
    match all {
        Err(error) if choice.robots.is_none() && scene.robot_names().count() > 1 => {
            try_with(&RigChoice { robots: Some(first), ..choice.clone() }).map_err(|_| error)
        }
        all => all,
    }
}

fn named_scene(demo: &DemoEpisode, scene: Option<&str>) -> Result<Arc<CompiledScene>> {
    let own = demo.environment.as_deref().map(snake);
    let own_model = match demo.model_xml {
        Some(_) => ", or play it in its own model with --own-scene",
        None => "",
    };
    let name = scene.map(str::to_owned).or(own).ok_or_else(|| {
        EpisodesError::BadInput(format!(
            "{} names no environment: give a scene with --scene{own_model}",
            demo.name
        ))
    })?;
    compiled(&name).with_context(|| {
        format!(
            "the environment {name} of the file is no scene here; give one with --scene{own_model}"
        )
    })
}

fn own_scene(demo: &DemoEpisode, assets: &[PathBuf]) -> Result<Arc<CompiledScene>> {
    let Some(xml) = &demo.model_xml else {
        bad_input!("{} has no model of its own: give a scene with --scene", demo.name);
    };
    let name = demo.environment.as_deref().map_or_else(|| "recording".to_owned(), snake);
    let own = OwnModel {
        name: &name,
        xml,
        robot: demo.robots.as_deref().unwrap_or("robot"),
        assets,
        frame_hz: demo.rate_hz.unwrap_or(OWN_HZ).round().clamp(1.0, 1000.0) as u32,
    };
    Ok(Arc::new(CompiledScene::of_recording(&own)?))
}

/// The file's states as complete states of the scene, one per frame.
fn states(demo: &DemoEpisode, rig: &mut SimRig, frame_hz: f64) -> Result<Vec<Snapshot>> {
    let data = rig.world().data(0)?;
    let base = StateRow { time_s: 0.0, qpos: data.qpos().to_vec(), qvel: data.qvel().to_vec() };
    let rows = demo.state_rows(&base, frame_hz).ok_or_else(|| {
        EpisodesError::BadInput(format!(
            "{} keeps no states of this scene's joints: --play states needs them",
            demo.name
        ))
    })?;
    let world = rig.world_mut();
    let state = |row: &StateRow| {
        world.set_row(0, row.time_s, &row.qpos, &row.qvel)?;
        Ok(world.snapshot(0)?)
    };
    rows.iter().map(state).collect()
}

/// Warns of an arm that does not begin where its targets do.
fn tell_far(rig: &SimRig, motion: &Motion, ctx: RunContext<'_>) {
    let (Some(first), joints) = (motion.targets.first(), rig.joint_positions()) else { return };
    let off = first.iter().zip(&joints).map(|(a, b)| (a - b).abs());
    let worst = off.enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
    if let Some((joint, off)) = worst.filter(|(_, off)| *off > FAR_START || off.is_nan()) {
        let name = &rig.spec().joints[joint].name;
        ctx.say(&format!(
            "  THE FIRST TARGET IS {off:.2} FROM WHERE {name} STANDS: another order of joints, \
             another unit, or a start that the file does not keep"
        ));
    }
}

/// `MultiTableAssembly` and `multi_table_assembly` are the same scene.
fn snake(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
        out.extend(letter.to_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_names_become_scene_names() {
        assert_eq!(snake("MultiTableAssembly"), "multi_table_assembly");
        assert_eq!(snake("orange_plate"), "orange_plate");
    }
}

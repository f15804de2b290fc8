//! `citrange scene list|show|render`.

use std::path::PathBuf;

use anyhow::Context as _;
use citrange_render::{Frame, Image, Settings};
use citrange_sim::catalog::scene_names;
use citrange_sim::{CompiledScene, GlKind, GlRenderer, StateQuery, Threads, World, load_scene};
use serde_json::json;

use super::compiled;
use crate::output;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Names and titles of the built-in scenes.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// What is in a scene (a built-in name or a YAML file).
    Show(Show),
    /// Draw a scene through one of its cameras into a PNG file.
    Render(Render),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    /// Scene name or YAML file.
    scene: String,
    /// Print the compiled model as MJCF, for other tools (MuJoCo rounds it to six digits).
    #[arg(long, conflicts_with_all = ["json", "state"])]
    mjcf: bool,
    /// Write the compiled model as MuJoCo's binary file, exact to the bit.
    #[arg(long, value_name = "MJB", conflicts_with_all = ["json", "state", "mjcf"])]
    mjb: Option<PathBuf>,
    /// Print the start state of an episode as JSON (a DictState).
    #[arg(long)]
    state: bool,
    /// Seed of the run, with --state.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Episode index, with --state.
    #[arg(long, default_value_t = 0)]
    episode: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Render {
    /// Scene name or YAML file.
    scene: String,
    /// Camera name.
    #[arg(long)]
    camera: String,
    /// Where the picture goes.
    #[arg(short, long, value_name = "PNG")]
    output: PathBuf,
    /// Also the distances, in false colours.
    #[arg(long, value_name = "PNG")]
    depth: Option<PathBuf>,
    /// Also the ids, a colour each.
    #[arg(long, value_name = "PNG")]
    ids: Option<PathBuf>,
    /// Seed of the run.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Episode index.
    #[arg(long, default_value_t = 0)]
    episode: u64,
    /// Simulate so long before the picture is taken.
    #[arg(long, default_value_t = 0.5)]
    seconds: f64,
    /// Leave shadows out.
    #[arg(long)]
    no_shadows: bool,
    /// What draws: our software renderer, or MuJoCo's through OpenGL where there is one.
    #[arg(long, value_enum, default_value_t = Backend::Software)]
    backend: Backend,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Backend {
    Software,
    /// EGL, then OSMesa.
    Gl,
}

pub(crate) fn run(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::List { json } => list(*json),
        Command::Show(args) => show(args),
        Command::Render(args) => render(args),
    }
}

fn list(as_json: bool) -> anyhow::Result<()> {
    let mut all = Vec::new();
    for name in scene_names() {
        let source = load_scene(name)?;
        all.push(json!({"name": name, "title": source.scene.title}));
        if !as_json {
            output::data(&format!("{name:<22} {}", source.scene.title))?;
        }
    }
    if as_json {
        output::data(&json!({ "scenes": all }).to_string())?;
    }
    Ok(())
}

fn show(args: &Show) -> anyhow::Result<()> {
    let scene = compiled(&args.scene)?;
    if args.mjcf {
        return output::data(scene.xml.trim_end());
    }
    if let Some(path) = &args.mjb {
        std::fs::write(path, scene.to_mjb()?)
            .with_context(|| format!("cannot write {}", path.display()))?;
        return output::data(&path.display().to_string());
    }
    if args.state {
        let mut world = World::new(scene, 1, Threads::Exactly(1))?;
        world.reset_env(0, args.seed, args.episode)?;
        let state = world.get_dict_states(None, &StateQuery::default())?;
        return output::data(&serde_json::to_string_pretty(&state[0])?);
    }
    if args.json {
        let robots: Vec<_> = scene
            .robot_names()
            .map(|name| Ok(json!({"name": name, "joints": scene.joint_names(name)?})))
            .collect::<anyhow::Result<_>>()?;
        let report = json!({
            "name": scene.scene.name,
            "title": scene.scene.title,
            "task": scene.scene.task,
            "rates": scene.scene.rates,
            "robots": robots,
            "objects": scene.object_names().collect::<Vec<_>>(),
            "cameras": scene.scene.cameras,
            "model_sha256": scene.model_hash,
            "sizes": scene.sizes(),
        });
        return output::data(&report.to_string());
    }
    for line in description(&scene)? {
        output::data(&line)?;
    }
    Ok(())
}

fn description(scene: &CompiledScene) -> anyhow::Result<Vec<String>> {
    let written = &scene.scene;
    let rates = &written.rates;
    let mut lines = vec![
        format!("{}: {}", written.name, written.title),
        format!("  task      {}", written.task),
        format!(
            "  rates     physics {} Hz, control {} Hz, frames {} Hz",
            rates.physics_hz, rates.control_hz, rates.frame_hz
        ),
    ];
    for name in scene.robot_names() {
        let model = &written.robots[name].model;
        let joints = scene.joint_names(name)?.join(" ");
        lines.push(format!("  robot     {name} ({model}): {joints}"));
    }
    lines.push(format!("  objects   {}", scene.object_names().collect::<Vec<_>>().join(" ")));
    for (name, camera) in &written.cameras {
        let mount = camera.mount.as_deref().unwrap_or("world");
        let (w, h) = (camera.width_px, camera.height_px);
        lines.push(format!("  camera    {name} {w}x{h} on {mount}"));
    }
    let sizes: Vec<String> = scene.sizes().iter().map(|(k, v)| format!("{v} {k}")).collect();
    lines.push(format!("  model     {}", sizes.join(", ").replace('_', " ")));
    lines.push(format!("  sha256    {}", scene.model_hash));
    Ok(lines)
}

fn render(args: &Render) -> anyhow::Result<()> {
    let scene = compiled(&args.scene)?;
    let steps = (args.seconds.max(0.0) * f64::from(scene.scene.rates.physics_hz)).round() as u32;
    let mut world = World::new(scene.clone(), 1, Threads::Exactly(1))?;
    world.reset_env(0, args.seed, args.episode)?;
    world.step(steps)?;
    let shadows = !args.no_shadows;
    let mut drawn = Frame::default();
    let frame = match args.backend {
        Backend::Software => {
            world.set_render_settings(Settings { shadows, ..Settings::default() })?;
            world.frame(0, &args.camera)?
        }
        Backend::Gl => {
            let mut gl = GlRenderer::new(&scene, GlKind::Auto)?;
            gl.frame(&world, 0, &args.camera, shadows, &mut drawn)?;
            output::talk(&format!("drawn by {}", gl.backend()));
            &drawn
        }
    };
    Image::colors(frame).save(&args.output)?;
    output::data(&args.output.display().to_string())?;
    if let Some(path) = &args.depth {
        Image::distances(frame).save(path)?;
        output::data(&path.display().to_string())?;
    }
    if let Some(path) = &args.ids {
        Image::ids(frame).save(path)?;
        output::data(&path.display().to_string())?;
    }
    Ok(())
}

//! `citrange scene list|show|render`.

use std::path::PathBuf;

use citrange_episodes::{EpisodesError, compiled};
use citrange_render::Image;
use citrange_sim::catalog::scene_names;
use citrange_sim::{PictureSettings, StateQuery, Threads, World, draw_scene, load_scene};
use serde_json::json;

use crate::exit::{Context as _, Result, failed};
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

pub(crate) fn run(command: &Command) -> Result {
    match command {
        Command::List { json } => list(*json),
        Command::Show(args) => show(args),
        Command::Render(args) => render(args),
    }
}

fn list(as_json: bool) -> Result {
    let scene = |name| Ok((name, load_scene(name)?.scene.title));
    let all = scene_names().map(scene).collect::<Result<Vec<_>>>()?;
    if as_json {
        let all = all.iter().map(|(name, title)| json!({"name": name, "title": title}));
        return output::data(&json!({ "scenes": all.collect::<Vec<_>>() }).to_string());
    }
    all.iter().try_for_each(|(name, title)| output::data(&format!("{name:<22} {title}")))
}

fn show(args: &Show) -> Result {
    let scene = compiled(&args.scene)?;
    if args.mjcf {
        return output::data(scene.xml.trim_end());
    }
    if let Some(path) = &args.mjb {
        std::fs::write(path, scene.to_mjb()?)
            .context(|| format!("cannot write {}", path.display()))?;
        return output::data(&path.display().to_string());
    }
    if args.state {
        let mut world = World::new(scene, 1, Threads::Exactly(1))?;
        world.reset_env(0, args.seed, args.episode)?;
        let state = world.get_dict_states(None, &StateQuery::default())?;
        let text = serde_json::to_string_pretty(&state[0]).map_err(|e| failed(e.to_string()))?;
        return output::data(&text);
    }
    let facts = scene.facts()?;
    output::lines(&if args.json { vec![json!(facts).to_string()] } else { facts.lines() })
}

fn render(args: &Render) -> Result {
    let settings = PictureSettings {
        camera: args.camera.clone(),
        seed: args.seed,
        episode: args.episode,
        settle_s: args.seconds,
        shadows: !args.no_shadows,
        gl: args.backend == Backend::Gl,
    };
    let drawn = draw_scene(&compiled(&args.scene)?, &settings)?;
    if let Some(gl) = &drawn.gl {
        output::talk(&format!("drawn by {gl}"));
    }
    let pictures = [
        (Some(&args.output), Image::colors as fn(&_) -> _),
        (args.depth.as_ref(), Image::distances),
        (args.ids.as_ref(), Image::ids),
    ];
    for (path, picture) in pictures {
        let Some(path) = path else { continue };
        picture(&drawn.frame).save(path).map_err(EpisodesError::from)?;
        output::data(&path.display().to_string())?;
    }
    Ok(())
}

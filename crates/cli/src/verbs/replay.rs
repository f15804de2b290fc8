//! `citrange replay`: repeats a recorded episode, exactly where the file allows it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use citrange_episodes::replay::{Audience, OpenPage, ReplayOptions, replay};
use citrange_episodes::{EpisodesError, Result};
use citrange_studio::{ServeOptions, Server, Telemetry};
use citrange_tape::Unit;
use citrange_teleop::DriverLock;

use crate::args::{LinkArgs, PlayArgs, units};
use crate::exit;
use crate::output::{self, Output};
use crate::page::open_page;
use crate::stop::catch_stop;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A dataset's folder, a tape, or an HDF5 file.
    path: PathBuf,
    /// Which episode of the dataset; with --verify all of them by default.
    #[arg(long)]
    episode: Option<usize>,
    /// Compare every physics step with the recording; exit code 4 if anything differs.
    #[arg(long)]
    verify: bool,
    /// Times real time; by default as fast as it goes.
    #[arg(long)]
    speed: Option<f64>,
    /// Make a film of it, all cameras side by side.
    #[arg(long, value_name = "MP4")]
    render: Option<PathBuf>,
    /// Show it live in a browser, at real time unless --speed says otherwise.
    #[arg(long, conflicts_with = "render")]
    show: bool,
    /// Where the page is served; port 0 takes any free one.
    #[arg(long, value_name = "ADDRESS:PORT", requires = "show")]
    listen: Option<SocketAddr>,
    /// Begin at this frame.
    #[arg(long, default_value_t = 0)]
    from: usize,
    /// Hold the dataset's one target per frame instead of repeating every command.
    #[arg(long)]
    frame_targets: bool,
    /// Scene for files that have none, as LeRobot datasets of others.
    #[arg(long)]
    scene: Option<String>,
    /// Robots of that scene, separated by commas; by default as many as the file moves.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    robots: Option<Vec<String>>,
    /// What joint values of such a dataset mean, where it does not say: deg, percent (-100 to 100
    /// of a joint's range, grippers 0 to 100) or rad; by default a guess, which is said.
    #[arg(long, value_parser = units())]
    unit: Option<Unit>,
    #[command(flatten)]
    own: PlayArgs,
    #[command(flatten)]
    link: LinkArgs,
    /// Threads for verifying several episodes.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> exit::Result {
    catch_stop()?;
    let options = ReplayOptions {
        path: args.path.clone(),
        episode: args.episode,
        verify: args.verify,
        speed: args.speed,
        film: args.render.clone(),
        from: args.from,
        frame_targets: args.frame_targets,
        scene: args.scene.clone(),
        robots: args.robots.clone(),
        unit: args.unit,
        play: args.own.options(),
        threads: args.threads,
        link: args.link.choice(),
    };
    let output = Output::of(args.json);
    let page = Page { listen: args.listen };
    let audience: Option<&dyn Audience> = if args.show { Some(&page) } else { None };
    let report = replay(&options, audience, output.context())?;
    let json = || report.json().iter().map(ToString::to_string).collect();
    output::lines(&if args.json { json() } else { report.lines() })?;
    Ok(report.verdict()?)
}

/// A page that shows a replay.
struct Page {
    listen: Option<SocketAddr>,
}

impl Audience for Page {
    fn open(&self, board: &Arc<Telemetry>) -> Result<Box<dyn OpenPage>> {
        // Nobody drives a replay: nothing reads this driver lock.
        let driver_lock = DriverLock::new(DriverLock::LONGEST_SILENCE);
        let options = ServeOptions::default();
        // Said on stderr: stdout is the report's.
        let server = open_page(board, &driver_lock, options, self.listen, Output::Talk);
        let server = server.map_err(|error| EpisodesError::Failed(error.text))?;
        Ok(Box::new(Shown(server)))
    }
}

struct Shown(Server);

impl OpenPage for Shown {
    fn viewers(&self) -> usize {
        self.0.viewers()
    }

    fn close(self: Box<Self>) {
        self.0.stop();
    }
}

//! `citrange drive`: a person drives an arm from a browser or a terminal, and records.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::bail;
use citrange_control::{CartesianController, Method, Settings};
use citrange_core::Rig as _;
use citrange_sim::priority::Lead;
use citrange_studio::{ServeOptions, Server, Summary, Telemetry, serve};
use citrange_tape::Dataset;
use citrange_teleop::{DriverLock, Speeds};
use serde_json::json;

use crate::drive::flow::{Drive, Plan, Tally};
use crate::drive::scene_info::stage_of;
use crate::drive::shared_control::Work;
use crate::drive::summary::lines;
use crate::drive::terminal::Terminal;
use crate::exit::Usage;
use crate::output::{self, Output};
use crate::recording::{RecordArgs, check_new, tell_repaired};
use crate::session::{catch_stop, stopped};

/// What is driven when nothing is said.
const DEFAULT_SCENE: &str = "block_box";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Scene name or YAML file; block_box by default, with --from that of the episode.
    scene: Option<String>,
    /// All settings of a recording in one YAML file; what is given here wins over it.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Record into this dataset.
    #[arg(long, value_name = "DATASET")]
    record: Option<PathBuf>,
    #[command(flatten)]
    how: RecordArgs,
    /// How many episodes; by default until stopped.
    #[arg(long)]
    episodes: Option<u64>,
    /// Longest episode, in seconds; then it is saved.
    #[arg(long, value_name = "SECONDS")]
    episode_time: Option<f64>,
    /// Pause between two episodes, in seconds; the right arrow ends it.
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    reset_time: f64,
    /// Seconds to get ready before an episode; the right arrow ends it.
    #[arg(long, value_name = "SECONDS", default_value_t = 3.0)]
    countdown: f64,
    /// How the arm answers: "default", "seed", or a YAML file.
    #[arg(long, default_value = "default")]
    profile: String,
    /// Drive from this terminal instead of a browser.
    #[arg(long)]
    tui: bool,
    /// Where the page is served; port 0 takes any free one. With --tui only when given.
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    /// Another host name under which the page may be opened.
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// Most pages open at once.
    #[arg(long, value_name = "COUNT", default_value_t = 16)]
    max_viewers: u16,
    /// Share of a camera's pictures that may be lost in an episode, in percent; above it you are
    /// asked whether the episode is kept.
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0)]
    max_lost_pictures: f64,
    /// How long that question waits for an answer, in seconds; then the episode is kept, marked.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    ask_time: f64,
    /// Print one JSON object per event: serving, repaired, begin, asking, saved, discarded,
    /// finished, end.
    #[arg(long, conflicts_with = "tui")]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    check_numbers(args)?;
    if args.record.is_none() && (args.episodes.is_some() || args.episode_time.is_some()) {
        bail!(Usage("--episodes and --episode-time need --record DATASET".into()));
    }
    if let Some(root) = &args.record {
        check_new(root, args.how.resume)?;
    }
    let settings = Settings::load(&args.profile)?;
    if settings.method == Method::Plain {
        output::talk(
            "profile with method: plain: targets are sent as the first script had them, without \
             the robot's limits of acceleration and jerk; not for a real arm",
        );
    }
    let (mut rig, origin) = args.how.rig(args.scene.as_deref(), DEFAULT_SCENE)?;
    // The loop moves a robot: it does not wait for cameras.
    rig.leave_pictures_out(true);
    let scene = Arc::clone(rig.world().scene());
    let robot = rig.robot().to_owned();
    let chain = scene.chain(&robot)?;
    let work = Work::of(&rig, &chain)?;
    let speeds = Speeds::of(&settings, &chain);
    let control_hz = rig.spec().rates.control_hz;
    let controller =
        CartesianController::new(chain, &settings, control_hz, Some(scene.floor_z_m(&robot)?))?;
    let (unit, images) = (args.how.unit(), args.how.images());
    let dataset = match &args.record {
        None => None,
        Some(root) => {
            let features = args.how.features();
            let (dataset, repaired) =
                Dataset::record_with(root, rig.spec(), unit, &images, features)?;
            tell_repaired(&repaired, args.json)?;
            Some(dataset)
        }
    };
    let task = args.how.task.clone().unwrap_or_else(|| scene.scene.task.clone());
    let driver_lock = DriverLock::new(DriverLock::LONGEST_SILENCE);
    let mut stage = stage_of(&rig, &task, speeds.linear_m_s)?;
    stage.autopilot = work.as_ref().map(Work::stage);
    let board = Telemetry::new(stage);
    let stop = catch_stop()?;
    let voice = match (args.json, args.tui) {
        (true, _) => Output::Json,
        (false, true) => Output::Quiet,
        (false, false) => Output::Talk,
    };
    let server = if args.tui && args.listen.is_none() {
        None
    } else {
        let viewers = usize::from(args.max_viewers);
        let at = PageAt { listen: args.listen, hosts: &args.host, viewers };
        Some(open_page(&board, &driver_lock, &at, voice)?)
    };
    let terminal = if args.tui {
        let links = server.as_ref().map(Server::links).unwrap_or_default();
        Some(Terminal::start(Arc::clone(&driver_lock), Arc::clone(&board), links)?)
    } else {
        None
    };
    let config = json!({
        "profile": args.profile, "settings": settings, "episode_time_s": args.episode_time,
    });
    let plan = Plan {
        episodes: args.episodes,
        episode_s: args.episode_time,
        reset_s: args.reset_time,
        countdown_s: args.countdown,
        seed: args.how.seed,
        first: args.how.first,
        task: &task,
        unit,
        images: &images,
        origin,
        config,
        voice,
        max_lost: args.max_lost_pictures / 100.0,
        ask_s: args.ask_time,
        scene: args.scene.as_deref().unwrap_or(DEFAULT_SCENE),
    };
    let controller = Arc::new(controller);
    let (tally, root, motion) = (Tally::default(), args.record.clone(), None);
    let mut drive = Drive {
        rig,
        controller,
        work,
        speeds,
        driver_lock,
        board,
        dataset,
        root,
        stop,
        plan,
        tally,
        motion,
    };
    // From here on this thread moves an arm.
    let lead = citrange_sim::priority::lead();
    let driven = drive.run();
    if let Some(terminal) = terminal {
        terminal.end();
    }
    if let Some(server) = server {
        // Every page is told how it ended before its connection is closed.
        server.stop();
    }
    let summary = driven?;
    tell_end(&drive, &summary, lead, args.json)?;
    if stopped() {
        return Err(crate::exit::Interrupted.into());
    }
    Ok(())
}

/// Where a page is served, and to how many.
pub(crate) struct PageAt<'a> {
    listen: Option<SocketAddr>,
    hosts: &'a [String],
    viewers: usize,
}

impl PageAt<'_> {
    /// At this address, or the usual one.
    pub(crate) fn of(listen: Option<SocketAddr>) -> Self {
        Self { listen, hosts: &[], viewers: ServeOptions::default().viewers }
    }
}

/// Serves the page and says where it is.
pub(crate) fn open_page(
    board: &Arc<Telemetry>,
    driver_lock: &Arc<DriverLock>,
    at: &PageAt<'_>,
    voice: Output,
) -> anyhow::Result<Server> {
    let mut options =
        ServeOptions { hosts: at.hosts.to_vec(), viewers: at.viewers, ..ServeOptions::default() };
    options.listen = at.listen.unwrap_or(options.listen);
    let server = serve(Arc::clone(board), Arc::clone(driver_lock), &options)?;
    tell_link(&server, voice)?;
    Ok(server)
}

fn check_numbers(args: &Args) -> anyhow::Result<()> {
    let times = [
        ("--episode-time", args.episode_time.unwrap_or(1.0), 0.1),
        ("--reset-time", args.reset_time, 0.0),
        ("--countdown", args.countdown, 0.0),
        ("--ask-time", args.ask_time, 0.1),
    ];
    let wrong = |what: String| Err(citrange_tape::TapeError::Missing(what).into());
    if !(0.0..=100.0).contains(&args.max_lost_pictures) {
        let given = args.max_lost_pictures;
        return wrong(format!("--max-lost-pictures {given}: give percent from 0 to 100"));
    }
    if args.max_viewers == 0 {
        return wrong("--max-viewers 0: nobody could drive; give 1 or more".into());
    }
    for (name, seconds, least) in times {
        if !(least..=86_400.0).contains(&seconds) {
            return wrong(format!("{name} {seconds}: give seconds from {least} to 86400"));
        }
    }
    Ok(())
}

fn tell_link(server: &Server, voice: Output) -> anyhow::Result<()> {
    let (address, links) = (server.address(), server.links());
    match voice {
        Output::Json | Output::JsonFrames => {
            let line = json!({
                "event": "serving", "link": server.link(), "links": links,
                "address": address.to_string(),
            });
            output::data(&line.to_string())
        }
        // The screen shows them.
        Output::Quiet => Ok(()),
        Output::Talk => {
            for (at, link) in links.iter().enumerate() {
                output::talk(&format!(
                    "{} {link}",
                    if at == 0 { "open in a browser:" } else { "or" }
                ));
            }
            if address.ip().is_loopback() {
                let port = address.port();
                output::talk(&format!(
                    "from another computer: ssh -L {port}:localhost:{port} <this machine>, then the same link"
                ));
            } else {
                output::talk(
                    "WARNING: anyone on this network who sees the link can drive the arm; it is not encrypted",
                );
            }
            Ok(())
        }
    }
}

fn tell_end(drive: &Drive<'_>, summary: &Summary, lead: Lead, as_json: bool) -> anyhow::Result<()> {
    let drawn = drive.board.read(|live| live.session.drawn);
    let tally = &drive.tally;
    let seconds = tally.ticks as f64 / f64::from(drive.rig.spec().rates.control_hz);
    let worst_ms = tally.worst_late.as_secs_f64() * 1e3;
    if as_json {
        let mut finished = json!(summary);
        finished["event"] = "finished".into();
        output::data(&finished.to_string())?;
        let line = json!({
            "event": "end", "saved": tally.saved, "discarded": tally.discarded,
            "seconds": seconds, "ticks": tally.ticks, "late_ticks": tally.late_ticks,
            "stalls": tally.stalls,
            "worst_late_ms": worst_ms, "dropped_pictures": tally.dropped,
            "drawn_pictures": drawn, "loop_priority": lead.name(),
        });
        return output::data(&line.to_string());
    }
    output::talk(&format!(
        "drove {seconds:.0} s: {} of {} ticks late (worst {worst_ms:.1} ms), {} stalls, \
         {} pictures dropped, {} episodes saved, {} thrown away",
        tally.late_ticks, tally.ticks, tally.stalls, tally.dropped, tally.saved, tally.discarded
    ));
    if lead != Lead::RealTime && 100 * tally.late_ticks > tally.ticks {
        output::talk(
            "more than 1 % of the ticks were late: fewer cameras, or an rtprio limit of 1 for this \
             user (ulimit -r), give the loop its turns",
        );
    }
    for line in lines(summary) {
        output::talk(&line);
    }
    match drive.root() {
        Some(root) => output::data(&root.display().to_string()),
        None => Ok(()),
    }
}

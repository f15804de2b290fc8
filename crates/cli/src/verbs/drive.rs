//! `citrange drive`: a person drives an arm from a browser or a terminal, and records.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use citrange_control::{Law, Seat, Settings, Speeds};
use citrange_core::Rig as _;
use citrange_studio::{Board, ServeOptions, Server, serve};
use citrange_tape::Dataset;
use serde_json::json;

use crate::drive::copilot::Work;
use crate::drive::flow::{Drive, Plan, Tally};
use crate::drive::stage::stage_of;
use crate::drive::terminal::Terminal;
use crate::exit::Usage;
use crate::recording::{RecordArgs, check_new, tell_repaired};
use crate::say::{self, Voice};
use crate::session::{catch_stop, stopped};

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
    /// Print one JSON object per event: serving, repaired, begin, saved, discarded, end.
    #[arg(long, conflicts_with = "tui")]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    check_seconds(args)?;
    if args.record.is_none() && (args.episodes.is_some() || args.episode_time.is_some()) {
        bail!(Usage("--episodes and --episode-time need --record DATASET".into()));
    }
    if let Some(root) = &args.record {
        check_new(root, args.how.resume)?;
    }
    let settings = Settings::load(&args.profile)?;
    let (mut rig, origin) = args.how.rig(args.scene.as_deref(), "block_box")?;
    // The loop moves a robot: it does not wait for cameras.
    rig.leave_pictures_out(true);
    let scene = Arc::clone(rig.world().scene());
    let robot = rig.robot().to_owned();
    let chain = scene.chain(&robot)?;
    let work = Work::of(&rig, &chain)?;
    let speeds = Speeds::of(&settings, &chain);
    let control_hz = rig.spec().rates.control_hz;
    let law = Law::new(chain, &settings, control_hz, Some(scene.floor_z_m(&robot)?))?;
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
    let seat = Seat::new(Seat::LONGEST_SILENCE);
    let mut stage = stage_of(&rig, &task, speeds.linear_m_s)?;
    stage.autopilot = work.as_ref().map(Work::stage);
    let board = Board::new(stage);
    let stop = catch_stop()?;
    let voice = match (args.json, args.tui) {
        (true, _) => Voice::Json,
        (false, true) => Voice::Quiet,
        (false, false) => Voice::Talk,
    };
    let server = if args.tui && args.listen.is_none() {
        None
    } else {
        Some(open_page(&board, &seat, args.listen, &args.host, voice)?)
    };
    let terminal =
        if args.tui { Some(Terminal::start(Arc::clone(&seat), Arc::clone(&board))?) } else { None };
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
    };
    let law = Arc::new(law);
    let tally = Tally::default();
    let mut drive = Drive { rig, law, work, speeds, seat, board, dataset, stop, plan, tally };
    let driven = drive.run();
    if let Some(terminal) = terminal {
        terminal.end();
    }
    if let Some(server) = server {
        // Long enough for the page to show how it ended.
        std::thread::sleep(Duration::from_millis(300));
        server.stop();
    }
    driven?;
    tell_end(&drive, args.json)?;
    if stopped() {
        return Err(crate::exit::Interrupted.into());
    }
    Ok(())
}

/// Serves the page and says where it is.
pub(crate) fn open_page(
    board: &Arc<Board>,
    seat: &Arc<Seat>,
    listen: Option<SocketAddr>,
    hosts: &[String],
    voice: Voice,
) -> anyhow::Result<Server> {
    let mut options = ServeOptions { hosts: hosts.to_vec(), ..ServeOptions::default() };
    options.listen = listen.unwrap_or(options.listen);
    let server = serve(Arc::clone(board), Arc::clone(seat), &options)?;
    tell_link(&server.link(), server.address(), voice)?;
    Ok(server)
}

fn check_seconds(args: &Args) -> anyhow::Result<()> {
    let times = [
        ("--episode-time", args.episode_time.unwrap_or(1.0), 0.1),
        ("--reset-time", args.reset_time, 0.0),
        ("--countdown", args.countdown, 0.0),
    ];
    for (name, seconds, least) in times {
        if !(least..=86_400.0).contains(&seconds) {
            bail!(citrange_tape::TapeError::Missing(format!(
                "{name} {seconds}: give seconds from {least} to 86400"
            )));
        }
    }
    Ok(())
}

fn tell_link(link: &str, address: SocketAddr, voice: Voice) -> anyhow::Result<()> {
    match voice {
        Voice::Json | Voice::JsonFrames => say::data(
            &json!({"event": "serving", "link": link, "address": address.to_string()}).to_string(),
        ),
        Voice::Quiet => Ok(()),
        Voice::Talk => {
            say::talk(&format!("open in a browser: {link}"));
            if address.ip().is_loopback() {
                let port = address.port();
                say::talk(&format!(
                    "from another computer: ssh -L {port}:localhost:{port} <this machine>, then the same link"
                ));
            } else {
                say::talk(
                    "WARNING: anyone on this network who sees the link can drive the arm; it is not encrypted",
                );
            }
            Ok(())
        }
    }
}

fn tell_end(drive: &Drive<'_>, as_json: bool) -> anyhow::Result<()> {
    let tally = &drive.tally;
    let seconds = tally.ticks as f64 / f64::from(drive.rig.spec().rates.control_hz);
    let worst_ms = tally.worst_late.as_secs_f64() * 1e3;
    if as_json {
        let line = json!({
            "event": "end", "saved": tally.saved, "discarded": tally.discarded,
            "seconds": seconds, "ticks": tally.ticks, "late_ticks": tally.late_ticks,
            "worst_late_ms": worst_ms, "dropped_pictures": tally.dropped,
        });
        return say::data(&line.to_string());
    }
    say::talk(&format!(
        "drove {seconds:.0} s: {} of {} ticks late (worst {worst_ms:.1} ms), {} pictures dropped, \
         {} episodes saved, {} thrown away",
        tally.late_ticks, tally.ticks, tally.dropped, tally.saved, tally.discarded
    ));
    match drive.root() {
        Some(root) => say::data(&root.display().to_string()),
        None => Ok(()),
    }
}

//! `citrange drive`: a person drives an arm from a browser or a terminal, and records.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use citrange_episodes::drive::{Drive, DriveOptions, lines};
use citrange_episodes::{EpisodesError, LinkChoice, RecordOptions, check_new};
use citrange_sim::priority::Lead;
use citrange_studio::{ServeOptions, Server, Summary, Terminal};
use serde_json::json;

use crate::args::{LeaderArgs, LinkArgs, NoiseArgs, RecordArgs, SeenArgs};
use crate::exit::{Result, bad_input};
use crate::output::{self, Output};
use crate::page::open_page;
use crate::stop::catch_stop;

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
    #[command(flatten)]
    noise: NoiseArgs,
    #[command(flatten)]
    link: LinkArgs,
    #[command(flatten)]
    leader: LeaderArgs,
    #[command(flatten)]
    seen: SeenArgs,
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

pub(crate) fn run(args: &Args) -> Result {
    let output = match (args.json, args.tui) {
        (true, _) => Output::Json,
        (false, true) => Output::Quiet,
        (false, false) => Output::Talk,
    };
    let link = args.seen.add_to(args.link.choice());
    if link.is_none() && args.leader.choice().is_some() {
        return Err(bad_input("--leader needs an arm that follows: --rig so101:PORT"));
    }
    let link = link.map(|link| LinkChoice { leader: args.leader.choice(), ..link });
    let options = DriveOptions {
        scene: args.scene.clone(),
        dataset: args.record.clone(),
        record: RecordOptions { link, ..args.how.options() },
        first: args.how.first,
        profile: args.profile.clone(),
        episodes: args.episodes,
        episode_s: args.episode_time,
        reset_s: args.reset_time,
        countdown_s: args.countdown,
        max_lost: args.max_lost_pictures / 100.0,
        ask_s: args.ask_time,
        pose_noise_mm: args.noise.pose_noise_mm,
    };
    options.check()?;
    if args.max_viewers == 0 {
        return Err(bad_input("--max-viewers 0: nobody could drive; give 1 or more"));
    }
    if let Some(root) = &args.record {
        check_new(root, args.how.resume)?;
    }
    let mut drive = Drive::new(&options, output.context())?;
    let stop = catch_stop()?;
    let (board, driver_lock) = (Arc::clone(drive.board()), Arc::clone(drive.driver_lock()));
    let server = (!args.tui || args.listen.is_some()).then(|| {
        let mut options = ServeOptions { hosts: args.host.clone(), ..ServeOptions::default() };
        options.viewers = usize::from(args.max_viewers);
        open_page(&board, &driver_lock, options, args.listen, output)
    });
    let server = server.transpose()?;
    let links = server.as_ref().map(Server::links).unwrap_or_default();
    let terminal = args.tui.then(|| Terminal::start(driver_lock, board, links)).transpose()?;
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
    tell_end(&drive, &summary, lead, args)?;
    if stop.load(Ordering::Relaxed) { Err(EpisodesError::Interrupted.into()) } else { Ok(()) }
}

fn tell_end(drive: &Drive<'_>, summary: &Summary, lead: Lead, args: &Args) -> Result {
    let report = drive.report(lead);
    if args.json {
        for (event, mut object) in [("finished", json!(summary)), ("end", json!(report))] {
            object["event"] = event.into();
            output::data(&object.to_string())?;
        }
        return Ok(());
    }
    report.lines().iter().chain(&lines(summary)).for_each(|line| output::talk(line));
    args.record.as_ref().map_or(Ok(()), |root| output::data(&root.display().to_string()))
}

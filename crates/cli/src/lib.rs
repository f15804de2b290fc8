//! The `citrange` command: arguments in, verbs run, exit codes out.
//!
//! Data goes to stdout, talk and progress to stderr. Exit codes: 0 ok, 1 failed, 2 usage, 3 bad
//! input, 4 a check found problems, 5 robot or link, 130 interrupted; `exit.rs` chooses. What
//! `--json` prints: `docs/json.md`.

mod args;
mod exit;
mod help;
mod logs;
mod output;
mod page;
mod stop;
mod verbs;

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches as _, Parser, Subcommand};

/// Teach, record, repeat and deploy robot arms.
#[derive(Debug, Parser)]
#[command(name = "citrange", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
    /// Tell on stderr what is being done, with times; -vv tells more. CITRANGE_LOG chooses parts,
    /// such as CITRANGE_LOG=citrange_sim=debug.
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    verbose: u8,
}

impl Cli {
    /// The whole command line, with its verbs in groups.
    fn grouped() -> clap::Command {
        help::grouped(Self::command())
    }
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Fetch what Citrange needs once per machine: the MuJoCo library.
    Setup,
    /// Check engine, GL, cameras, video and models; say what is wrong and the cure.
    Doctor(verbs::doctor::Args),
    /// List, describe and draw scenes.
    #[command(subcommand)]
    Scene(verbs::scene::Command),
    /// Describe a robot of somebody's: what is guessed from its MJCF or URDF, to mend.
    #[command(subcommand)]
    Robot(verbs::robot::Command),
    /// Arms on their ports: list, and stand-ins for those without one.
    #[command(subcommand)]
    Rig(verbs::rig::Command),
    /// Simulate many environments; speed, energy and contact sanity.
    Sim(verbs::sim::Args),
    /// Drive an arm from a browser or a terminal, and record.
    Drive(verbs::drive::Args),
    /// Let an arm make episodes by itself, many at a time, into a dataset.
    Collect(verbs::collect::Args),
    /// Repeat a recorded episode, exactly where the file allows it.
    Replay(verbs::replay::Args),
    /// Look at, check, repair, edit datasets; take episodes in and out.
    #[command(subcommand)]
    Data(verbs::data::Command),
    /// Make a page of a dataset: success, reasons, times, places, pictures, a film.
    Report(verbs::report::Args),
    /// Camera frames become a map: run, look, simulate, calibrate.
    #[command(subcommand)]
    Space(verbs::space::Command),
    /// Plan a motion that touches nothing, timed within the arm's limits; film it.
    Plan(verbs::plan::Args),
    /// Let an arm learn by itself, in minutes on this machine.
    #[command(subcommand)]
    Train(verbs::train::Command),
    /// Find out how good a policy is, beside the planner; a page.
    Eval(verbs::eval::Args),
    /// Look at policies.
    #[command(subcommand)]
    Policy(verbs::policy::Command),
    /// A robot and its twin: goals reached around what cameras see, stopped where they are not free.
    Twin(verbs::twin::Args),
    /// Show an arm at work and make pictures of it.
    Demo(verbs::demo::Args),
    /// Show the settings of a verb and who said each; schemas of the files.
    #[command(subcommand)]
    Config(verbs::config::Command),
    /// Print shell completions.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

impl Verb {
    /// Whether its `--json` is one object per line.
    fn tells_lines(&self) -> bool {
        match self {
            Self::Drive(_) | Self::Collect(_) | Self::Train(_) | Self::Twin(_) => true,
            Self::Data(command) => command.tells_lines(),
            Self::Space(command) => command.tells_lines(),
            Self::Plan(args) => args.tells_lines(),
            Self::Rig(command) => command.tells_lines(),
            _ => false,
        }
    }

    fn run(&self) -> exit::Result {
        match self {
            Self::Setup => verbs::setup::run(),
            Self::Doctor(args) => verbs::doctor::run(args),
            Self::Scene(command) => verbs::scene::run(command),
            Self::Robot(command) => verbs::robot::run(command),
            Self::Rig(command) => verbs::rig::run(command),
            Self::Sim(args) => verbs::sim::run(args),
            Self::Drive(args) => verbs::drive::run(args),
            Self::Collect(args) => verbs::collect::run(args),
            Self::Replay(args) => verbs::replay::run(args),
            Self::Data(command) => verbs::data::run(command),
            Self::Report(args) => verbs::report::run(args),
            Self::Space(command) => verbs::space::run(command),
            Self::Plan(args) => verbs::plan::run(args),
            Self::Train(command) => verbs::train::run(command),
            Self::Eval(args) => verbs::eval::run(args),
            Self::Policy(command) => verbs::policy::run(command),
            Self::Twin(args) => verbs::twin::run(args),
            Self::Demo(args) => verbs::demo::run(args),
            Self::Config(command) => verbs::config::run(command),
            Self::Completions { shell } => {
                let to = &mut std::io::stdout();
                clap_complete::generate(*shell, &mut Cli::grouped(), "citrange", to);
                Ok(())
            }
        }
    }
}

/// The command line, with what a file of settings adds to it.
fn parsed(words: &[OsString]) -> Result<Cli, u8> {
    let matches = Cli::grouped().try_get_matches_from(words).map_err(|e| exit::report_usage(&e))?;
    let more =
        verbs::config::command_line().file_words(&matches).map_err(|e| exit::report(&e.into()))?;
    let all = words.iter().cloned().chain(more.into_iter().map(Into::into));
    let matches = Cli::grouped().try_get_matches_from(all).map_err(|e| exit::report_usage(&e))?;
    Cli::from_arg_matches(&matches).map_err(|e| exit::report_usage(&e))
}

/// Runs the command with these words, of which the first is its own name; answers the exit code.
/// For one command of a process: what it promised on stdout stays promised.
#[must_use]
pub fn main_from(words: &[OsString]) -> u8 {
    // Known before the command line is understood, so that it holds for what is wrong with it.
    let json = words.iter().any(|word| word == "--json");
    if json {
        output::promise_json(false);
    }
    let cli = match parsed(words) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    if json {
        output::promise_json(cli.verb.tells_lines());
    }
    let outcome = logs::begin(cli.verbose).and_then(|()| cli.verb.run());
    outcome.map_or_else(|failure| exit::report(&failure), |()| 0)
}

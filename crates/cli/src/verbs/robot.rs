//! `citrange robot describe`.

use std::path::{Path, PathBuf};

use citrange_core::robot::HandModel;
use citrange_episodes::compiled;
use citrange_sim::{Guess, describe, try_robot};
use serde_json::json;

use crate::exit::{Result, bad_input, failed};
use crate::output;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Guess the description of a robot from its model, and write it down for people to mend.
    Describe(Describe),
    /// Try what the first robot of a scene can do: State, driving, gripper.
    Try(Try),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Try {
    /// Scene name or YAML file.
    scene: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Describe {
    /// The model: an MJCF or URDF file.
    model: PathBuf,
    /// Where the description goes; the terminal by default.
    #[arg(short, long, value_name = "YAML")]
    output: Option<PathBuf>,
    /// Of a model with several robots the one that hangs on this body.
    #[arg(long, value_name = "BODY")]
    root: Option<String>,
    /// A gripper's own model, put onto the arm's at --at.
    #[arg(long, value_name = "MODEL", requires = "at")]
    hand: Option<PathBuf>,
    /// The site or body of the arm's model that --hand goes onto.
    #[arg(long, value_name = "SITE", requires = "hand")]
    at: Option<String>,
    /// Draw what was guessed into this folder: at rest, and the hand open and closed, with the
    /// tool's frame (x red, y green, z blue) and the wrist (yellow).
    #[arg(long, value_name = "FOLDER")]
    pictures: Option<PathBuf>,
    /// Write over a description that is there.
    #[arg(long)]
    overwrite: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(command: &Command) -> Result {
    match command {
        Command::Describe(args) => run_describe(args),
        Command::Try(args) => run_try(args),
    }
}

fn run_try(args: &Try) -> Result {
    let trial = try_robot(&compiled(&args.scene)?)?;
    let word = |found: &std::result::Result<(), String>| match found {
        Ok(()) => "works".to_owned(),
        Err(reason) => reason.clone(),
    };
    let gripper = trial.gripper.as_ref().map_or("it has none".to_owned(), word);
    let found =
        [("state", word(&trial.state)), ("drive", word(&trial.drive)), ("gripper", gripper)];
    if args.json {
        let report: serde_json::Map<String, serde_json::Value> =
            found.iter().map(|(key, text)| ((*key).to_owned(), json!(text))).collect();
        return output::data(&json!(report).to_string());
    }
    for (key, text) in found {
        output::data(&format!("{key:<10} {text}"))?;
    }
    Ok(())
}

fn run_describe(args: &Describe) -> Result {
    let model = args.model.to_string_lossy();
    let hand = args.hand.as_ref().zip(args.at.clone());
    let hand = hand.map(|(file, at)| HandModel { model: file.to_string_lossy().into_owned(), at });
    let mut guess = describe(&model, Path::new(""), args.root.as_deref(), hand.as_ref())?;
    if let Some(folder) = &args.pictures {
        draw(&guess, folder)?;
    }
    if let Some(path) = &args.output {
        guess.description.model = seen_from(path, &args.model)?;
        if let (Some(hand), Some(file)) = (&mut guess.description.hand, &args.hand) {
            hand.model = seen_from(path, file)?;
        }
        if path.exists() && !args.overwrite {
            let text = format!("{} is there already; --overwrite writes over it", path.display());
            return Err(bad_input(text));
        }
        std::fs::write(path, guess.to_yaml())
            .map_err(|e| failed(format!("cannot write {}: {e}", path.display())))?;
    }
    if args.json {
        let report = json!({ "description": guess.description, "notes": guess.notes });
        return output::data(&report.to_string());
    }
    match &args.output {
        None => output::data(guess.to_yaml().trim_end()),
        Some(path) => {
            output::data(&path.display().to_string())?;
            for line in summary(&guess) {
                output::talk(&line);
            }
            Ok(())
        }
    }
}

fn summary(guess: &Guess) -> Vec<String> {
    let d = &guess.description;
    let gripper = d.gripper.as_ref().map_or("none".to_owned(), |g| g.joints.join(" "));
    let mut lines = vec![format!("arm: {}", d.arm_joints.join(" ")), format!("gripper: {gripper}")];
    lines.extend(guess.notes.iter().map(|note| format!("look at this: {note}")));
    lines
}

/// The model's path from the folder of a description.
fn seen_from(description: &Path, model: &Path) -> Result<String> {
    let absolute = |path: &Path| {
        let odd = |e: std::io::Error| bad_input(format!("{}: {e}", path.display()));
        std::path::absolute(path).map_err(odd)
    };
    let (folder, model) = (absolute(description)?, absolute(model)?);
    let folder = folder.parent().unwrap_or(Path::new("/"));
    Ok(model.strip_prefix(folder).unwrap_or(&model).to_string_lossy().into_owned())
}

fn draw(guess: &Guess, folder: &Path) -> Result {
    std::fs::create_dir_all(folder)
        .map_err(|e| failed(format!("cannot make {}: {e}", folder.display())))?;
    for (name, picture) in guess.pictures(Path::new(""))? {
        let path = folder.join(format!("{name}.png"));
        picture.save(&path).map_err(|e| failed(format!("{}: {e}", path.display())))?;
        output::talk(&path.display().to_string());
    }
    Ok(())
}

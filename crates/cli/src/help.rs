//! `citrange --help`: the verbs in groups, in the order in which people meet them.

use clap::Command;

/// Every verb stands in one group; a test looks.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Teach and record", &["demo", "drive", "collect"]),
    ("Repeat and check", &["replay", "data", "report"]),
    ("See and plan", &["scene", "robot", "sim", "space", "plan", "twin"]),
    ("Learn", &["train", "eval", "policy"]),
    ("Real arms", &["rig"]),
    ("Set up", &["setup", "doctor", "config", "completions", "help"]),
];

/// The command with its verbs in groups.
pub(crate) fn grouped(command: Command) -> Command {
    let listed = list(&command);
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{listed}Options:\n{{options}}\n\n\
         citrange VERB --help tells more; citrange demo shows an arm at work.\n"
    ))
}

/// The groups as text.
fn list(command: &Command) -> String {
    let mut text = String::new();
    for (title, names) in GROUPS {
        text.push_str(&format!("{title}:\n"));
        for name in names {
            // clap adds its own verb `help` later.
            let about = match command.find_subcommand(name).and_then(Command::get_about) {
                Some(about) => about.to_string(),
                None => "Tell more about a verb".to_owned(),
            };
            text.push_str(&format!("  {name:<12} {about}\n"));
        }
        text.push('\n');
    }
    text
}

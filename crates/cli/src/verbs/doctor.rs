//! `citrange doctor`: what works here, what does not, and the cure.

use citrange_episodes::doctor::{Finding, Grade, examine};
use serde_json::json;

use crate::exit::{Result, problems_found};
use crate::output;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print one JSON object instead of lines.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result {
    tell(&examine(), args.json)
}

/// Prints what checks showed; problems found where one failed.
pub(super) fn tell(findings: &[Finding], json: bool) -> Result {
    if json {
        output::data(&json!({ "checks": findings }).to_string())?;
    } else {
        for one in findings {
            output::data(&format!("{:<4} {:<28} {}", one.grade.word(), one.check, one.detail))?;
        }
    }
    let failed = findings.iter().filter(|one| one.grade == Grade::Fail).count();
    if failed > 0 {
        return Err(problems_found(format!("{failed} of {} checks failed", findings.len())));
    }
    Ok(())
}

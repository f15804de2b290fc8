//! Collection at a speed, as a person would watch it: one worker, pictures that come too late are
//! left out, and a stop keeps what there is of the episode.

use citrange_core::run::run as run_episode;
use citrange_core::{Pace, RunSettings};
use citrange_tape::{Dataset, WhenFull};

use super::goal::Goal;
use super::plan::Plan;
use super::show::Show;
use super::tally::Tally;
use crate::error::{Context as _, Result};
use crate::linked::cell::{check_goes_on, park};
use crate::recording::{Take, cut_short};

/// Records episodes from index `first` on.
pub(crate) fn collect(
    plan: &Plan,
    dataset: &mut Dataset,
    goal: &Goal,
    tally: &mut Tally,
    show: &Show,
    first: u64,
) -> Result<()> {
    let ctx = show.ctx;
    let mut rig = plan.rig(first)?;
    let settings = RunSettings {
        pace: if plan.is_real { Pace::REAL_TIME } else { Pace::at_speed(plan.speed) },
        max_frames: plan.max_frames,
        stop: Some(ctx.stop),
        pictures: !rig.spec().cameras.is_empty(),
        ..RunSettings::default()
    };
    let mut episode = first;
    while goal.may_make(tally, episode - first) > 0 && !ctx.stopped() {
        if plan.is_randomised() && episode > first {
            rig = plan.rig(episode)?;
        }
        plan.bring(rig.as_mut(), ctx)?;
        plan.set(rig.as_mut(), episode)?;
        let mut pilot = plan.pilot(rig.as_mut(), episode)?;
        let name = pilot.name().to_owned();
        let bar = ctx.progress("recording", plan.max_frames.unwrap_or(0));
        let seen = |frame, dropped| {
            bar.set(frame + 1);
            if dropped > 0 {
                bar.rename(format!("recording ({dropped} pictures dropped)"));
            }
        };
        let choice = plan.choice(&name, episode);
        let mut tape = Take::begin(dataset, rig.as_ref(), choice, WhenFull::Drop, &seen, ctx)?;
        let ran = run_episode(pilot.as_mut(), rig.as_mut(), &mut tape, &settings);
        bar.finish();
        let report = ran.with_context(|| cut_short(episode, dataset.root()))?;
        if report.frames == 0 {
            return tape.discard();
        }
        episode += 1;
        if goal.wants(tally, &report.outcome) {
            tally.save(&report.outcome, report.frames);
            tape.save(dataset, &report)?;
        } else {
            tally.leave_out(&report.outcome, report.frames);
            tape.discard()?;
        }
        show.progress(goal, tally);
        check_goes_on(rig.as_ref())?;
    }
    park(rig.as_mut(), ctx)
}

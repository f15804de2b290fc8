//! Work goes on from any frame of an episode exactly as it went on then.

use citrange_core::run;
use citrange_core::tape::{FrameRecord, TickRecord};
use citrange_core::{BoxError, Event, Outcome, Pilot as _, RunSettings, Snapshot, Tape};

use citrange_task::WorkAtFrame;

use crate::work::{Site, site};

#[derive(Default)]
struct Kept {
    frames: Vec<Snapshot>,
    digests: Vec<u64>,
    events: Vec<(u64, Event)>,
    outcome: Option<Outcome>,
}

impl Tape for Kept {
    fn frame(&mut self, frame: &FrameRecord<'_>) -> Result<(), BoxError> {
        self.frames.push(frame.snapshot.cloned().unwrap());
        Ok(())
    }
    fn tick(&mut self, tick: &TickRecord<'_>) -> Result<(), BoxError> {
        self.digests.extend(&tick.commanded.digests);
        Ok(())
    }
    fn event(&mut self, tick: u64, event: &Event) -> Result<(), BoxError> {
        self.events.push((tick, event.clone()));
        Ok(())
    }
    fn end(&mut self, outcome: &Outcome, _: Option<&Snapshot>) -> Result<(), BoxError> {
        self.outcome = Some(outcome.clone());
        Ok(())
    }
}

fn whole(site: &mut Site) -> Kept {
    site.rig.world_mut().reset_env(0, 3, 5).unwrap();
    let mut pilot = site.autopilot();
    let mut kept = Kept::default();
    run(&mut pilot, &mut site.rig, &mut kept, &RunSettings::default()).unwrap();
    kept
}

#[test]
fn it_goes_on_from_every_state_bit_for_bit() {
    for scene in ["orange_plate", "multi_table_assembly"] {
        let mut site = site(scene, |scene| scene.job.as_mut().unwrap().targets.truncate(1));
        let kept = whole(&mut site);
        let home = site.rig.targets();
        let per_frame = kept.digests.len() / kept.frames.len();
        let length = kept.frames[1].fields["pilot/autopilot"].len();
        // A frame out of every state, and some between.
        // The first ones are amid the search for a grasp.
        for frame in [1, 2].into_iter().chain((3..kept.frames.len()).step_by(17)) {
            let snapshot = &kept.frames[frame];
            assert_eq!(snapshot.fields["pilot/autopilot"].len(), length, "frame {frame}");
            site.rig.world_mut().restore(0, snapshot).unwrap();
            let mut pilot = site.autopilot_from(&home);
            citrange_core::Pilot::load(&mut pilot, &snapshot.fields).unwrap();
            let work = WorkAtFrame::of(&snapshot.fields, home.len()).unwrap();
            assert_eq!(work.state.name(), pilot.status().state);
            assert!(work.hand_goal_m.iter().all(|m| m.abs() < 2.0), "{work:?}");
            let mut again = std::collections::BTreeMap::new();
            pilot.save(&mut again);
            assert_eq!(again["pilot/autopilot"], snapshot.fields["pilot/autopilot"]);
            let mut rest = Kept::default();
            run(&mut pilot, &mut site.rig, &mut rest, &RunSettings::default()).unwrap();
            assert_eq!(rest.outcome, kept.outcome, "{scene} from frame {frame}");
            assert!(rest.digests == kept.digests[frame * per_frame..], "{scene} frame {frame}");
        }
    }
}

#[test]
fn the_memory_of_another_job_is_refused() {
    let mut one = site("orange_plate", |scene| scene.job.as_mut().unwrap().targets.truncate(1));
    let kept = whole(&mut one);
    let mut three = site("orange_plate", |_| {});
    three.rig.world_mut().reset_env(0, 3, 5).unwrap();
    let mut pilot = three.autopilot();
    let error = pilot.load(&kept.frames[4].fields).unwrap_err().to_string();
    assert!(error.contains("do not fit"), "{error}");
    let mut fields = kept.frames[4].fields.clone();
    fields.remove("pilot/autopilot");
    let error = pilot.load(&fields).unwrap_err().to_string();
    assert!(error.contains("pilot/autopilot"), "{error}");
}

//! Pilot and rig whose doings are seen on a board.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use citrange_core::pilot::Start;
use citrange_core::{
    BoxError, CameraImage, Command, Commanded, Halt, Notes, Observation, Picture, Pilot, Rig,
    RigSpec, Snapshot, Verdict, Want,
};
use citrange_robot::{ChainSite, Kinematics};
use citrange_teleop::SharedControl;
use citrange_teleop::telemetry::Telemetry;

use super::led::Led;
use super::work::Work;
use crate::cell::{EpisodeRig, Shown};

/// How often the board gets new poses.
const SHOWN_HZ: u32 = 60;
/// How often pictures are drawn while nothing is recorded.
const IDLE_PICTURES_HZ: u32 = 10;
/// Ticks between two looks at the rig that count as late: then drawing pauses.
const LATE_TICKS: f64 = 2.0;
/// How long it pauses while nothing is recorded. A recording leaves out one frame.
const PAUSE: Duration = Duration::from_millis(100);
/// Frames whose pictures are waited for.
const RECENT: usize = 4;

/// A driver whose grip, limits, pace and autopilot are seen.
pub(crate) struct LivePilot<'a> {
    pub(crate) copilot: SharedControl<'a, Work>,
    /// Who leads the arm, where a leader does.
    led: Option<Led>,
    board: &'a Telemetry,
    control_hz: u32,
    /// When the next tick is due.
    due: Option<Instant>,
    ticks: u64,
    second: Second,
    kinematics: Kinematics,
    hand: ChainSite,
}

impl<'a> LivePilot<'a> {
    pub(crate) fn new(
        copilot: SharedControl<'a, Work>,
        led: Option<Led>,
        board: &'a Telemetry,
        control_hz: u32,
    ) -> Self {
        let controller = copilot.teleop().controller();
        let (kinematics, hand) = (Kinematics::new(controller.chain()), controller.hand().clone());
        let second = Second::default();
        Self { copilot, led, board, control_hz, due: None, ticks: 0, second, kinematics, hand }
    }
}

/// The pace of the last second.
#[derive(Default)]
struct Second {
    begun: Option<Instant>,
    ticks: u32,
    worst: Duration,
    /// What the second before was like: rate, latest start.
    shown: (f32, f32),
}

impl Second {
    fn tick(&mut self, now: Instant, late: Duration) {
        let begun = *self.begun.get_or_insert(now);
        let length = now - begun;
        if length >= Duration::from_secs(1) {
            let worst_ms = self.worst.as_secs_f32() * 1e3;
            self.shown = (self.ticks as f32 / length.as_secs_f32(), worst_ms);
            (self.begun, self.ticks, self.worst) = (Some(now), 0, Duration::ZERO);
        }
        self.ticks += 1;
        self.worst = self.worst.max(late);
    }
}

impl Pilot for LivePilot<'_> {
    fn name(&self) -> &str {
        if self.led.is_some() { "leader" } else { self.copilot.name() }
    }

    fn begin(&mut self, start: &Start<'_>) -> Result<(), BoxError> {
        self.copilot.begin(start)?;
        self.led.as_mut().map_or(Ok(()), |led| led.begin(start.spec, start.targets))
    }

    fn decide(
        &mut self,
        seen: &Observation,
        command: &mut Command,
        events: &mut Notes,
    ) -> Result<Verdict, BoxError> {
        let now = Instant::now();
        let seconds = self.ticks as f64 / f64::from(self.control_hz);
        let tick = Duration::from_secs_f64(1.0 / f64::from(self.control_hz));
        let due = *self.due.get_or_insert(now);
        let late = now.saturating_duration_since(due);
        // As the loop does it: what is late is skipped.
        self.due = Some(if late > tick { now + tick } else { due + tick });
        self.second.tick(now, late);
        self.ticks += 1;
        let verdict = match &mut self.led {
            None => self.copilot.decide(seen, command, events)?,
            Some(led) => match self.copilot.attend(events) {
                Some(outcome) => Verdict::Done(outcome),
                None => {
                    let teleop = self.copilot.teleop();
                    let limiter = teleop.controller().limiter();
                    led.decide(limiter, seen, teleop.grip().brake, &mut command.pos)?
                }
            },
        };
        let flight = self.copilot.news().cloned();
        let teleop = self.copilot.teleop();
        let (grip, status) = (teleop.grip(), teleop.status());
        let mut limited_by = status.words(teleop.controller().chain());
        if grip.brake {
            limited_by.insert(0, "stopped: let go and press anew".to_owned());
        }
        // The controller keeps the tool down, not the autopilot.
        let tilt_rad = if self.copilot.is_flying() { f64::NAN } else { status.tilt_rad };
        self.kinematics.update(&seen.joint_pos);
        let hand_m = self.kinematics.site(&self.hand).pos_m;
        let hand_m = [hand_m.x, hand_m.y, hand_m.z].map(|v| v as f32);
        let leader = self.led.as_ref().map(|led| led.status().clone());
        let is_late = late.as_secs_f64() * f64::from(self.control_hz) > 1.0;
        self.board.write(|live| {
            live.session.seconds = seconds;
            live.held.clear();
            live.held.extend(grip.held.keys().map(|key| key.name()));
            live.brake = grip.brake;
            live.seq = grip.seq;
            live.hand_m = hand_m;
            live.tilt_rad = tilt_rad as f32;
            live.limited_by = limited_by;
            live.leader = leader;
            (live.loop_hz, live.worst_late_ms) = self.second.shown;
            live.late_ticks += u64::from(is_late);
            if flight.is_some() {
                live.flight = flight;
            }
        });
        Ok(verdict)
    }

    fn stalled(&mut self, late: Duration) {
        self.copilot.stalled(late);
        self.board.write(|live| live.stalls += 1);
    }

    fn finish(&mut self, command: &mut Command) {
        match &mut self.led {
            None => self.copilot.finish(command),
            Some(led) => {
                let limiter = self.copilot.teleop().controller().limiter();
                led.finish(limiter, &mut command.pos);
            }
        }
    }

    fn save(&self, fields: &mut std::collections::BTreeMap<String, Vec<f64>>) {
        self.copilot.save(fields);
    }
}

/// Which pictures are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pictures {
    /// All: they are kept.
    Recorded,
    /// All, while somebody looks.
    Shown,
    /// Some, while somebody looks.
    Glanced,
}

/// A rig whose bodies and pictures are seen.
pub(crate) struct LiveRig<'a> {
    rig: &'a mut dyn EpisodeRig,
    board: &'a Arc<Telemetry>,
    which: Pictures,
    ticks: u64,
    pace: Pace,
    shown: Shown,
    /// Pictures of the last frames, newest first, as far as they were not shown.
    recent: VecDeque<Vec<Picture>>,
}

impl<'a> LiveRig<'a> {
    pub(crate) fn new(
        rig: &'a mut dyn EpisodeRig,
        board: &'a Arc<Telemetry>,
        which: Pictures,
    ) -> Self {
        let (shown, recent) = (Shown::default(), VecDeque::new());
        Self { rig, board, which, ticks: 0, pace: Pace::default(), shown, recent }
    }

    /// Whether the pictures of this frame are for anybody.
    fn is_wanted(&self) -> bool {
        let rates = self.rig.spec().rates;
        let frame = rates.frame_of(self.ticks);
        let every = u64::from((rates.frame_hz / IDLE_PICTURES_HZ).max(1));
        match self.which {
            Pictures::Recorded => true,
            Pictures::Shown => self.board.is_watched(),
            Pictures::Glanced => self.board.is_watched() && frame.is_multiple_of(every),
        }
    }
}

/// Whether the loop gets its turns: drawing, which may be what takes them, pauses for a moment.
/// Between two pauses there is always a frame, however busy the machine is.
#[derive(Default)]
struct Pace {
    last: Option<Instant>,
    is_late: bool,
    paused_until: Option<Instant>,
}

impl Pace {
    /// A tick begins.
    fn tick(&mut self, now: Instant, control_hz: u32) {
        let gap = self.last.replace(now).map_or(Duration::ZERO, |last| now - last);
        self.is_late |= gap.as_secs_f64() * f64::from(control_hz) > LATE_TICKS;
    }

    /// Whether a frame that is wanted now may be drawn; otherwise none is for as long as `pause`.
    fn may_draw(&mut self, now: Instant, pause: Duration) -> bool {
        let was_late = std::mem::take(&mut self.is_late);
        match self.paused_until {
            Some(until) if now < until => false,
            Some(_) => {
                self.paused_until = None;
                true
            }
            None if was_late => {
                self.paused_until = Some(now + pause);
                false
            }
            None => true,
        }
    }
}

impl LiveRig<'_> {
    /// The pictures of the newest frame that is drawn; none when there is none newer than at the
    /// last look. The loop is ahead of the drawer: the newest frame's own are not there yet.
    fn newest_drawn(&mut self) -> Option<Vec<Picture>> {
        let at = self.recent.iter().position(|frame| frame.iter().all(Picture::is_ready))?;
        let drawn = self.recent.remove(at);
        self.recent.truncate(at);
        drawn
    }
}

impl Rig for LiveRig<'_> {
    fn spec(&self) -> &RigSpec {
        self.rig.spec()
    }

    fn begin(&mut self, command: &mut Command) -> Result<(), BoxError> {
        self.rig.begin(command)
    }

    fn halt(&mut self, how: Halt) {
        self.rig.halt(how);
    }

    fn observe(&mut self, want: Want, seen: &mut Observation) -> Result<(), BoxError> {
        let now = Instant::now();
        self.pace.tick(now, self.rig.spec().rates.control_hz);
        let wanted = want == Want::Images && self.is_wanted();
        let pause = if self.which == Pictures::Recorded { Duration::ZERO } else { PAUSE };
        // The first of an episode has none before it that could take its place.
        // Taking a real camera's picture costs nothing.
        let may_draw = self.rig.is_real() || self.pace.may_draw(now, pause);
        let drawn = wanted && (self.ticks == 0 || may_draw);
        self.rig.observe(if drawn { Want::Images } else { Want::Joints }, seen)?;
        if wanted && !drawn {
            seen.images.clear();
            let cameras = self.rig.spec().cameras.iter();
            seen.images.extend(cameras.map(|_| CameraImage::left_out(seen.at_ns)));
        }
        if drawn && !seen.images.iter().any(CameraImage::is_left_out) {
            let count = seen.pictures().count() as u64;
            self.board.write(|live| live.session.drawn += count);
            self.recent.push_front(seen.pictures().cloned().collect());
            self.recent.truncate(RECENT);
        }
        Ok(())
    }

    fn act(&mut self, command: &Command, commanded: &mut Commanded) -> Result<(), BoxError> {
        self.rig.act(command, commanded)
    }

    fn advance(&mut self, commanded: &mut Commanded) -> Result<(), BoxError> {
        self.rig.advance(commanded)?;
        let every = u64::from((self.rig.spec().rates.control_hz / SHOWN_HZ).max(1));
        if self.ticks.is_multiple_of(every) {
            self.rig.look(&mut self.shown)?;
            let troubles = self.rig.troubles();
            let drawn = self.newest_drawn();
            let shown = &self.shown;
            self.board.write(|live| {
                if let Some(drawn) = drawn {
                    live.pictures = drawn;
                    live.picture_frame += 1;
                }
                live.troubles = troubles;
                live.time_s = shown.time_s;
                live.bodies.clone_from(&shown.bodies);
                live.joint_pos.clear();
                live.joint_pos.extend(shown.joint_pos.iter().map(|q| *q as f32));
                live.targets.clear();
                live.targets.extend(commanded.limited.iter().map(|q| *q as f32));
            });
        }
        self.ticks += 1;
        Ok(())
    }

    fn snapshot(&mut self) -> Result<Option<Snapshot>, BoxError> {
        self.rig.snapshot()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use citrange_teleop::telemetry::SceneInfo;

    #[test]
    fn drawing_pauses_for_a_moment_when_the_loop_is_late() {
        let mut pace = Pace::default();
        let begun = Instant::now();
        let at = |ms| begun + Duration::from_millis(ms);
        let mut frame = |ms: u64| {
            pace.tick(at(ms), 100);
            pace.may_draw(at(ms), Duration::from_millis(50))
        };
        assert!(frame(0) && frame(10) && frame(29));
        assert!(!frame(60), "31 ms are three ticks");
        assert!(!frame(70) && !frame(101), "late once more");
        assert!(frame(141), "but never without an end");
        assert!(!frame(180) && frame(231) && frame(240));
    }

    /// The loop runs ahead of the drawer: what is shown must be drawn, of all cameras alike, or
    /// the last one drawn would hardly ever be seen.
    #[test]
    fn only_drawn_pictures_are_shown_and_of_every_camera() {
        let mut rig = crate::simulated("block_box", None).unwrap();
        rig.leave_pictures_out(true);
        let targets = Command::at(&rig.targets());
        let board = Telemetry::new(SceneInfo::default());
        let mut live = LiveRig::new(rig.as_mut(), &board, Pictures::Recorded);
        let (mut seen, mut commanded) = (Observation::default(), Commanded::default());
        let mut shown = 0;
        for tick in 0..6000_u32 {
            let is_frame = tick.is_multiple_of(6);
            live.observe(if is_frame { Want::Images } else { Want::Joints }, &mut seen).unwrap();
            live.act(&targets, &mut commanded).unwrap();
            live.advance(&mut commanded).unwrap();
            let (frames, pictures) = board.read(|l| (l.picture_frame, l.pictures.clone()));
            if frames > 0 {
                assert_eq!(pictures.len(), 3);
                assert!(pictures.iter().all(Picture::is_ready), "shown before it was drawn");
            }
            shown = frames;
            if shown >= 3 {
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        assert!(shown >= 3, "{shown} frames were shown");
    }
}

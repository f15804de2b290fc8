//! A trajectory controller as robots' drivers have it: joints go along points that clients send. A
//! new trajectory takes over from the state in force; a cancelled one comes to rest; an arm that
//! does not follow ends its goal. Pure: its owner counts the time, slower with the speed slider.

use citrange_link::ros1::quintic;

/// Where joints are to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Desired {
    /// rad.
    pub pos: Vec<f64>,
    /// rad/s.
    pub vel: Vec<f64>,
    /// rad/s².
    pub acc: Vec<f64>,
}

impl Desired {
    /// Standing still.
    #[must_use]
    pub fn at_rest(pos: &[f64]) -> Self {
        let still = vec![0.0; pos.len()];
        Self { pos: pos.to_vec(), vel: still.clone(), acc: still }
    }
}

/// A point of a goal, in the controller's order of joints; empty where the client did not say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GoalPoint {
    /// Since the trajectory began, s.
    pub after_s: f64,
    /// rad.
    pub pos: Vec<f64>,
    /// rad/s.
    pub vel: Vec<f64>,
    /// rad/s².
    pub acc: Vec<f64>,
}

/// How far the arm may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerances {
    /// On the way, rad.
    pub path_rad: f64,
    /// At the end, rad.
    pub goal_rad: f64,
    /// How much later it may be there, s.
    pub goal_s: f64,
    /// How long a cancelled motion takes to come to rest, s.
    pub stop_s: f64,
}

impl Default for Tolerances {
    /// Those of the UR driver.
    fn default() -> Self {
        Self { path_rad: 0.2, goal_rad: 0.1, goal_s: 0.6, stop_s: 0.5 }
    }
}

/// How a goal ended by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The arm is there.
    Succeeded,
    /// It was too far from the path.
    OffPath,
    /// It did not come to the end in time.
    NotThere,
}

#[derive(Clone, Debug)]
struct Knot {
    at_s: f64,
    pos: Vec<f64>,
    /// None: straight lines, with leaps of speed.
    vel: Option<Vec<f64>>,
    acc: Option<Vec<f64>>,
}

/// The controller.
#[derive(Clone, Debug)]
pub struct TrajectoryController {
    tolerances: Tolerances,
    now_s: f64,
    desired: Desired,
    knots: Vec<Knot>,
    /// What takes over when its time comes, with whether it has a goal.
    next: Option<Vec<Knot>>,
    has_goal: bool,
}

impl TrajectoryController {
    /// Joints that stand there.
    #[must_use]
    pub fn new(pos: &[f64], tolerances: Tolerances) -> Self {
        Self {
            tolerances,
            now_s: 0.0,
            desired: Desired::at_rest(pos),
            knots: Vec::new(),
            next: None,
            has_goal: false,
        }
    }

    /// Where joints are to be now.
    #[must_use]
    pub fn desired(&self) -> &Desired {
        &self.desired
    }

    /// Takes a goal over that begins in so many seconds.
    ///
    /// # Errors
    /// The code and the words with which it is refused.
    pub fn take(&mut self, points: &[GoalPoint], begins_in_s: f64) -> Result<(), (i32, String)> {
        let count = self.desired.pos.len();
        let fits = |values: &[f64]| values.is_empty() || values.len() == count;
        let sound =
            |point: &GoalPoint| point.pos.len() == count && fits(&point.vel) && fits(&point.acc);
        if !points.iter().all(sound) {
            return Err((-1, format!("a point has not {count} numbers")));
        }
        let finite = |point: &GoalPoint| {
            let all = point.pos.iter().chain(&point.vel).chain(&point.acc);
            point.after_s.is_finite() && all.into_iter().all(|n| n.is_finite())
        };
        if !points.iter().all(finite) {
            return Err((-1, "a point has what is no number".to_owned()));
        }
        let rises = points.windows(2).all(|two| two[0].after_s < two[1].after_s);
        if !rises || points.first().is_some_and(|first| first.after_s < 0.0) {
            return Err((-1, "times from start do not rise".to_owned()));
        }
        let begin_s = self.now_s + begins_in_s;
        let knot = |point: &GoalPoint| Knot {
            at_s: begin_s + point.after_s,
            pos: point.pos.clone(),
            vel: Some(point.vel.clone()).filter(|vel| !vel.is_empty()),
            acc: Some(point.acc.clone()).filter(|acc| !acc.is_empty()),
        };
        let mut knots: Vec<Knot> =
            points.iter().map(knot).filter(|knot| knot.at_s > self.now_s).collect();
        if knots.is_empty() {
            if points.is_empty() {
                self.stop();
                return Ok(());
            }
            return Err((-3, "all of it lies in the past".to_owned()));
        }
        // From the state in force when it begins.
        let takes_over_s = begin_s.max(self.now_s).min(knots[0].at_s - 1e-9).max(self.now_s);
        let from = self.sample(takes_over_s);
        knots.insert(
            0,
            Knot { at_s: takes_over_s, pos: from.pos, vel: Some(from.vel), acc: Some(from.acc) },
        );
        if takes_over_s > self.now_s {
            self.next = Some(knots);
        } else {
            (self.knots, self.next) = (knots, None);
        }
        self.has_goal = true;
        Ok(())
    }

    /// Comes to rest from the state in force; its goal is over.
    pub fn stop(&mut self) {
        let (now, stop_s) = (self.desired.clone(), self.tolerances.stop_s);
        let still = vec![0.0; now.pos.len()];
        let end = now.pos.iter().zip(&now.vel).map(|(pos, vel)| pos + vel * stop_s / 2.0);
        let pos = end.collect();
        self.knots = vec![
            Knot { at_s: self.now_s, pos: now.pos, vel: Some(now.vel), acc: None },
            Knot { at_s: self.now_s + stop_s, pos, vel: Some(still), acc: None },
        ];
        (self.next, self.has_goal) = (None, false);
    }

    /// Stands where the arm is.
    pub fn hold(&mut self, pos: &[f64]) {
        self.desired = Desired::at_rest(pos);
        self.knots.clear();
        (self.next, self.has_goal) = (None, false);
    }

    /// Time passes for the trajectory; the arm is there. Says when a goal ended.
    pub fn step(&mut self, dt_s: f64, actual: &[f64]) -> Option<Ended> {
        self.now_s += dt_s;
        let is_time =
            |knots: &Vec<Knot>| knots.first().is_some_and(|first| first.at_s <= self.now_s);
        if self.next.as_ref().is_some_and(is_time) {
            self.knots = self.next.take().unwrap_or_default();
        }
        self.desired = self.sample(self.now_s);
        if !self.has_goal {
            return None;
        }
        let off = self.desired.pos.iter().zip(actual).map(|(to, is)| (to - is).abs());
        let off = off.fold(0.0, f64::max);
        let end_s = self.next.as_ref().unwrap_or(&self.knots).last().map_or(0.0, |knot| knot.at_s);
        let ended = match self.now_s - end_s {
            left if left < 0.0 => (off > self.tolerances.path_rad).then_some(Ended::OffPath),
            _ if off <= self.tolerances.goal_rad => Some(Ended::Succeeded),
            late => (late > self.tolerances.goal_s).then_some(Ended::NotThere),
        };
        match ended {
            Some(Ended::Succeeded) => self.has_goal = false,
            Some(_) => self.hold(actual),
            None => {}
        }
        ended
    }

    fn sample(&self, at_s: f64) -> Desired {
        let Some(last) = self.knots.last() else { return Desired::at_rest(&self.desired.pos) };
        let Some(after) = self.knots.iter().position(|knot| knot.at_s > at_s) else {
            return Desired::at_rest(&last.pos);
        };
        let Some(before) = after.checked_sub(1).map(|before| &self.knots[before]) else {
            return self.desired.clone();
        };
        segment(before, &self.knots[after], at_s)
    }
}

/// Straight, cubic or quintic, by what both ends say.
fn segment(a: &Knot, b: &Knot, at_s: f64) -> Desired {
    let (h, t) = (b.at_s - a.at_s, at_s - a.at_s);
    let each = |j: usize| {
        let d = b.pos[j] - a.pos[j];
        let c = match (&a.vel, &b.vel, &a.acc, &b.acc) {
            (Some(va), Some(vb), Some(aa), Some(ab)) => {
                quintic([a.pos[j], va[j], aa[j]], [b.pos[j], vb[j], ab[j]], h)
            }
            (Some(va), Some(vb), _, _) => {
                let c2 = (3.0 * d - h * (2.0 * va[j] + vb[j])) / (h * h);
                let c3 = (h * (va[j] + vb[j]) - 2.0 * d) / (h * h * h);
                [a.pos[j], va[j], c2, c3, 0.0, 0.0]
            }
            _ => [a.pos[j], d / h, 0.0, 0.0, 0.0, 0.0],
        };
        let pos = c.iter().rev().fold(0.0, |sum, c| sum * t + c);
        let vel = (1..6).rev().fold(0.0, |sum, k| sum * t + k as f64 * c[k]);
        let acc = (2..6).rev().fold(0.0, |sum, k| sum * t + (k * (k - 1)) as f64 * c[k]);
        (pos, vel, acc)
    };
    let mut desired = Desired::at_rest(&a.pos);
    for j in 0..a.pos.len() {
        (desired.pos[j], desired.vel[j], desired.acc[j]) = each(j);
    }
    desired
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(after_s: f64, pos: f64, vel: &[f64], acc: &[f64]) -> GoalPoint {
        GoalPoint { after_s, pos: vec![pos], vel: vel.to_vec(), acc: acc.to_vec() }
    }

    /// The arm is where it should be. Answers how it ended and the largest step of speed.
    fn run(controller: &mut TrajectoryController, seconds: f64) -> (Option<Ended>, f64) {
        let (mut ended, mut leap, mut last) = (None, 0.0_f64, controller.desired().vel[0]);
        for _ in 0..(seconds * 500.0) as usize {
            let actual = controller.desired().pos.clone();
            ended = ended.or(controller.step(0.002, &actual));
            let vel = controller.desired().vel[0];
            leap = leap.max((vel - last).abs());
            last = vel;
        }
        (ended, leap)
    }

    fn controller() -> TrajectoryController {
        TrajectoryController::new(&[0.0], Tolerances::default())
    }

    #[test]
    fn points_are_reached_smoothly_when_they_say_how_fast() {
        let mut smooth = controller();
        smooth.take(&[point(1.0, 1.0, &[0.0], &[0.0])], 0.0).unwrap();
        let (ended, leap) = run(&mut smooth, 1.2);
        assert_eq!(ended, Some(Ended::Succeeded));
        assert!((smooth.desired().pos[0] - 1.0).abs() < 1e-12 && leap < 0.02, "{leap}");
        let mut straight = controller();
        straight.take(&[point(1.0, 1.0, &[], &[])], 0.0).unwrap();
        assert!(run(&mut straight, 1.2).1 > 0.9, "positions alone leap in speed");
    }

    #[test]
    fn a_new_trajectory_takes_over_from_the_state_in_force() {
        let mut controller = controller();
        controller.take(&[point(1.0, 1.0, &[0.0], &[0.0])], 0.0).unwrap();
        run(&mut controller, 0.5);
        let before = controller.desired().clone();
        assert!(before.vel[0] > 1.0);
        // It begins a little later: until then the old one goes on.
        controller.take(&[point(0.5, 0.0, &[0.0], &[0.0])], 0.02).unwrap();
        let (ended, leap) = run(&mut controller, 0.01);
        assert!(ended.is_none() && controller.desired().vel[0] > 1.0);
        let (_, more) = run(&mut controller, 1.0);
        assert!(leap < 0.05 && more < 0.1, "{leap} {more}");
        assert!(controller.desired().pos[0].abs() < 1e-12);
    }

    #[test]
    fn what_is_no_trajectory_is_refused() {
        let mut controller = controller();
        let mut refused = |points: &[GoalPoint], in_s| controller.take(points, in_s).unwrap_err().0;
        assert_eq!(refused(&[point(1.0, f64::NAN, &[], &[])], 0.0), -1);
        assert_eq!(refused(&[point(1.0, 1.0, &[1.0, 2.0], &[])], 0.0), -1);
        assert_eq!(refused(&[point(1.0, 1.0, &[], &[]), point(1.0, 2.0, &[], &[])], 0.0), -1);
        assert_eq!(refused(&[point(1.0, 1.0, &[], &[])], -2.0), -3);
    }

    #[test]
    fn an_arm_that_does_not_follow_ends_its_goal() {
        let mut stuck = controller();
        stuck.take(&[point(1.0, 1.0, &[0.0], &[0.0])], 0.0).unwrap();
        let ended = (0..500).find_map(|_| stuck.step(0.002, &[0.0]));
        assert_eq!(ended, Some(Ended::OffPath));
        assert_eq!(stuck.desired(), &Desired::at_rest(&[0.0]), "it stands where the arm is");
        let mut short = controller();
        short.take(&[point(1.0, 0.15, &[0.0], &[0.0])], 0.0).unwrap();
        let ended = (0..900).find_map(|_| short.step(0.002, &[0.0]));
        assert_eq!(ended, Some(Ended::NotThere));
    }

    #[test]
    fn a_cancelled_motion_comes_to_rest() {
        let mut controller = controller();
        controller.take(&[point(1.0, 1.0, &[0.0], &[0.0])], 0.0).unwrap();
        run(&mut controller, 0.5);
        let before = controller.desired().clone();
        controller.stop();
        run(&mut controller, 0.6);
        let stopped = controller.desired().pos[0] - before.pos[0];
        assert!((stopped - before.vel[0] * 0.25).abs() < 1e-9, "{stopped}");
        assert_eq!(controller.desired().vel, [0.0]);
    }
}

//! Motions: a straight line of the hand and a swing of the joints, both with limited speed and
//! acceleration.

use nalgebra::Vector3;

/// Where the hand is sent: the grasp point, and the yaw of the jaws against the arm's direction (so that
/// one that the wrist can do stays possible when the arm swings round).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct HandTarget {
    pub(crate) at_m: Vector3<f64>,
    pub(crate) relative_yaw_rad: f64,
}

/// What a second of motion may do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limits {
    pub(crate) speed: f64,
    pub(crate) acceleration: f64,
}

/// Distance along a way of known length, as a trapezoidal velocity profile: speeds up, goes on,
/// slows down to rest at its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ramp {
    pub(crate) length: f64,
    pub(crate) done: f64,
    pub(crate) speed: f64,
}

impl Ramp {
    pub(crate) fn new(length: f64) -> Self {
        Self { length, done: 0.0, speed: 0.0 }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.done >= self.length
    }

    /// Fraction of the way that is done.
    pub(crate) fn fraction(&self) -> f64 {
        if self.length > 0.0 { (self.done / self.length).min(1.0) } else { 1.0 }
    }

    /// Where it is after `time_s` more.
    pub(crate) fn after(&self, time_s: f64, limits: &Limits) -> Self {
        let rest = self.length - self.done;
        if rest <= 0.0 {
            return Self { speed: 0.0, done: self.length, ..*self };
        }
        // The speed from which it can still stop at the end; half a tick ahead, so that the last
        // steps do not overshoot it.
        let a = limits.acceleration;
        let brake = (a * a * time_s * time_s / 4.0 + 2.0 * a * rest).sqrt() - a * time_s / 2.0;
        let speed = (self.speed + a * time_s).min(limits.speed).min(brake).max(0.0);
        let step = speed * time_s;
        // The end is taken when it is nearer than what a tick can tell.
        if step >= rest || rest < 1e-6 || speed < 1e-6 {
            return Self { done: self.length, speed: 0.0, ..*self };
        }
        Self { done: self.done + step, speed, ..*self }
    }

    /// The same, but only a fraction of the last step: the arm cannot follow faster.
    pub(crate) fn slowed(&self, wanted: &Self, fraction: f64) -> Self {
        Self {
            length: self.length,
            done: self.done + (wanted.done - self.done) * fraction,
            speed: wanted.speed * fraction,
        }
    }
}

/// A straight line of the hand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StraightMove {
    pub(crate) from: HandTarget,
    pub(crate) to: HandTarget,
    pub(crate) ramp: Ramp,
    pub(crate) speed_m_s: f64,
}

impl StraightMove {
    /// A line at a speed; a rotation of the jaws on the way may make it slower.
    pub(crate) fn new(
        from: HandTarget,
        to: HandTarget,
        speed_m_s: f64,
        yaw_speed_rad_s: f64,
    ) -> Self {
        let way = (to.at_m - from.at_m).norm();
        let rotation =
            (to.relative_yaw_rad - from.relative_yaw_rad).abs() * speed_m_s / yaw_speed_rad_s;
        Self { from, to, ramp: Ramp::new(way.max(rotation)), speed_m_s }
    }

    pub(crate) fn at(&self, ramp: &Ramp) -> HandTarget {
        let fraction = ramp.fraction();
        HandTarget {
            at_m: self.from.at_m.lerp(&self.to.at_m, fraction),
            relative_yaw_rad: self.from.relative_yaw_rad
                + (self.to.relative_yaw_rad - self.from.relative_yaw_rad) * fraction,
        }
    }
}

/// A swing of all joints together, straight in joint space; its length is counted in fractions of
/// what the slowest joint can do in a second.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Swing {
    pub(crate) from: Vec<f64>,
    pub(crate) to: Vec<f64>,
    pub(crate) ramp: Ramp,
}

impl Swing {
    pub(crate) fn new(from: &[f64], to: &[f64], speeds: &[f64]) -> Self {
        let time_s = from.iter().zip(to).zip(speeds).map(|((a, b), speed)| (b - a).abs() / speed);
        let length = time_s.fold(0.0, f64::max);
        Self { from: from.to_vec(), to: to.to_vec(), ramp: Ramp::new(length) }
    }

    /// Moves on and writes the joints; answers whether it is over.
    pub(crate) fn go(&mut self, time_s: f64, ramp_s: f64, joints: &mut [f64]) -> bool {
        // Full speed is one second of joint speed per second, reached in `ramp_s`.
        let limits = Limits { speed: 1.0, acceleration: 1.0 / ramp_s };
        self.ramp = self.ramp.after(time_s, &limits);
        let fraction = self.ramp.fraction();
        for ((joint, from), to) in joints.iter_mut().zip(&self.from).zip(&self.to) {
            *joint = from + (to - from) * fraction;
        }
        self.ramp.is_over()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ramps_keep_their_limits_and_arrive(
            length in 0.0..2.0_f64, speed in 0.01..2.0_f64, acceleration in 0.1..10.0_f64,
            hz in prop::sample::select(vec![20.0, 60.0, 180.0]),
        ) {
            let limits = Limits { speed, acceleration };
            let time_s = 1.0 / hz;
            let mut ramp = Ramp::new(length);
            let mut ticks = 0_u32;
            while !ramp.is_over() {
                let next = ramp.after(time_s, &limits);
                prop_assert!(next.done >= ramp.done && next.done <= length);
                prop_assert!((next.done - ramp.done) <= speed * time_s + 1e-9);
                prop_assert!(next.speed <= ramp.speed + acceleration * time_s + 1e-9);
                // Slowing down: what is left of the last tick may be a little more.
                prop_assert!(next.speed >= ramp.speed - 2.0 * acceleration * time_s - 1e-9);
                ramp = next;
                ticks += 1;
                prop_assert!(ticks < 1_000_000, "it never arrives");
            }
            prop_assert_eq!(ramp.fraction(), 1.0);
            let least = length / speed;
            prop_assert!(f64::from(ticks) * time_s <= least + 2.0 * speed / acceleration
                + 3.0 * (length / acceleration).sqrt() + 4.0 * time_s);
        }
    }

    #[test]
    fn a_rotation_on_the_spot_takes_its_time() {
        let place =
            |relative_yaw_rad| HandTarget { at_m: Vector3::new(0.2, 0.0, 0.1), relative_yaw_rad };
        let mut line = StraightMove::new(place(0.0), place(1.0), 0.3, 2.0);
        let limits = Limits { speed: line.speed_m_s, acceleration: 1000.0 };
        let mut time_s = 0.0;
        while !line.ramp.is_over() {
            line.ramp = line.ramp.after(0.01, &limits);
            time_s += 0.01;
        }
        assert!((0.49..0.56).contains(&time_s), "a radian at 2 rad/s took {time_s} s");
        assert_eq!(line.at(&line.ramp).relative_yaw_rad, 1.0);
    }

    #[test]
    fn a_swing_ends_exactly_where_it_should() {
        let mut swing = Swing::new(&[0.0, 1.0], &[0.5, -1.0], &[2.0, 1.0]);
        let mut joints = [0.0; 2];
        let mut ticks = 0;
        while !swing.go(0.005, 0.2, &mut joints) {
            ticks += 1;
        }
        assert_eq!(joints, [0.5, -1.0]);
        assert!((400..500).contains(&ticks), "2 rad at 1 rad/s took {ticks} ticks of 5 ms");
    }
}

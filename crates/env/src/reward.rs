//! What a step is worth.
//!
//! Sparse: 1 in every step in which the job is done, else 0.
//!
//! Dense: the same, and the change of a potential since the step before (potential-based shaping,
//! Ng, Harada and Russell 1999: it changes how fast is learned, not what is best). The potential is
//!
//! - of a job to reach: -10 per metre between the tool and the place;
//! - of a job to bring: the share of targets that are placed; and of the first that is not, as its
//!   share of one target, 0.3 (1 - tanh(10 a)) + 0.6 (1 - tanh(5 b)) with the metres `a` from the
//!   tool to it and `b` from it to the goal's middle.

use citrange_task::Remaining;

use crate::settings::Reward;

const REACH_PER_M: f64 = -10.0;
const NEAR_SHARE: f64 = 0.3;
const NEAR_PER_M: f64 = 10.0;
const GOAL_SHARE: f64 = 0.6;
const GOAL_PER_M: f64 = 5.0;

/// How far the job is; grows on the way. 0 where nothing can be measured.
pub(crate) fn potential(remaining: &Remaining, brings: bool) -> f64 {
    let near = |distance_m: f64, per_m: f64| {
        if distance_m.is_finite() { 1.0 - (per_m * distance_m).tanh() } else { 0.0 }
    };
    if !brings {
        let away_m = remaining.tool_to_next_m;
        return if away_m.is_finite() { REACH_PER_M * away_m } else { 0.0 };
    }
    let stage = match remaining.next {
        Some(_) => {
            NEAR_SHARE * near(remaining.tool_to_next_m, NEAR_PER_M)
                + GOAL_SHARE * near(remaining.next_to_goal_m, GOAL_PER_M)
        }
        None => 0.0,
    };
    (remaining.placed as f64 + stage) / remaining.of.max(1) as f64
}

/// What a step is worth, from the potential before and after it.
pub(crate) fn reward(kind: Reward, done: bool, before: f64, after: f64) -> f64 {
    let done = f64::from(u8::from(done));
    match kind {
        Reward::Sparse => done,
        Reward::Dense => done + after - before,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(placed: usize, tool_to_next_m: f64, next_to_goal_m: f64) -> Remaining {
        let next = (placed < 3).then_some(placed);
        Remaining { done: placed == 3, placed, of: 3, next, tool_to_next_m, next_to_goal_m }
    }

    #[test]
    fn the_potential_grows_on_the_way() {
        let way = [(0, 0.3, 0.2), (0, 0.1, 0.2), (0, 0.0, 0.2), (0, 0.0, 0.0), (1, 0.3, 0.2)];
        let way = way.map(|(placed, tool, goal)| potential(&at(placed, tool, goal), true));
        assert!(way.windows(2).all(|pair| pair[0] < pair[1]), "{way:?}");
        assert_eq!(potential(&at(3, f64::NAN, f64::NAN), true), 1.0);
        assert_eq!(potential(&at(0, 0.05, f64::NAN), false), -0.5);
    }

    #[test]
    fn shaping_sums_to_its_ends() {
        let steps = [0.1, 0.4, 0.2, 0.9];
        let sum: f64 =
            steps.windows(2).map(|pair| reward(Reward::Dense, false, pair[0], pair[1])).sum();
        assert!((sum - 0.8).abs() < 1e-12);
        assert_eq!(reward(Reward::Sparse, true, 0.1, 0.9), 1.0);
    }
}

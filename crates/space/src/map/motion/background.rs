//! Where the pixels of a camera end when nothing passes before it.

use super::tolerance_m;

/// So many looks past something, one after the other, say that it has left.
const PAST_LOOKS: u8 = 3;
/// So many looks at nothing say that nothing is there.
const EMPTY_LOOKS: u8 = 3;
/// So many looks at nothing where something was say that it has left.
const GONE_LOOKS: u8 = 60;
/// What goes away along the view does it in small steps; farther steps show what was behind.
const RECEDING_STEP_M: f32 = 0.25;
/// For so long it counts as going away: till its next step, at the slowest speed.
const RECEDING_MS: u32 = 700;
/// What was away for longer than this has come anew.
const AWAY_MS: u32 = 1_000;
/// How much a new depth counts in the mean.
const NEW_PART: f32 = 0.1;

/// What one look at a pixel says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// It ends where it did, or farther.
    Background,
    /// It ends before.
    Before,
    /// What is there goes away from the camera.
    Receding,
}

/// What is known of one pixel.
#[derive(Clone, Copy, Debug)]
struct Pixel {
    /// NaN before anything was seen, infinite where nothing is.
    depth_m: f32,
    /// Where something is that may come to stay, since when, and when it was seen last.
    nearer_m: f32,
    since_ms: u32,
    nearer_ms: u32,
    /// Looks past the depth, or at nothing, one after the other.
    past: u8,
    /// Until when it counts as going away.
    receding_ms: u32,
}

impl Pixel {
    /// A look that ends where the background is.
    fn as_before(&self, now_ms: u32) -> Look {
        if now_ms < self.receding_ms { Look::Receding } else { Look::Background }
    }
}

/// All pixels that are looked at.
#[derive(Clone, Debug)]
pub(super) struct Background {
    pixels: Vec<Pixel>,
    adopt_ms: u32,
    epoch_ns: Option<u64>,
}

impl Background {
    pub(super) fn new(samples: usize, adopt_s: f64) -> Self {
        let (depth_m, nearer_m) = (f32::NAN, f32::NAN);
        let pixel = Pixel { depth_m, nearer_m, since_ms: 0, nearer_ms: 0, past: 0, receding_ms: 0 };
        let adopt_ms = (adopt_s * 1e3) as u32;
        Self { pixels: vec![pixel; samples], adopt_ms, epoch_ns: None }
    }

    /// Milliseconds since the first look.
    pub(super) fn clock_ms(&mut self, stamp_ns: u64) -> u32 {
        let epoch_ns = *self.epoch_ns.get_or_insert(stamp_ns);
        u32::try_from(stamp_ns.saturating_sub(epoch_ns) / 1_000_000).unwrap_or(u32::MAX)
    }

    /// A look at one pixel that ends at `seen_m`, infinite where nothing was seen.
    pub(super) fn look_at(&mut self, at: usize, seen_m: f32, now_ms: u32) -> Look {
        let pixel = &mut self.pixels[at];
        if seen_m == f32::INFINITY {
            let most = if pixel.depth_m.is_nan() { EMPTY_LOOKS } else { GONE_LOOKS };
            pixel.past = pixel.past.saturating_add(1);
            if pixel.past >= most {
                (pixel.depth_m, pixel.past) = (f32::INFINITY, 0);
            }
            return Look::Background;
        }
        let tolerance = tolerance_m(seen_m.min(pixel.depth_m));
        let beyond = seen_m - pixel.depth_m;
        if pixel.depth_m.is_nan() {
            (pixel.depth_m, pixel.past) = (seen_m, 0);
            return Look::Background;
        }
        if beyond > tolerance {
            pixel.past = pixel.past.saturating_add(1);
            if pixel.past >= PAST_LOOKS {
                (pixel.depth_m, pixel.past) = (seen_m, 0);
                let is_step = beyond < RECEDING_STEP_M;
                pixel.receding_ms = if is_step { now_ms.saturating_add(RECEDING_MS) } else { 0 };
            }
            return pixel.as_before(now_ms);
        }
        pixel.past = 0;
        if beyond >= -tolerance {
            pixel.depth_m += NEW_PART * beyond;
            return pixel.as_before(now_ms);
        }
        let is_there_still = now_ms.saturating_sub(pixel.nearer_ms) <= AWAY_MS;
        pixel.nearer_ms = now_ms;
        if is_there_still && (seen_m - pixel.nearer_m).abs() <= tolerance {
            pixel.nearer_m += NEW_PART * (seen_m - pixel.nearer_m);
        } else {
            (pixel.nearer_m, pixel.since_ms) = (seen_m, now_ms);
        }
        if now_ms.saturating_sub(pixel.since_ms) > self.adopt_ms {
            // It has come to stay.
            pixel.depth_m = pixel.nearer_m;
            return Look::Background;
        }
        Look::Before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks of one pixel, a frame of 30 Hz each.
    fn looks(background: &mut Background, from_ms: u32, depths_m: &[f32]) -> Vec<Look> {
        let look =
            |(i, depth): (usize, &f32)| background.look_at(0, *depth, from_ms + 33 * i as u32);
        depths_m.iter().enumerate().map(look).collect()
    }

    #[test]
    fn what_passes_appears_and_what_was_there_first_does_not() {
        let mut background = Background::new(1, 5.0);
        assert!(
            looks(&mut background, 0, &[1.5, 1.505, 1.49]).iter().all(|l| *l == Look::Background)
        );
        assert!(looks(&mut background, 100, &[1.2; 20]).iter().all(|l| *l == Look::Before));
        assert_eq!(looks(&mut background, 800, &[1.5]), [Look::Background]);
        // What stands there for long belongs to the scene, until it leaves.
        let stays = looks(&mut background, 900, &[1.0; 200]);
        assert_eq!((stays[0], stays[199]), (Look::Before, Look::Background));
        assert_eq!(looks(&mut background, 8000, &[1.5; 5]), [Look::Background; 5]);
        assert_eq!(looks(&mut background, 8200, &[1.0]), [Look::Before]);
    }

    #[test]
    fn what_goes_away_is_seen_to_and_what_is_uncovered_is_not() {
        let mut background = Background::new(1, 5.0);
        let away: Vec<f32> = (0..30).map(|i| 1.0 + 0.005 * i as f32).collect();
        let seen = looks(&mut background, 0, &away);
        assert_eq!((seen[0], seen[29]), (Look::Background, Look::Receding));
        // It stops; later it leaves, and a wall behind it shows.
        assert_eq!(looks(&mut background, 1000, &[1.145; 60])[59], Look::Background);
        assert_eq!(looks(&mut background, 4000, &[2.0; 9]), [Look::Background; 9]);
    }

    #[test]
    fn things_before_nothing_appear_and_single_holes_do_not() {
        let mut background = Background::new(1, 5.0);
        looks(&mut background, 0, &[f32::INFINITY; 5]);
        assert_eq!(looks(&mut background, 200, &[2.0]), [Look::Before]);
        let mut background = Background::new(1, 5.0);
        looks(&mut background, 0, &[2.0]);
        let blinks: Vec<f32> =
            (0..50).map(|i| if i % 3 == 0 { f32::INFINITY } else { 2.0 }).collect();
        assert!(looks(&mut background, 33, &blinks).iter().all(|l| *l == Look::Background));
    }
}

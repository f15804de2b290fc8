//! Things that are followed from frame to frame.

use crate::map::motion::Thing;
use crate::map::settings::TrackSettings;

/// Places that a track remembers: a window of half a second at 60 Hz.
const MEMORY: usize = 32;

/// A slope over fewer places or a shorter time is no velocity.
const FEWEST_PLACES: usize = 4;
const SHORTEST_S: f64 = 0.09;

/// A thing that is so much nearer to or farther from where it should be is another part of it: its
/// velocity begins anew.
const JUMP_M: f64 = 0.03;
/// The same where it moves: 2 m/s at 30 frames a second, before its velocity is known.
const MOVING_JUMP_M: f64 = 0.07;
/// A whole thing keeps its area within this.
const SAME_AREA: f64 = 0.3;

/// Something that one camera has seen in several frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Track {
    /// Stays with the thing; never used again.
    pub id: u64,
    /// The camera that sees it.
    pub camera: u16,
    /// Mean of its points in the newest frame: of the side that the camera sees.
    pub centroid_m: [f64; 3],
    /// Corners of the box around these points.
    pub bounds_m: [[f64; 3]; 2],
    /// What is seen of it, across the view.
    pub area_m2: f64,
    /// How the centroid moves: 0 until it was seen often enough to say, and while nothing of it
    /// has appeared where something else was.
    pub velocity_m_s: [f64; 3],
    /// Since when it has been seen.
    pub age_s: f64,
    /// Whether it moves; it takes more to begin than to go on.
    pub is_moving: bool,
    /// Stamp of the newest frame that had it.
    pub stamp_ns: u64,
}

/// Where a track was.
#[derive(Clone, Copy, Debug, Default)]
struct PastPlace {
    stamp_ns: u64,
    centroid_m: [f64; 3],
}

/// The newest places of a track, in a ring.
#[derive(Clone, Copy, Debug)]
struct Past {
    places: [PastPlace; MEMORY],
    count: usize,
    first_ns: u64,
    /// Whether it was all that hangs together.
    is_whole: bool,
}

/// All tracks of all cameras.
#[derive(Clone, Debug)]
pub(crate) struct Tracks {
    settings: TrackSettings,
    tracks: Vec<Track>,
    pasts: Vec<Past>,
    next_id: u64,
    /// Possible pairs of a frame: distance, track, group.
    pairs: Vec<(f64, usize, usize)>,
    taken: Vec<bool>,
    matched: Vec<bool>,
}

/// Room for so many things from the beginning; more take memory when they come.
pub(crate) const USUAL_THINGS: usize = 128;

impl Tracks {
    pub(crate) fn new(settings: TrackSettings) -> Self {
        Self {
            settings,
            tracks: Vec::with_capacity(USUAL_THINGS),
            pasts: Vec::with_capacity(USUAL_THINGS),
            next_id: 0,
            pairs: Vec::with_capacity(4 * USUAL_THINGS),
            taken: Vec::with_capacity(USUAL_THINGS),
            matched: Vec::with_capacity(USUAL_THINGS),
        }
    }

    /// The tracks, oldest first.
    pub(crate) fn all(&self) -> &[Track] {
        &self.tracks
    }

    /// Forgets what a camera has seen.
    pub(crate) fn drop_camera(&mut self, camera: u16) {
        for at in (0..self.tracks.len()).rev() {
            if self.tracks[at].camera == camera {
                self.tracks.remove(at);
                self.pasts.remove(at);
            }
        }
    }

    /// Whether a whole thing of this area should be at this place.
    pub(crate) fn knows_whole(
        &self,
        camera: u16,
        stamp_ns: u64,
        centroid_m: [f64; 3],
        area_m2: f64,
    ) -> bool {
        self.tracks.iter().zip(&self.pasts).any(|(track, past)| {
            past.is_whole
                && track.camera == camera
                && (area_m2 / track.area_m2 - 1.0).abs() < SAME_AREA
                && off2(track, stamp_ns, centroid_m) < (0.5 * self.settings.gate_m).powi(2)
        })
    }

    /// Takes in the things of a camera's next frame: the nearest pairs of tracks and things
    /// belong together, things without a track begin one.
    pub(crate) fn update(&mut self, camera: u16, stamp_ns: u64, things: &[Thing]) {
        self.find_pairs(camera, stamp_ns, things);
        self.taken.clear();
        self.taken.resize(things.len(), false);
        self.matched.clear();
        self.matched.resize(self.tracks.len(), false);
        for at in 0..self.pairs.len() {
            let (_, track, thing) = self.pairs[at];
            if self.matched[track] || self.taken[thing] {
                continue;
            }
            (self.matched[track], self.taken[thing]) = (true, true);
            self.place(track, stamp_ns, &things[thing]);
        }
        for (thing, taken) in things.iter().zip(0..) {
            if !self.taken[taken] {
                self.begin(camera, stamp_ns, thing);
            }
        }
        self.forget(camera, stamp_ns);
    }

    fn find_pairs(&mut self, camera: u16, stamp_ns: u64, things: &[Thing]) {
        self.pairs.clear();
        for (at, track) in self.tracks.iter().enumerate().filter(|(_, t)| t.camera == camera) {
            for (number, thing) in things.iter().enumerate() {
                let off2 = off2(track, stamp_ns, thing.centroid_m);
                if off2 <= self.settings.gate_m.powi(2) {
                    self.pairs.push((off2, at, number));
                }
            }
        }
        self.pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    }

    fn begin(&mut self, camera: u16, stamp_ns: u64, thing: &Thing) {
        self.tracks.push(Track {
            id: self.next_id,
            camera,
            centroid_m: thing.centroid_m,
            bounds_m: thing.bounds_m,
            area_m2: thing.area_m2,
            velocity_m_s: [0.0; 3],
            age_s: 0.0,
            is_moving: false,
            stamp_ns,
        });
        self.pasts.push(Past {
            places: [PastPlace::default(); MEMORY],
            count: 0,
            first_ns: stamp_ns,
            is_whole: thing.is_whole,
        });
        self.next_id += 1;
        self.place(self.tracks.len() - 1, stamp_ns, thing);
    }

    /// A track is at a new place.
    fn place(&mut self, at: usize, stamp_ns: u64, thing: &Thing) {
        let (track, past) = (&mut self.tracks[at], &mut self.pasts[at]);
        // Another part of it is seen: what was before says nothing about how it moves.
        let allowed_m = if thing.appeared { MOVING_JUMP_M } else { JUMP_M };
        let jumped = off2(track, stamp_ns, thing.centroid_m) > allowed_m.powi(2);
        if jumped {
            past.count = 0;
        }
        past.is_whole = thing.is_whole;
        let centroid_m = thing.centroid_m;
        past.places[past.count % MEMORY] = PastPlace { stamp_ns, centroid_m };
        past.count += 1;
        track.centroid_m = centroid_m;
        (track.bounds_m, track.area_m2) = (thing.bounds_m, thing.area_m2);
        track.stamp_ns = stamp_ns;
        track.age_s = seconds(past.first_ns, stamp_ns);
        if !thing.appeared {
            (track.velocity_m_s, track.is_moving) = ([0.0; 3], false);
            return;
        }
        // Until it can be said again it is what it was.
        let Some(velocity_m_s) = past.velocity_m_s(stamp_ns, self.settings.window_s) else {
            return;
        };
        track.velocity_m_s = velocity_m_s;
        let speed = track.velocity_m_s.iter().map(|v| v * v).sum::<f64>().sqrt();
        let limit = if track.is_moving {
            self.settings.still_below_m_s
        } else {
            self.settings.moving_above_m_s
        };
        track.is_moving = speed > limit;
    }

    /// Drops tracks that the camera has not seen for too long.
    fn forget(&mut self, camera: u16, stamp_ns: u64) {
        let mut at = 0;
        while at < self.tracks.len() {
            let track = &self.tracks[at];
            if track.camera == camera && seconds(track.stamp_ns, stamp_ns) > self.settings.forget_s
            {
                self.tracks.remove(at);
                self.pasts.remove(at);
            } else {
                at += 1;
            }
        }
    }
}

impl Past {
    /// Least-squares slope of the places within the window before `now_ns`.
    fn velocity_m_s(&self, now_ns: u64, window_s: f64) -> Option<[f64; 3]> {
        let known = &self.places[..self.count.min(MEMORY)];
        let recent = known.iter().filter(|p| seconds(p.stamp_ns, now_ns) <= window_s + 1e-6);
        let (mut n, mut t, mut tt) = (0, 0.0, 0.0);
        let (mut p, mut tp) = ([0.0; 3], [0.0; 3]);
        let mut longest_s = 0.0_f64;
        for place in recent {
            let before_s = seconds(place.stamp_ns, now_ns);
            longest_s = longest_s.max(before_s);
            n += 1;
            t -= before_s;
            tt += before_s * before_s;
            for a in 0..3 {
                p[a] += place.centroid_m[a];
                tp[a] -= before_s * place.centroid_m[a];
            }
        }
        if n < FEWEST_PLACES || longest_s < SHORTEST_S {
            return None;
        }
        let n = n as f64;
        Some(std::array::from_fn(|a| (n * tp[a] - t * p[a]) / (n * tt - t * t)))
    }
}

/// Squared distance of a place from where a track should be by now.
fn off2(track: &Track, stamp_ns: u64, place_m: [f64; 3]) -> f64 {
    let ahead_s = seconds(track.stamp_ns, stamp_ns);
    let off = |a: usize| place_m[a] - track.centroid_m[a] - ahead_s * track.velocity_m_s[a];
    (0..3).map(|a| off(a).powi(2)).sum()
}

fn seconds(from_ns: u64, to_ns: u64) -> f64 {
    to_ns.saturating_sub(from_ns) as f64 * 1e-9
}

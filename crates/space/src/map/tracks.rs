//! Things that move: groups of voxels, followed from frame to frame.

use crate::map::settings::TrackSettings;

/// Places that a track remembers: a window of half a second at 60 Hz.
const MEMORY: usize = 32;

/// A slope over fewer places or a shorter time is no velocity.
const FEWEST_PLACES: usize = 4;
const SHORTEST_S: f64 = 0.09;

/// A group of voxels that one camera has seen in several frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Track {
    /// Stays with the group; never used again.
    pub id: u64,
    /// The camera that sees it.
    pub camera: u16,
    /// Centroid of its points in the newest frame.
    pub centroid_m: [f64; 3],
    /// How the centroid moves: 0 until it was seen often enough to say.
    pub velocity_m_s: [f64; 3],
    /// Since when it has been seen.
    pub age_s: f64,
    /// Voxels in the newest frame.
    pub voxels: u32,
    /// Whether it moves; it takes more to begin than to go on.
    pub is_moving: bool,
    /// Stamp of the newest frame that had it.
    pub stamp_ns: u64,
}

/// A group of voxels in one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Group {
    /// Centroid of its points.
    pub(crate) centroid_m: [f64; 3],
    /// Its voxels.
    pub(crate) voxels: u32,
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

impl Tracks {
    pub(crate) fn new(settings: TrackSettings) -> Self {
        Self {
            settings,
            tracks: Vec::new(),
            pasts: Vec::new(),
            next_id: 0,
            pairs: Vec::new(),
            taken: Vec::new(),
            matched: Vec::new(),
        }
    }

    /// The tracks, oldest first.
    pub(crate) fn all(&self) -> &[Track] {
        &self.tracks
    }

    /// Takes in the groups of a camera's next frame: the nearest pairs of tracks and groups
    /// belong together, groups without a track begin one.
    pub(crate) fn update(&mut self, camera: u16, stamp_ns: u64, groups: &[Group]) {
        self.find_pairs(camera, stamp_ns, groups);
        self.taken.clear();
        self.taken.resize(groups.len(), false);
        self.matched.clear();
        self.matched.resize(self.tracks.len(), false);
        for at in 0..self.pairs.len() {
            let (_, track, group) = self.pairs[at];
            if self.matched[track] || self.taken[group] {
                continue;
            }
            (self.matched[track], self.taken[group]) = (true, true);
            self.tracks[track].voxels = groups[group].voxels;
            self.place(track, stamp_ns, groups[group].centroid_m);
        }
        for group in 0..groups.len() {
            if !self.taken[group] {
                self.begin(camera, stamp_ns, &groups[group]);
            }
        }
        self.forget(camera, stamp_ns);
    }

    fn find_pairs(&mut self, camera: u16, stamp_ns: u64, groups: &[Group]) {
        self.pairs.clear();
        for (at, track) in self.tracks.iter().enumerate().filter(|(_, t)| t.camera == camera) {
            let ahead_s = seconds(track.stamp_ns, stamp_ns);
            for (number, group) in groups.iter().enumerate() {
                let off2: f64 = (0..3)
                    .map(|a| {
                        let expected_m = track.centroid_m[a] + ahead_s * track.velocity_m_s[a];
                        (group.centroid_m[a] - expected_m).powi(2)
                    })
                    .sum();
                if off2 <= self.settings.gate_m.powi(2) {
                    self.pairs.push((off2, at, number));
                }
            }
        }
        self.pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    }

    fn begin(&mut self, camera: u16, stamp_ns: u64, group: &Group) {
        self.tracks.push(Track {
            id: self.next_id,
            camera,
            centroid_m: group.centroid_m,
            velocity_m_s: [0.0; 3],
            age_s: 0.0,
            voxels: group.voxels,
            is_moving: false,
            stamp_ns,
        });
        self.pasts.push(Past {
            places: [PastPlace::default(); MEMORY],
            count: 0,
            first_ns: stamp_ns,
        });
        self.next_id += 1;
        self.place(self.tracks.len() - 1, stamp_ns, group.centroid_m);
    }

    /// A track is at a new place.
    fn place(&mut self, at: usize, stamp_ns: u64, centroid_m: [f64; 3]) {
        let (track, past) = (&mut self.tracks[at], &mut self.pasts[at]);
        past.places[past.count % MEMORY] = PastPlace { stamp_ns, centroid_m };
        past.count += 1;
        track.centroid_m = centroid_m;
        track.stamp_ns = stamp_ns;
        track.age_s = seconds(past.first_ns, stamp_ns);
        track.velocity_m_s = past.velocity_m_s(stamp_ns, self.settings.window_s);
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
    fn velocity_m_s(&self, now_ns: u64, window_s: f64) -> [f64; 3] {
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
            return [0.0; 3];
        }
        let n = n as f64;
        std::array::from_fn(|a| (n * tp[a] - t * p[a]) / (n * tt - t * t))
    }
}

fn seconds(from_ns: u64, to_ns: u64) -> f64 {
    to_ns.saturating_sub(from_ns) as f64 * 1e-9
}

//! Wall time and CPU time of all threads of this process.

use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

/// Samples of one thing, in seconds.
#[derive(Default)]
pub(crate) struct Samples {
    wall: Vec<f64>,
    cpu: Vec<f64>,
}

/// CPU time of all threads so far, also those that have ended.
pub(crate) fn process_cpu_s() -> f64 {
    seconds(ClockId::ProcessCPUTime)
}

/// CPU time of this thread so far.
pub(crate) fn thread_cpu_s() -> f64 {
    seconds(ClockId::ThreadCPUTime)
}

fn seconds(clock: ClockId) -> f64 {
    let now = clock_gettime(clock);
    now.tv_sec as f64 + 1e-9 * now.tv_nsec as f64
}

impl Samples {
    /// Times `work` once.
    pub(crate) fn time<R>(&mut self, work: impl FnOnce() -> R) -> R {
        let (cpu, wall) = (process_cpu_s(), Instant::now());
        let result = work();
        self.wall.push(wall.elapsed().as_secs_f64());
        self.cpu.push(process_cpu_s() - cpu);
        result
    }

    pub(crate) fn json(&self) -> Value {
        json!({ "wall_secs": self.wall, "cpu_secs": self.cpu })
    }
}

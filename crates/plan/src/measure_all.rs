//! All problems of a file, one after the other.

use rayon::prelude::*;

use crate::error::PlanError;
use crate::measure::{Bench, BenchTally, ObstacleKind, Solved};
use crate::problems::{Problem, Problems};

impl ObstacleKind {
    /// Both forms, with what they are.
    pub const ALL: [(Self, &'static str); 2] = [
        (Self::Primitives, "Boxes, spheres, capsules and cylinders"),
        (Self::Voxels, "Cubes of a voxel map"),
    ];

    /// A form by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().map(|(kind, _)| kind).find(|kind| kind.name() == name)
    }
}

impl Bench {
    /// A UR5 with a gripper, as JSON: what the problems of `benches/plan` are for.
    pub const UR5: &'static str = include_str!("../../../benches/plan/ur5_robotiq.json");

    /// Solves the problems whose ends are free, each `repeat` times; `each` is told what one gave
    /// and may end it.
    ///
    /// # Errors
    /// As [`Bench::solve`], and what `each` says.
    pub fn solve_all<E: From<PlanError>>(
        &mut self,
        problems: &Problems,
        repeat: u32,
        mut each: impl FnMut(&Self, &Problem, &Solved) -> Result<(), E>,
    ) -> Result<BenchTally, E> {
        let mut tally = BenchTally::new(self.kind());
        let chosen: Vec<&Problem> = self.chosen(problems).collect();
        for problem in chosen {
            let solved = self.solve(problem, repeat)?;
            tally.add(&solved);
            each(self, problem, &solved)?;
        }
        Ok(tally)
    }

    /// The same on all threads, where times are not what matters. `each` is told in the order of
    /// the problems.
    ///
    /// # Errors
    /// As [`Bench::solve_all`].
    pub fn solve_all_at_once<E: From<PlanError>>(
        &self,
        problems: &Problems,
        repeat: u32,
        mut each: impl FnMut(&Self, &Problem, &Solved) -> Result<(), E>,
    ) -> Result<BenchTally, E> {
        let chosen: Vec<&Problem> = self.chosen(problems).collect();
        let solved: Vec<Result<Solved, PlanError>> = chosen
            .par_iter()
            .map_init(|| self.clone(), |bench, problem| bench.solve(problem, repeat))
            .collect();
        let mut tally = BenchTally::new(self.kind());
        for (problem, solved) in chosen.into_iter().zip(solved) {
            let solved = solved?;
            tally.add(&solved);
            each(self, problem, &solved)?;
        }
        Ok(tally)
    }
}

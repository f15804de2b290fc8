//! A model's own engine options beside those of the scene: taken over where the scene says so,
//! named where they differ.

use citrange_core::scene::Physics;
use mujoco_rs::mujoco_c::{mjtDisableBit, mjtIntegrator};
use mujoco_rs::prelude::*;

use crate::model_file::ModelFile;

/// Takes over the options of a robot's model if the scene asks for them (`physics.from`).
/// Answers, for people, which options of the model do not hold in the scene.
pub(crate) fn take(
    spec: &mut MjSpec,
    file: &ModelFile,
    robot: &str,
    physics: &Physics,
) -> Vec<String> {
    if !file.is_foreign() {
        return Vec::new();
    }
    let own = file.spec.option().clone();
    let scene = spec.option().clone();
    if physics.from.as_deref() == Some(robot) {
        let option = spec.option_mut();
        *option = own.clone();
        option.timestep = scene.timestep;
        option.disableflags |= mjtDisableBit::mjDSBL_AUTORESET as i32;
        let mut notes = Vec::new();
        if option.integrator == mjtIntegrator::mjINT_RK4 as i32 {
            // It has no separate first and second half step.
            option.integrator = mjtIntegrator::mjINT_IMPLICITFAST as i32;
            notes.push("its integrator RK4 is not there: implicitfast is used".to_owned());
        }
        return notes.into_iter().chain(differing(&own, spec.option())).collect();
    }
    differing(&own, &scene)
}

/// Options that the model sets itself, away from the engine's defaults, and that are other here.
fn differing(own: &MjOption, here: &MjOption) -> Vec<String> {
    let usual = MjSpec::new().option().clone();
    let mut list: Vec<String> = Vec::new();
    let mut number = |key: &str, of: &dyn Fn(&MjOption) -> f64| {
        let (own, here, usual) = (of(own), of(here), of(&usual));
        let differs = (own - here).abs() > 1e-9 * own.abs().max(here.abs());
        if own != usual && differs {
            list.push(format!("{key} {own} (here {here})"));
        }
    };
    number("impratio", &|o| o.impratio);
    number("noslip_iterations", &|o| f64::from(o.noslip_iterations));
    number("density", &|o| o.density);
    number("viscosity", &|o| o.viscosity);
    for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
        number(&format!("gravity {name}"), &|o| o.gravity[axis]);
        number(&format!("wind {name}"), &|o| o.wind[axis]);
    }
    number("iterations", &|o| f64::from(o.iterations));
    number("tolerance", &|o| o.tolerance);
    let mut choice = |key: &str, of: &dyn Fn(&MjOption) -> i32, names: &[&str]| {
        let name = |value: i32| names.get(value as usize).copied().unwrap_or("another");
        if of(own) != of(&usual) && of(own) != of(here) {
            list.push(format!("{key} {} (here {})", name(of(own)), name(of(here))));
        }
    };
    choice("integrator", &|o| o.integrator, &["Euler", "RK4", "implicit", "implicitfast"]);
    choice("cone", &|o| o.cone, &["pyramidal", "elliptic"]);
    choice("solver", &|o| o.solver, &["PGS", "CG", "Newton"]);
    let flags = mjtDisableBit::mjDSBL_AUTORESET as i32;
    if own.disableflags & !flags != here.disableflags & !flags
        || own.enableflags != here.enableflags
    {
        list.push("flags".to_owned());
    }
    // A shorter step than the model's own does it no harm.
    if own.timestep < here.timestep * (1.0 - 1e-9) && own.timestep != usual.timestep {
        list.push(format!(
            "timestep {} (here {:.6}, by rates.physics_hz)",
            own.timestep, here.timestep
        ));
    }
    if list.is_empty() {
        return Vec::new();
    }
    vec![format!(
        "its own options do not hold here: {}; `physics: {{from: NAME}}` in the scene takes those \
         of robot NAME, all but the time step",
        list.join(", ")
    )]
}

//! Quick start: simulated worlds, stepped, looked at and drawn.
//!
//! `cargo run -p citrange-examples --bin quick_start -- picture.png`

use std::path::PathBuf;
use std::sync::Arc;

use citrange_render::Image;
use citrange_sim::{CompiledScene, StateQuery, Threads, World, load_scene};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A scene by its name (`citrange scene list`), or a YAML file of your own. Compiling it gives
    // one model that never changes; as many worlds as you like are made from it.
    let scene = Arc::new(CompiledScene::new(&load_scene("orange_plate")?)?);
    println!("joints of robot0: {}", scene.joint_names("robot0")?.join(" "));

    // Two worlds of seed 7: episodes 0 and 1. The same numbers give the same bits, on any number
    // of threads.
    let mut world = World::new(scene, 2, Threads::Auto)?;
    world.reset(7, &[0, 1])?;

    // Targets for both worlds, six joints each, in radians; then 360 physics steps: one second.
    world.set_joint_targets("robot0", &[0.0; 12])?;
    world.step(360)?;

    // The State: arrays with a row for each world. Places are in metres, in the world's frame.
    let state = world.get_state(None, &StateQuery::default())?;
    let orange = state.objects["orange_1"].root_state.as_ref().ok_or("no state of the orange")?;
    for env in 0..2 {
        let [x, y, z] = [0, 1, 2].map(|axis| orange[[env, axis]]);
        println!("world {env}: orange_1 is at {x:.3} {y:.3} {z:.3} m");
    }

    // What a camera of the scene sees. No GPU is needed.
    let path = std::env::args().nth(1).map_or_else(|| "quick_start.png".into(), PathBuf::from);
    Image::colors(world.frame(0, "front")?).save(&path)?;
    println!("picture: {}", path.display());

    // Everything that decides the future, as bytes: go back to here as often as you like.
    let saved = world.snapshot(0)?.to_bytes();
    world.step(100)?;
    world.restore(0, &citrange_core::Snapshot::from_bytes(&saved)?)?;
    assert_eq!(world.snapshot(0)?.to_bytes(), saved);
    println!("restored to the bit: {} bytes", saved.len());
    Ok(())
}

//! What a randomised scene changes arrives in the model.

use citrange_core::Randomise;
use citrange_core::randomise::randomised;
use citrange_sim::{CompiledScene, SceneSource, load_scene};
use mujoco_rs::prelude::MjtObjBase;

/// Sliding friction of all geoms of the bodies whose names begin like this.
fn friction(scene: &CompiledScene, of: &str) -> Vec<f64> {
    let model = scene.model();
    let name = |body: usize| model.id_to_name(MjtObjBase::mjOBJ_BODY, body).unwrap_or_default();
    let geoms = model.geom_bodyid().iter().zip(model.geom_friction());
    geoms.filter(|(body, _)| name(**body as usize).starts_with(of)).map(|(_, f)| f[0]).collect()
}

#[test]
fn friction_of_a_robot_is_a_factor_of_its_models() {
    let mut source = load_scene("orange_plate").unwrap();
    let plain = CompiledScene::new(&source).unwrap();
    source.scene.robots.get_mut("robot0").unwrap().friction_factor = Some(0.5);
    source.scene.check().unwrap();
    let slippery = CompiledScene::new(&source).unwrap();
    let (before, after) = (friction(&plain, "robot0/"), friction(&slippery, "robot0/"));
    assert!(before.len() > 5);
    assert_eq!(after, before.iter().map(|f| f * 0.5).collect::<Vec<_>>());
    assert_eq!(friction(&plain, "orange"), friction(&slippery, "orange"));
}

#[test]
fn randomised_scenes_compile_and_differ_in_the_model() {
    let source = load_scene("orange_plate").unwrap();
    let plain = CompiledScene::new(&source).unwrap();
    let how = Randomise::built_in().unwrap();
    let of = |episode| {
        let scene = randomised(&source.scene, &plain.robots, &how, 0, episode);
        let folder = source.folder.clone();
        CompiledScene::new(&SceneSource { scene, folder }).unwrap()
    };
    let (one, again, other) = (of(0), of(0), of(1));
    assert_eq!(one.model_hash, again.model_hash);
    assert_ne!(one.model_hash, other.model_hash);
    assert_ne!(one.model_hash, plain.model_hash);
    assert_ne!(friction(&one, "robot0/"), friction(&plain, "robot0/"));
    assert_eq!(one.sizes(), plain.sizes());
}

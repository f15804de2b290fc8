//! Robots of scenes as the space around them sees them.

use citrange_robot::LinkShape;
use citrange_robot::{Body, BodySettings};
use citrange_sim::CompiledScene;

/// A robot of a scene and what it carries, with the balls that cover them.
pub(crate) fn body_of(
    scene: &CompiledScene,
    robot: &str,
    carried: &[LinkShape],
) -> anyhow::Result<Body> {
    let allowed_pairs = scene.allowed_pairs(robot)?;
    let settings = BodySettings { allowed_pairs, ..BodySettings::default() };
    let mut shapes = scene.link_shapes(robot)?;
    shapes.extend_from_slice(carried);
    Ok(Body::new(&scene.chain(robot)?, &shapes, &settings)?)
}

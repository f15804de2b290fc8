//! Shapes as the page is told: `form` names the shape, its sizes and its pose stand beside it.

use citrange_core::shape::{Shape, ShownShape};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// All shapes of a scene.
pub(crate) fn serialize<S: Serializer>(shapes: &[ShownShape], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(shapes.iter().map(OnPage))
}

struct OnPage<'a>(&'a ShownShape);

impl Serialize for OnPage<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let ShownShape { body, posed, rgba } = self.0;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("body", body)?;
        match &posed.shape {
            Shape::Plane { half_m } => {
                map.serialize_entry("form", "plane")?;
                // The page takes 0 for without end.
                map.serialize_entry("half_m", &half_m.map(|half| half.unwrap_or(0.0)))?;
            }
            Shape::Sphere { radius_m } => {
                map.serialize_entry("form", "sphere")?;
                map.serialize_entry("radius_m", radius_m)?;
            }
            Shape::Capsule { radius_m, half_height_m } => {
                round::<S>(&mut map, "capsule", *radius_m, *half_height_m)?;
            }
            Shape::Cylinder { radius_m, half_height_m } => {
                round::<S>(&mut map, "cylinder", *radius_m, *half_height_m)?;
            }
            // Scenes are compiled before they are shown, which makes meshes and capsules of
            // these; whoever shows one by itself sees the cylinder around it.
            Shape::Frustum { radius_m, top_radius_m, half_height_m } => {
                round::<S>(&mut map, "cylinder", radius_m.max(*top_radius_m), *half_height_m)?;
            }
            Shape::Ring { radius_m, bar_radius_m } => {
                round::<S>(&mut map, "cylinder", radius_m + bar_radius_m, *bar_radius_m)?;
            }
            Shape::Ellipsoid { radii_m } => {
                map.serialize_entry("form", "ellipsoid")?;
                map.serialize_entry("radii_m", radii_m)?;
            }
            Shape::Box { half_m } => {
                map.serialize_entry("form", "box")?;
                map.serialize_entry("half_m", half_m)?;
            }
            Shape::Mesh(mesh) => {
                map.serialize_entry("form", "mesh")?;
                map.serialize_entry("vertices_m", mesh.positions_m())?;
                map.serialize_entry("triangles", mesh.triangles())?;
            }
        }
        map.serialize_entry("pos_m", &posed.pose.pos_m)?;
        map.serialize_entry("quat_wxyz", &posed.pose.quat_wxyz)?;
        map.serialize_entry("rgba", rgba)?;
        map.end()
    }
}

fn round<S: Serializer>(
    map: &mut S::SerializeMap,
    form: &str,
    radius_m: f64,
    half_length_m: f64,
) -> Result<(), S::Error> {
    map.serialize_entry("form", form)?;
    map.serialize_entry("radius_m", &radius_m)?;
    map.serialize_entry("half_length_m", &half_length_m)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use citrange_core::Pose;
    use citrange_core::shape::{Mesh, PosedShape};

    use super::*;

    #[test]
    fn the_page_reads_what_it_always_read() {
        let text = |shape: Shape| {
            let posed = PosedShape::new(Pose::IDENTITY, shape);
            let shown = ShownShape { body: 2, posed, rgba: [0.9, 0.2, 0.1, 1.0] };
            serde_json::to_string(&OnPage(&shown)).unwrap()
        };
        let rest =
            r#""pos_m":[0.0,0.0,0.0],"quat_wxyz":[1.0,0.0,0.0,0.0],"rgba":[0.9,0.2,0.1,1.0]}"#;
        let page = |sizes: &str| format!(r#"{{"body":2,{sizes},{rest}"#);
        assert_eq!(
            text(Shape::Capsule { radius_m: 0.1, half_height_m: 0.2 }),
            page(r#""form":"capsule","radius_m":0.1,"half_length_m":0.2"#)
        );
        assert_eq!(
            text(Shape::Plane { half_m: [Some(2.0), None] }),
            page(r#""form":"plane","half_m":[2.0,0.0]"#)
        );
        let corners = vec![[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0]];
        let mesh = Mesh::new(corners, vec![[0, 1, 2]]).unwrap();
        assert_eq!(
            text(Shape::Mesh(Arc::new(mesh))),
            page(concat!(
                r#""form":"mesh","vertices_m":[[0.0,0.0,0.0],[0.1,0.0,0.0],[0.0,0.1,0.0]],"#,
                r#""triangles":[[0,1,2]]"#
            ))
        );
    }
}

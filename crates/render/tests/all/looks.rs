//! Colours: lit surfaces, smooth edges, glass, textures; and meshes cut by the near plane.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::sync::Arc;

use citrange_render::{
    Antialias, Camera, Frame, Instance, Light, Material, Mesh, Placement, Renderer, SceneModel,
    Settings, Shape, Sky, Texture,
};

use crate::support::robot_scene::torus;

fn thing(shape: Shape, material: Material, id: i32) -> Instance {
    Instance { shape, material, id, casts_shadow: true }
}

fn scene(instances: Vec<Instance>) -> SceneModel {
    SceneModel {
        instances,
        lights: vec![Light { dir: [0.3, 1.0, -0.6], ..Light::default() }],
        ambient: [0.3; 3],
        sky: Sky { top: [0.0; 3], bottom: [0.0; 3] },
        ..SceneModel::default()
    }
}

/// Seen along +Y from 2 m before the origin.
fn front_camera() -> Camera {
    Camera::look_at([0.0, -2.0, 0.0], [0.0; 3], 0.6, 64, 64)
}

fn draw(
    model: &SceneModel,
    placements: &[Placement],
    camera: &Camera,
    settings: &Settings,
) -> Frame {
    let mut frame = Frame::new();
    Renderer::new().render(model, placements, camera, settings, &mut frame).unwrap();
    frame
}

fn pixel(frame: &Frame, x: usize, y: usize) -> [u8; 3] {
    let at = 3 * (y * frame.width + x);
    [frame.rgb[at], frame.rgb[at + 1], frame.rgb[at + 2]]
}

const MIDDLE: usize = 32;

#[test]
fn an_orange_ball_is_orange_where_it_is_lit() {
    let matt = Material { specular: 0.0, ..Material::rgb(1.0, 0.5, 0.0) };
    let model = scene(vec![thing(Shape::Sphere { radius_m: 0.4 }, matt, 3)]);
    let frame = draw(&model, &[Placement::default()], &front_camera(), &Settings::default());
    let [r, g, b] = pixel(&frame, MIDDLE, MIDDLE);
    assert!(r > 200 && b == 0, "{r} {g} {b}");
    assert!((i32::from(r) / 2 - i32::from(g)).abs() <= 1, "{r} {g} {b}");
    // The lower side faces away from the light: ambient only.
    let [dim, _, _] = pixel(&frame, MIDDLE, MIDDLE + 20);
    assert!(frame.ids[(MIDDLE + 20) * 64 + MIDDLE] == 3 && dim < r / 2, "{dim}");
    assert!((f64::from(frame.depth[MIDDLE * 64 + MIDDLE]) - 1.6).abs() < 3e-4);
}

#[test]
fn silhouettes_are_smooth_only_with_antialiasing() {
    let white = Material { emission: 1.0, ..Material::rgb(1.0, 1.0, 1.0) };
    let model = scene(vec![thing(Shape::Sphere { radius_m: 0.4 }, white, 0)]);
    let between = |antialias| {
        let settings = Settings { antialias, ..Settings::default() };
        let frame = draw(&model, &[Placement::default()], &front_camera(), &settings);
        frame.rgb.iter().filter(|v| (1..255).contains(*v)).count() / 3
    };
    assert_eq!(between(Antialias::Off), 0);
    // The circle crosses about 8 r pixels, r being 21; few samples miss some of the crossings.
    let (four, eight) = (between(Antialias::Four), between(Antialias::Eight));
    assert!((60..170).contains(&four) && (four..170).contains(&eight), "{four} {eight}");
}

#[test]
fn box_edges_are_creases() {
    let matt = Material { specular: 0.0, ..Material::rgb(1.0, 1.0, 1.0) };
    let model = scene(vec![thing(Shape::Box { half_m: [0.3; 3] }, matt, 0)]);
    let (s, c) = 0.6_f64.sin_cos();
    let turned = Placement { rot: [c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0], ..Placement::default() };
    let camera = Camera::look_at([0.05, -2.0, 0.3], [0.0; 3], 0.6, 64, 64);
    let colours = |antialias| {
        let settings = Settings { antialias, shadows: false, ..Settings::default() };
        let frame = draw(&model, &[turned], &camera, &settings);
        // Rows through the middle: two side faces, whose colours differ.
        (28..40).map(|y| (8..56).map(|x| pixel(&frame, x, y)[0]).collect()).collect::<Vec<Vec<_>>>()
    };
    let (hard, soft) = (colours(Antialias::Off), colours(Antialias::Eight));
    let changed = hard.iter().zip(&soft).filter(|(a, b)| a[10..38] != b[10..38]).count();
    assert!(changed >= 10, "the vertical edge is smoothed in {changed} of 12 rows");
}

#[test]
fn glass_blends_and_is_not_in_the_ids_below_half() {
    let glow = |r, g, b, a| Material {
        rgba: [r, g, b, a],
        emission: 1.0,
        specular: 0.0,
        ..Material::default()
    };
    let ball = || Shape::Sphere { radius_m: 0.2 };
    let mut model = scene(vec![
        thing(ball(), glow(0.0, 0.0, 1.0, 1.0), 0),
        thing(ball(), glow(1.0, 0.0, 0.0, 0.25), 1),
        thing(ball(), glow(0.0, 1.0, 0.0, 0.25), 2),
    ]);
    model.lights.clear();
    model.ambient = [0.0; 3];
    let at = |y| Placement::at(0.0, y, 0.0);
    let settings = Settings::default();
    let see = |model: &SceneModel, places: &[Placement]| {
        let frame = draw(model, places, &front_camera(), &settings);
        (pixel(&frame, MIDDLE, MIDDLE), frame.ids[MIDDLE * 64 + MIDDLE])
    };
    // Red, then green, before blue: 0.25 red over (0.25 green over blue), and the other order.
    let (colour, id) = see(&model, &[at(1.0), at(-0.5), at(0.2)]);
    assert_eq!((colour, id), ([64, 48, 143], 0));
    let (colour, id) = see(&model, &[at(1.0), at(0.2), at(-0.5)]);
    assert_eq!((colour, id), ([48, 64, 143], 0));
    // From alpha one half on, depth and ids see the glass.
    model.instances[1].material.rgba[3] = 0.5;
    let (colour, id) = see(&model, &[at(1.0), at(-0.5), at(5.0)]);
    assert_eq!((colour, id), ([128, 0, 128], 1));
    // Without any opacity there is nothing.
    model.instances[1].material.rgba[3] = 0.0;
    let (colour, id) = see(&model, &[at(1.0), at(-0.5), at(5.0)]);
    assert_eq!((colour, id), ([0, 0, 255], 0));
}

#[test]
fn a_checker_is_sharp_near_and_grey_far_away() {
    let checker = Texture::checker([0.0; 3], [1.0; 3]).unwrap();
    let material = Material {
        rgba: [1.0; 4],
        specular: 0.0,
        emission: 1.0,
        texture: Some(Arc::new(checker)),
        uniform: true,
        ..Material::default()
    };
    let mut model = scene(vec![thing(Shape::Plane { half_m: [None, None] }, material, 0)]);
    model.lights.clear();
    model.ambient = [0.0; 3];
    let camera = Camera::look_at([0.25, 0.25, 1.0], [0.25, 10.0, 0.0], 0.8, 64, 64);
    let frame = draw(&model, &[Placement::default()], &camera, &Settings::default());
    let row = |y| (0..64).map(|x| pixel(&frame, x, y)[0]).collect::<Vec<_>>();
    let near = row(60);
    assert!(near.contains(&0) && near.contains(&255), "{near:?}");
    let horizon = (0..64).find(|y| frame.ids[y * 64] == 0).unwrap();
    let far = row(horizon + 1);
    assert!(far.iter().all(|v| (108..148).contains(v)), "{far:?}");
    // Straight down, the square at the origin has the first colour, its neighbours the second.
    let camera = Camera::look_at([0.25, 0.25, 3.0], [0.25, 0.25, 0.0], 0.6, 64, 64);
    let frame = draw(&model, &[Placement::default()], &camera, &Settings::default());
    assert_eq!(pixel(&frame, MIDDLE, MIDDLE), [0; 3]);
    let focal = camera.intrinsics.fx / 3.0;
    assert_eq!(pixel(&frame, MIDDLE + (0.5 * focal) as usize, MIDDLE), [255; 3]);
}

#[test]
fn an_image_texture_lies_on_a_plane_as_given() {
    let rgb = [255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255];
    let material = Material {
        rgba: [1.0; 4],
        specular: 0.0,
        emission: 1.0,
        texture: Some(Arc::new(Texture::from_rgb8(2, 2, &rgb).unwrap())),
        ..Material::default()
    };
    let mut model = scene(vec![thing(Shape::Plane { half_m: [Some(1.0); 2] }, material, 0)]);
    model.lights.clear();
    model.ambient = [0.0; 3];
    let camera = Camera::look_at([0.0, 0.0, 4.0], [0.0; 3], 0.6, 200, 200);
    let frame = draw(&model, &[Placement::default()], &camera, &Settings::default());
    // Seen from above, with +X (and u) to the right and +Y (and v) up.
    let light = |x, y| pixel(&frame, x, y).map(|v| v > 127);
    let first = [[true, false, false], [false, true, false]];
    let second = [[false, false, true], [true; 3]];
    let rows = [[light(60, 60), light(140, 60)], [light(60, 140), light(140, 140)]];
    assert_eq!(rows, [second, first]);
    assert!(pixel(&frame, 60, 60).iter().all(|v| *v < 20 || *v > 235), "texel centres are pure");
}

#[test]
fn a_triangle_that_passes_the_camera_is_cut_not_lost() {
    // A floor of two triangles that reaches far behind the camera and far before it.
    let corners = vec![[-9.0, -9.0, 0.0], [9.0, -9.0, 0.0], [9.0, 9.0, 0.0], [-9.0, 9.0, 0.0]];
    let mesh = Mesh::new(corners, vec![[0, 1, 2], [0, 2, 3]]).unwrap();
    let model = scene(vec![thing(Shape::Mesh(Arc::new(mesh)), Material::default(), 5)]);
    let plane = scene(vec![thing(Shape::Plane { half_m: [Some(9.0); 2] }, Material::default(), 5)]);
    for pitch in [-0.2, 0.0, 0.7, 1.5] {
        let camera = Camera::look_at([0.3, 0.2, 0.5], [1.3, 0.9, 0.5 - pitch], 1.2, 97, 61);
        let got = draw(&model, &[Placement::default()], &camera, &Settings::default());
        let want = draw(&plane, &[Placement::default()], &camera, &Settings::default());
        assert_eq!(got.ids, want.ids, "no seam on the diagonal, nothing cut off");
        assert!(want.ids.contains(&5));
        for (a, b) in got.depth.iter().zip(&want.depth) {
            assert!(a == b || (a - b).abs() < 1e-5 * b, "{a} {b}");
        }
    }
}

#[test]
fn nothing_is_seen_from_inside_and_meshes_only_from_their_front() {
    let camera = front_camera();
    let shapes = [
        Shape::Sphere { radius_m: 3.0 },
        Shape::Box { half_m: [3.0; 3] },
        Shape::Capsule { radius_m: 3.0, half_height_m: 1.0 },
        Shape::Cylinder { radius_m: 3.0, half_height_m: 3.0 },
        Shape::Ellipsoid { radii_m: [3.0, 4.0, 5.0] },
        Shape::Plane { half_m: [None, None] },
    ];
    for shape in shapes {
        let name = format!("{shape:?}");
        let model = scene(vec![thing(shape, Material::default(), 0)]);
        let placement = Placement::at(0.0, 0.0, if name.starts_with("Plane") { 9.0 } else { 0.0 });
        let frame = draw(&model, &[placement], &camera, &Settings::default());
        assert!(frame.ids.iter().all(|id| *id == -1), "{name}");
    }
    let ring = torus(0.3, 0.1, 24, 12);
    let seen = |mesh: Mesh| {
        let model = scene(vec![thing(Shape::Mesh(Arc::new(mesh)), Material::default(), 0)]);
        let rot = [1.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 1.0, 0.0];
        let frame = draw(
            &model,
            &[Placement { rot, ..Placement::default() }],
            &camera,
            &Settings::default(),
        );
        let z = frame.depth.iter().copied().fold(f32::INFINITY, f32::min);
        (frame.ids.iter().filter(|id| **id == 0).count(), z)
    };
    let flipped: Vec<_> = ring.triangles().iter().map(|[a, b, c]| [*a, *c, *b]).collect();
    let inside_out = Mesh::new(ring.positions_m().to_vec(), flipped).unwrap();
    let ((front, front_z), (back, back_z)) = (seen(ring), seen(inside_out));
    assert!(front > 300 && back > 200, "{front} {back}");
    assert!((front_z - 1.9).abs() < 0.01 && back_z > 1.95, "{front_z} {back_z}");
}

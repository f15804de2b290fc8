//! The engine's model as the renderer sees it: shapes, materials, textures, lights.

use std::sync::Arc;

use citrange_core::shape::{Mesh, MeshError, Shape};
use citrange_render::{
    Headlight, Instance, Light, LightKind, Material, Placement, RenderError, SceneModel, Sky,
    Texture,
};
use mujoco_rs::mujoco_c::{mjtLightType, mjtTexture};
use mujoco_rs::prelude::*;

use crate::error::SimError;

/// Geoms of higher groups are for collision, not for the eye (as in MuJoCo's own viewer).
pub(crate) const LAST_VISIBLE_GROUP: i32 = 2;

/// A scene ready to be drawn.
pub(crate) struct Picture {
    pub(crate) model: SceneModel,
    /// The geom behind each instance.
    geoms: Vec<usize>,
}

impl Picture {
    pub(crate) fn new(model: &MjModel) -> Result<Self, SimError> {
        let textures = textures(model);
        let mut instances = Vec::new();
        let mut geoms = Vec::new();
        for geom in 0..model.ffi().ngeom as usize {
            if model.geom_group()[geom] > LAST_VISIBLE_GROUP {
                continue;
            }
            let mut material = material(model, geom, &textures);
            let Some(shape) = shape(model, geom)? else { continue };
            if let Shape::Plane { half_m: [None, None] } = shape {
                // The engine stretches a uniform texture on an endless plane by two.
                material.repeat = material.repeat.map(|r| r / 2.0);
            }
            if material.rgba[3] > 0.0 {
                instances.push(Instance { shape, material, id: geom as i32, casts_shadow: true });
                geoms.push(geom);
            }
        }
        let head = &model.vis().headlight;
        let headlight = (head.active != 0).then_some(Headlight {
            ambient: head.ambient,
            diffuse: head.diffuse,
            specular: head.specular,
        });
        let model = SceneModel {
            instances,
            lights: lights(model),
            headlight,
            ambient: [0.0; 3],
            sky: sky(model),
        };
        Ok(Self { model, geoms })
    }

    /// Poses of all instances, from those of all geoms in one environment.
    pub(crate) fn place(
        &self,
        pos_m: &[[f64; 3]],
        rot: &[[f64; 9]],
        placements: &mut Vec<Placement>,
    ) {
        placements.clear();
        placements.extend(self.geoms.iter().map(|g| Placement { pos_m: pos_m[*g], rot: rot[*g] }));
    }
}

/// The geom's shape; nothing for kinds that have none.
pub(crate) fn shape(model: &MjModel, geom: usize) -> Result<Option<Shape>, SimError> {
    let [a, b, c] = model.geom_size()[geom];
    Ok(Some(match model.geom_type()[geom] {
        MjtGeomBase::mjGEOM_PLANE => {
            // Zero means without end.
            Shape::Plane { half_m: [a, b].map(|half| (half > 0.0).then_some(half)) }
        }
        MjtGeomBase::mjGEOM_SPHERE => Shape::Sphere { radius_m: a },
        MjtGeomBase::mjGEOM_CAPSULE => Shape::Capsule { radius_m: a, half_height_m: b },
        MjtGeomBase::mjGEOM_CYLINDER => Shape::Cylinder { radius_m: a, half_height_m: b },
        MjtGeomBase::mjGEOM_ELLIPSOID => Shape::Ellipsoid { radii_m: [a, b, c] },
        MjtGeomBase::mjGEOM_BOX => Shape::Box { half_m: [a, b, c] },
        MjtGeomBase::mjGEOM_MESH | MjtGeomBase::mjGEOM_SDF => {
            match usize::try_from(model.geom_dataid()[geom]) {
                Ok(mesh) => Shape::Mesh(Arc::new(mesh_of(model, mesh).map_err(RenderError::from)?)),
                Err(_) => return Ok(None),
            }
        }
        MjtGeomBase::mjGEOM_HFIELD => match usize::try_from(model.geom_dataid()[geom]) {
            Ok(field) => {
                Shape::Mesh(Arc::new(height_field(model, field).map_err(RenderError::from)?))
            }
            Err(_) => return Ok(None),
        },
    }))
}

fn mesh_of(model: &MjModel, mesh: usize) -> Result<Mesh, MeshError> {
    let range = |start: i32, count: i32| start as usize..(start + count) as usize;
    let vertices = range(model.mesh_vertadr()[mesh], model.mesh_vertnum()[mesh]);
    let faces = range(model.mesh_faceadr()[mesh], model.mesh_facenum()[mesh]);
    let positions = model.mesh_vert()[vertices].to_vec();
    let triangles: Vec<[u32; 3]> =
        model.mesh_face()[faces.clone()].iter().map(|f| f.map(|i| i as u32)).collect();
    let first_normal = model.mesh_normaladr()[mesh] as usize;
    let corner = |f: &[i32; 3]| f.map(|i| model.mesh_normal()[first_normal + i as usize]);
    let given: Vec<[[f32; 3]; 3]> =
        model.mesh_facenormal()[faces.clone()].iter().map(corner).collect();
    let normals = corner_normals(&positions, &triangles, &given);
    let uvs = usize::try_from(model.mesh_texcoordadr()[mesh]).ok().map(|first| {
        let corner = |f: &[i32; 3]| f.map(|i| model.mesh_texcoord()[first + i as usize]);
        model.mesh_facetexcoord()[faces].iter().map(corner).collect()
    });
    let mesh = Mesh::new(positions, triangles)?.with_normals(normals)?;
    Ok(match uvs {
        Some(uvs) => mesh.with_uvs(uvs)?,
        None => mesh,
    })
}

/// Cosine of the angle beyond which an edge is a crease and not a bend of a round surface.
const CREASE: f32 = 0.75;

/// A normal for every corner. The engine's own is taken where it fits the triangle. Where the
/// engine made it up (one per vertex, also at sharp edges) it does not: then the triangles
/// around the vertex that bend gently from this one decide.
fn corner_normals(
    positions: &[[f32; 3]],
    triangles: &[[u32; 3]],
    given: &[[[f32; 3]; 3]],
) -> Vec<[[f32; 3]; 3]> {
    let dot = |a: [f32; 3], b: [f32; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let length = |a: [f32; 3]| dot(a, a).sqrt();
    // Not normalised: its length is twice the area, which is the weight in the mean.
    let face = |t: &[u32; 3]| -> [f32; 3] {
        let [p, q, r] = t.map(|i| positions[i as usize]);
        let u: [f32; 3] = std::array::from_fn(|i| q[i] - p[i]);
        let v: [f32; 3] = std::array::from_fn(|i| r[i] - p[i]);
        [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
    };
    let faces: Vec<[f32; 3]> = triangles.iter().map(face).collect();
    let mut around: Vec<Vec<usize>> = vec![Vec::new(); positions.len()];
    for (index, triangle) in triangles.iter().enumerate() {
        for vertex in triangle {
            around[*vertex as usize].push(index);
        }
    }
    let fits = |a: [f32; 3], b: [f32; 3]| dot(a, b) >= CREASE * length(a) * length(b);
    let corner = |own: usize, vertex: u32, engine: [f32; 3]| {
        if fits(engine, faces[own]) && length(engine) > 0.0 {
            return engine;
        }
        let near = around[vertex as usize].iter().filter(|f| fits(faces[**f], faces[own]));
        near.fold([0.0; 3], |sum, f| std::array::from_fn(|i| sum[i] + faces[*f][i]))
    };
    let all = triangles.iter().zip(given).enumerate();
    all.map(|(own, (triangle, engine))| {
        std::array::from_fn(|k| corner(own, triangle[k], engine[k]))
    })
    .collect()
}

/// A height field as two triangles per cell, with the sides left open.
fn height_field(model: &MjModel, field: usize) -> Result<Mesh, MeshError> {
    let (rows, cols) = (model.hfield_nrow()[field] as usize, model.hfield_ncol()[field] as usize);
    let [half_x, half_y, height, _] = model.hfield_size()[field];
    let data = &model.hfield_data()[model.hfield_adr()[field] as usize..][..rows * cols];
    let mut positions = Vec::with_capacity(rows * cols);
    for row in 0..rows {
        for col in 0..cols {
            let x = half_x * (2.0 * col as f64 / (cols - 1) as f64 - 1.0);
            let y = half_y * (2.0 * row as f64 / (rows - 1) as f64 - 1.0);
            let z = height * f64::from(data[row * cols + col]);
            positions.push([x as f32, y as f32, z as f32]);
        }
    }
    let mut triangles = Vec::with_capacity(2 * (rows - 1) * (cols - 1));
    for row in 0..rows.saturating_sub(1) {
        for col in 0..cols.saturating_sub(1) {
            let at = (row * cols + col) as u32;
            let above = at + cols as u32;
            triangles.push([at, at + 1, above + 1]);
            triangles.push([at, above + 1, above]);
        }
    }
    Mesh::new(positions, triangles)
}

fn material(model: &MjModel, geom: usize, textures: &[Option<Arc<Texture>>]) -> Material {
    let rgba = model.geom_rgba()[geom];
    let Ok(id) = usize::try_from(model.geom_matid()[geom]) else {
        return Material { rgba, ..Material::rgb(1.0, 1.0, 1.0) };
    };
    // A colour on the geom that is not the engine's default grey overrides the material's.
    let own = rgba != [0.5, 0.5, 0.5, 1.0];
    let texture = model.mat_texid()[id]
        .iter()
        .filter_map(|t| usize::try_from(*t).ok())
        .find_map(|t| textures[t].clone());
    let cube = model.mat_texid()[id]
        .iter()
        .filter_map(|t| usize::try_from(*t).ok())
        .any(|t| model.tex_type()[t] == mjtTexture::mjTEXTURE_CUBE);
    Material {
        rgba: if own { rgba } else { model.mat_rgba()[id] },
        specular: model.mat_specular()[id],
        shininess: model.mat_shininess()[id],
        emission: model.mat_emission()[id],
        texture,
        repeat: model.mat_texrepeat()[id],
        uniform: model.mat_texuniform()[id],
        cube_mapped: cube,
    }
}

/// Textures by index; sky boxes are handled as a gradient.
fn textures(model: &MjModel) -> Vec<Option<Arc<Texture>>> {
    (0..model.ffi().ntex as usize)
        .map(|tex| {
            let (kind, pixels, width, height, channels) = texture_data(model, tex)?;
            // A cube texture holds six squares one below the other; the first serves all sides.
            let height =
                if kind == mjtTexture::mjTEXTURE_CUBE { height.min(width) } else { height };
            if kind == mjtTexture::mjTEXTURE_SKYBOX {
                return None;
            }
            let rgb: Vec<u8> = pixels[..width * height * channels]
                .chunks_exact(channels)
                .flat_map(|p| if channels >= 3 { [p[0], p[1], p[2]] } else { [p[0]; 3] })
                .collect();
            let texture = match checker_colors(width, height, &rgb) {
                Some([a, b]) => Texture::checker(a, b),
                None => Texture::from_rgb8(width, height, &rgb),
            };
            texture.ok().map(Arc::new)
        })
        .collect()
}

/// The two colours of an image of two by two squares, which the renderer filters exactly.
fn checker_colors(width: usize, height: usize, rgb: &[u8]) -> Option<[[f32; 3]; 2]> {
    let pixel = |x: usize, y: usize| {
        let at = 3 * (y * width + x);
        [rgb[at], rgb[at + 1], rgb[at + 2]]
    };
    let colors = [pixel(0, 0), pixel(width - 1, 0)];
    let expected = |x: usize, y: usize| colors[usize::from((2 * x >= width) != (2 * y >= height))];
    let is_checker = (0..height).all(|y| (0..width).all(|x| pixel(x, y) == expected(x, y)));
    is_checker.then(|| colors.map(|c| c.map(|v| f32::from(v) / 255.0)))
}

type TextureData<'a> = (mjtTexture, std::borrow::Cow<'a, [u8]>, usize, usize, usize);

fn texture_data(model: &MjModel, tex: usize) -> Option<TextureData<'_>> {
    let pixels = model.load_texture(tex).ok()?;
    let (width, height) = (model.tex_width()[tex] as usize, model.tex_height()[tex] as usize);
    let channels = model.tex_nchannel()[tex] as usize;
    (pixels.len() >= width * height * channels && channels > 0)
        .then(|| (model.tex_type()[tex], pixels, width, height, channels))
}

fn lights(model: &MjModel) -> Vec<Light> {
    (0..model.ffi().nlight as usize)
        .filter(|light| model.light_active()[*light])
        .map(|light| Light {
            kind: match model.light_type()[light] {
                mjtLightType::mjLIGHT_DIRECTIONAL => LightKind::Directional,
                mjtLightType::mjLIGHT_SPOT => LightKind::Spot {
                    cutoff_rad: model.light_cutoff()[light].to_radians(),
                    exponent: model.light_exponent()[light],
                },
                _ => LightKind::Point,
            },
            pos_m: model.light_pos0()[light],
            dir: model.light_dir0()[light],
            ambient: model.light_ambient()[light],
            diffuse: model.light_diffuse()[light],
            specular: model.light_specular()[light],
            attenuation: model.light_attenuation()[light],
            casts_shadow: model.light_castshadow()[light],
        })
        .collect()
}

/// The sky box's first and last row of one side as a gradient; a calm grey without one.
fn sky(model: &MjModel) -> Sky {
    let skybox = (0..model.ffi().ntex as usize)
        .filter_map(|tex| texture_data(model, tex))
        .find(|(kind, ..)| *kind == mjtTexture::mjTEXTURE_SKYBOX);
    let Some((_, pixels, width, height, channels)) = skybox.filter(|s| s.4 >= 3) else {
        return Sky { top: [0.75, 0.78, 0.82], bottom: [0.62, 0.64, 0.67] };
    };
    let color = |row: usize| {
        let at = (row * width + width / 2) * channels;
        [pixels[at], pixels[at + 1], pixels[at + 2]].map(|c| f32::from(c) / 255.0)
    };
    // Faces: right, left, up, down, front, back, each `width` rows.
    if height >= 6 * width {
        Sky { top: color(2 * width + width / 2), bottom: color(3 * width + width / 2) }
    } else {
        Sky { top: color(0), bottom: color(height - 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wall that bends gently once and sharply once.
    #[test]
    fn creases_stay_sharp_and_bends_are_smooth() {
        let positions = vec![
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [1.0, 1.0, 0.0],
            [0.0, 2.0, 0.3],
            [1.0, 0.0, -1.0],
        ];
        // Two flat triangles, one that bends up by 17 degrees, one at a right angle.
        let triangles = vec![[0, 1, 2], [1, 3, 2], [2, 3, 4], [0, 5, 1]];
        let wrong = vec![[[1.0, 0.0, 0.0]; 3]; 4];
        let normals = corner_normals(&positions, &triangles, &wrong);
        let tilt = |n: [f32; 3]| n[1] / n[2];
        assert_eq!(normals[0][0], [0.0, 0.0, 1.0], "sharp edge: flat");
        assert!(tilt(normals[0][2]) < 0.0 && tilt(normals[0][2]) > -0.3, "bend: between the two");
        assert_eq!(normals[3][0], [0.0, -1.0, 0.0]);
        // The engine's normal stands where it fits.
        let right = vec![[[0.0, 0.1, 1.0]; 3]; 4];
        assert_eq!(corner_normals(&positions, &triangles, &right)[0][0], [0.0, 0.1, 1.0]);
    }
}

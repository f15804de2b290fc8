//! One picture of what became of a frame: what the camera saw, what was taken away and why, the
//! voxels and the robot from the camera and from the side.

use citrange_cloud::{Pinhole, Points};
use citrange_core::Pose;
use citrange_core::pose::matrix_from_quat;
use citrange_core::shape::{PosedLinkShape, Shape};
use citrange_render::{
    Camera, Frame, Headlight, Image, Instance, Intrinsics, Light, Material, Placement, RenderError,
    Renderer, SceneModel, Settings, letters,
};

use crate::frame::{Fate, VoxelFrame};

/// Size of a panel.
const PANEL: (usize, usize) = (640, 480);
/// Height of the caption of a panel.
const CAPTION: usize = 26;
/// Size of the corner that tells what the colours mean.
const LEGEND: (usize, usize) = (280, 130);
const WHITE: [u8; 3] = [235, 235, 235];

/// Everything that the picture shows.
pub struct FramePicture<'a, P: Points> {
    /// The frame as the camera took it.
    pub points: &'a P,
    /// How the camera sees, where that is known.
    pub pinhole: Option<Pinhole>,
    /// Where it stands.
    pub world_from_camera: &'a Pose,
    /// What became of each point.
    pub fates: &'a [Fate],
    /// What the pipeline made of it.
    pub frame: &'a VoxelFrame,
    /// The robot as it was filtered out.
    pub robot: &'a [PosedLinkShape],
}

impl<P: Points> FramePicture<'_, P> {
    /// Draws the four panels.
    ///
    /// # Errors
    /// When a number is not finite or a size absurd.
    pub fn draw(&self) -> Result<Image, RenderError> {
        let voxels = self.frame.voxels.len();
        let edge_cm = 100.0 * self.frame.grid.voxel_m();
        let panels = [
            ("camera".to_owned(), self.dots(|index| self.points.rgb(index))),
            ("what became of every point".to_owned(), self.fate_panel()),
            (
                format!("{voxels} voxels of {edge_cm:.1} cm, from the camera"),
                self.solid(&self.eye())?,
            ),
            ("the same from the side".to_owned(), self.solid(&self.side())?),
        ];
        let panels: Vec<Image> =
            panels.into_iter().map(|(text, image)| captioned(&text, &image)).collect();
        Ok(Image::sheet(&panels, 2))
    }

    /// How the camera sees; a wide guess where that is not known.
    fn pinhole(&self) -> Pinhole {
        let (width, height) = self.size();
        self.pinhole.unwrap_or(Pinhole {
            fx: 0.9 * width as f64,
            fy: 0.9 * width as f64,
            cx: 0.5 * width as f64,
            cy: 0.5 * height as f64,
        })
    }

    /// Columns and rows of the picture; those of a panel for a cloud that is none.
    fn size(&self) -> (usize, usize) {
        match self.points.height() {
            0 | 1 => PANEL,
            height => (self.points.width(), height),
        }
    }

    /// Every seen point as a dot of a colour, the nearest in front.
    fn dots(&self, rgb: impl Fn(usize) -> [u8; 3]) -> Image {
        let (width, height) = self.size();
        let (across, down) = (PANEL.0 as f64 / width as f64, PANEL.1 as f64 / height as f64);
        let eye = self.pinhole();
        let mut image = blank(PANEL);
        let mut nearest = vec![f32::INFINITY; PANEL.0 * PANEL.1];
        let (mut x, mut y, mut z) = ([0.0], [0.0], [0.0]);
        for index in 0..self.points.len() {
            self.points.fill(index, &mut x, &mut y, &mut z);
            let depth = z[0];
            let (column, row) = if self.points.height() > 1 {
                ((index % width) as f64, (index / width) as f64)
            } else {
                let scale = 1.0 / f64::from(depth);
                let column = eye.cx + eye.fx * f64::from(x[0]) * scale;
                (column, eye.cy + eye.fy * f64::from(y[0]) * scale)
            };
            let (column, row) = (column * across, row * down);
            let inside = 0.0 <= column && column < PANEL.0 as f64 && 0.0 <= row;
            if depth > 0.0 && depth.is_finite() && inside && row < PANEL.1 as f64 {
                let at = row as usize * PANEL.0 + column as usize;
                if depth < nearest[at] {
                    nearest[at] = depth;
                    image.rgb[3 * at..3 * at + 3].copy_from_slice(&rgb(index));
                }
            }
        }
        image
    }

    fn fate_panel(&self) -> Image {
        let mut image = self.dots(|index| fate_rgb(self.fates[index]));
        letters::dim(&mut image, LEGEND);
        let mut top = 8;
        for fate in Fate::ALL {
            let count = self.frame.counts.of(fate);
            if count > 0 {
                letters::dab(&mut image, (8, top), 14, fate_rgb(fate));
                let text = format!("{}: {count}", fate.name().replace('_', " "));
                letters::write(&mut image, (28, top), 2, WHITE, &text);
                top += letters::line_height(2);
            }
        }
        image
    }

    /// The camera's own view.
    fn eye(&self) -> Camera {
        let (width, height) = self.size();
        let eye = self.pinhole();
        let (across, down) = (PANEL.0 as f64 / width as f64, PANEL.1 as f64 / height as f64);
        // The renderer's cameras look along -z with y up.
        let m = matrix_from_quat(self.world_from_camera.quat_wxyz);
        let rot = [m[0], -m[1], -m[2], m[3], -m[4], -m[5], m[6], -m[7], -m[8]];
        Camera {
            pos_m: self.world_from_camera.pos_m,
            rot,
            // Pixel centres are at halves there.
            intrinsics: Intrinsics {
                fx: eye.fx * across,
                fy: eye.fy * down,
                cx: (eye.cx + 0.5) * across,
                cy: (eye.cy + 0.5) * down,
            },
            width: PANEL.0,
            height: PANEL.1,
            near_m: 0.01,
            far_m: 100.0,
        }
    }

    /// From a quarter turn beside the camera, a little above.
    fn side(&self) -> Camera {
        let (lower, upper) = (self.frame.grid.lower_m(), self.frame.grid.upper_m());
        let centre: [f64; 3] = std::array::from_fn(|a| 0.5 * (lower[a] + upper[a]));
        let reach = (0..3).map(|a| upper[a] - lower[a]).fold(0.0, f64::max);
        let eye = self.world_from_camera.pos_m;
        let angle = (eye[1] - centre[1]).atan2(eye[0] - centre[0]) + 1.1;
        let from = [
            centre[0] + 1.25 * reach * angle.cos(),
            centre[1] + 1.25 * reach * angle.sin(),
            centre[2] + 0.5 * reach,
        ];
        let target = [centre[0], centre[1], lower[2] + 0.25 * (upper[2] - lower[2])];
        Camera::look_at(from, target, 0.75, PANEL.0, PANEL.1)
    }

    /// Voxels and robot as solid things.
    fn solid(&self, camera: &Camera) -> Result<Image, RenderError> {
        let grid = &self.frame.grid;
        let half = 0.47 * grid.voxel_m();
        let mut instances = Vec::new();
        let mut placements = Vec::new();
        for voxel in &self.frame.voxels {
            let [r, g, b] = voxel.rgb.map(|c| f32::from(c) / 255.0);
            let shape = Shape::Box { half_m: [half; 3] };
            instances.push(matt(shape, Material::rgb(r, g, b)));
            let [x, y, z] = grid.centre_m(grid.cell_of(voxel.key));
            placements.push(Placement::at(x, y, z));
        }
        for part in self.robot {
            let orange = Material { rgba: [0.95, 0.55, 0.15, 0.6], ..Material::default() };
            instances.push(matt(drawn(&part.shape), orange));
            let pose = Pose::from(part.world_from_shape);
            let rot = matrix_from_quat(pose.quat_wxyz);
            placements.push(Placement { pos_m: pose.pos_m, rot });
        }
        let model = SceneModel {
            instances,
            lights: vec![Light { dir: [-0.3, 0.2, -1.0], casts_shadow: false, ..Light::default() }],
            headlight: Some(Headlight {
                ambient: [0.2; 3],
                diffuse: [0.35; 3],
                specular: [0.0; 3],
            }),
            ambient: [0.15; 3],
            ..SceneModel::default()
        };
        let mut frame = Frame::new();
        Renderer::new().render(&model, &placements, camera, &Settings::default(), &mut frame)?;
        Ok(Image::colors(&frame))
    }
}

fn matt(shape: Shape, material: Material) -> Instance {
    Instance { shape, material: Material { specular: 0.0, ..material }, id: 1, casts_shadow: false }
}

/// The renderer knows no frustums and rings: the cylinder around them.
fn drawn(shape: &Shape) -> Shape {
    match shape {
        Shape::Frustum { .. } | Shape::Ring { .. } => {
            let [radius_m, _, half_height_m] = shape.reach_m();
            Shape::Cylinder { radius_m, half_height_m }
        }
        _ => shape.clone(),
    }
}

/// A colour for each fate; kept points are pale, so that what was taken away stands out.
fn fate_rgb(fate: Fate) -> [u8; 3] {
    match fate {
        Fate::Kept => [150, 170, 160],
        Fate::NotSeen => [0, 0, 0],
        Fate::Cropped => [50, 55, 70],
        Fate::Robot => [240, 140, 40],
        Fate::EndEffector => [250, 220, 60],
        Fate::Outlier => [225, 50, 50],
        Fate::Unsupported => [240, 60, 200],
        Fate::Sparse => [150, 80, 220],
        Fate::NearRobot => [90, 140, 250],
        Fate::SmallCluster => [70, 220, 230],
    }
}

fn blank((width, height): (usize, usize)) -> Image {
    Image { width, height, rgb: vec![0; 3 * width * height] }
}

fn captioned(text: &str, image: &Image) -> Image {
    let mut whole = blank((image.width, image.height + CAPTION));
    whole.rgb[3 * image.width * CAPTION..].copy_from_slice(&image.rgb);
    letters::write(&mut whole, (8, 6), 2, WHITE, text);
    whole
}

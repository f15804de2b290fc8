//! Maps for other programs: arrays, a mesh, OctoMap.

use std::fmt::Write as _;
use std::path::Path;

use citrange_cloud::{NpzArray, write_npz, write_whole};

use crate::error::SpaceError;
use crate::map::snapshot::{CellState, MapSnapshot};

/// Levels of OctoMap's tree; its keys have so many bits.
const TREE_LEVELS: u32 = 16;

/// Corners of a cube's faces, counter-clockwise from outside: step to the neighbour, then corners.
const FACES: [([i64; 3], [[f64; 3]; 4]); 6] = [
    ([-1, 0, 0], [[0., 0., 0.], [0., 0., 1.], [0., 1., 1.], [0., 1., 0.]]),
    ([1, 0, 0], [[1., 0., 0.], [1., 1., 0.], [1., 1., 1.], [1., 0., 1.]]),
    ([0, -1, 0], [[0., 0., 0.], [1., 0., 0.], [1., 0., 1.], [0., 0., 1.]]),
    ([0, 1, 0], [[0., 1., 0.], [0., 1., 1.], [1., 1., 1.], [1., 1., 0.]]),
    ([0, 0, -1], [[0., 0., 0.], [0., 1., 0.], [1., 1., 0.], [1., 0., 0.]]),
    ([0, 0, 1], [[0., 0., 1.], [1., 0., 1.], [1., 1., 1.], [0., 1., 1.]]),
];

/// A face of an occupied cube that nothing covers.
struct Face {
    corners_m: [[f64; 3]; 4],
    rgb: [u8; 3],
}

impl MapSnapshot {
    /// Writes the map by the file's extension: `.npz` (states, ages, gaps, voxels), `.ply` and
    /// `.obj` (the faces of occupied cubes, with their colours), `.bt` (OctoMap, occupied and free).
    ///
    /// # Errors
    /// When the extension is another, or the file cannot be written.
    pub fn export(&self, path: &Path) -> Result<(), SpaceError> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        let bytes = match extension.as_deref().unwrap_or_default() {
            "npz" => return self.export_npz(path),
            "ply" => self.mesh_ply(),
            "obj" => self.mesh_obj().into_bytes(),
            "bt" => self.octomap(),
            other => {
                let reason = format!("extension \"{other}\", must be npz, ply, obj or bt");
                return Err(SpaceError::bad(path.display().to_string(), reason));
            }
        };
        Ok(write_whole(path, &bytes)?)
    }

    fn export_npz(&self, path: &Path) -> Result<(), SpaceError> {
        let grid = &self.grid;
        let [nx, ny, nz] = grid.size();
        // Cells in the order of their keys: z slowest.
        let shape = [nz, ny, nx];
        let keys = 0..grid.cells() as u32;
        let state: Vec<u8> = keys.clone().map(|key| self.state(key) as u8).collect();
        let age = |key| self.seen_ns(key).map(|seen| self.stamp_ns.saturating_sub(seen));
        let age_s: Vec<f32> =
            keys.map(|key| age(key).map_or(f32::NAN, |ns| ns as f32 * 1e-9)).collect();
        let gap_m: Vec<f32> =
            self.gap2().iter().map(|g| f32::from(*g).sqrt() * grid.voxel_m() as f32).collect();
        let centre_m: Vec<[f64; 3]> =
            self.voxels.iter().map(|v| grid.centre_m(grid.cell_of(v.key))).collect();
        let rgb: Vec<[u8; 3]> = self.voxels.iter().map(|v| v.rgb).collect();
        let (count, lower_m) = (centre_m.len(), grid.lower_m());
        let arrays = [
            ("state", NpzArray::U8(&state, &shape)),
            ("age_s", NpzArray::F32(&age_s, &shape)),
            ("gap_m", NpzArray::F32(&gap_m, &shape)),
            ("lower_m", NpzArray::F64(&lower_m, &[3])),
            ("voxel_m", NpzArray::F64(&[grid.voxel_m()], &[])),
            ("stamp_ns", NpzArray::U64(&[self.stamp_ns], &[])),
            ("centre_m", NpzArray::F64(centre_m.as_flattened(), &[count, 3])),
            ("rgb", NpzArray::U8(rgb.as_flattened(), &[count, 3])),
        ];
        Ok(write_npz(path, &arrays)?)
    }

    /// Faces between occupied cubes and all else.
    fn faces(&self) -> impl Iterator<Item = Face> {
        let grid = &self.grid;
        let is_occupied = move |cell: [i64; 3]| {
            let inside = (0..3).all(|a| (0..grid.size()[a] as i64).contains(&cell[a]));
            inside && self.occupied.get(cell.map(|c| c as usize))
        };
        self.voxels.iter().flat_map(move |voxel| {
            let cell = grid.cell_of(voxel.key);
            let low_m = grid.centre_m(cell).map(|c| c - 0.5 * grid.voxel_m());
            let open = FACES.into_iter().filter(move |(step, _)| {
                !is_occupied(std::array::from_fn(|a| cell[a] as i64 + step[a]))
            });
            open.map(move |(_, corners)| Face {
                corners_m: corners
                    .map(|at| std::array::from_fn(|a| low_m[a] + at[a] * grid.voxel_m())),
                rgb: voxel.rgb,
            })
        })
    }

    fn mesh_ply(&self) -> Vec<u8> {
        let faces: Vec<Face> = self.faces().collect();
        let mut bytes = format!(
            "ply\nformat binary_little_endian 1.0\nelement vertex {}\nproperty float x\n\
             property float y\nproperty float z\nproperty uchar red\nproperty uchar green\n\
             property uchar blue\nelement face {}\nproperty list uchar int vertex_indices\n\
             end_header\n",
            4 * faces.len(),
            faces.len()
        )
        .into_bytes();
        for face in &faces {
            for corner in face.corners_m {
                bytes.extend(corner.iter().flat_map(|v| (*v as f32).to_le_bytes()));
                bytes.extend(face.rgb);
            }
        }
        for first in (0..4 * faces.len() as u32).step_by(4) {
            bytes.push(4);
            bytes.extend((first..first + 4).flat_map(u32::to_le_bytes));
        }
        bytes
    }

    fn mesh_obj(&self) -> String {
        let mut text = String::from("# faces of occupied voxels, colours behind the corners\n");
        for (number, face) in self.faces().enumerate() {
            let [r, g, b] = face.rgb.map(|c| f64::from(c) / 255.0);
            for [x, y, z] in face.corners_m {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "v {x:.6} {y:.6} {z:.6} {r:.3} {g:.3} {b:.3}");
            }
            let first = 4 * number + 1;
            let _ = writeln!(text, "f {} {} {} {}", first, first + 1, first + 2, first + 3);
        }
        text
    }

    /// OctoMap's binary tree. Its cells lie on whole multiples of their edge: a workspace that does
    /// not begin on one is moved by less than half a voxel.
    fn octomap(&self) -> Vec<u8> {
        let voxel_m = self.grid.voxel_m();
        let middle = 1_i64 << (TREE_LEVELS - 1);
        let known = (0..self.grid.cells() as u32).filter_map(|key| {
            let state = self.state(key);
            if state == CellState::Unknown {
                return None;
            }
            let centre = self.grid.centre_m(self.grid.cell_of(key));
            let place = centre.map(|v| ((v / voxel_m).floor() as i64 + middle) as u64);
            Some((interleave(place), state == CellState::Occupied))
        });
        let mut cells: Vec<(u64, bool)> = known.collect();
        cells.sort_unstable();
        let (mut data, mut nodes) = (Vec::new(), 0_usize);
        if !cells.is_empty() {
            tree(&cells, TREE_LEVELS - 1, &mut data, &mut nodes);
        }
        let mut bytes =
            format!("# Octomap OcTree binary file\nid OcTree\nsize {nodes}\nres {voxel_m}\ndata\n")
                .into_bytes();
        bytes.extend(data);
        bytes
    }
}

/// Bits of three numbers in turn, x lowest.
fn interleave(place: [u64; 3]) -> u64 {
    (0..TREE_LEVELS).fold(0, |code, bit| {
        (0..3).fold(code, |code, a| code | (place[a] >> bit & 1) << (3 * bit as usize + a))
    })
}

/// Writes a node and all below it: two bits a child, 01 occupied, 10 free, 11 has children.
fn tree(cells: &[(u64, bool)], level: u32, data: &mut Vec<u8>, nodes: &mut usize) {
    *nodes += 1;
    let child_of = |code: u64| (code >> (3 * level) & 7) as usize;
    let mut children: [&[(u64, bool)]; 8] = [&[]; 8];
    for part in cells.chunk_by(|a, b| child_of(a.0) == child_of(b.0)) {
        if let Some((code, _)) = part.first() {
            children[child_of(*code)] = part;
        }
    }
    let mut bits = 0_u16;
    for (child, part) in children.iter().enumerate() {
        let pair = match part {
            [] => 0,
            [(_, is_occupied), ..] if level == 0 => 1 + u16::from(*is_occupied),
            _ => 3,
        };
        bits |= pair << (2 * child);
    }
    data.extend(bits.to_le_bytes());
    for part in children.iter().filter(|part| !part.is_empty()) {
        if level == 0 {
            *nodes += 1;
        } else {
            tree(part, level - 1, data, nodes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Grid;

    fn map() -> MapSnapshot {
        let grid = Grid::new([-0.5, -0.4, 0.0], [0.5, 0.4, 0.6], 0.1).unwrap();
        let keys: Vec<u32> = (0..grid.cells() as u32).filter(|key| key % 7 == 0).collect();
        let mut map = MapSnapshot::from_voxels(&grid, &keys).unwrap();
        // Some cells were never seen.
        for key in (0..grid.cells()).filter(|key| key % 7 != 0 && key % 5 == 0) {
            map.seen[key] = 0;
        }
        map
    }

    /// Leaves of a tree with their cells, read as OctoMap does.
    fn leaves(
        data: &[u8],
        at: &mut usize,
        place: [u64; 3],
        level: u32,
        out: &mut Vec<([u64; 3], bool)>,
    ) {
        let bits = u16::from_le_bytes([data[*at], data[*at + 1]]);
        *at += 2;
        let child = |n: usize| std::array::from_fn(|a| place[a] | ((n >> a & 1) as u64) << level);
        let pairs = (0..8).map(|n| (n, bits >> (2 * n) & 3));
        for (n, pair) in pairs.clone().filter(|(_, pair)| matches!(pair, 1 | 2)) {
            assert_eq!(level, 0);
            out.push((child(n), pair == 2));
        }
        for (n, _) in pairs.filter(|(_, pair)| *pair == 3) {
            leaves(data, at, child(n), level - 1, out);
        }
    }

    #[test]
    fn octomaps_hold_what_is_known_and_nothing_else() {
        let map = map();
        let bytes = map.octomap();
        let head = bytes.windows(6).position(|w| w == b"\ndata\n").unwrap() + 6;
        let (mut at, mut found) = (0, Vec::new());
        leaves(&bytes[head..], &mut at, [0; 3], TREE_LEVELS - 1, &mut found);
        assert_eq!(at, bytes.len() - head);
        let [unknown, free, occupied] = map.state_counts();
        assert!(unknown > 20);
        assert_eq!(found.len(), free + occupied);
        for (place, is_occupied) in found {
            let centre = place.map(|v| (v as f64 - 32768.0 + 0.5) * 0.1);
            let key = map.grid.key(map.grid.cell(centre).unwrap());
            assert_eq!(map.state(key) == CellState::Occupied, is_occupied, "{centre:?}");
        }
    }

    #[test]
    fn meshes_are_closed() {
        let map = map();
        let mut sum = [0.0; 3];
        let mut volume = 0.0;
        for face in map.faces() {
            let [a, b, c, _] = face.corners_m.map(nalgebra::Vector3::from);
            let area = (b - a).cross(&(c - b));
            (0..3).for_each(|i| sum[i] += area[i]);
            volume += area.dot(&a) / 3.0;
        }
        assert!(sum.iter().all(|v: &f64| v.abs() < 1e-9), "{sum:?}");
        assert!((volume - map.voxels.len() as f64 * 1e-3).abs() < 1e-9);
    }

    #[test]
    fn files_are_written_by_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let map = map();
        for name in ["map.npz", "map.ply", "map.obj", "map.bt"] {
            map.export(&folder.path().join(name)).unwrap();
            assert!(std::fs::metadata(folder.path().join(name)).unwrap().len() > 200);
        }
        let error = map.export(&folder.path().join("map.stl")).unwrap_err().to_string();
        assert!(error.contains("npz, ply, obj or bt"), "{error}");
    }

    #[test]
    fn unknown_cells_block_but_for_the_robots_own() {
        use citrange_core::Pose;
        use citrange_core::shape::{PosedLinkShape, Shape};
        let map = map();
        let ball = Shape::Sphere { radius_m: 0.1 };
        let at = Pose { pos_m: [0.0, 0.0, 0.3], ..Pose::IDENTITY };
        let own = [PosedLinkShape::new(0, &at, &ball)];
        let blocked = map.with_unknown_blocked(&own, 0.02).unwrap();
        let mut spared = 0;
        for key in 0..map.grid.cells() as u32 {
            let centre = map.grid.centre_m(map.grid.cell_of(key));
            let blocks = blocked.state(key) == CellState::Occupied;
            match map.state(key) {
                CellState::Unknown if !blocks => {
                    assert!(own[0].distance_m(centre) < 0.02 + 0.09);
                    spared += 1;
                }
                CellState::Unknown => assert!(own[0].distance_m(centre) > 0.02),
                state => assert_eq!(blocks, state == CellState::Occupied),
            }
        }
        assert!(spared > 0);
    }
}

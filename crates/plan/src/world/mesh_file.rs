//! Triangles from STL (text or binary) and OBJ files.

use std::path::Path;

use citrange_core::shape::Mesh;

/// A binary STL: a header, a count, then 50 bytes for each triangle.
const STL_HEADER: usize = 84;
const STL_TRIANGLE: usize = 50;

/// Corners, and which three make each triangle.
type Triangles = (Vec<[f32; 3]>, Vec<[u32; 3]>);

/// Reads a file of triangles; `scale`: metres per unit.
pub(super) fn read(path: &Path, scale: f64) -> Result<Mesh, String> {
    let kind = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
    if !["stl", "obj"].contains(&kind.as_str()) {
        return Err("not a mesh that is read here: .stl and .obj are".to_owned());
    }
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let (points, triangles) = match kind.as_str() {
        "obj" => obj(&String::from_utf8_lossy(&bytes))?,
        _ => match binary_stl(&bytes) {
            Some(points) => corners(points),
            None => corners(text_stl(&String::from_utf8_lossy(&bytes))?),
        },
    };
    let scaled = |p: [f32; 3]| p.map(|v| (f64::from(v) * scale) as f32);
    Mesh::new(points.into_iter().map(scaled).collect(), triangles).map_err(|why| why.to_string())
}

/// Every three corners are a triangle.
fn corners(points: Vec<[f32; 3]>) -> Triangles {
    let triangles = (0..points.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    (points, triangles)
}

/// Corners of a binary file; none if its size is not what its count says.
fn binary_stl(bytes: &[u8]) -> Option<Vec<[f32; 3]>> {
    let count = u32::from_le_bytes(bytes.get(80..STL_HEADER)?.try_into().ok()?) as usize;
    let size = count.checked_mul(STL_TRIANGLE)?.checked_add(STL_HEADER)?;
    if bytes.len() != size {
        return None;
    }
    let mut points = Vec::with_capacity(3 * count);
    for triangle in bytes.get(STL_HEADER..)?.chunks_exact(STL_TRIANGLE) {
        // The normal is first: it follows from the corners.
        for corner in triangle.get(12..48)?.chunks_exact(12) {
            let number = |axis: usize| {
                let bytes = corner.get(4 * axis..4 * axis + 4)?;
                Some(f32::from_le_bytes(bytes.try_into().ok()?))
            };
            points.push([number(0)?, number(1)?, number(2)?]);
        }
    }
    Some(points)
}

fn text_stl(text: &str) -> Result<Vec<[f32; 3]>, String> {
    let mut points = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        if words.next() == Some("vertex") {
            points.push(point(words, number + 1)?);
        }
    }
    if points.is_empty() || points.len() % 3 != 0 {
        return Err(format!("{} corners; an STL file has three for each triangle", points.len()));
    }
    Ok(points)
}

fn obj(text: &str) -> Result<Triangles, String> {
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    for (number, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => points.push(point(words, number + 1)?),
            Some("f") => {
                let face: Result<Vec<u32>, String> =
                    words.map(|word| corner(word, points.len(), number + 1)).collect();
                let face = face?;
                // Faces with more corners are fans.
                for pair in face.get(1..).unwrap_or_default().windows(2) {
                    triangles.push([face[0], pair[0], pair[1]]);
                }
            }
            _ => {}
        }
    }
    Ok((points, triangles))
}

fn point<'a>(words: impl Iterator<Item = &'a str>, line: usize) -> Result<[f32; 3], String> {
    let numbers: Vec<f32> = words.take(3).filter_map(|word| word.parse().ok()).collect();
    <[f32; 3]>::try_from(numbers).map_err(|_| format!("line {line}: three numbers are right"))
}

/// A corner of an OBJ face: from 1 on, or from the last one backward.
fn corner(word: &str, points: usize, line: usize) -> Result<u32, String> {
    let first = word.split('/').next().unwrap_or_default();
    let index = match first.parse::<i64>() {
        Ok(index) if index > 0 => index - 1,
        Ok(index) if index < 0 => points as i64 + index,
        _ => -1,
    };
    u32::try_from(index)
        .ok()
        .filter(|index| (*index as usize) < points)
        .ok_or_else(|| format!("line {line}: {word:?} is no vertex of the {points} before it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_triangle_from_every_form() {
        let folder = tempfile::tempdir().unwrap();
        let mut binary = vec![0_u8; 80];
        binary.extend(1_u32.to_le_bytes());
        for number in [0.0_f32, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 4.0, 0.0] {
            binary.extend(number.to_le_bytes());
        }
        binary.extend([0, 0]);
        let text = "solid\n vertex 0 0 0\n vertex 2 0 0\n vertex 0 4 0\n";
        let obj = "v 0 0 0\nv 2 0 0\nv 0 4 0\nv 2 4 0\nf 1/1/1 2//1 -1 3\n";
        for (name, bytes) in
            [("a.stl", binary.as_slice()), ("b.STL", text.as_bytes()), ("c.obj", obj.as_bytes())]
        {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            let (centre, half) = read(&path, 0.5).unwrap().bounds_m();
            assert_eq!((centre, half), ([0.5, 1.0, 0.0], [0.5, 1.0, 0.0]), "{name}");
            std::fs::write(&path, &bytes[..bytes.len() - 9]).unwrap();
            assert!(read(&path, 1.0).is_err(), "{name} cut off");
        }
        assert!(read(Path::new("a.ply"), 1.0).unwrap_err().contains(".stl"));
        assert!(super::obj("v 0 0 0\nf 1 2 3").is_err());
    }
}

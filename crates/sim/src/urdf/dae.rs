//! COLLADA meshes: triangles and polygons of every geometry, where the file's scene puts them.

use std::collections::HashMap;
use std::path::Path;

use nalgebra::{Matrix4, Point3, Rotation3, Translation3, Unit, Vector3};
use roxmltree::{Document, Node};

/// More corners than any mesh of a robot has; bounds what a bad file may ask for.
const MOST_CORNERS: usize = 30_000_000;
/// More nodes than any scene of a robot has.
const MOST_NODES: usize = 100_000;
/// How deep nodes may lie in each other.
const DEEPEST: usize = 64;

/// A mesh as the engine takes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Triangles {
    /// x, y, z of every point, in metres.
    pub(crate) points_m: Vec<f32>,
    /// Three points of every triangle.
    pub(crate) corners: Vec<i32>,
    /// Nodes of the scene that were gone through.
    nodes: usize,
}

/// One geometry of the file, in its own units.
#[derive(Default)]
struct Geometry {
    points: Vec<Point3<f64>>,
    triangles: Vec<[usize; 3]>,
}

impl Triangles {
    /// Reads a COLLADA file: metres, with z up.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
        let document = Document::parse(&text).map_err(|e| e.to_string())?;
        Self::of(&document)
    }

    fn of(document: &Document<'_>) -> Result<Self, String> {
        let by_id: HashMap<&str, Node<'_, '_>> =
            document.descendants().filter_map(|n| Some((n.attribute("id")?, n))).collect();
        let mut geometries: HashMap<&str, Geometry> = HashMap::new();
        for node in document.descendants().filter(|n| n.has_tag_name("geometry")) {
            if let (Some(id), Some(mesh)) = (node.attribute("id"), child(node, "mesh")) {
                geometries.insert(id, geometry(mesh, &by_id)?);
            }
        }
        let asset = child(document.root_element(), "asset");
        let metre = asset.and_then(|a| child(a, "unit")?.attribute("meter")?.parse().ok());
        // As viewers of URDF do, the file's up-axis is not turned: its z is the link's z.
        let base = Matrix4::new_scaling(metre.unwrap_or(1.0));
        let mut made = Self::default();
        let scene = document.descendants().find(|n| n.has_tag_name("visual_scene"));
        for node in scene.iter().flat_map(Node::children).filter(|n| n.has_tag_name("node")) {
            made.add_node(node, &base, &geometries, &by_id, 0)?;
        }
        if made.corners.is_empty() {
            // A file without a scene: what there is, as it is.
            for geometry in geometries.values() {
                made.add(geometry, &base)?;
            }
        }
        if made.corners.is_empty() {
            return Err("the COLLADA file has no triangles or polygons".into());
        }
        Ok(made)
    }

    fn add_node(
        &mut self,
        node: Node<'_, '_>,
        above: &Matrix4<f64>,
        geometries: &HashMap<&str, Geometry>,
        by_id: &HashMap<&str, Node<'_, '_>>,
        depth: usize,
    ) -> Result<(), String> {
        self.nodes += 1;
        if depth > DEEPEST || self.nodes > MOST_NODES {
            return Err(format!("more than {MOST_NODES} nodes, or {DEEPEST} in each other"));
        }
        let mut at = *above;
        for step in node.children().filter(Node::is_element) {
            at *= transform(step)?;
        }
        for inside in node.children().filter(Node::is_element) {
            let target = inside.attribute("url").map(|url| url.trim_start_matches('#'));
            match inside.tag_name().name() {
                "node" => self.add_node(inside, &at, geometries, by_id, depth + 1)?,
                "instance_geometry" => {
                    if let Some(geometry) = target.and_then(|id| geometries.get(id)) {
                        self.add(geometry, &at)?;
                    }
                }
                "instance_node" => {
                    if let Some(other) = target.and_then(|id| by_id.get(id)) {
                        self.add_node(*other, &at, geometries, by_id, depth + 1)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn add(&mut self, geometry: &Geometry, at: &Matrix4<f64>) -> Result<(), String> {
        let first = self.points_m.len() / 3;
        if self.corners.len() + 3 * geometry.triangles.len() > MOST_CORNERS
            || first + geometry.points.len() > MOST_CORNERS
        {
            return Err(format!("more than {MOST_CORNERS} corners"));
        }
        for point in &geometry.points {
            let point = at.transform_point(point);
            self.points_m.extend(point.coords.iter().map(|n| *n as f32));
        }
        let corners = geometry.triangles.iter().flatten();
        self.corners.extend(corners.map(|corner| (first + corner) as i32));
        Ok(())
    }
}

fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    node.children().find(|n| n.has_tag_name(name))
}

fn numbers(node: Node<'_, '_>) -> Result<Vec<f64>, String> {
    let words = node.text().unwrap_or_default().split_ascii_whitespace();
    let number = |word: &str| match word.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err(format!("<{}>: {word:?} is not a number", node.tag_name().name())),
    };
    words.map(number).collect()
}

fn transform(step: Node<'_, '_>) -> Result<Matrix4<f64>, String> {
    let kind = step.tag_name().name();
    if !["matrix", "translate", "rotate", "scale"].contains(&kind) {
        return Ok(Matrix4::identity());
    }
    let n = numbers(step)?;
    match (kind, n.as_slice()) {
        ("matrix", n) if n.len() == 16 => Ok(Matrix4::from_row_slice(n)),
        ("translate", &[x, y, z]) => Ok(Translation3::new(x, y, z).to_homogeneous()),
        ("scale", &[x, y, z]) => Ok(Matrix4::new_nonuniform_scaling(&Vector3::new(x, y, z))),
        ("rotate", &[x, y, z, deg]) => {
            let axis = Unit::try_new(Vector3::new(x, y, z), 1e-9);
            let turn = axis.map(|axis| Rotation3::from_axis_angle(&axis, deg.to_radians()));
            Ok(turn.map_or_else(Matrix4::identity, |turn| turn.to_homogeneous()))
        }
        _ => Err(format!("<{kind}> has {} numbers", n.len())),
    }
}

fn geometry(mesh: Node<'_, '_>, by_id: &HashMap<&str, Node<'_, '_>>) -> Result<Geometry, String> {
    let mut made = Geometry::default();
    // Points of a source that were taken already, by its id.
    let mut taken: HashMap<&str, usize> = HashMap::new();
    for part in mesh.children().filter(Node::is_element) {
        let kind = part.tag_name().name();
        if !["triangles", "polylist", "polygons", "trifans", "tristrips"].contains(&kind) {
            continue;
        }
        let inputs = || part.children().filter(|n| n.has_tag_name("input"));
        let offset = |n: &Node<'_, '_>| n.attribute("offset").and_then(|o| o.parse::<usize>().ok());
        let stride = inputs().filter_map(|n| offset(&n)).max().unwrap_or(0) + 1;
        let vertex = inputs().find(|n| n.attribute("semantic") == Some("VERTEX"));
        let vertex = vertex.ok_or_else(|| format!("<{kind}> has no vertices"))?;
        let at = offset(&vertex).unwrap_or(0);
        let first = points(vertex, by_id, &mut taken, &mut made)?;
        let count = made.points.len() - first;
        let sizes: Vec<usize> = match child(part, "vcount") {
            Some(sizes) => numbers(sizes)?.into_iter().map(|n| n as usize).collect(),
            None => Vec::new(),
        };
        for list in part.children().filter(|n| n.has_tag_name("p")) {
            let all = numbers(list)?;
            let corners: Vec<usize> =
                all.iter().skip(at).step_by(stride).map(|n| *n as usize).collect();
            if let Some(bad) = corners.iter().find(|corner| **corner >= count) {
                return Err(format!("<{kind}> names point {bad} of {count}"));
            }
            made.fill(kind, &corners, &sizes, first);
        }
    }
    Ok(made)
}

impl Geometry {
    /// Takes the triangles of a list of corners: polygons become fans.
    fn fill(&mut self, kind: &str, corners: &[usize], sizes: &[usize], first: usize) {
        let mut fan = |polygon: &[usize]| {
            for pair in polygon.windows(2).skip(1) {
                self.triangles.push([first + polygon[0], first + pair[0], first + pair[1]]);
            }
        };
        match kind {
            "triangles" => corners.chunks_exact(3).for_each(fan),
            "polylist" => {
                let mut rest = corners;
                for size in sizes {
                    let (polygon, others) = rest.split_at((*size).min(rest.len()));
                    fan(polygon);
                    rest = others;
                }
            }
            "tristrips" => {
                for (number, three) in corners.windows(3).enumerate() {
                    let [a, b, c] = [three[0], three[1], three[2]];
                    fan(&if number % 2 == 0 { [a, b, c] } else { [b, a, c] });
                }
            }
            _ => fan(corners),
        }
    }
}

/// Takes the positions that an input of vertices means; answers where they begin.
fn points<'a>(
    vertex: Node<'a, '_>,
    by_id: &HashMap<&'a str, Node<'a, '_>>,
    taken: &mut HashMap<&'a str, usize>,
    made: &mut Geometry,
) -> Result<usize, String> {
    let target = |n: Node<'a, '_>| n.attribute("source").map(|s| s.trim_start_matches('#'));
    let found = |id: Option<&'a str>| id.and_then(|id| by_id.get(id).copied());
    let vertices = found(target(vertex)).ok_or("an input names vertices that are not there")?;
    let position = vertices
        .children()
        .find(|n| n.has_tag_name("input") && n.attribute("semantic") == Some("POSITION"))
        .ok_or("vertices have no positions")?;
    let id = target(position).unwrap_or_default();
    let source = found(Some(id)).ok_or_else(|| format!("there is no source \"{id}\""))?;
    if let Some(first) = taken.get(id) {
        return Ok(*first);
    }
    let array =
        child(source, "float_array").ok_or_else(|| format!("source {id} has no numbers"))?;
    let first = made.points.len();
    let numbers = numbers(array)?;
    made.points.extend(numbers.chunks_exact(3).map(|p| Point3::new(p[0], p[1], p[2])));
    taken.insert(id, first);
    Ok(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(part: &str) -> String {
        format!(
            "<COLLADA><asset><unit meter=\"0.001\"/></asset><library_geometries>\
             <geometry id=\"g\"><mesh><source id=\"s\"><float_array>0 0 0 1000 0 0 1000 1000 0 \
             0 1000 0</float_array></source><vertices id=\"v\"><input semantic=\"POSITION\" \
             source=\"#s\"/></vertices>{part}</mesh></geometry></library_geometries>\
             <library_visual_scenes><visual_scene><node><translate>0 0 500</translate>\
             <instance_geometry url=\"#g\"/></node></visual_scene></library_visual_scenes></COLLADA>"
        )
    }

    fn read(part: &str) -> Result<Triangles, String> {
        let text = file(part);
        Triangles::of(&Document::parse(&text).unwrap())
    }

    #[test]
    fn polygons_become_triangles_in_metres_where_the_scene_puts_them() {
        let vertex = "<input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/>";
        let normal = "<input semantic=\"NORMAL\" source=\"#n\" offset=\"1\"/>";
        let quad = format!(
            "<polylist>{vertex}{normal}<vcount>4</vcount><p>0 0 1 0 2 0 3 0</p></polylist>"
        );
        let made = read(&quad).unwrap();
        assert_eq!(made.corners, [0, 1, 2, 0, 2, 3]);
        assert_eq!(made.points_m[3..6], [1.0, 0.0, 0.5]);
        let triangles = format!("<triangles>{vertex}<p>0 1 2</p></triangles>");
        assert_eq!(read(&triangles).unwrap().corners, [0, 1, 2]);
    }

    #[test]
    fn what_points_nowhere_is_refused() {
        let vertex = "<input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/>";
        let far = format!("<triangles>{vertex}<p>0 1 9</p></triangles>");
        assert!(read(&far).unwrap_err().contains("point 9 of 4"));
        assert!(read("").unwrap_err().contains("no triangles"));
    }
}

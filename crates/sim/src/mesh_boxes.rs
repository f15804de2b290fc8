//! Boxes that cover a mesh: slices along one axis, each with a box of its own. One box around a
//! bent link says that it touches its neighbour's neighbour; a few slices do not.

use mujoco_rs::prelude::*;
use nalgebra::{Isometry3, Vector3};

/// Numbers of slices that are tried.
const SLICES: [usize; 4] = [2, 3, 4, 6];
/// What one more box must save, as a share of the volume.
const PRICE: f64 = 0.06;
/// Half the thickness that a box has at least.
const THINNEST_M: f64 = 5e-4;

/// A box in the frame of its geom: centre and half edges.
type Bounds = [Vector3<f64>; 2];
/// Points, and pairs of them.
type Wire = (Vec<Vector3<f64>>, Vec<[usize; 2]>);

/// Covers what a mesh geom collides with, its convex hull; or the mesh, where it has none.
pub(crate) fn boxes(model: &MjModel, geom: usize) -> Option<Vec<(Isometry3<f64>, [f64; 3])>> {
    let mesh = usize::try_from(model.geom_dataid()[geom]).ok()?;
    let (points, edges) = hull(model, mesh).or_else(|| triangles(model, mesh))?;
    let best = sliced(&points, &edges)?;
    let as_box = |[low, high]: Bounds| {
        let half = ((high - low) / 2.0).map(|h| h.max(THINNEST_M));
        (Isometry3::from((low + high) / 2.0), half.into())
    };
    Some(best.into_iter().map(as_box).collect())
}

/// How far a mesh geom reaches against a direction of its frame.
pub(crate) fn lowest(model: &MjModel, geom: usize, up: &Vector3<f64>) -> Option<f64> {
    let mesh = usize::try_from(model.geom_dataid()[geom]).ok()?;
    let all = points(model, mesh);
    all.iter().map(|p| p.dot(up)).min_by(f64::total_cmp)
}

fn points(model: &MjModel, mesh: usize) -> Vec<Vector3<f64>> {
    let from = model.mesh_vertadr()[mesh] as usize;
    let count = model.mesh_vertnum()[mesh] as usize;
    let all = &model.mesh_vert()[from..from + count];
    all.iter().map(|p| Vector3::from(*p).cast()).collect()
}

/// Points and edges of the convex hull that the engine made.
fn hull(model: &MjModel, mesh: usize) -> Option<Wire> {
    let at = usize::try_from(model.mesh_graphadr()[mesh]).ok()?;
    let graph = model.mesh_graph().get(at..)?;
    // Number of points and faces; per point where its neighbours begin, and its place in the mesh;
    // then the neighbours, each list ending with -1.
    let (count, faces) = (usize::try_from(graph[0]).ok()?, usize::try_from(graph[1]).ok()?);
    let starts = graph.get(2..2 + count)?;
    let places = graph.get(2 + count..2 + 2 * count)?;
    let neighbours = graph.get(2 + 2 * count..2 + 3 * count + 3 * faces)?;
    let all = points(model, mesh);
    let points =
        places.iter().map(|p| all.get(*p as usize).copied()).collect::<Option<Vec<_>>>()?;
    let mut edges = Vec::new();
    for (point, start) in starts.iter().enumerate() {
        let list = neighbours.get(usize::try_from(*start).ok()?..)?;
        let list = list.iter().take_while(|n| **n >= 0).map(|n| *n as usize);
        edges.extend(list.filter(|n| *n > point && *n < count).map(|n| [point, n]));
    }
    Some((points, edges))
}

fn triangles(model: &MjModel, mesh: usize) -> Option<Wire> {
    let points = points(model, mesh);
    let from = model.mesh_faceadr()[mesh] as usize;
    let count = model.mesh_facenum()[mesh] as usize;
    let faces = model.mesh_face().get(from..from + count)?;
    let mut edges = Vec::with_capacity(3 * count);
    for face in faces {
        let [a, b, c] = face.map(|p| p as usize);
        if [a, b, c].iter().any(|p| *p >= points.len()) {
            return None;
        }
        edges.extend([[a, b], [b, c], [c, a]]);
    }
    Some((points, edges))
}

/// The cheapest slices: least volume, few boxes.
fn sliced(points: &[Vector3<f64>], edges: &[[usize; 2]]) -> Option<Vec<Bounds>> {
    let whole = bounds(points.iter().copied())?;
    let volume = |bounds: &Bounds| (bounds[1] - bounds[0]).iter().product::<f64>();
    let all = volume(&whole);
    let mut best = (all * (1.0 + PRICE), vec![whole]);
    for axis in 0..3 {
        for count in SLICES {
            let slices = slices(points, edges, &whole, axis, count);
            let sum = slices.iter().map(volume).sum::<f64>();
            let cost = sum + all * PRICE * slices.len() as f64;
            if cost < best.0 {
                best = (cost, slices);
            }
        }
    }
    Some(best.1)
}

fn slices(
    points: &[Vector3<f64>],
    edges: &[[usize; 2]],
    whole: &Bounds,
    axis: usize,
    count: usize,
) -> Vec<Bounds> {
    let [low, high] = [whole[0][axis], whole[1][axis]];
    let cut = |k: usize| low + (high - low) * k as f64 / count as f64;
    let mut made = Vec::with_capacity(count);
    for k in 0..count {
        let (from, to) = (cut(k), cut(k + 1));
        let within = points.iter().filter(|p| (from..=to).contains(&p[axis])).copied();
        // What crosses a cut: the slice ends where the edges pass it.
        let crossing = edges.iter().flat_map(|[a, b]| {
            let (a, b) = (points[*a], points[*b]);
            [from, to].into_iter().filter_map(move |at| {
                let (below, above) = (a[axis] - at, b[axis] - at);
                (below * above < 0.0).then(|| a + (b - a) * (below / (below - above)))
            })
        });
        made.extend(bounds(within.chain(crossing)));
    }
    made
}

fn bounds(points: impl Iterator<Item = Vector3<f64>>) -> Option<Bounds> {
    let start = [Vector3::repeat(f64::INFINITY), Vector3::repeat(f64::NEG_INFINITY)];
    let [low, high] = points.fold(start, |[low, high], p| [low.inf(&p), high.sup(&p)]);
    (low.x <= high.x).then_some([low, high])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A prism in the shape of an L, 2 wide and 0.2 thick.
    fn elbow() -> Wire {
        let outline = [[0.0, 0.0], [2.0, 0.0], [2.0, 0.2], [0.2, 0.2], [0.2, 2.0], [0.0, 2.0]];
        let mut points = Vec::new();
        for z in [0.0, 0.2] {
            points.extend(outline.iter().map(|[x, y]| Vector3::new(*x, *y, z)));
        }
        let ring = |from: usize| (0..6).map(move |k| [from + k, from + (k + 1) % 6]);
        let edges = ring(0).chain(ring(6)).chain((0..6).map(|k| [k, k + 6])).collect();
        (points, edges)
    }

    #[test]
    fn slices_cover_every_point_and_leave_the_inside_of_an_elbow_free() {
        let (points, edges) = elbow();
        let boxes = sliced(&points, &edges).unwrap();
        assert!(boxes.len() > 1);
        let holds = |b: &Bounds, p: &Vector3<f64>| {
            (0..3).all(|i| (b[0][i] - 1e-9..=b[1][i] + 1e-9).contains(&p[i]))
        };
        for [a, b] in &edges {
            for step in 0..=20 {
                let at = points[*a] + (points[*b] - points[*a]) * f64::from(step) / 20.0;
                assert!(boxes.iter().any(|b| holds(b, &at)), "{at:?}");
            }
        }
        assert!(!boxes.iter().any(|b| holds(b, &Vector3::new(1.5, 1.5, 0.1))));
    }
}

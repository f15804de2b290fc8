//! Configurations that can be reached from a root, and the nearest of them to a point.

use crate::config::{Config, MAX_JOINTS};
use crate::motions::Motions;
use crate::search::samples::Ranges;

/// Nodes that are compared at once.
const LANES: usize = 16;

/// Steps of a way that is taken over.
const WAY_STEP_RAD: f32 = 0.5;

/// The parent of a root.
const NONE: u32 = u32::MAX;

/// The box around nothing.
const EMPTY_LOW: Config = Config([f32::INFINITY; MAX_JOINTS]);
const EMPTY_HIGH: Config = Config([f32::NEG_INFINITY; MAX_JOINTS]);

/// Positions of [`LANES`] nodes, joint by joint.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Block([[f32; LANES]; MAX_JOINTS]);

/// What is known about the motion from a node's parent to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    /// Free in the world of this search.
    Proved,
    /// Was free in an earlier one.
    Old,
    /// Blocked, or beyond one that is.
    Gone,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    at: Config,
    parent: u32,
    edge: Edge,
}

/// A forest: one root or several, and what was reached from them.
pub(super) struct Tree {
    joints: usize,
    blocks: Vec<Block>,
    nodes: Vec<Node>,
    gone: usize,
    /// The box that holds all nodes.
    low: Config,
    high: Config,
    chain: Vec<u32>,
}

impl Tree {
    pub(super) fn new(joints: usize) -> Self {
        Self {
            joints,
            blocks: Vec::new(),
            nodes: Vec::new(),
            gone: 0,
            low: EMPTY_LOW,
            high: EMPTY_HIGH,
            chain: Vec::new(),
        }
    }

    /// Forgets everything, keeps the memory.
    pub(super) fn clear(&mut self) {
        self.blocks.clear();
        self.nodes.clear();
        (self.low, self.high) = (EMPTY_LOW, EMPTY_HIGH);
        self.gone = 0;
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// How many of the nodes are not known to be cut off.
    pub(super) fn alive(&self) -> usize {
        self.nodes.len() - self.gone
    }

    pub(super) fn add_root(&mut self, at: &Config) -> u32 {
        self.add(at, NONE)
    }

    /// Adds a node that was proved to be reached from another.
    pub(super) fn add(&mut self, at: &Config, parent: u32) -> u32 {
        let number = self.nodes.len();
        let lane = number % LANES;
        for joint in 0..MAX_JOINTS {
            self.low.0[joint] = self.low.0[joint].min(at.0[joint]);
            self.high.0[joint] = self.high.0[joint].max(at.0[joint]);
        }
        if lane == 0 {
            self.blocks.push(Block([[f32::INFINITY; LANES]; MAX_JOINTS]));
        }
        if let Some(block) = self.blocks.last_mut() {
            for (row, joint) in block.0.iter_mut().zip(&at.0) {
                row[lane] = *joint;
            }
        }
        self.nodes.push(Node { at: *at, parent, edge: Edge::Proved });
        number as u32
    }

    /// Adds the beginning of a way, whose first point is a root of this tree, in short steps.
    /// They are proved when they are the nearest: between two that were proved, numbers round.
    pub(super) fn add_old_way(&mut self, way: &[Config], length_rad: f32, ranges: &Ranges) {
        let Some(mut last) = way.first().and_then(|root| self.root_at(root)) else { return };
        let mut left_rad = length_rad;
        for edge in way.windows(2) {
            let edge_rad = edge[0].distance(&edge[1]);
            let steps = (edge_rad / WAY_STEP_RAD).ceil().max(1.0);
            let mut step = 1.0;
            while step <= steps {
                if step * edge_rad / steps > left_rad {
                    return;
                }
                let at =
                    if step < steps { edge[0].toward(&edge[1], step / steps) } else { edge[1] };
                last = self.add(&ranges.clamp(at), last);
                if let Some(node) = self.nodes.last_mut() {
                    node.edge = Edge::Old;
                }
                step += 1.0;
            }
            left_rad -= edge_rad;
        }
    }

    /// Corners of the box that holds all nodes.
    pub(super) fn bounds(&self) -> (&Config, &Config) {
        (&self.low, &self.high)
    }

    pub(super) fn at(&self, node: u32) -> &Config {
        &self.nodes[node as usize].at
    }

    /// The nodes from `node` to its root, appended to `path`.
    pub(super) fn walk_to_root(&self, node: u32, path: &mut Vec<Config>) {
        let mut next = node;
        while let Some(node) = self.nodes.get(next as usize) {
            path.push(node.at);
            next = node.parent;
        }
    }

    /// Length of the way from a node to its root.
    pub(super) fn to_root_rad(&self, node: u32) -> f32 {
        let (mut so_far_rad, mut below) = (0.0, node);
        while let Some(Node { at, parent, .. }) = self.nodes.get(below as usize) {
            if let Some(above) = self.nodes.get(*parent as usize) {
                so_far_rad += at.distance(&above.at);
            }
            below = *parent;
        }
        so_far_rad
    }

    /// The nearest node that can be reached, and its distance. What was left by an earlier search
    /// is proved again before it counts.
    pub(super) fn nearest<M: Motions>(
        &mut self,
        to: &Config,
        motions: &mut M,
    ) -> Option<(u32, f32)> {
        loop {
            let (node, squared) = self.nearest_kept(to);
            if squared == f32::INFINITY {
                return None;
            }
            if self.nodes[node as usize].edge == Edge::Proved || self.prove(node, motions) {
                return Some((node, squared.sqrt()));
            }
        }
    }

    fn nearest_kept(&self, to: &Config) -> (u32, f32) {
        let mut best = [f32::INFINITY; LANES];
        let mut best_block = [0_u32; LANES];
        for (number, block) in self.blocks.iter().enumerate() {
            let mut squared = [0.0_f32; LANES];
            for (row, joint) in block.0.iter().zip(&to.0).take(self.joints) {
                for lane in 0..LANES {
                    let apart = row[lane] - joint;
                    squared[lane] += apart * apart;
                }
            }
            for lane in 0..LANES {
                let nearer = squared[lane] < best[lane];
                best[lane] = if nearer { squared[lane] } else { best[lane] };
                best_block[lane] = if nearer { number as u32 } else { best_block[lane] };
            }
        }
        let mut nearest = (0, f32::INFINITY);
        for lane in 0..LANES {
            let node = best_block[lane] * LANES as u32 + lane as u32;
            if best[lane] < nearest.1 || (best[lane] == nearest.1 && node < nearest.0) {
                nearest = (node, best[lane]);
            }
        }
        nearest
    }

    /// Proves the way from the nearest proved ancestor to a node; takes away what is blocked.
    fn prove<M: Motions>(&mut self, node: u32, motions: &mut M) -> bool {
        let mut chain = std::mem::take(&mut self.chain);
        chain.clear();
        let mut next = node;
        let mut free = loop {
            match self.nodes.get(next as usize) {
                Some(above) if above.edge == Edge::Old => chain.push(next),
                Some(above) => break above.edge == Edge::Proved,
                None => break false,
            }
            next = self.nodes[next as usize].parent;
        };
        for below in chain.iter().rev() {
            let Node { at, parent, .. } = self.nodes[*below as usize];
            free = free && motions.is_motion_free(self.at(parent), &at);
            if free {
                self.nodes[*below as usize].edge = Edge::Proved;
            } else {
                self.remove(*below);
            }
        }
        self.chain = chain;
        free
    }

    /// Takes a node away. What hangs on it is found to be cut off when it is asked for.
    fn remove(&mut self, node: u32) {
        let number = node as usize;
        self.nodes[number].edge = Edge::Gone;
        self.gone += 1;
        for row in &mut self.blocks[number / LANES].0 {
            row[number % LANES] = f32::INFINITY;
        }
    }

    /// A new world: nothing is proved any more. Roots stay where `keep` says so.
    pub(super) fn doubt(&mut self, mut keep: impl FnMut(&Config) -> bool) {
        for number in 0..self.nodes.len() {
            let Node { at, parent, edge, .. } = self.nodes[number];
            if edge == Edge::Gone {
                continue;
            }
            if parent != NONE {
                self.nodes[number].edge = Edge::Old;
            } else if !keep(&at) {
                self.remove(number as u32);
            }
        }
    }

    /// The root that is exactly there.
    pub(super) fn root_at(&self, at: &Config) -> Option<u32> {
        let is_it = |n: &Node| n.parent == NONE && n.edge != Edge::Gone && n.at == *at;
        self.nodes.iter().position(is_it).map(|number| number as u32)
    }

    /// Hangs the whole tree on a new root, by its node that is nearest to it. To be followed by
    /// [`Tree::doubt`].
    pub(super) fn hang_on(&mut self, root: &Config) {
        let (node, squared) = self.nearest_kept(root);
        let new_root = self.add_root(root);
        if squared == f32::INFINITY {
            return;
        }
        let (mut below, mut above) = (new_root, node);
        while let Some(turned) = self.nodes.get_mut(above as usize) {
            let next = std::mem::replace(&mut turned.parent, below);
            below = above;
            above = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use citrange_core::rng::Rng;

    use super::*;

    /// Blocks every motion that crosses a line of the first joint.
    struct Line(f32);

    impl Motions for Line {
        fn joints(&self) -> usize {
            3
        }
        fn is_free(&mut self, at: &Config) -> bool {
            at.0[0] != self.0
        }
        fn is_motion_free(&mut self, from: &Config, to: &Config) -> bool {
            (from.0[0] < self.0) == (to.0[0] < self.0)
        }
        fn is_box_free(&mut self, _: &Config, _: &Config) -> bool {
            false
        }
    }

    fn point(rng: &mut Rng) -> Config {
        Config::of(&[rng.unit(), rng.unit(), rng.unit()])
    }

    #[test]
    fn the_nearest_node_is_found() {
        let mut rng = Rng::new(1);
        let mut tree = Tree::new(3);
        for nodes in 1..200 {
            let at = point(&mut rng);
            if nodes == 1 {
                tree.add_root(&at)
            } else {
                tree.add(&at, 0)
            };
            let to = point(&mut rng);
            let (nearest, distance) = tree.nearest(&to, &mut Line(-1.0)).unwrap();
            let expected = (0..tree.len() as u32)
                .min_by(|a, b| tree.at(*a).distance(&to).total_cmp(&tree.at(*b).distance(&to)));
            assert_eq!(Some(nearest), expected);
            assert!((distance - tree.at(nearest).distance(&to)).abs() < 1e-6);
        }
    }

    #[test]
    fn what_a_new_world_cuts_off_is_never_nearest_again() {
        let mut rng = Rng::new(2);
        let mut tree = Tree::new(3);
        tree.add_root(&Config::of(&[0.1, 0.5, 0.5]));
        for node in 0..400 {
            tree.add(&point(&mut rng), (rng.next_u64() % (node + 1)) as u32);
        }
        tree.doubt(|_| true);
        let mut world = Line(0.5);
        for _ in 0..400 {
            let (node, _) = tree.nearest(&point(&mut rng), &mut world).unwrap();
            let mut way = Vec::new();
            tree.walk_to_root(node, &mut way);
            assert!(way.iter().all(|at| at.0[0] < 0.5));
        }
        assert!(tree.alive() < 250, "{} of 401 left", tree.alive());
        tree.doubt(|_| false);
        assert_eq!(tree.nearest(&point(&mut rng), &mut world), None);
    }

    #[test]
    fn a_tree_can_hang_on_a_new_root() {
        let mut tree = Tree::new(3);
        let at = |x: f64| Config::of(&[x, 0.0, 0.0]);
        let mut last = tree.add_root(&at(0.0));
        for node in 1..5 {
            last = tree.add(&at(f64::from(node)), last);
        }
        tree.hang_on(&at(2.2));
        tree.doubt(|root| *root == at(2.2));
        let mut way = Vec::new();
        tree.walk_to_root(0, &mut way);
        assert_eq!(way, [at(0.0), at(1.0), at(2.0), at(2.2)]);
        way.clear();
        tree.walk_to_root(4, &mut way);
        assert_eq!(way, [at(4.0), at(3.0), at(2.0), at(2.2)]);
        assert_eq!(tree.nearest(&at(9.0), &mut Line(-1.0)), Some((4, 5.0)));
    }
}

//! Which links of a hand are on which side of a held thing.

use citrange_core::robot::Grasp;
use nalgebra::{Point3, Vector3};

use crate::chain::{Chain, LinkShape};
use crate::kinematics::Kinematics;

/// Which side of a held thing a link is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JawSide {
    /// The jaw that the grasp's axis begins at; of a gripper with one moving jaw the hand itself.
    First,
    /// The jaw that it leads to.
    Second,
    /// Neither: the palm between two moving jaws.
    Palm,
}

/// The side of every link, `None` for those that are no part of the hand. Of a linkage all links
/// that hang on one joint of the hand are on the side on which their shapes are when it is open.
#[must_use]
pub fn jaw_sides(chain: &Chain, shapes: &[LinkShape]) -> Vec<Option<JawSide>> {
    let joints = &chain.joints;
    let is_gripper = |joint: usize| joints[joint].gripper.is_some();
    let grippers: Vec<usize> = (0..joints.len()).filter(|joint| is_gripper(*joint)).collect();
    let root = |link: usize| {
        let ups = std::iter::successors(Some(link), |at| joints[*at].parent);
        ups.take_while(|at| is_gripper(*at)).last()
    };
    let moves_one = grippers.len() == 1 || chain.grasp.is_some_and(|grasp| grasp.from_face);
    let offsets = chain.grasp.filter(|_| !moves_one).map(|grasp| offsets(chain, shapes, &grasp));
    let is_first = |root: usize| match &offsets {
        None => grippers.first() == Some(&root),
        Some(offsets) => {
            let behind = (0..joints.len()).filter(|link| hangs_on(chain, *link, root));
            behind.map(|link| offsets[link]).sum::<f64>() < 0.0
        }
    };
    let side = |link: usize| match root(link) {
        Some(_) if moves_one => Some(JawSide::Second),
        Some(root) => Some(if is_first(root) { JawSide::First } else { JawSide::Second }),
        None if link == chain.tool.link && moves_one => Some(JawSide::First),
        None if link == chain.tool.link => Some(JawSide::Palm),
        None => None,
    };
    (0..joints.len()).map(side).collect()
}

fn hangs_on(chain: &Chain, link: usize, root: usize) -> bool {
    std::iter::successors(Some(link), |at| chain.joints[*at].parent).any(|at| at == root)
}

/// Per link how far its shapes are from the middle of the open hand, along the line from jaw to
/// jaw, summed.
fn offsets(chain: &Chain, shapes: &[LinkShape], grasp: &Grasp) -> Vec<f64> {
    let mut at = Kinematics::new(chain);
    let open: Vec<f64> =
        chain.joints.iter().map(|j| j.gripper.map_or(j.reference, |[_, open]| open)).collect();
    at.update(&open);
    let tool = at.site(&chain.tool);
    let middle = tool.pos_m + tool.rot * Vector3::from(grasp.point_m);
    let axis = tool.rot * Vector3::from(grasp.jaw_axis);
    let mut offsets = vec![0.0; chain.joints.len()];
    for shape in shapes {
        let Some(link) = shape.link else { continue };
        let (centre, _) = shape.shape.bounds_m().unwrap_or_default();
        let own = shape.link_from_shape.isometry() * Point3::from(centre);
        let frame = at.link(link);
        offsets[link] += (frame.pos_m + frame.rot * own.coords - middle).dot(&axis);
    }
    offsets
}

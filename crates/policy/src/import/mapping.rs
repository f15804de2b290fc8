//! How the inputs of somebody's network are made from what we know, and what its outputs mean: a
//! YAML file. `mappings/ur5_voxels_58.yaml` is one for 58 inputs and 5 outputs.

use citrange_core::yaml::from_yaml;
use citrange_robot::Robot;
use nalgebra::{Isometry3, Point3, Vector3};
use serde::{Deserialize, Serialize};

use super::foreign::ForeignPolicy;
use crate::env::Aabb;
use crate::error::PolicyError;

/// What goes in and what comes out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// For people: which network this is for, what is known of its kinematics.
    #[serde(default)]
    pub note: String,
    /// The frame that the network knows: its origin in our base frame.
    #[serde(default)]
    pub origin_m: [f64; 3],
    /// And how it is rotated about the vertical.
    #[serde(default)]
    pub yaw_deg: f64,
    /// Inputs, in order.
    pub inputs: Vec<MappedInput>,
    /// Outputs.
    pub outputs: Outputs,
    /// Decisions per second.
    pub rate_hz: f64,
}

/// One input: some numbers under a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MappedInput {
    /// The network's name for it.
    pub name: String,
    /// What it is.
    pub is: Quantity,
}

/// Something that we know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Quantity {
    /// Goal from the tool, and the distance: 4 numbers.
    GoalFromTool,
    /// Positions of joints by name.
    Joints(Vec<String>),
    /// Where a place of the robot is: 3 numbers.
    Position(Place),
    /// From a place to the nearest point of the nearest thing: 3 numbers.
    ToNearest {
        /// From where.
        from: Place,
        /// What is farther away does not count.
        within_m: f64,
        /// Each number where there is none.
        none: f64,
    },
    /// Distance of the whole robot to the nearest thing: 1 number.
    RobotDistance {
        /// What is farther away counts as this far.
        within_m: f64,
    },
    /// Middle of that thing: 3 numbers.
    NearestMiddle {
        /// How far is looked.
        within_m: f64,
        /// What is said where there is none.
        none: [f64; 3],
    },
    /// Numbers that never change, such as velocities of what does not move.
    Constant(Vec<f64>),
}

/// A place of the robot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Place {
    /// The tool.
    Tool,
    /// The origin of a link, by the joint that moves it.
    Link(String),
    /// The middle between two of them.
    Between(String, String),
}

/// What the outputs mean.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Outputs {
    /// Positions: -1 to 1 is each joint's range. All joints that are not named are left alone.
    JointPositions {
        /// The joints, in order.
        joints: Vec<String>,
        /// Lowest and highest, for -1 and 1.
        range_rad: [f64; 2],
    },
    /// Velocities: the output times this, rad/s.
    JointVelocities {
        /// The joints, in order.
        joints: Vec<String>,
        /// For an output of 1.
        rad_s: f64,
    },
    /// Steps of the hand: the output times this, in metres along x, y and z.
    HandSteps {
        /// For an output of 1.
        metres: f64,
    },
}

/// What a network asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// Positions of joints, by their numbers.
    Positions(Vec<(usize, f64)>),
    /// Velocities of joints, by their numbers, rad/s.
    Velocities(Vec<(usize, f64)>),
    /// A step of the hand, in our base frame.
    HandStep([f64; 3]),
}

impl Mapping {
    /// Reads one.
    ///
    /// # Errors
    /// Names the line that is wrong.
    pub fn parse(text: &str, file: &str) -> Result<Self, PolicyError> {
        let made: Self =
            from_yaml(text, file).map_err(|e| PolicyError::bad(file, e.to_string()))?;
        if !(made.rate_hz > 0.0 && made.rate_hz <= 10_000.0) {
            return Err(PolicyError::bad("rate_hz", format!("{}: such as 60", made.rate_hz)));
        }
        Ok(made)
    }

    /// The mapping of 58 inputs and 5 outputs that comes with Citrange.
    ///
    /// # Errors
    /// Never, but by a mistake of ours.
    pub fn voxels_58() -> Result<Self, PolicyError> {
        Self::parse(include_str!("../../mappings/ur5_voxels_58.yaml"), "ur5_voxels_58.yaml")
    }

    /// The inputs of the network: joints of the robot, the goal and what is in the way, in the
    /// world.
    ///
    /// # Errors
    /// When a joint is not known, or posture and robot do not fit.
    pub fn inputs(
        &self,
        robot: &Robot,
        posture: &[f64],
        goal_m: [f64; 3],
        boxes: &[Aabb],
    ) -> Result<Vec<f32>, PolicyError> {
        let seen = Seen::new(self, robot, posture, boxes)?;
        let goal = seen.own(Point3::from(goal_m));
        let mut numbers = Vec::new();
        for input in &self.inputs {
            match &input.is {
                Quantity::GoalFromTool => {
                    let away = goal - seen.own(seen.place(&Place::Tool)?);
                    numbers.extend([away.x, away.y, away.z, away.norm()]);
                }
                Quantity::Joints(names) => {
                    for name in names {
                        numbers.push(posture[seen.joint(name)?]);
                    }
                }
                Quantity::Position(place) => {
                    let at = seen.own(seen.place(place)?);
                    numbers.extend([at.x, at.y, at.z]);
                }
                Quantity::ToNearest { from, within_m, none } => {
                    let at = seen.place(from)?;
                    match seen.nearest(at).filter(|(_, way)| way.norm() < *within_m) {
                        Some((_, way)) => {
                            let way = seen.frame.rotation.inverse() * way;
                            numbers.extend([way.x, way.y, way.z]);
                        }
                        None => numbers.extend([*none; 3]),
                    }
                }
                Quantity::RobotDistance { within_m } => {
                    numbers.push(seen.robot_nearest().map_or(*within_m, |(_, d)| d.min(*within_m)));
                }
                Quantity::NearestMiddle { within_m, none } => {
                    match seen.robot_nearest().filter(|(_, d)| d < within_m) {
                        Some((index, _)) => {
                            let of = &boxes[index];
                            let middle: [f64; 3] = std::array::from_fn(|a| {
                                f64::from(of.low_m[a] + of.high_m[a]) / 2.0
                            });
                            let at = seen.own(Point3::from(middle));
                            numbers.extend([at.x, at.y, at.z]);
                        }
                        None => numbers.extend(none),
                    }
                }
                Quantity::Constant(constant) => numbers.extend(constant),
            }
        }
        Ok(numbers.into_iter().map(|x| x as f32).collect())
    }

    /// What an answer of the network means.
    ///
    /// # Errors
    /// When there are not as many outputs, or a joint is not known.
    pub fn asked(&self, robot: &Robot, outputs: &[f32]) -> Result<Asked, PolicyError> {
        let number = |name: &String| {
            let mut names = robot.chain().joint_names();
            names.position(|n| n == name).ok_or_else(|| unknown(robot, name))
        };
        let fits = |count: usize| {
            if outputs.len() == count {
                return Ok(());
            }
            let reason = format!("{} of them, the mapping has {count}", outputs.len());
            Err(PolicyError::bad("outputs of the policy", reason))
        };
        match &self.outputs {
            Outputs::JointPositions { joints, range_rad: [low, high] } => {
                fits(joints.len())?;
                let each = joints.iter().zip(outputs).map(|(name, output)| {
                    let middle = (low + high) / 2.0;
                    Ok((number(name)?, middle + f64::from(*output) * (high - low) / 2.0))
                });
                Ok(Asked::Positions(each.collect::<Result<_, PolicyError>>()?))
            }
            Outputs::JointVelocities { joints, rad_s } => {
                fits(joints.len())?;
                let each = joints
                    .iter()
                    .zip(outputs)
                    .map(|(name, output)| Ok((number(name)?, f64::from(*output) * rad_s)));
                Ok(Asked::Velocities(each.collect::<Result<_, PolicyError>>()?))
            }
            Outputs::HandSteps { metres } => {
                fits(3)?;
                let step = Vector3::from_fn(|a, _| f64::from(outputs[a]) * metres);
                Ok(Asked::HandStep((self.frame().rotation * step).into()))
            }
        }
    }

    /// Whether it fits a network.
    ///
    /// # Errors
    /// When names or numbers of inputs, or the number of outputs, are others.
    pub fn check(&self, policy: &ForeignPolicy) -> Result<(), PolicyError> {
        let count: usize = self.inputs.iter().map(|input| input.is.size()).sum();
        if count != policy.input_count() {
            let reason = format!("{count} inputs, the network takes {}", policy.input_count());
            return Err(PolicyError::bad("the mapping", reason));
        }
        let named = policy.inputs.len() == self.inputs.len();
        let other = self.inputs.iter().zip(&policy.inputs).find(|(a, b)| a.name != b.0);
        if let Some((own, (theirs, _))) = other.filter(|_| named) {
            let reason = format!("input {} where the network has {theirs}", own.name);
            return Err(PolicyError::bad("the mapping", reason));
        }
        Ok(())
    }

    /// The network's frame in our base.
    fn frame(&self) -> Isometry3<f64> {
        let rotation = Vector3::z() * self.yaw_deg.to_radians();
        Isometry3::new(Vector3::from(self.origin_m), rotation)
    }
}

impl Quantity {
    fn size(&self) -> usize {
        match self {
            Self::GoalFromTool => 4,
            Self::Joints(names) => names.len(),
            Self::Position(_) | Self::ToNearest { .. } | Self::NearestMiddle { .. } => 3,
            Self::RobotDistance { .. } => 1,
            Self::Constant(numbers) => numbers.len(),
        }
    }
}

fn unknown(robot: &Robot, name: &str) -> PolicyError {
    let known = citrange_core::names::suggestion(name, robot.chain().joint_names());
    PolicyError::bad(format!("joint {name}"), known)
}

/// A robot among boxes, at a posture.
struct Seen<'a> {
    robot: &'a Robot,
    poses: Vec<Isometry3<f64>>,
    tool: Point3<f64>,
    boxes: &'a [Aabb],
    /// The network's frame in the world.
    frame: Isometry3<f64>,
}

impl<'a> Seen<'a> {
    fn new(
        mapping: &Mapping,
        robot: &'a Robot,
        posture: &[f64],
        boxes: &'a [Aabb],
    ) -> Result<Self, PolicyError> {
        let poses = robot.forward_kinematics(posture)?;
        let tool = Point3::from(robot.tool_at(posture)?);
        let frame = robot.chain().world_from_base.isometry() * mapping.frame();
        Ok(Self { robot, poses, tool, boxes, frame })
    }

    fn own(&self, at: Point3<f64>) -> Point3<f64> {
        self.frame.inverse_transform_point(&at)
    }

    fn joint(&self, name: &str) -> Result<usize, PolicyError> {
        let mut names = self.robot.chain().joint_names();
        names.position(|n| n == name).ok_or_else(|| unknown(self.robot, name))
    }

    fn place(&self, place: &Place) -> Result<Point3<f64>, PolicyError> {
        let link = |name: &String| -> Result<Point3<f64>, PolicyError> {
            Ok(self.poses[self.joint(name)? + 1].translation.vector.into())
        };
        match place {
            Place::Tool => Ok(self.tool),
            Place::Link(name) => link(name),
            Place::Between(a, b) => Ok(nalgebra::center(&link(a)?, &link(b)?)),
        }
    }

    /// The nearest box, and the way to its nearest point.
    fn nearest(&self, at: Point3<f64>) -> Option<(usize, Vector3<f64>)> {
        let way = |of: &Aabb| {
            Vector3::from_fn(|a, _| {
                at[a].clamp(f64::from(of.low_m[a]), f64::from(of.high_m[a])) - at[a]
            })
        };
        let ways = self.boxes.iter().map(way).enumerate();
        ways.min_by(|a, b| a.1.norm_squared().total_cmp(&b.1.norm_squared()))
    }

    /// The box that is nearest to a sphere of the robot, and how far it is from its surface.
    fn robot_nearest(&self) -> Option<(usize, f64)> {
        let spheres = self.robot.spheres().iter().filter(|sphere| sphere.link > 1);
        let each = spheres.filter_map(|sphere| {
            let at = self.poses[usize::from(sphere.link)] * Point3::from(sphere.centre_m);
            let (index, way) = self.nearest(at)?;
            Some((index, (way.norm() - sphere.radius_m).max(0.0)))
        });
        each.min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

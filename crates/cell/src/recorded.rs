//! Frames of a recording: clouds and pictures of depths with the joints, lenses and poses that were
//! recorded beside them.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use citrange_cloud::{
    CameraInfo, CameraModel, CloudError, CloudFile, Distortion, JointState, Pinhole, RecordedCloud,
    RecordedMessage, Recording, RosMessage as _, Sidecar, TransformMessage, carries_clouds,
};
use citrange_space::CellFrame;

use crate::error::CellError;
use crate::reader::CellReader;
use crate::transforms::{JointHistory, Transforms};

/// A frame waits so long for joints that were measured after it.
const WAIT_NS: u64 = 250_000_000;

/// What of a recording is wanted.
#[derive(Clone, Debug, Default)]
pub struct RecordedWanted {
    /// Topics of clouds or depths, each with its camera in the cell where there are several.
    /// None: those that the cell's cameras name, or the only one that there is.
    pub topics: Vec<(Option<String>, String)>,
    /// Topic of the joints; needed where there are several.
    pub joints: Option<String>,
    /// Frame that is the world, where no camera's pose is said by the cell; else the one that all
    /// others hang from.
    pub world: Option<String>,
}

/// A topic whose messages become frames.
#[derive(Debug)]
struct Eye {
    topic: String,
    camera: Option<String>,
    model: Option<CameraModel>,
    frames: u64,
}

/// Frames of a recording, in the order of their arrival.
#[derive(Debug)]
pub struct RecordedFrames {
    path: PathBuf,
    recording: Recording,
    eyes: Vec<Eye>,
    world: Option<String>,
    joints_topic: Option<String>,
    joint_names: Vec<String>,
    joints: JointHistory,
    transforms: Transforms,
    waiting: VecDeque<(usize, RecordedMessage)>,
    log_ns: u64,
    is_over: bool,
    damage: Vec<String>,
}

/// What the first way through a recording finds.
#[derive(Default)]
struct Found {
    /// Of each topic: its type, messages, first and last time.
    topics: BTreeMap<String, (String, u64, [u64; 2])>,
    /// Topics of clouds and depths, with the frame they are in.
    clouds: BTreeMap<String, String>,
    joints: Vec<String>,
    infos: BTreeMap<String, CameraInfo>,
    statics: Transforms,
    /// The first thing that could not be read.
    damage: Option<String>,
}

impl Found {
    fn of(path: &Path) -> Result<Self, CellError> {
        let mut found = Self::default();
        for message in Recording::open(path)? {
            let message = match message {
                Ok(message) => message,
                // The rest is told on the second way.
                Err(error) => {
                    found.damage.get_or_insert_with(|| error.to_string());
                    continue;
                }
            };
            let channel = &message.channel;
            let (_, messages, [_, last]) = found
                .topics
                .entry(channel.topic.clone())
                .or_insert_with(|| (channel.type_name.clone(), 0, [message.log_ns; 2]));
            *messages += 1;
            *last = message.log_ns;
            let is_first = *messages == 1;
            if is_first && carries_clouds(channel) {
                if let Some(frame) = RecordedCloud::frame_of(&message)? {
                    found.clouds.insert(channel.topic.clone(), frame);
                }
            } else if is_first && channel.is_of(CameraInfo::TYPE) {
                found.infos.insert(channel.topic.clone(), message.decode()?);
            } else if is_first && channel.is_of(JointState::TYPE) {
                found.joints.push(channel.topic.clone());
            } else if channel.is_of(TransformMessage::TYPE) && is_static(&channel.topic) {
                let sent: TransformMessage = message.decode()?;
                sent.0.iter().for_each(|one| found.statics.add(one, true));
            }
        }
        Ok(found)
    }

    /// All topics, for people.
    fn told(&self, only: impl Fn(&str) -> bool) -> String {
        let topics = self.topics.iter().filter(|(topic, _)| only(topic));
        let one =
            |(topic, (type_name, messages, [first, last])): (&String, &(String, u64, [u64; 2]))| {
                let seconds = last.saturating_sub(*first) as f64 * 1e-9;
                let hz = if seconds > 0.0 { (messages - 1) as f64 / seconds } else { 0.0 };
                format!("\n  {topic}  {type_name}, {messages} messages, {hz:.1} Hz")
            };
        let damage = self.damage.iter().map(|text| format!("\n  damaged: {text}"));
        topics.map(one).chain(damage).collect()
    }

    /// How the camera of a topic sees, as the `CameraInfo` beside it says.
    fn model(&self, topic: &str) -> Result<Option<CameraModel>, CloudError> {
        let base = topic.strip_suffix("/compressedDepth").unwrap_or(topic);
        let folder = base.rsplit_once('/').map_or("", |(folder, _)| folder);
        let frame = self.clouds.get(topic);
        let beside = self.infos.get(&format!("{folder}/camera_info"));
        // Else one of the same frame, the nearest by name.
        let shared =
            |other: &str| topic.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
        let of_frame = self.infos.iter().filter(|(_, info)| Some(&info.header.frame_id) == frame);
        let nearest = of_frame.max_by_key(|(name, _)| shared(name)).map(|(_, info)| info);
        let is_cloud =
            self.topics.get(topic).is_some_and(|(name, ..)| name.ends_with("PointCloud2"));
        let info = if is_cloud { nearest } else { beside.or(nearest) };
        let Some(info) = info else { return Ok(None) };
        // Rectified pictures, and points, which are made of them, have straight rays.
        let [p_fx, _, p_cx, _, _, p_fy, p_cy, ..] = info.p;
        if (is_cloud || base.contains("rect")) && p_fx > 0.0 && p_fy > 0.0 {
            let pinhole = Pinhole { fx: p_fx, fy: p_fy, cx: p_cx, cy: p_cy };
            let size_px = Some([info.width as usize, info.height as usize]);
            return Ok(Some(CameraModel { pinhole, distortion: Distortion::default(), size_px }));
        }
        info.model().map(Some)
    }
}

/// Whether transforms of a topic hold for ever.
fn is_static(topic: &str) -> bool {
    topic.ends_with("tf_static")
}

impl RecordedFrames {
    /// Goes through a recording once, for what there is in it, and is ready to read its frames.
    ///
    /// # Errors
    /// When it cannot be read; with all topics, when it is not said which are wanted.
    pub fn open(
        path: &Path,
        reader: &mut CellReader,
        wanted: &RecordedWanted,
    ) -> Result<Self, CellError> {
        let found = Found::of(path)?;
        let bad = |reason: String| CloudError::bad(path.display().to_string(), reason);
        let mut topics = wanted.topics.clone();
        if topics.is_empty() {
            let cameras = reader.cell().cameras.iter();
            topics
                .extend(cameras.filter_map(|(name, camera)| {
                    Some((Some(name.clone()), camera.topic.clone()?))
                }));
        }
        if topics.is_empty() {
            match found.clouds.len() {
                1 => topics.extend(found.clouds.keys().map(|topic| (None, topic.clone()))),
                0 => {
                    let told = found.told(|_| true);
                    return Err(
                        bad(format!("has neither clouds nor depths; its topics:{told}")).into()
                    );
                }
                several => {
                    let told = found.told(|topic| found.clouds.contains_key(topic));
                    let reason = format!("has {several} topics of clouds: say which, --topic");
                    return Err(bad(format!("{reason} [CAMERA=]TOPIC:{told}")).into());
                }
            }
        }
        let mut eyes = Vec::new();
        for (camera, topic) in topics {
            if !found.clouds.contains_key(&topic) {
                let told = found.told(|_| true);
                return Err(bad(format!("has no clouds on {topic}; its topics:{told}")).into());
            }
            let known = || {
                let mut cameras = reader.cell().cameras.iter();
                cameras.find(|(_, c)| c.topic.as_deref() == Some(&topic)).map(|(n, _)| n.clone())
            };
            let camera = camera.or_else(known);
            let own = reader.cell().camera(camera.as_deref())?.and_then(|(_, c)| c.model());
            let model = match own {
                Some(model) => Some(model),
                None => found.model(&topic)?,
            };
            eyes.push(Eye { topic, camera, model, frames: 0 });
        }
        let joint_names = reader.joint_names(path)?;
        let joints_topic = match (&wanted.joints, &found.joints[..]) {
            (Some(topic), known) if known.contains(topic) => Some(topic.clone()),
            (Some(topic), _) => {
                let told = found.told(|_| true);
                return Err(bad(format!("has no joints on {topic}; its topics:{told}")).into());
            }
            (None, []) => None,
            (None, [only]) => Some(only.clone()),
            (None, several) if joint_names.is_empty() => several.first().cloned(),
            (None, several) => {
                let told = several.join(", ");
                return Err(bad(format!("has joints on {told}: say which, --joints-topic")).into());
            }
        };
        Ok(Self {
            path: path.to_owned(),
            recording: Recording::open(path)?,
            eyes,
            world: wanted.world.clone(),
            joints_topic,
            joint_names,
            joints: JointHistory::default(),
            transforms: found.statics,
            waiting: VecDeque::new(),
            log_ns: 0,
            is_over: false,
            damage: Vec::new(),
        })
    }

    /// The next frame; none at the end.
    ///
    /// # Errors
    /// When a message cannot be read, or nobody says where its camera or the robot was. Damage of
    /// the file is no error: see [`Self::damage`].
    pub fn next(&mut self, reader: &mut CellReader) -> Result<Option<CellFrame>, CellError> {
        loop {
            if let Some((eye, message)) = self.waiting.front()
                && self.is_ready(message)
            {
                let (eye, message) = (*eye, message.clone());
                self.waiting.pop_front();
                if let Some(frame) = self.frame(reader, eye, &message)? {
                    return Ok(Some(frame));
                }
                continue;
            }
            if self.is_over {
                return Ok(None);
            }
            match self.recording.next() {
                Some(Ok(message)) => self.take(message)?,
                Some(Err(error)) => self.damage.push(error.to_string()),
                None => self.is_over = true,
            }
        }
    }

    /// What could not be read so far.
    #[must_use]
    pub fn damage(&self) -> &[String] {
        &self.damage
    }

    /// Whether all that belongs to a frame has come.
    fn is_ready(&self, message: &RecordedMessage) -> bool {
        let waits = self.joints_topic.is_some() && !self.joint_names.is_empty();
        // Stamps and log times may be of two clocks: joints of the same log time are enough.
        !waits || self.is_over || self.log_ns.saturating_sub(message.log_ns) > WAIT_NS
    }

    fn take(&mut self, message: RecordedMessage) -> Result<(), CellError> {
        self.log_ns = self.log_ns.max(message.log_ns);
        let channel = &message.channel;
        if self.joints_topic.as_ref() == Some(&channel.topic) {
            let sent: JointState = message.decode()?;
            let stamp_ns = stamp(sent.header.stamp_ns, &message);
            self.joints.add(&sent, stamp_ns);
        } else if channel.is_of(TransformMessage::TYPE) {
            let sent: TransformMessage = message.decode()?;
            let forever = is_static(&channel.topic);
            sent.0.iter().for_each(|one| self.transforms.add(one, forever));
        } else if let Some(eye) = self.eyes.iter().position(|eye| eye.topic == channel.topic) {
            self.waiting.push_back((eye, message));
        }
        Ok(())
    }

    fn frame(
        &mut self,
        reader: &mut CellReader,
        number: usize,
        message: &RecordedMessage,
    ) -> Result<Option<CellFrame>, CellError> {
        let eye = &mut self.eyes[number];
        let Some(sent) = RecordedCloud::of(message, eye.model.as_ref())? else { return Ok(None) };
        let mut cloud = sent.cloud;
        cloud.stamp_ns = stamp(cloud.stamp_ns, message);
        let mut sidecar = Sidecar::default();
        sidecar.camera.clone_from(&eye.camera);
        if let Some(model) = &eye.model {
            let Pinhole { fx, fy, cx, cy } = model.pinhole;
            [sidecar.fx, sidecar.fy, sidecar.cx, sidecar.cy] = [fx, fy, cx, cy].map(Some);
            sidecar.distortion = model.distortion;
            sidecar.width = model.size_px.map(|size| size[0]);
            sidecar.height = model.size_px.map(|size| size[1]);
        }
        let is_known = !reader.cell().cameras.is_empty();
        if !is_known {
            let (_, pose) = self.transforms.world_from(
                &sent.frame_id,
                self.world.as_deref(),
                cloud.stamp_ns,
            )?;
            let m = pose.to_homogeneous();
            sidecar.world_from_camera =
                Some(std::array::from_fn(|row| std::array::from_fn(|column| m[(row, column)])));
        }
        if self.joints_topic.is_some() && !self.joint_names.is_empty() {
            // A frame that is stamped later than all joints, by another clock: the newest.
            let at_ns = cloud.stamp_ns.min(self.joints.newest_ns());
            sidecar.joints_rad = Some(self.joints.at(&self.joint_names, at_ns)?);
        }
        let name = eye.topic.trim_start_matches('/').replace('/', "_");
        let name = self.path.join(format!("{name}_{:06}", eye.frames));
        eye.frames += 1;
        let mut frame = reader.take(&name, CloudFile { cloud, labels: None, sidecar })?;
        if !is_known {
            frame.camera = number as u16;
        }
        Ok(Some(frame))
    }
}

/// A header's stamp; the log's time where there is none.
fn stamp(stamp_ns: u64, message: &RecordedMessage) -> u64 {
    if stamp_ns == 0 { message.log_ns } else { stamp_ns }
}

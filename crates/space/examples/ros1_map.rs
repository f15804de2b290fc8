//! Point clouds of a ROS 1 topic into the map, for a while: `ros1_map TOPIC SECONDS [read|voxels|map]`.
//! Prints a line of JSON: frames, what each cost of the processor, memory, how old the newest was.

#![allow(clippy::print_stdout, reason = "its product is a report")]

use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use citrange_cloud::{PointCloud2Message, View};
use citrange_core::Pose;
use citrange_ros::{LARGE_MESSAGE, Node, NodeSettings};
use citrange_space::{Map, MapSettings, Pipeline, PipelineSettings, PosedRobot};

const CLOUD: [&str; 2] = ["sensor_msgs/PointCloud2", "1158d486dd51d683ce2f1be655c3c181"];

/// User and system time of this process so far, s.
fn cpu_s() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Resident memory, MB.
fn resident_mb() -> f64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split_whitespace().nth(1).and_then(|pages| pages.parse::<f64>().ok());
    pages.unwrap_or(0.0) * 4096.0 / 1e6
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let topic = words.next().unwrap_or_else(|| "/camera/depth/color/points".to_owned());
    let seconds: f64 = words.next().map_or(Ok(10.0), |text| text.parse())?;
    let until = words.next().unwrap_or_else(|| "map".to_owned());
    let node = Node::start(NodeSettings::from_environment("map")?)?;
    let mut pipeline = Pipeline::new(PipelineSettings::default())?;
    let mut map = None;
    let view = View::new(Pose::IDENTITY, None);
    let (send, ends) = sync_channel::<String>(1);
    let (mut frames, mut began, mut ages) = (0_u64, None, Vec::new());
    let end = Duration::from_secs_f64(seconds);
    let mut memory = [0.0, 0.0];
    let _topic = node.subscribe_bytes(&topic, CLOUD, LARGE_MESSAGE, move |incoming| {
        // The first second is for buffers and tables.
        let (since, cpu) = *began.get_or_insert((Instant::now(), 0.0));
        if cpu == 0.0 && since.elapsed() > Duration::from_secs(1) {
            began = Some((Instant::now(), cpu_s()));
            (frames, memory[0]) = (0, resident_mb());
            ages.clear();
            return;
        }
        let worked = || -> Result<usize, Box<dyn std::error::Error>> {
            let message = PointCloud2Message::from_ros1(incoming.bytes)?;
            let cloud = message.cloud();
            let points = cloud.points()?;
            if until == "read" {
                return Ok(0);
            }
            let frame = pipeline.run(&points, &view.world_from_camera, &PosedRobot::default())?;
            let count = frame.voxels.len();
            if until == "map" {
                if map.is_none() {
                    map = Some(Map::new(&MapSettings::default(), &frame.grid)?);
                }
                if let Some(map) = &mut map {
                    map.integrate(0, &points, &view, frame)?;
                    let _snapshot = map.snapshot();
                }
            }
            Ok(count)
        };
        let mut worked = worked;
        let voxels = match worked() {
            Ok(count) => count,
            Err(error) => {
                let _told = send.try_send(format!("{{\"error\": {:?}}}", error.to_string()));
                return;
            }
        };
        frames += 1;
        ages.push(incoming.at.elapsed().as_secs_f64());
        if cpu > 0.0 && since.elapsed() > end {
            memory[1] = resident_mb();
            ages.sort_by(f64::total_cmp);
            let passed = since.elapsed().as_secs_f64();
            let _told = send.try_send(format!(
                "{{\"frames\": {frames}, \"hz\": {:.2}, \"cpu_ms\": {:.3}, \"voxels\": {voxels}, \
                 \"work_ms_p50\": {:.2}, \"resident_mb\": [{:.1}, {:.1}]}}",
                frames as f64 / passed,
                (cpu_s() - cpu) * 1e3 / frames as f64,
                ages[ages.len() / 2] * 1e3,
                memory[0],
                memory[1],
            ));
        }
    })?;
    println!("{}", ends.recv_timeout(end + Duration::from_secs(20))?);
    Ok(())
}

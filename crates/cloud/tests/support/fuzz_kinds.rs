//! What the fuzzer damages: valid inputs of every kind and who reads them.

use std::io::{Cursor, Write};

use citrange_cloud::CameraPose;
use citrange_cloud::{
    CameraInfo, Cloud, CloudFile, Compression, ImageMessage, JointState, MessageEncoding,
    PointCloud2, PointCloud2Message, PointField, Points, RecordedCloud, Recording, RosMessage as _,
    Sidecar, TransformMessage, message_of, pack_xyz_rgb, write_cloud,
};

use crate::picture::picture;
use crate::recordings::{bag, joints, mcap};

/// Inputs of one kind and their reader, which says whether it accepts.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) seeds: Vec<Vec<u8>>,
    pub(crate) feed: fn(&[u8]) -> bool,
}

/// All kinds.
pub(crate) fn kinds() -> Vec<Kind> {
    let cloud = picture(9, 5, 1);
    let data = pack_xyz_rgb(&cloud);
    let message = message_of(&cloud, "camera", &data);
    vec![
        Kind { name: "ros1", seeds: vec![message.to_ros1()], feed: ros1 },
        Kind { name: "cdr", seeds: vec![message.to_cdr(false), message.to_cdr(true)], feed: cdr },
        Kind { name: "layout", seeds: vec![layout_seed()], feed: layout },
        Kind { name: "npz", seeds: vec![file("npz", &cloud)], feed: npz },
        Kind { name: "npy", seeds: npy_seeds(), feed: npy },
        Kind { name: "ply", seeds: ply_seeds(&cloud), feed: ply },
        Kind { name: "pcd", seeds: pcd_seeds(&cloud), feed: pcd },
        Kind { name: "pose", seeds: vec![POSE.as_bytes().to_vec()], feed: pose },
        Kind {
            name: "messages",
            seeds: vec![joint_bytes(false), joint_bytes(true)],
            feed: messages,
        },
        Kind { name: "bag", seeds: vec![bag(5, 2), bag(3, 0)], feed: recording },
        Kind { name: "mcap", seeds: mcap_seeds(), feed: recording },
        Kind { name: "sidecar", seeds: vec![SIDECAR.as_bytes().to_vec()], feed: sidecar },
    ]
}

const SIDECAR: &str = r#"{"width": 9, "height": 5, "fx": 9.0, "fy": 9.0, "cx": 4.5, "cy": 2.5,
    "T_cam_to_world": [[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]],
    "joints": [0.5, -1.0], "stamp_ns": 77}"#;

const POSE: &str =
    "format: 1\ntool: citrange 0.1.0\nxyz_m: [0.1, 1e-7, -0.0]\nrpy_deg: [0.0, 90.0, -180.0]\n";

/// Reads everything that a source has, in pieces that do not fit its rows.
fn drain(points: &dyn Points) {
    let (mut x, mut y, mut z) = ([0.0; 7], [0.0; 7], [0.0; 7]);
    for start in (0..points.len()).step_by(7) {
        let count = 7.min(points.len() - start);
        points.fill(start, &mut x[..count], &mut y[..count], &mut z[..count]);
        std::hint::black_box((&x, &y, &z));
    }
    for index in 0..points.len() {
        std::hint::black_box(points.rgb(index));
    }
    assert_eq!(points.width() * points.height(), points.len(), "rows of a cloud fill it");
}

fn message(message: &PointCloud2Message<'_>) -> bool {
    message.cloud().points().map(|view| drain(&view)).is_ok()
}

fn ros1(bytes: &[u8]) -> bool {
    PointCloud2Message::from_ros1(bytes).is_ok_and(|m| {
        assert_eq!(m.to_ros1(), bytes, "what was read is written as it was");
        message(&m)
    })
}

fn joint_bytes(is_cdr: bool) -> Vec<u8> {
    use citrange_cloud::WireFormat;
    joints(3).encode(if is_cdr { WireFormat::CDR } else { WireFormat::Ros1 })
}

/// The same bytes as every message there is.
fn messages(bytes: &[u8]) -> bool {
    let mut read = false;
    for encoding in [MessageEncoding::Ros1, MessageEncoding::Cdr] {
        read |= JointState::decode(&encoding, bytes).is_ok();
        read |= TransformMessage::decode(&encoding, bytes).is_ok();
        read |= CameraInfo::decode(&encoding, bytes).is_ok_and(|info| info.model().is_ok());
        read |= ImageMessage::decode(&encoding, bytes).is_ok_and(|i| i.colours().is_ok());
    }
    read
}

fn mcap_seeds() -> Vec<Vec<u8>> {
    [Compression::None, Compression::Lz4, Compression::Zstd].map(|how| mcap(5, how, 400)).to_vec()
}

/// Whether nothing is wrong in a recording.
fn recording(bytes: &[u8]) -> bool {
    let Ok(recording) = Recording::from_reader("a", Cursor::new(bytes.to_vec())) else {
        return false;
    };
    let mut fine = true;
    for message in recording {
        let Ok(message) = message else {
            fine = false;
            continue;
        };
        let joints = message.decode::<JointState>();
        fine &= joints.is_ok() || message.channel.topic != "/joint_states";
        fine &= RecordedCloud::of(&message, None).is_ok();
    }
    fine
}

fn cdr(bytes: &[u8]) -> bool {
    PointCloud2Message::from_cdr(bytes).is_ok_and(|m| message(&m))
}

/// The numbers of a message as bytes, so that damage meets them and not the wire format.
fn layout_seed() -> Vec<u8> {
    let numbers = [4_u32, 3, 16, 48, 0, 0, 7, 1, 4, 7, 1, 8, 7, 1, 12, 6, 1];
    let mut bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    bytes.extend([1; 4 * 48]);
    bytes
}

fn layout(bytes: &[u8]) -> bool {
    let mut data = bytes;
    let mut next = || {
        let (number, rest) = data.split_first_chunk().unwrap_or((&[0; 4], &[]));
        data = rest;
        u32::from_le_bytes(*number)
    };
    let [height, width, point_step, row_step, order] = std::array::from_fn(|_| next());
    let fields = ["x", "y", "z", "rgb"].map(|name| {
        let (offset, datatype, count) = (next(), next() as u8, next());
        PointField { name: name.to_owned(), offset, datatype, count }
    });
    let is_bigendian = order % 2 == 1;
    let (fields, stamp_ns) = (&fields[..], 0);
    PointCloud2 { height, width, fields, is_bigendian, point_step, row_step, data, stamp_ns }
        .points()
        .map(|view| drain(&view))
        .is_ok()
}

fn cloud_file(name: &str, bytes: &[u8]) -> bool {
    let sidecar = serde_json::from_str(SIDECAR).unwrap_or_default();
    // Some are read with a width, right or wrong.
    let width = bytes.len().is_multiple_of(7).then_some(bytes.len() % 5);
    CloudFile::from_bytes(name, bytes, width, sidecar).map(|f| drain(&f.cloud)).is_ok()
}

fn npz(bytes: &[u8]) -> bool {
    cloud_file("a.npz", bytes)
}

fn ply(bytes: &[u8]) -> bool {
    cloud_file("a.ply", bytes)
}

fn pcd(bytes: &[u8]) -> bool {
    cloud_file("a.pcd", bytes)
}

fn pose(bytes: &[u8]) -> bool {
    CameraPose::from_yaml(&String::from_utf8_lossy(bytes), "a.yaml").is_ok()
}

fn sidecar(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Sidecar>(bytes).is_ok_and(|s| s.view().is_ok())
}

/// Damage inside of an archive would only ever meet its checksum: the array is damaged first.
fn npy(bytes: &[u8]) -> bool {
    let options =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for name in ["xyz.npy", "rgb.npy"] {
        zip.start_file(name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    npz(&zip.finish().unwrap().into_inner())
}

fn npy_seeds() -> Vec<Vec<u8>> {
    let array = |version: u8, header: &str, bytes: usize| {
        let mut out = b"\x93NUMPY".to_vec();
        out.extend([version, 0]);
        let length = (header.len() as u32).to_le_bytes();
        out.extend(&length[..if version == 1 { 2 } else { 4 }]);
        out.extend(header.as_bytes());
        out.extend((0..bytes).map(|i| i as u8));
        out
    };
    vec![
        array(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (10, 3), }\n", 120),
        array(2, "{'descr': '>f8', 'fortran_order': True, 'shape': (2, 5, 3), }\n", 240),
        array(3, "{'descr': '<f8', 'fortran_order': True, 'shape': (10, 3), }\n", 240),
    ]
}

fn file(extension: &str, cloud: &Cloud) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("a.{extension}"));
    write_cloud(&path, cloud).unwrap();
    std::fs::read(path).unwrap()
}

fn ply_seeds(cloud: &Cloud) -> Vec<Vec<u8>> {
    let header = |format: &str| {
        format!(
            "ply\nformat {format} 1.0\nelement camera 2\nproperty list uchar short views\n\
             element vertex 2\nproperty float x\nproperty float y\nproperty double z\n\
             property list uchar float weights\nproperty uchar red\nproperty uchar green\n\
             property uchar blue\nend_header\n"
        )
    };
    let binary = |format: &str| {
        let mut bytes = header(format).into_bytes();
        bytes.extend([1, 0, 7, 0]);
        bytes.extend([[0; 16].as_slice(), &[1, 0, 0, 0, 0, 9, 8, 7]].concat());
        bytes.extend([[0; 16].as_slice(), &[0, 9, 8, 7]].concat());
        bytes
    };
    let text = header("ascii") + "1 7\n0\n1 2 3 1 0.5 9 8 7\n4 5 6 0 6 5 4\n";
    let formats = ["binary_little_endian", "binary_big_endian"];
    vec![file("ply", cloud), text.into_bytes(), binary(formats[0]), binary(formats[1])]
}

fn pcd_seeds(cloud: &Cloud) -> Vec<Vec<u8>> {
    let header = |data: &str| {
        format!(
            "VERSION .7\nFIELDS rgb x _ y z\nSIZE 4 4 1 4 8\nTYPE U F U F F\nCOUNT 1 1 3 1 1\n\
             WIDTH 2\nHEIGHT 2\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 4\nDATA {data}\n"
        )
    };
    let text = header("ascii") + &"660510 1 0 0 0 2 3\n".repeat(4);
    // 92 bytes: 17 as they are, 75 copied from 16 back.
    let mut packed = header("binary_compressed").into_bytes();
    let body = [[16].as_slice(), &[3; 17], &[0xe0, 66, 15]].concat();
    packed.extend((body.len() as u32).to_le_bytes());
    packed.extend(92_u32.to_le_bytes());
    packed.extend(body);
    vec![file("pcd", cloud), text.into_bytes(), packed]
}

#[test]
fn all_that_is_damaged_is_good_before() {
    for kind in kinds() {
        for (i, seed) in kind.seeds.iter().enumerate() {
            assert!((kind.feed)(seed), "{} {i}", kind.name);
        }
    }
}

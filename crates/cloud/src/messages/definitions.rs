//! Definitions of the messages, for what other programs read: bags and MCAP files carry them.

/// Fields of a type, one a line; those of ROS 1 and ROS 2 differ in the header alone.
const FIELDS: [(&str, &str); 15] = [
    (
        "sensor_msgs/JointState",
        "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\n\
         float64[] effort\n",
    ),
    (
        "sensor_msgs/PointCloud2",
        "std_msgs/Header header\nuint32 height\nuint32 width\nsensor_msgs/PointField[] fields\n\
         bool is_bigendian\nuint32 point_step\nuint32 row_step\nuint8[] data\nbool is_dense\n",
    ),
    (
        "sensor_msgs/PointField",
        "uint8 INT8=1\nuint8 UINT8=2\nuint8 INT16=3\nuint8 UINT16=4\nuint8 INT32=5\n\
         uint8 UINT32=6\nuint8 FLOAT32=7\nuint8 FLOAT64=8\nstring name\nuint32 offset\n\
         uint8 datatype\nuint32 count\n",
    ),
    (
        "sensor_msgs/Image",
        "std_msgs/Header header\nuint32 height\nuint32 width\nstring encoding\n\
         uint8 is_bigendian\nuint32 step\nuint8[] data\n",
    ),
    ("sensor_msgs/CompressedImage", "std_msgs/Header header\nstring format\nuint8[] data\n"),
    (
        "sensor_msgs/CameraInfo",
        "std_msgs/Header header\nuint32 height\nuint32 width\nstring distortion_model\n\
         float64[] D\nfloat64[9] K\nfloat64[9] R\nfloat64[12] P\nuint32 binning_x\n\
         uint32 binning_y\nsensor_msgs/RegionOfInterest roi\n",
    ),
    (
        "sensor_msgs/RegionOfInterest",
        "uint32 x_offset\nuint32 y_offset\nuint32 height\nuint32 width\nbool do_rectify\n",
    ),
    ("tf2_msgs/TFMessage", "geometry_msgs/TransformStamped[] transforms\n"),
    (
        "geometry_msgs/TransformStamped",
        "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/Transform transform\n",
    ),
    (
        "geometry_msgs/Transform",
        "geometry_msgs/Vector3 translation\ngeometry_msgs/Quaternion rotation\n",
    ),
    ("geometry_msgs/Vector3", "float64 x\nfloat64 y\nfloat64 z\n"),
    ("geometry_msgs/Quaternion", "float64 x\nfloat64 y\nfloat64 z\nfloat64 w\n"),
    ("builtin_interfaces/Time", "int32 sec\nuint32 nanosec\n"),
    ("std_msgs/Header", "builtin_interfaces/Time stamp\nstring frame_id\n"),
    ("std_msgs/String", "string data\n"),
];

/// A line of this length parts a definition from those that it needs.
const RULE: &str =
    "================================================================================";

/// The definition of one of these types (`["sensor_msgs", "JointState"]`) with all that it needs,
/// as ROS 1 writes it.
#[must_use]
pub fn ros1_definition(of: [&str; 2]) -> Option<String> {
    definition(of, |name| match name {
        "std_msgs/Header" => Some("uint32 seq\ntime stamp\nstring frame_id\n"),
        _ => fields(name),
    })
}

/// The same as ROS 2 writes it (`ros2msg`).
#[must_use]
pub fn ros2_definition(of: [&str; 2]) -> Option<String> {
    // ROS 2 has names of fields in small letters.
    definition(of, fields).map(|text| {
        let lines = text.lines().map(|line| match line {
            "float64[] D" | "float64[9] K" | "float64[9] R" | "float64[12] P" => {
                line.to_lowercase()
            }
            _ => line.to_owned(),
        });
        lines.collect::<Vec<_>>().join("\n") + "\n"
    })
}

fn fields(name: &str) -> Option<&'static str> {
    FIELDS.iter().find(|(known, _)| *known == name).map(|(_, fields)| *fields)
}

fn definition(
    [package, name]: [&str; 2],
    fields: impl Fn(&str) -> Option<&'static str>,
) -> Option<String> {
    let mut names = vec![format!("{package}/{name}")];
    let mut text = String::new();
    let mut at = 0;
    while at < names.len() {
        let lines = fields(&names[at])?;
        if at > 0 {
            text += &format!("{RULE}\nMSG: {}\n", names[at]);
        }
        text += lines;
        let types = lines.lines().filter_map(|line| line.split([' ', '[']).next());
        for needed in types.filter(|needed| needed.contains('/')) {
            if !names.iter().any(|known| known == needed) {
                names.push(needed.to_owned());
            }
        }
        at += 1;
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_bring_all_that_they_need() {
        for (name, _) in FIELDS {
            let (package, name) = name.split_once('/').unwrap();
            for text in [ros1_definition([package, name]), ros2_definition([package, name])] {
                let text = text.unwrap();
                let known: Vec<&str> =
                    text.lines().filter_map(|line| line.strip_prefix("MSG: ")).collect();
                for needed in text.lines().filter_map(|line| line.split([' ', '[']).next()) {
                    assert!(!needed.contains('/') || known.contains(&needed), "{needed}: {text}");
                }
            }
        }
        assert_eq!(ros1_definition(["a", "B"]), None);
        assert!(ros1_definition(["sensor_msgs", "Image"]).unwrap().contains("time stamp"));
        assert!(ros2_definition(["sensor_msgs", "CameraInfo"]).unwrap().contains("float64[9] k"));
    }
}

//! PointCloud2: every layout that drivers send is read, everything that lies is refused.

use citrange_cloud::{
    Cloud, Isa, PointCloud2, PointCloud2Message, PointField, Points, message_of, pack_xyz_rgb,
};
use proptest::prelude::*;

use crate::bits::{bits, colours};
use crate::picture::picture;

/// How a test message lays its points out.
#[derive(Clone, Debug)]
struct Plan {
    fields: Vec<PointField>,
    big_endian: bool,
    point_step: u32,
    row_padding: u32,
}

impl Plan {
    fn new(fields: &[(&str, u32, u8)], point_step: u32) -> Self {
        let fields = fields.iter().map(|(n, o, t)| PointField::new(n, *o, *t)).collect();
        Self { fields, big_endian: false, point_step, row_padding: 0 }
    }

    /// The bytes of a cloud, with 0xA5 wherever nothing belongs.
    fn data(&self, cloud: &Cloud) -> Vec<u8> {
        let row_step = cloud.width * self.point_step as usize + self.row_padding as usize;
        let mut data = vec![0xA5; row_step * cloud.height()];
        for i in 0..cloud.len() {
            let at = (i / cloud.width) * row_step + (i % cloud.width) * self.point_step as usize;
            for field in &self.fields {
                let bytes = self.number(cloud, i, field);
                let at = at + field.offset as usize;
                data[at..at + bytes.len()].copy_from_slice(&bytes);
            }
        }
        data
    }

    fn number(&self, cloud: &Cloud, i: usize, field: &PointField) -> Vec<u8> {
        let [r, g, b] = cloud.rgb(i);
        let axis = |a: usize| cloud.xyz_m[i][a];
        let mut bytes = match (field.name.as_str(), field.datatype) {
            ("rgb" | "rgba", _) => u32::from_be_bytes([7, r, g, b]).to_le_bytes().to_vec(),
            ("r", _) => vec![r],
            ("g", _) => vec![g],
            ("b", _) => vec![b],
            ("x", PointField::FLOAT32) => axis(0).to_le_bytes().to_vec(),
            ("y", PointField::FLOAT32) => axis(1).to_le_bytes().to_vec(),
            ("z", PointField::FLOAT32) => axis(2).to_le_bytes().to_vec(),
            ("x", _) => f64::from(axis(0)).to_le_bytes().to_vec(),
            ("y", _) => f64::from(axis(1)).to_le_bytes().to_vec(),
            ("z", _) => f64::from(axis(2)).to_le_bytes().to_vec(),
            _ => vec![],
        };
        if self.big_endian {
            bytes.reverse();
        }
        bytes
    }

    fn message<'a>(&'a self, cloud: &Cloud, data: &'a [u8]) -> PointCloud2<'a> {
        PointCloud2 {
            height: cloud.height() as u32,
            width: cloud.width as u32,
            fields: &self.fields,
            is_bigendian: self.big_endian,
            point_step: self.point_step,
            row_step: cloud.width as u32 * self.point_step + self.row_padding,
            data,
            stamp_ns: cloud.stamp_ns,
        }
    }
}

const F32: u8 = PointField::FLOAT32;
const F64: u8 = PointField::FLOAT64;
const U8: u8 = PointField::UINT8;

fn plans() -> Vec<Plan> {
    let xyz: [(&str, u32, u8); 3] = [("x", 0, F32), ("y", 4, F32), ("z", 8, F32)];
    let mut plans: Vec<Plan> =
        [12, 13, 16, 20, 24, 32].iter().map(|step| Plan::new(&xyz, *step)).collect();
    let with = |more: &[(&'static str, u32, u8)]| [&xyz[..], more].concat();
    plans.push(Plan::new(&with(&[("rgb", 16, F32)]), 32));
    plans.push(Plan::new(&with(&[("rgba", 12, PointField::UINT32)]), 16));
    plans.push(Plan::new(&with(&[("b", 14, U8), ("r", 12, U8), ("g", 13, U8)]), 20));
    plans.push(Plan::new(&with(&[("intensity", 12, F32), ("ring", 16, 4)]), 20));
    // Any order, between other fields, at odd bytes.
    plans.push(Plan::new(&[("z", 1, F32), ("x", 9, F32), ("y", 5, F32), ("rgb", 13, F32)], 19));
    plans.push(Plan::new(&[("x", 0, F64), ("y", 8, F64), ("z", 16, F64), ("rgb", 24, 6)], 28));
    plans.push(Plan::new(&[("x", 0, F64), ("y", 8, F32), ("z", 12, F64)], 20));
    let swapped = |p: &Plan| Plan { big_endian: true, ..p.clone() };
    let padded = |p: &Plan| Plan { row_padding: 7, ..p.clone() };
    let more: Vec<Plan> = plans.iter().flat_map(|p| [swapped(p), padded(p)]).collect();
    plans.extend(more);
    plans
}

#[test]
fn every_layout_is_read_by_every_instruction_set() {
    let cloud = picture(37, 11, 1);
    let expected = bits(&cloud);
    for plan in plans() {
        let data = plan.data(&cloud);
        let message = plan.message(&cloud, &data);
        for isa in Isa::available() {
            let view = message.points().unwrap().with_isa(isa);
            assert_eq!(bits(&view), expected, "{isa:?} {plan:?}");
            assert_eq!((view.width(), view.height(), view.len()), (37, 11, 407));
            assert_eq!(view.stamp_ns(), cloud.stamp_ns);
            // From the middle of a row to the middle of another.
            let (mut x, mut y, mut z) = ([0.0; 100], [0.0; 100], [0.0; 100]);
            view.fill(30, &mut x, &mut y, &mut z);
            assert!(
                (0..100)
                    .all(|i| expected[30 + i] == [x[i].to_bits(), y[i].to_bits(), z[i].to_bits()])
            );
        }
        let view = message.points().unwrap();
        if plan.fields.iter().any(|f| matches!(f.name.as_str(), "rgb" | "rgba" | "r")) {
            assert!(view.has_rgb());
            // In one go, from the middle, across the end of rows.
            let mut packed = vec![u32::MAX; cloud.len() - 2];
            view.fill_rgb(1, &mut packed);
            for (i, packed) in packed.iter().enumerate() {
                let [r, g, b] = cloud.rgb(i + 1);
                assert_eq!(*packed, u32::from_le_bytes([r, g, b, 0]));
            }
            assert_eq!(colours(&view), cloud.rgb, "{plan:?}");
        } else {
            assert!(!view.has_rgb());
            assert_eq!(view.rgb(3), [0; 3]);
        }
    }
}

/// Changes a good message and gives what is said about it.
fn refusal(change: impl Fn(&mut PointCloud2<'_>)) -> String {
    let cloud = picture(8, 4, 2);
    let plan = Plan::new(&[("x", 0, F32), ("y", 4, F32), ("z", 8, F32), ("rgb", 12, F32)], 16);
    let data = plan.data(&cloud);
    let mut message = plan.message(&cloud, &data);
    message.points().unwrap();
    change(&mut message);
    message.points().unwrap_err().to_string()
}

/// The same for a change of the fields.
fn field_refusal(change: impl Fn(&mut Vec<PointField>)) -> String {
    let cloud = picture(8, 4, 2);
    let mut plan = Plan::new(&[("x", 0, F32), ("y", 4, F32), ("z", 8, F32), ("rgb", 12, F32)], 16);
    let data = plan.data(&cloud);
    change(&mut plan.fields);
    plan.message(&cloud, &data).points().unwrap_err().to_string()
}

#[test]
fn lies_about_sizes_are_refused() {
    static LONG: [u8; 1000] = [0; 1000];
    let cases: [(&str, String); 9] = [
        ("data has 0 bytes", refusal(|m| m.data = &[])),
        ("data has 511 bytes", refusal(|m| m.data = &m.data[1..])),
        ("data has 1000 bytes", refusal(|m| m.data = &LONG)),
        ("row_step is 100, but 8 points of 16 bytes need 128", refusal(|m| m.row_step = 100)),
        ("data has 512 bytes", refusal(|m| m.row_step = u32::MAX)),
        ("reaches beyond its point of 0 bytes", refusal(|m| m.point_step = 0)),
        ("reaches beyond its point of 15 bytes", refusal(|m| m.point_step = 15)),
        ("data has 512 bytes", refusal(|m| m.height = 0)),
        ("but 4294967295 points", refusal(|m| (m.width, m.height) = (u32::MAX, u32::MAX))),
    ];
    for (expected, found) in cases {
        assert!(found.contains(expected), "{found:?} should say {expected:?}");
    }
}

#[test]
fn lies_about_fields_are_refused() {
    let cases: [(&str, String); 10] = [
        ("has no field y", field_refusal(|f| drop(f.remove(1)))),
        ("has no field x", field_refusal(Vec::clear)),
        ("field z is int32, must be float32 or float64", field_refusal(|f| f[2].datatype = 5)),
        ("field z has datatype 9, must be 1 to 8", field_refusal(|f| f[2].datatype = 9)),
        ("field x has count 2, must be 1", field_refusal(|f| f[0].count = 2)),
        ("field x at byte 0 overlaps with field y at byte 2", field_refusal(|f| f[1].offset = 2)),
        ("reaches beyond its point", field_refusal(|f| f[3].offset = u32::MAX)),
        ("field y (4294967295 x float32 at", field_refusal(|f| f[1].count = u32::MAX)),
        ("has two fields x", field_refusal(|f| f[3].name = "x".to_owned())),
        ("field rgb is uint8, must be float32 or uint32", field_refusal(|f| f[3].datatype = 2)),
    ];
    for (expected, found) in cases {
        assert!(found.contains(expected), "{found:?} should say {expected:?}");
    }
}

#[test]
fn a_cloud_without_points_is_one() {
    let plan = Plan::new(&[("x", 0, F32), ("y", 4, F32), ("z", 8, F32)], 12);
    let cloud = Cloud::default();
    let message = PointCloud2 { height: 1, ..plan.message(&cloud, &[]) };
    let view = message.points().unwrap();
    assert!(view.is_empty());
    view.fill(0, &mut [], &mut [], &mut []);
}

/// A message by hand, one point, so that the writers cannot agree with the readers on an error.
#[test]
fn wire_formats_are_those_of_ros() {
    let ros1: &[u8] = &[
        9, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0, 3, 0, 0, 0, b'c', b'a', b'm', // header
        1, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, // height, width, three fields
        1, 0, 0, 0, b'x', 0, 0, 0, 0, 7, 1, 0, 0, 0, //
        1, 0, 0, 0, b'y', 4, 0, 0, 0, 7, 1, 0, 0, 0, //
        1, 0, 0, 0, b'z', 8, 0, 0, 0, 7, 1, 0, 0, 0, //
        0, 12, 0, 0, 0, 12, 0, 0, 0, 12, 0, 0, 0, // endian, steps, length
        0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64, 1, // 1, 2, 3; dense
    ];
    let cdr_big: &[u8] = &[
        0, 0, 0, 0, // encapsulation
        0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0, 4, b'c', b'a', b'm', 0, // header
        0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 3, // height, width, three fields
        0, 0, 0, 2, b'x', 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 1, //
        0, 0, 0, 2, b'y', 0, 0, 0, 0, 0, 0, 4, 7, 0, 0, 0, 0, 0, 0, 1, //
        0, 0, 0, 2, b'z', 0, 0, 0, 0, 0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 1, //
        0, 0, 0, 0, 0, 0, 0, 12, 0, 0, 0, 12, 0, 0, 0, 12, // endian, steps, length
        0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64, 1, // 1, 2, 3; dense
    ];
    let first = PointCloud2Message::from_ros1(ros1).unwrap();
    let second = PointCloud2Message::from_cdr(cdr_big).unwrap();
    assert_eq!((first.seq, first.stamp_ns), (9, 5_000_000_006));
    assert_eq!(PointCloud2Message { seq: 9, ..second.clone() }, first);
    let point = [1.0_f32, 2.0, 3.0].map(f32::to_bits);
    assert_eq!(bits(&first.cloud().points().unwrap()), [point]);
    assert_eq!(first.to_ros1(), ros1);
    assert_eq!(first.to_cdr(true), cdr_big);
    // DDS may pad the whole to four bytes.
    let padded = [cdr_big, &[0, 0, 0]].concat();
    assert_eq!(PointCloud2Message::from_cdr(&padded).unwrap(), second);
}

#[test]
fn messages_cut_anywhere_are_refused_with_the_byte() {
    let cloud = picture(5, 3, 3);
    let data = pack_xyz_rgb(&cloud);
    let message = message_of(&cloud, "camera", &data);
    let (ros1, cdr) = (message.to_ros1(), message.to_cdr(false));
    for cut in 0..ros1.len() {
        let error = PointCloud2Message::from_ros1(&ros1[..cut]).unwrap_err().to_string();
        assert!(error.contains("byte "), "{error}");
    }
    for cut in 0..cdr.len() {
        assert!(PointCloud2Message::from_cdr(&cdr[..cut]).is_err(), "{cut}");
    }
    let long = [&ros1[..], &[0]].concat();
    let error = PointCloud2Message::from_ros1(&long).unwrap_err().to_string();
    assert!(error.contains("1 bytes too many"), "{error}");
    let mut other = cdr.clone();
    other[1] = 7;
    let error = PointCloud2Message::from_cdr(&other).unwrap_err().to_string();
    assert!(error.contains("0x00 0x07"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn messages_come_back_as_they_were(
        width in 1_usize..20, height in 1_usize..6, seed: u64, frame in "[a-zäλ/_]{0,9}",
        big: bool,
    ) {
        let cloud = picture(width, height, seed);
        let data = pack_xyz_rgb(&cloud);
        let message = message_of(&cloud, &frame, &data);
        let (ros1, cdr) = (message.to_ros1(), message.to_cdr(big));
        for read in [PointCloud2Message::from_ros1(&ros1), PointCloud2Message::from_cdr(&cdr)] {
            let read = read.unwrap();
            prop_assert_eq!(&read, &message);
            let view = read.cloud().points().unwrap();
            prop_assert_eq!(bits(&view), bits(&cloud));
            prop_assert_eq!(colours(&view), colours(&cloud));
            prop_assert_eq!((view.width(), view.stamp_ns()), (width, cloud.stamp_ns));
        }
    }
}

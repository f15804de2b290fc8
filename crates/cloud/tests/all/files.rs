//! Clouds in files: what was written comes back, what others write is read, lies are refused.

use std::io::{Cursor, Write};

use citrange_cloud::{Cloud, CloudFile, Points, Sidecar, read_cloud, write_cloud};

use crate::bits::{bits, colours};
use crate::picture::picture;

fn from_bytes(name: &str, bytes: &[u8]) -> Result<CloudFile, String> {
    CloudFile::from_bytes(name, bytes, None, Sidecar::default()).map_err(|e| e.to_string())
}

fn same(a: &Cloud, b: &Cloud) -> bool {
    bits(a) == bits(b) && a.rgb == b.rgb && a.width == b.width && a.stamp_ns == b.stamp_ns
}

#[test]
fn every_kind_comes_back_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let coloured = picture(31, 7, 1);
    let plain = Cloud { rgb: vec![], ..picture(31, 7, 2) };
    let list = Cloud { width: 217, ..picture(31, 7, 3) };
    for (i, cloud) in [coloured, plain, list, Cloud::default()].into_iter().enumerate() {
        for extension in ["npz", "ply", "pcd"] {
            let path = folder.path().join(format!("{i}.{extension}"));
            write_cloud(&path, &cloud).unwrap();
            assert!(same(&read_cloud(&path).unwrap(), &cloud), "{}", path.display());
            // The content tells the kind, whatever the name.
            let renamed = path.with_extension("cloud");
            std::fs::rename(&path, &renamed).unwrap();
            assert!(same(&read_cloud(&renamed).unwrap(), &cloud), "{}", renamed.display());
        }
    }
    let error = write_cloud(&folder.path().join("a.xyz"), &Cloud::default()).unwrap_err();
    assert!(error.to_string().contains("must be npz, ply or pcd"), "{error}");
}

#[test]
fn labels_and_sidecar_come_along() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("frame.npz");
    let cloud = picture(20, 10, 4);
    let labels = Some((0..200).collect::<Vec<u8>>());
    CloudFile { cloud: cloud.clone(), labels: labels.clone(), sidecar: Sidecar::default() }
        .write_npz(&path)
        .unwrap();
    let json = r#"{"width": 20, "height": 10, "fx": 20.0, "fy": 20.0, "cx": 10, "cy": 5,
        "T_cam_to_world": [[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]],
        "joints": [0.5, -1], "stamp_ns": 77, "primitives": []}"#;
    std::fs::write(path.with_extension("json"), json).unwrap();
    let file = CloudFile::read(&path, None).unwrap();
    assert_eq!(file.labels, labels);
    assert_eq!(file.cloud.stamp_ns, 77);
    assert_eq!(file.sidecar.joints_rad, Some(vec![0.5, -1.0]));
    let view = file.sidecar.view().unwrap().unwrap();
    assert_eq!(view.pinhole.unwrap().cx, 10.0);
    let moved = view.world_from_camera.isometry() * nalgebra::Point3::new(1.0, 0.0, 0.0);
    assert!((moved - nalgebra::Point3::new(1.0, 3.0, 3.0)).norm() < 1e-12);
    let mirrored = json.replace("[0, 0, 1, 3]", "[0, 0, -1, 3]");
    std::fs::write(path.with_extension("json"), mirrored).unwrap();
    let error = CloudFile::read(&path, None).unwrap().sidecar.view().unwrap_err();
    assert!(error.to_string().contains("must be a rotation"), "{error}");
    std::fs::write(path.with_extension("json"), "{").unwrap();
    let error = CloudFile::read(&path, None).unwrap_err().to_string();
    assert!(error.contains("frame.json") && error.contains("line 1"), "{error}");
}

#[test]
fn lists_are_pictures_only_if_they_fit_a_pinhole() {
    let as_list = |cloud: Cloud| Cloud { width: cloud.xyz_m.len(), ..cloud };
    let read = |cloud: &Cloud, width| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list.npz");
        write_cloud(&path, cloud).unwrap();
        CloudFile::read(&path, width).map(|f| f.cloud.width).map_err(|e| e.to_string())
    };
    let list = as_list(picture(424, 240, 5));
    assert_eq!(read(&list, None), Ok(424));
    let mut shuffled = list.clone();
    shuffled.xyz_m.rotate_right(200);
    assert_eq!(read(&shuffled, None), Ok(424 * 240));
    let odd = as_list(picture(100, 7, 6));
    assert_eq!(read(&odd, None), Ok(700), "no known size");
    assert_eq!(read(&odd, Some(100)), Ok(100));
    assert!(read(&odd, Some(99)).unwrap_err().contains("do not make rows of 99"));
    assert!(read(&odd, Some(0)).is_err());
    let unseen = Cloud::new(vec![[f32::NAN; 3]; 424 * 240], vec![], 424 * 240, 0).unwrap();
    assert_eq!(read(&unseen, None), Ok(424 * 240));
}

/// An .npz by hand: names, headers (version, Python literal) and bytes of the arrays.
fn npz(arrays: &[(&str, u8, &str, &[u8])], stored: bool) -> Vec<u8> {
    let method =
        if stored { zip::CompressionMethod::Stored } else { zip::CompressionMethod::Deflated };
    let options = zip::write::SimpleFileOptions::default().compression_method(method);
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, version, header, data) in arrays {
        zip.start_file(format!("{name}.npy"), options).unwrap();
        zip.write_all(b"\x93NUMPY").unwrap();
        zip.write_all(&[*version, 0]).unwrap();
        let length = header.len() as u32;
        zip.write_all(&length.to_le_bytes()[..if *version == 1 { 2 } else { 4 }]).unwrap();
        zip.write_all(header.as_bytes()).unwrap();
        zip.write_all(data).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn arrays_of_any_order_kind_and_version_are_read() {
    let points = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [10.0, 11.0, 12.0]];
    let expected = points.map(|p| p.map(|v: f64| v as f32));
    let c_order: Vec<f64> = points.as_flattened().to_vec();
    // (2, 2, 3) in Fortran order: row fastest, then column, then axis.
    let fortran: Vec<f64> = (0..12).map(|i| points[(i % 2) * 2 + (i / 2) % 2][i / 4]).collect();
    let bytes =
        |v: &[f64], f: fn(f64) -> Vec<u8>| v.iter().flat_map(|v| f(*v)).collect::<Vec<u8>>();
    let f4_le = bytes(&c_order, |v| (v as f32).to_le_bytes().to_vec());
    let f4_be = bytes(&c_order, |v| (v as f32).to_be_bytes().to_vec());
    let f8_le_fortran = bytes(&fortran, |v| v.to_le_bytes().to_vec());
    let f8_be = bytes(&c_order, |v| v.to_be_bytes().to_vec());
    let cases: [(u8, &str, &[u8], usize); 4] = [
        (1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 3), }      \n", &f4_le, 4),
        (2, "{\"shape\":(2,2,3),\"fortran_order\":False,\"descr\":\">f4\"}", &f4_be, 2),
        (3, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 2, 3)}", &f8_le_fortran, 2),
        (1, "{'descr': '>f8', 'fortran_order': False, 'shape': (4, 3), }", &f8_be, 4),
    ];
    let rgb: &[u8] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 255];
    let colours = ("rgb", 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (4, 3), }", rgb);
    for (version, header, data, width) in cases {
        for stored in [false, true] {
            let archive = npz(&[("xyz", version, header, data), colours], stored);
            let cloud = from_bytes("a.npz", &archive).unwrap().cloud;
            assert_eq!((&cloud.xyz_m[..], cloud.width), (&expected[..], width), "{header}");
            assert_eq!(cloud.rgb[3], [9, 10, 255]);
        }
    }
    let floats: Vec<u8> =
        [0.0_f32, 0.5, 1.0].repeat(4).iter().flat_map(|v| v.to_le_bytes()).collect();
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 3), }";
    let archive = npz(&[("xyz", 1, header, &f4_le), ("rgb", 1, header, &floats)], false);
    assert_eq!(from_bytes("a.npz", &archive).unwrap().cloud.rgb[2], [0, 128, 255]);
}

#[test]
fn wrong_arrays_are_refused() {
    let zeros = [0; 48];
    let one = |header: &str, data: &[u8]| {
        from_bytes("a.npz", &npz(&[("xyz", 1, header, data)], false)).unwrap_err()
    };
    let header = |descr: &str, shape: &str| {
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}")
    };
    let good = header("<f4", "4, 3");
    for (expected, found) in [
        ("a.npz: xyz: is int32", one(&header("<i4", "4, 3"), &zeros)),
        ("of shape [3, 4], must be", one(&header("<f4", "3, 4"), &zeros)),
        ("needs 60 bytes, has 48", one(&header("<f4", "5, 3"), &zeros)),
        ("needs more than memory", one(&header("<f4", "18446744073709551615, 3"), &zeros)),
        ("type '|O' is no plain number", one(&header("|O", "4, 3"), &zeros)),
        ("the header must be", one("{'descr': '<f4'}", &zeros)),
        ("the header must be", one("{'descr': '<f4', 'shape': (-1, 3)}", &zeros)),
        ("has no array xyz", from_bytes("a.npz", &npz(&[], false)).unwrap_err()),
        ("is no .npz (zip) archive", from_bytes("a.npz", b"PK\x03\x04").unwrap_err()),
        ("an .npz archive begins with PK", from_bytes("a.npz", b"hello").unwrap_err()),
    ] {
        assert!(found.contains(expected), "{found:?} should say {expected:?}");
    }
    let labels =
        ("label", 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", &zeros[..3]);
    let found = from_bytes("a.npz", &npz(&[("xyz", 1, &good, &zeros), labels], false)).unwrap_err();
    assert!(found.contains("has 3 labels for 4 points"), "{found}");
}

#[test]
fn an_archive_that_claims_too_much_takes_no_memory() {
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 3), }";
    let mut archive = npz(&[("xyz", 1, header, &[0; 48])], false);
    // The size before packing, in the central directory: 24 bytes behind its mark.
    let mark = archive.windows(4).rposition(|w| w == b"PK\x01\x02").unwrap();
    archive[mark + 24..mark + 28].copy_from_slice(&0xf000_0000_u32.to_le_bytes());
    let found = from_bytes("a.npz", &archive).unwrap_err();
    assert!(found.contains("claims 4026531840 bytes"), "{found}");
}

#[test]
fn ply_of_any_encoding_and_order_is_read() {
    let header = |format: &str| {
        format!(
            "ply\r\nformat {format} 1.0\r\ncomment by hand\r\nelement camera 1\r\n\
             property list uchar short views\r\nproperty double zoom\r\n\
             element vertex 2\r\nproperty uchar blue\r\nproperty double z\r\n\
             property list int float weights\r\nproperty float x\r\nproperty uchar red\r\n\
             property float32 y\r\nproperty uint8 green\r\nelement face 1\r\n\
             property list uchar int vertex_indices\r\nend_header\r\n"
        )
    };
    let text = "2 7 8 1.5\n30 3.0 1 9.0 1.0 10 2.0 20\n\n60 6 0 4 40 5 50\n3 0 1 2\n";
    let mut little = vec![2, 7, 0, 8, 0];
    let mut big = vec![2, 0, 7, 0, 8];
    little.extend(1.5_f64.to_le_bytes());
    big.extend(1.5_f64.to_be_bytes());
    for ([x, y, z], [r, g, b], weights) in
        [([1.0_f32, 2.0, 3.0], [10, 20, 30], &[9.0_f32][..]), ([4.0, 5.0, 6.0], [40, 50, 60], &[])]
    {
        for (out, swap) in [(&mut little, false), (&mut big, true)] {
            let mut number = |mut bytes: Vec<u8>| {
                if swap {
                    bytes.reverse();
                }
                out.extend(bytes);
            };
            number(vec![b]);
            number(f64::from(z).to_le_bytes().to_vec());
            number((weights.len() as u32).to_le_bytes().to_vec());
            weights.iter().for_each(|w| number(w.to_le_bytes().to_vec()));
            number(x.to_le_bytes().to_vec());
            number(vec![r]);
            number(y.to_le_bytes().to_vec());
            number(vec![g]);
        }
    }
    for (format, body) in
        [("ascii", text.as_bytes()), ("binary_little_endian", &little), ("binary_big_endian", &big)]
    {
        let file = [header(format).as_bytes(), body].concat();
        let cloud = from_bytes("a.ply", &file).unwrap().cloud;
        assert_eq!(cloud.xyz_m, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], "{format}");
        assert_eq!(colours(&cloud), [[10, 20, 30], [40, 50, 60]], "{format}");
        assert_eq!(cloud.width(), 2);
    }
}

#[test]
fn ply_lists_have_no_negative_lengths_and_elements_may_be_empty() {
    let xyz = "element vertex 1\nproperty float x\nproperty float y\nproperty float z\n";
    let text = format!("ply\nformat ascii 1.0\nelement nothing 0\n{xyz}end_header\n1 2 3\n");
    assert_eq!(from_bytes("a.ply", text.as_bytes()).unwrap().cloud.xyz_m, [[1.0, 2.0, 3.0]]);
    let head = "ply\nformat binary_little_endian 1.0\nelement odd 1\nproperty list char uchar l\n";
    let mut bytes = format!("{head}{xyz}end_header\n").into_bytes();
    bytes.extend([0xff; 300]);
    let error = from_bytes("a.ply", &bytes).unwrap_err();
    assert!(error.contains("the length of l is negative"), "{error}");
}

#[test]
fn wrong_ply_is_refused_with_the_line_or_byte() {
    let ply = |text: &str| from_bytes("a.ply", format!("ply\n{text}").as_bytes()).unwrap_err();
    let xyz = "property float x\nproperty float y\nproperty float z\nend_header\n";
    let rows = |count: &str, body: &str| {
        ply(&format!("format ascii 1.0\nelement vertex {count}\n{xyz}{body}"))
    };
    let binary = |count: &str| {
        ply(&format!("format binary_little_endian 1.0\nelement vertex {count}\n{xyz}123"))
    };
    for (expected, found) in [
        ("a.ply: line 9: y is \"zwei\", must be float32", rows("2", "1 2 3\n1 zwei 3\n")),
        ("line 9: z is missing", rows("2", "1 2 3.25\n1 2\n")),
        ("line 8: \"4\" follows the last property", rows("1", "1 2 3 4\n")),
        ("99999999999 of vertex cannot be in the 6 bytes", rows("99999999999", "1 2 3\n")),
        ("line 8: the file ends here", rows("1", "      ")),
        ("byte 115: vertex needs more than the 3 bytes", binary("1")),
        ("needs more than the 3 bytes", binary("18446744073709551615")),
        ("line 3: the count is no number", rows("-1", "")),
        ("must be ascii, binary_little_endian or", ply("format utf8 1.0\nend_header\n")),
        ("line 2: is no line of a .ply header", ply("hello\n")),
        (
            "line 3: a property before the first element",
            ply("format ascii 1.0\nproperty float x\n"),
        ),
        ("has no element vertex", ply("format ascii 1.0\nend_header\n")),
        ("does not end with a line \"end_header\"", ply("format ascii 1.0\n")),
        (
            "field x is int32",
            ply("format ascii 1.0\nelement vertex 1\nproperty int x\nend_header\n1\n"),
        ),
    ] {
        assert!(found.contains(expected), "{found:?} should say {expected:?}");
    }
}

#[test]
fn pcd_of_any_encoding_is_read() {
    let header = |fields: &str, sizes: &str, types: &str, counts: &str, data: &str| {
        format!(
            "# .PCD v.7\nVERSION .7\nFIELDS {fields}\nSIZE {sizes}\nTYPE {types}\nCOUNT {counts}\n\
             WIDTH 1\nHEIGHT 2\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 2\nDATA {data}\n"
        )
    };
    let all = |data| header("rgb x _ y z", "4 4 1 4 8", "U F U F F", "1 1 3 1 1", data);
    let text = "660510 1 0 0 0 2 3\n2634300 4 0 0 0 nan 6\n";
    let column = |a: u32, b: u32| [a.to_le_bytes(), b.to_le_bytes()].concat();
    let float = |a: f32, b: f32| column(a.to_bits(), b.to_bits());
    let (rgb, x, y) = (column(660_510, 2_634_300), float(1.0, 4.0), float(2.0, f32::NAN));
    let z = [3.0_f64.to_le_bytes(), 6.0_f64.to_le_bytes()].concat();
    let row = |i: usize| {
        let four = i * 4..i * 4 + 4;
        [&rgb[four.clone()], &x[four.clone()], &[9; 3], &y[four], &z[i * 8..i * 8 + 8]].concat()
    };
    let binary = [row(0), row(1)].concat();
    // Packed by hand: literals of up to 32 bytes; the six bytes of padding as a copy.
    let columns = [&rgb[..], &x, &[9; 6], &y, &z].concat();
    let mut packed = vec![16];
    packed.extend(&columns[..17]);
    packed.extend([0x60, 0, 23]);
    packed.extend(&columns[22..]);
    let sizes = [packed.len() as u32, columns.len() as u32].map(u32::to_le_bytes).concat();
    for (data, body) in [
        ("ascii", text.as_bytes().to_vec()),
        ("binary", binary),
        ("binary_compressed", [sizes, packed].concat()),
    ] {
        let file = [all(data).as_bytes(), &body].concat();
        let cloud = from_bytes("a.pcd", &file).unwrap().cloud;
        assert_eq!(cloud.xyz_m[0], [1.0, 2.0, 3.0], "{data}");
        assert!(cloud.xyz_m[1][1].is_nan() && cloud.xyz_m[1][2] == 6.0, "{data}");
        assert_eq!(cloud.rgb, [[10, 20, 30], [40, 50, 60]], "{data}");
        assert_eq!((cloud.width, cloud.height()), (1, 2));
    }
    // Colours as floats, as their bits or as the whole number that is meant.
    let floats = header("x y z rgb", "4 4 4 4", "F F F F", "1 1 1 1", "ascii");
    let bits = f32::from_bits(660_510);
    let cloud = from_bytes("a.pcd", format!("{floats}1 2 3 {bits}\n4 5 6 660510\n").as_bytes());
    assert_eq!(cloud.unwrap().cloud.rgb, [[10, 20, 30]; 2]);
}

#[test]
fn older_pcd_files_are_read() {
    // Without types, sizes, counts, width and height, as the first ones were.
    for head in [
        "VERSION 0.6\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nWIDTH 2\nHEIGHT 1\nPOINTS 2\n",
        "# .PCD v.5\nVERSION .5\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nPOINTS 2\n",
        "COLUMNS x y z\nPOINTS 2\n",
    ] {
        let cloud = from_bytes("a.pcd", format!("{head}DATA ascii\n1 2 3\n4 5 6\n").as_bytes());
        let cloud = cloud.unwrap().cloud;
        assert_eq!(cloud.xyz_m, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], "{head}");
        assert_eq!(cloud.width, 2, "{head}");
    }
}

#[test]
fn wrong_pcd_is_refused_with_the_line_or_byte() {
    let pcd = |change: (&str, &str)| {
        let good = "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 1\n\
                    HEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 1\nDATA ascii\n1 2 3\n";
        assert!(from_bytes("a.pcd", good.as_bytes()).is_ok());
        from_bytes("a.pcd", good.replace(change.0, change.1).as_bytes()).unwrap_err()
    };
    let many = "WIDTH 99999999999\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 99999999999";
    let one = "WIDTH 1\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 1";
    for (expected, found) in [
        ("line 1: version 0.8, must be 0.5, 0.6 or 0.7", pcd(("0.7", "0.8"))),
        ("line 11: z is missing", pcd(("1 2 3", "1.25 2.5"))),
        ("line 11: y is \"b\", must be float32", pcd(("1 2 3", "1 b c"))),
        ("has no field z", pcd(("x y z", "x y w"))),
        ("3 FIELDS, 2 SIZE", pcd(("SIZE 4 4 4", "SIZE 4 4"))),
        ("field x is TYPE F SIZE 2", pcd(("SIZE 4", "SIZE 2"))),
        ("field x has COUNT -1", pcd(("COUNT 1", "COUNT -1"))),
        ("POINTS 2 is not WIDTH 1 times HEIGHT 1", pcd(("POINTS 1", "POINTS 2"))),
        ("99999999999 rows of 3 numbers cannot be in the 6", pcd((one, many))),
        ("DATA is zip, must be", pcd(("ascii", "zip"))),
        ("the packed data is cut off", pcd(("ascii\n1 2 3\n", "binary_compressed\n1234"))),
        ("unpacks to 825373492 bytes, but", pcd(("ascii\n1 2 3", "binary_compressed\n00004321"))),
        ("cannot be in the 6 that follow", pcd(("ascii", "binary"))),
        ("does not end with a line \"DATA\"", pcd(("DATA ascii\n1 2 3\n", ""))),
    ] {
        assert!(found.contains(expected), "{found:?} should say {expected:?}");
    }
}

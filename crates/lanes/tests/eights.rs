//! Operations on eight lanes, and on colours, with every instruction set that the processor has.

mod support;

use citrange_lanes::{F64x8, I32x8, Isa, Kernel, Simd, U64x8, widen_colours};
use support::Numbers;

struct Sines64<'a>(&'a [f64; 8]);

impl Kernel for Sines64<'_> {
    type Output = [[f64; 8]; 2];

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Self::Output {
        let (sin, cos) = F64x8::load(simd, self.0).sin_cos();
        [sin.to_array(), cos.to_array()]
    }
}

#[test]
fn sine_and_cosine_of_double_precision_are_those_of_the_standard_library() {
    for step in -2000..2000 {
        let angles: [f64; 8] =
            std::array::from_fn(|lane| f64::from(step * 8 + lane as i32) * 0.001_25);
        let first = Isa::SCALAR.run(Sines64(&angles));
        for (lane, angle) in angles.into_iter().enumerate() {
            let off =
                (first[0][lane] - angle.sin()).abs().max((first[1][lane] - angle.cos()).abs());
            assert!(off < 1e-13, "{angle}: {off:e}");
        }
        for isa in Isa::available() {
            let found = isa.run(Sines64(&angles)).map(|of| of.map(f64::to_bits));
            assert_eq!(found, first.map(|of| of.map(f64::to_bits)), "{isa:?} {angles:?}");
        }
    }
}

struct Eights<'a> {
    a: &'a [f64; 8],
    b: &'a [f64; 8],
    index: &'a [i32; 8],
    lanes: u8,
    halves: &'a [u16],
    words: &'a [u64],
}

impl Kernel for Eights<'_> {
    type Output = (Vec<[u64; 8]>, Vec<[i32; 8]>, Vec<u64>, Vec<u32>);

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Self::Output {
        let (a, b) = (F64x8::load(simd, self.a), F64x8::load(simd, self.b));
        let index = I32x8::load(simd, self.index);
        let seven = I32x8::splat(simd, 7);
        let numbers = [
            a + b,
            a - b,
            a * b,
            a / b,
            -a,
            a.min(b),
            a.max(b),
            a.abs(),
            a.abs().sqrt(),
            a.floor(),
            a.where_or(self.lanes, b),
            F64x8::expand(simd, self.lanes, self.a),
            (index & 0xffff).single_roots(),
        ];
        let integers = [
            a.truncate(),
            index + seven,
            index * seven,
            index & 5,
            index.shift_right(3),
            index.shift_right_each(index & 63),
            index.replaced(self.lanes, seven),
            index.look_up_u16(self.halves, self.lanes),
            index.look_up_halves(self.words, self.lanes),
            index.look_up_u32(&[5, 6, 7], self.lanes),
            I32x8::splat(simd, i32::from(index.nonzero())),
            I32x8::splat(simd, i32::from(a.lt(b)) << 8 | i32::from(a.le(b))),
        ];
        let (mut doubles, mut singles) = (vec![0.5; 9], vec![3; 9]);
        a.scatter(&mut doubles, index, self.lanes);
        index.scatter(&mut singles, index, self.lanes);
        let bits = |n: f64| if n.is_nan() { 1 } else { n.to_bits() };
        (
            numbers.map(|v| v.to_array().map(bits)).to_vec(),
            integers.map(I32x8::to_array).to_vec(),
            doubles.into_iter().map(bits).collect(),
            singles,
        )
    }
}

#[test]
fn eight_lanes_are_the_same_with_every_set_and_stay_inside_of_tables() {
    let mut numbers = Numbers::new(7);
    for _ in 0..500 {
        let a: [f64; 8] = std::array::from_fn(|_| f64::from(numbers.f32()));
        let b: [f64; 8] = std::array::from_fn(|_| f64::from(numbers.f32()));
        // Places before, in and behind the tables; each but once, for writing.
        let shift = (numbers.bits() % 5) as i32;
        let index: [i32; 8] = std::array::from_fn(|lane| lane as i32 * 3 - 7 + shift);
        let halves: Vec<u16> = (0..12).map(|_| numbers.bits() as u16).collect();
        let words: Vec<u64> = (0..4).map(|_| numbers.bits() << 20).collect();
        let lanes = numbers.bits() as u8;
        let run = |isa: Isa| {
            isa.run(Eights { a: &a, b: &b, index: &index, lanes, halves: &halves, words: &words })
        };
        let first = run(Isa::SCALAR);
        for isa in Isa::available() {
            assert_eq!(run(isa), first, "{isa:?} {a:?} {b:?} {index:?} {lanes:#b}");
        }
        for lane in 0..8 {
            let place = usize::try_from(index[lane]).unwrap_or(usize::MAX);
            let wanted = lanes >> lane & 1 == 1;
            // The last is padding.
            let at = (index[lane].cast_unsigned() as usize).min(halves.len() - 2);
            let expected = if wanted { halves[at] } else { 0 };
            assert_eq!(first.1[7][lane], i32::from(expected));
            if let Some(found) = first.2.get(place) {
                let expected = if wanted { a[lane] } else { 0.5 };
                assert_eq!(*found, if expected.is_nan() { 1 } else { expected.to_bits() });
            }
        }
    }
}

struct Colours<'a>(&'a [[u8; 3]; 10]);

impl Kernel for Colours<'_> {
    type Output = ([u32; 8], [u64; 8]);

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Self::Output {
        let mut wide = [0; 8];
        widen_colours(simd, self.0, &mut wide);
        let mut sums = [0; 8];
        let apart = I32x8::load_u32(simd, &wide).bytes_apart();
        let all = apart.running_sums() + U64x8::splat(simd, 0x0001_0002_0003_0004);
        all.store(&mut sums);
        let mut last = [0; 8];
        all.last().store(&mut last);
        assert_eq!(last, [sums[7]; 8]);
        (wide, sums)
    }
}

#[test]
fn colours_are_widened_and_summed() {
    let mut numbers = Numbers::new(3);
    for _ in 0..200 {
        let rgb: [[u8; 3]; 10] = std::array::from_fn(|_| [(); 3].map(|()| numbers.bits() as u8));
        let mut sum = 0x0001_0002_0003_0004_u64;
        let wide: [u32; 8] =
            std::array::from_fn(|i| u32::from_le_bytes([rgb[i][0], rgb[i][1], rgb[i][2], 0]));
        let sums: [u64; 8] = std::array::from_fn(|i| {
            for (field, byte) in rgb[i].iter().enumerate() {
                sum += u64::from(*byte) << (16 * field);
            }
            sum
        });
        for isa in Isa::available() {
            assert_eq!(isa.run(Colours(&rgb)), (wide, sums), "{isa:?}");
        }
    }
}

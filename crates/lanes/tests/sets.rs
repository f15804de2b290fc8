//! Every operation with every instruction set that the processor has, against plain Rust.

use citrange_lanes::{
    F32x16, F64x8, I32x8, I32x16, Isa, Kernel, LANES, Mask, Simd, running_sums, widen_colours,
};

/// Numbers from a seed: of all sizes, with the odd ones among them.
struct Numbers(u64);

impl Numbers {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        self.0 >> 16
    }

    fn f32(&mut self) -> f32 {
        const ODD: [f32; 8] =
            [0.0, -0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.5, -2.5, 1e9];
        match self.bits() % 12 {
            at @ 0..8 => ODD[at as usize],
            8 => (self.bits() % 4000) as f32 - 2000.0,
            _ => ((self.bits() % 2_000_000) as f32 - 1e6) * 3.3e-4,
        }
    }

    fn f32s(&mut self) -> [f32; LANES] {
        std::array::from_fn(|_| self.f32())
    }

    fn i32s(&mut self) -> [i32; LANES] {
        std::array::from_fn(|_| match self.bits() % 4 {
            0 => (self.bits() % 40) as i32 - 20,
            _ => self.bits() as u32 as i32,
        })
    }
}

#[derive(Clone)]
struct Input {
    a: [f32; LANES],
    b: [f32; LANES],
    i: [i32; LANES],
    j: [i32; LANES],
    bits: u16,
    table: Vec<f32>,
    points: [[f32; 3]; LANES],
}

impl Input {
    fn new(seed: u64) -> Self {
        let mut numbers = Numbers(seed);
        Self {
            a: numbers.f32s(),
            b: numbers.f32s(),
            i: numbers.i32s(),
            j: numbers.i32s(),
            bits: numbers.bits() as u16,
            table: (0..23).map(|_| numbers.f32()).collect(),
            points: std::array::from_fn(|_| [numbers.f32(), numbers.f32(), numbers.f32()]),
        }
    }
}

/// Bits of a number; all that are NaN are one.
fn same(number: f32) -> i32 {
    if number.is_nan() { -1 } else { number.to_bits().cast_signed() }
}

type Answers = Vec<(&'static str, [i32; LANES])>;

struct All<'a>(&'a Input);

impl Kernel for All<'_> {
    type Output = Answers;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Answers {
        let input = self.0;
        let (a, b) = (simd.load(&input.a), F32x16::load_at(simd, &input.b, 0));
        let (i, j) = (I32x16::load(simd, &input.i), I32x16::load(simd, &input.j));
        let lanes = Mask::of_bits(simd, input.bits);
        let [x, y, z] = F32x16::of_points(simd, &input.points);
        let floats = [
            ("add", a + b),
            ("sub", a - b),
            ("mul", a * b),
            ("div", a / b),
            ("neg", -a),
            ("number", (a + 1.5) * 3.0),
            ("min", a.min(b)),
            ("max", a.max(b)),
            ("sqrt", a.sqrt()),
            ("abs", a.abs()),
            ("ceil", a.ceil()),
            ("clamp", a.clamp(-1.0, 2.0)),
            ("select", lanes.select(a, b)),
            ("past_whole", a.past_whole()),
            ("compress", a.compress(lanes)),
            ("to_f32", i.to_f32()),
            ("from_bits", j.from_bits()),
            ("gather", F32x16::gather(&input.table, i & 31, lanes)),
            ("gather outside", F32x16::gather(&input.table, i, lanes)),
            ("part", F32x16::load_part(simd, &input.a[..5])),
            ("magnitude", i.to_f32().smaller_magnitude(j.to_f32())),
            ("x", x),
            ("y", y),
            ("z", z),
        ];
        let integers = [
            ("iadd", i + j),
            ("isub", i - j),
            ("imul", i * j),
            ("and", i & j),
            ("or", i | j),
            ("xor", i ^ j),
            ("imax", i.max(j)),
            ("shl", i.shift_left(7)),
            ("shr", i.shift_right(7)),
            ("sar", i.shift_right_signed(7)),
            ("shlv", i.shift_left_each(j & 63)),
            ("iselect", lanes.select_i32(i, j)),
            ("icompress", i.compress(lanes)),
            ("truncate", a.truncate()),
            ("count", I32x16::count_up(simd)),
        ];
        let masks = [
            ("lt", a.lt(b)),
            ("le", a.le(b)),
            ("gt", a.gt(b)),
            ("ge", a.ge(b)),
            ("equal", a.equal(b)),
            ("ilt", i.lt(j)),
            ("iequal", i.equal(j)),
            ("within", a.within(-1.0, 1.0)),
            ("finite", a.is_finite()),
            ("logic", (a.lt(b) | lanes) & !i.lt(j)),
        ];
        let mut out: Answers = Vec::new();
        out.extend(floats.map(|(name, v)| (name, v.to_array().map(same))));
        out.extend(integers.map(|(name, v)| (name, v.to_array())));
        let bit = |bits: u16, i: usize| i32::from(bits >> i & 1);
        out.extend(masks.map(|(name, m)| (name, std::array::from_fn(|i| bit(m.bits(), i)))));
        out.push(("not_at_least", std::array::from_fn(|i| bit(a.not_at_least(b), i))));
        out
    }
}

/// The same, one number at a time.
fn expected(input: &Input) -> Answers {
    let Input { a, b, i, j, bits, table, points } = input;
    let lane = |at: usize| bits >> at & 1 == 1;
    let floats =
        |f: &dyn Fn(usize) -> f32| -> [i32; LANES] { std::array::from_fn(|at| same(f(at))) };
    let ints = |f: &dyn Fn(usize) -> i32| -> [i32; LANES] { std::array::from_fn(f) };
    let yes =
        |f: &dyn Fn(usize) -> bool| -> [i32; LANES] { std::array::from_fn(|at| f(at).into()) };
    let chosen: Vec<usize> = (0..LANES).filter(|at| lane(*at)).collect();
    let entry = |place: u32| table.get(place as usize).copied().unwrap_or(0.0);
    vec![
        ("add", floats(&|n| a[n] + b[n])),
        ("sub", floats(&|n| a[n] - b[n])),
        ("mul", floats(&|n| a[n] * b[n])),
        ("div", floats(&|n| a[n] / b[n])),
        ("neg", floats(&|n| -a[n])),
        ("number", floats(&|n| (a[n] + 1.5) * 3.0)),
        ("min", floats(&|n| if a[n] < b[n] { a[n] } else { b[n] })),
        ("max", floats(&|n| if a[n] > b[n] { a[n] } else { b[n] })),
        ("sqrt", floats(&|n| a[n].sqrt())),
        ("abs", floats(&|n| a[n].abs())),
        ("ceil", floats(&|n| a[n].ceil())),
        // NaN becomes the lower bound, as the processor has it.
        ("clamp", floats(&|n| if a[n].is_nan() { -1.0 } else { a[n].clamp(-1.0, 2.0) })),
        ("select", floats(&|n| if lane(n) { a[n] } else { b[n] })),
        (
            "past_whole",
            floats(&|n| if a[n].is_infinite() { 0.0 } else { a[n] - a[n].round_ties_even() }),
        ),
        ("compress", floats(&|n| chosen.get(n).map_or(0.0, |at| a[*at]))),
        ("to_f32", floats(&|n| i[n] as f32)),
        ("from_bits", floats(&|n| f32::from_bits(j[n].cast_unsigned()))),
        ("gather", floats(&|n| if lane(n) { entry((i[n] & 31).cast_unsigned()) } else { 0.0 })),
        ("gather outside", floats(&|n| if lane(n) { entry(i[n].cast_unsigned()) } else { 0.0 })),
        ("part", floats(&|n| if n < 5 { a[n] } else { 0.0 })),
        ("magnitude", floats(&|n| (i[n] as f32).abs().min((j[n] as f32).abs()))),
        ("x", floats(&|n| points[n][0])),
        ("y", floats(&|n| points[n][1])),
        ("z", floats(&|n| points[n][2])),
        ("iadd", ints(&|n| i[n].wrapping_add(j[n]))),
        ("isub", ints(&|n| i[n].wrapping_sub(j[n]))),
        ("imul", ints(&|n| i[n].wrapping_mul(j[n]))),
        ("and", ints(&|n| i[n] & j[n])),
        ("or", ints(&|n| i[n] | j[n])),
        ("xor", ints(&|n| i[n] ^ j[n])),
        ("imax", ints(&|n| i[n].max(j[n]))),
        ("shl", ints(&|n| i[n] << 7)),
        ("shr", ints(&|n| (i[n].cast_unsigned() >> 7).cast_signed())),
        ("sar", ints(&|n| i[n] >> 7)),
        ("shlv", ints(&|n| i[n].checked_shl((j[n] & 63).cast_unsigned()).unwrap_or(0))),
        ("iselect", ints(&|n| if lane(n) { i[n] } else { j[n] })),
        ("icompress", ints(&|n| chosen.get(n).map_or(0, |at| i[*at]))),
        ("truncate", ints(&|n| if a[n].abs() < 2e9 { a[n] as i32 } else { i32::MIN })),
        ("count", ints(&|n| n as i32)),
        ("lt", yes(&|n| a[n] < b[n])),
        ("le", yes(&|n| a[n] <= b[n])),
        ("gt", yes(&|n| a[n] > b[n])),
        ("ge", yes(&|n| a[n] >= b[n])),
        ("equal", yes(&|n| a[n] == b[n])),
        ("ilt", yes(&|n| i[n] < j[n])),
        ("iequal", yes(&|n| i[n] == j[n])),
        ("within", yes(&|n| (-1.0..=1.0).contains(&a[n]))),
        ("finite", yes(&|n| a[n].is_finite())),
        ("logic", yes(&|n| (a[n] < b[n] || lane(n)) && i[n] >= j[n])),
        ("not_at_least", yes(&|n| a[n] < b[n] || a[n].is_nan() || b[n].is_nan())),
    ]
}

#[test]
fn every_set_does_what_plain_rust_does() {
    for seed in 0..300 {
        let input = Input::new(seed);
        let expected = expected(&input);
        for isa in Isa::available() {
            let found = isa.run(All(&input));
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                assert_eq!(found, expected, "{isa:?}, seed {seed}");
            }
        }
    }
}

struct Extremes<'a>(&'a [f32; LANES]);

impl Kernel for Extremes<'_> {
    type Output = [f32; 2];

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> [f32; 2] {
        let v = simd.load(self.0);
        [v.reduce_min(), v.reduce_max()]
    }
}

#[test]
fn the_least_and_the_largest_are_found() {
    for isa in Isa::available() {
        for at in 0..LANES {
            let mut numbers = [1.0; LANES];
            numbers[at] = -3.0;
            numbers[(at + 5) % LANES] = 9.0;
            assert_eq!(isa.run(Extremes(&numbers)), [-3.0, 9.0], "{isa:?} {at}");
        }
    }
}

struct Sines<'a>(&'a [f32; LANES]);

impl Kernel for Sines<'_> {
    type Output = [[f32; LANES]; 2];

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Self::Output {
        let (sin, cos) = simd.load(self.0).sin_cos();
        [sin.to_array(), cos.to_array()]
    }
}

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
fn sine_and_cosine_are_within_their_bound_and_have_the_same_bits_everywhere() {
    let mut worst = 0.0_f64;
    let mut check = |angles: [f32; LANES]| {
        let first = Isa::SCALAR.run(Sines(&angles));
        for isa in Isa::available() {
            let found = isa.run(Sines(&angles)).map(|of| of.map(f32::to_bits));
            assert_eq!(found, first.map(|of| of.map(f32::to_bits)), "{isa:?} {angles:?}");
        }
        for (lane, angle) in angles.into_iter().enumerate() {
            let exact = f64::from(angle).sin_cos();
            let off = (f64::from(first[0][lane]) - exact.0).abs();
            worst = worst.max(off).max((f64::from(first[1][lane]) - exact.1).abs());
        }
    };
    for step in -25_000..=25_000_i32 {
        let at = |lane: usize| (step * 16 + lane as i32) as f32;
        check(std::array::from_fn(|lane| at(lane) * 1.7e-5));
        check(std::array::from_fn(|lane| at(lane) * 0.024_999));
    }
    for quarter in -398..=398 {
        check(std::array::from_fn(|lane| {
            (f64::from(quarter * 16 + lane as i32) * std::f64::consts::FRAC_PI_4) as f32
        }));
    }
    assert!(worst < 2e-7, "{worst:e}");
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
    let mut numbers = Numbers(7);
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
            let expected = if wanted { halves.get(place).copied().unwrap_or(0) } else { 0 };
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
        (wide, running_sums(simd, &wide, 0x0001_0002_0003_0004))
    }
}

#[test]
fn colours_are_widened_and_summed() {
    let mut numbers = Numbers(3);
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

//! Every operation on sixteen lanes with every instruction set that the processor has, against
//! plain Rust.

mod support;

use citrange_lanes::{F32x16, I32x16, Isa, Kernel, LANES, Mask, Simd};
use support::Numbers;

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
        let mut numbers = Numbers::new(seed);
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

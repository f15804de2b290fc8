//! Video4Linux's system calls, as the kernel's `videodev2.h` has them for 64-bit machines: the one
//! place where they are made.
#![allow(unsafe_code)] // system calls on structs of the kernel

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;

use rustix::ioctl::{Opcode, Updater, ioctl, opcode};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

const GROUP: u8 = b'V';
/// Pictures, one plane.
const CAPTURE: u32 = 1;
/// Buffers of the kernel's, seen by us.
const MEMORY_MMAP: u32 = 1;
const CAN_CAPTURE: u32 = 1;
const CAN_STREAM: u32 = 0x0400_0000;
const HAS_DEVICE_CAPS: u32 = 0x8000_0000;
const FLAG_ERROR: u32 = 0x40;
const FLAG_CLOCK: u32 = 0xE000;
const CLOCK_MONOTONIC: u32 = 0x2000;
const DISCRETE: u32 = 1;

const QUERYCAP: Opcode = opcode::read::<V4l2Capability>(GROUP, 0);
const ENUM_FMT: Opcode = opcode::read_write::<V4l2FmtDesc>(GROUP, 2);
const S_FMT: Opcode = opcode::read_write::<V4l2Format>(GROUP, 5);
const REQBUFS: Opcode = opcode::read_write::<V4l2RequestBuffers>(GROUP, 8);
const QUERYBUF: Opcode = opcode::read_write::<V4l2Buffer>(GROUP, 9);
const QBUF: Opcode = opcode::read_write::<V4l2Buffer>(GROUP, 15);
const DQBUF: Opcode = opcode::read_write::<V4l2Buffer>(GROUP, 17);
const STREAMON: Opcode = opcode::write::<u32>(GROUP, 18);
const STREAMOFF: Opcode = opcode::write::<u32>(GROUP, 19);
const S_PARM: Opcode = opcode::read_write::<V4l2StreamParm>(GROUP, 22);
const ENUM_FRAMESIZES: Opcode = opcode::read_write::<V4l2FrmSizeEnum>(GROUP, 74);
const ENUM_FRAMEINTERVALS: Opcode = opcode::read_write::<V4l2FrmIvalEnum>(GROUP, 75);

#[repr(C)]
#[derive(Default)]
struct V4l2Capability {
    names: [u32; 20],
    version: u32,
    capabilities: u32,
    device_caps: u32,
    reserved: [u32; 3],
}

#[repr(C)]
#[derive(Default)]
struct V4l2FmtDesc {
    index: u32,
    kind: u32,
    flags: u32,
    description: [u32; 8],
    fourcc: [u8; 4],
    rest: [u32; 4],
}

/// The union of all formats is aligned like a pointer.
#[repr(C, align(8))]
struct V4l2Format {
    kind: u32,
    pad: u32,
    width: u32,
    height: u32,
    fourcc: [u8; 4],
    rest: [u32; 47],
}

#[repr(C)]
struct V4l2StreamParm {
    kind: u32,
    capability: u32,
    mode: u32,
    numerator: u32,
    denominator: u32,
    rest: [u32; 46],
}

#[repr(C)]
#[derive(Default)]
struct V4l2RequestBuffers {
    count: u32,
    kind: u32,
    memory: u32,
    rest: [u32; 2],
}

#[repr(C, align(8))]
#[derive(Default)]
struct V4l2Buffer {
    index: u32,
    kind: u32,
    bytes_used: u32,
    flags: u32,
    field: u32,
    pad: u32,
    seconds: i64,
    microseconds: i64,
    timecode: [u32; 4],
    sequence: u32,
    memory: u32,
    /// Of the union: the offset to be mapped.
    offset: u32,
    offset_rest: u32,
    length: u32,
    rest: [u32; 3],
}

#[repr(C)]
#[derive(Default)]
struct V4l2FrmSizeEnum {
    index: u32,
    fourcc: [u8; 4],
    kind: u32,
    width: u32,
    height: u32,
    rest: [u32; 6],
}

#[repr(C)]
#[derive(Default)]
struct V4l2FrmIvalEnum {
    index: u32,
    fourcc: [u8; 4],
    width: u32,
    height: u32,
    kind: u32,
    numerator: u32,
    denominator: u32,
    rest: [u32; 6],
}

/// Makes a call that reads or fills a struct.
///
/// # Safety
/// `OPCODE` must be that of a call whose argument points to a `T`.
unsafe fn call<const OPCODE: Opcode, T>(file: &File, value: &mut T) -> io::Result<()> {
    loop {
        // SAFETY: the caller says that the call takes a pointer to a T; it lives for the call.
        let done = unsafe { ioctl(file, Updater::<OPCODE, T>::new(value)) };
        match done {
            Err(rustix::io::Errno::INTR) => {}
            done => return Ok(done?),
        }
    }
}

/// Width, height and letters of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Format {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) fourcc: [u8; 4],
}

/// A fraction of a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fraction {
    pub(super) numerator: u32,
    pub(super) denominator: u32,
}

/// A buffer that was filled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buffer {
    pub(super) index: u32,
    pub(super) used: u32,
    pub(super) is_damaged: bool,
    /// When, where the driver's clock is the monotonic one.
    pub(super) monotonic_ns: Option<u64>,
}

/// Whether it gives pictures into buffers.
pub(super) fn can_stream(file: &File) -> io::Result<bool> {
    let mut has = V4l2Capability::default();
    // SAFETY: QUERYCAP fills a struct v4l2_capability.
    unsafe { call::<QUERYCAP, _>(file, &mut has) }?;
    let can =
        if has.capabilities & HAS_DEVICE_CAPS == 0 { has.capabilities } else { has.device_caps };
    Ok(can & CAN_CAPTURE != 0 && can & CAN_STREAM != 0)
}

/// The letters of its formats, one by one.
pub(super) fn format_at(file: &File, index: u32) -> Option<[u8; 4]> {
    let mut has = V4l2FmtDesc { index, kind: CAPTURE, ..V4l2FmtDesc::default() };
    // SAFETY: ENUM_FMT fills a struct v4l2_fmtdesc.
    unsafe { call::<ENUM_FMT, _>(file, &mut has) }.ok()?;
    Some(has.fourcc)
}

/// Its sizes in a format, one by one; of a range the usual size, where it is within.
pub(super) fn size_at(file: &File, fourcc: [u8; 4], index: u32) -> Option<[u32; 2]> {
    let mut has = V4l2FrmSizeEnum { index, fourcc, ..V4l2FrmSizeEnum::default() };
    // SAFETY: ENUM_FRAMESIZES fills a struct v4l2_frmsizeenum.
    unsafe { call::<ENUM_FRAMESIZES, _>(file, &mut has) }.ok()?;
    if has.kind == DISCRETE {
        return Some([has.width, has.height]);
    }
    // Of a range: least and most across, a step, least and most down, a step.
    let (most_width, least_height, most_height) = (has.height, has.rest[1], has.rest[2]);
    let usual = super::super::USUAL.0;
    Some([
        usual[0].clamp(has.width, most_width.max(has.width)),
        usual[1].clamp(least_height, most_height.max(least_height)),
    ])
}

/// Its rates in a format and size, one by one; of a range the shortest interval.
pub(super) fn interval_at(file: &File, format: Format, index: u32) -> Option<Fraction> {
    let Format { width, height, fourcc } = format;
    let mut has = V4l2FrmIvalEnum { index, fourcc, width, height, ..V4l2FrmIvalEnum::default() };
    // SAFETY: ENUM_FRAMEINTERVALS fills a struct v4l2_frmivalenum.
    unsafe { call::<ENUM_FRAMEINTERVALS, _>(file, &mut has) }.ok()?;
    Some(Fraction { numerator: has.numerator, denominator: has.denominator })
}

/// Asks for a format; answers what it takes.
pub(super) fn set_format(file: &File, wanted: Format) -> io::Result<Format> {
    let Format { width, height, fourcc } = wanted;
    let mut has = V4l2Format { kind: CAPTURE, pad: 0, width, height, fourcc, rest: [0; 47] };
    // SAFETY: S_FMT reads and fills a struct v4l2_format.
    unsafe { call::<S_FMT, _>(file, &mut has) }?;
    Ok(Format { width: has.width, height: has.height, fourcc: has.fourcc })
}

/// Asks for a rate; answers what it takes.
pub(super) fn set_interval(file: &File, wanted: Fraction) -> io::Result<Fraction> {
    let Fraction { numerator, denominator } = wanted;
    let mut has = V4l2StreamParm {
        kind: CAPTURE,
        capability: 0,
        mode: 0,
        numerator,
        denominator,
        rest: [0; 46],
    };
    // SAFETY: S_PARM reads and fills a struct v4l2_streamparm.
    unsafe { call::<S_PARM, _>(file, &mut has) }?;
    Ok(Fraction { numerator: has.numerator, denominator: has.denominator })
}

/// Has buffers made, and maps them.
pub(super) fn map_buffers(file: &File, count: u32) -> io::Result<Vec<Mapping>> {
    let mut asked =
        V4l2RequestBuffers { count, kind: CAPTURE, memory: MEMORY_MMAP, ..Default::default() };
    // SAFETY: REQBUFS reads and fills a struct v4l2_requestbuffers.
    unsafe { call::<REQBUFS, _>(file, &mut asked) }?;
    if asked.count == 0 {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    let map = |index| {
        let mut buffer =
            V4l2Buffer { index, kind: CAPTURE, memory: MEMORY_MMAP, ..V4l2Buffer::default() };
        // SAFETY: QUERYBUF reads and fills a struct v4l2_buffer.
        unsafe { call::<QUERYBUF, _>(file, &mut buffer) }?;
        Mapping::new(file, buffer.length as usize, u64::from(buffer.offset))
    };
    (0..asked.count).map(map).collect()
}

/// Gives a buffer to the driver.
pub(super) fn queue(file: &File, index: u32) -> io::Result<()> {
    let mut buffer =
        V4l2Buffer { index, kind: CAPTURE, memory: MEMORY_MMAP, ..V4l2Buffer::default() };
    // SAFETY: QBUF reads and fills a struct v4l2_buffer.
    unsafe { call::<QBUF, _>(file, &mut buffer) }
}

/// Takes a filled buffer.
pub(super) fn dequeue(file: &File) -> io::Result<Buffer> {
    let mut buffer = V4l2Buffer { kind: CAPTURE, memory: MEMORY_MMAP, ..V4l2Buffer::default() };
    // SAFETY: DQBUF reads and fills a struct v4l2_buffer.
    unsafe { call::<DQBUF, _>(file, &mut buffer) }?;
    let at_ns = i128::from(buffer.seconds) * 1_000_000_000 + i128::from(buffer.microseconds) * 1000;
    let is_monotonic = buffer.flags & FLAG_CLOCK == CLOCK_MONOTONIC;
    Ok(Buffer {
        index: buffer.index,
        used: buffer.bytes_used,
        is_damaged: buffer.flags & FLAG_ERROR != 0,
        monotonic_ns: u64::try_from(at_ns).ok().filter(|_| is_monotonic),
    })
}

/// Pictures are taken from now on.
pub(super) fn stream_on(file: &File) -> io::Result<()> {
    let mut kind = CAPTURE;
    // SAFETY: STREAMON reads an int.
    unsafe { call::<STREAMON, _>(file, &mut kind) }
}

/// No more pictures are taken.
pub(super) fn stream_off(file: &File) -> io::Result<()> {
    let mut kind = CAPTURE;
    // SAFETY: STREAMOFF reads an int.
    unsafe { call::<STREAMOFF, _>(file, &mut kind) }
}

/// A buffer of the driver's in our memory, to be read.
#[derive(Debug)]
pub(super) struct Mapping {
    at: *mut core::ffi::c_void,
    length: usize,
}

// SAFETY: memory that is mapped is the whole process's; whoever has the mapping may read it.
unsafe impl Send for Mapping {}

impl Mapping {
    fn new(file: &File, length: usize, offset: u64) -> io::Result<Self> {
        let (protection, flags) = (ProtFlags::READ, MapFlags::SHARED);
        // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing of ours.
        let at = unsafe {
            mmap(core::ptr::null_mut(), length, protection, flags, file.as_fd(), offset)
        }?;
        Ok(Self { at, length })
    }

    /// What is in it. To be read only while the buffer is not queued.
    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping is readable, so long, and lives as long as this borrow. The driver
        // writes into it only while it is queued, and the caller has it out of the queue.
        unsafe { core::slice::from_raw_parts(self.at.cast::<u8>(), self.length) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and nobody borrows it any more.
        let _cannot_fail = unsafe { munmap(self.at, self.length) };
    }
}

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use super::*;

    /// The numbers that the kernel's header gives on 64-bit machines; sizes are part of them.
    #[test]
    fn calls_have_the_kernels_numbers() {
        let numbers = [
            (QUERYCAP, 0x8068_5600_u32),
            (ENUM_FMT, 0xC040_5602),
            (S_FMT, 0xC0D0_5605),
            (REQBUFS, 0xC014_5608),
            (QUERYBUF, 0xC058_5609),
            (QBUF, 0xC058_560F),
            (DQBUF, 0xC058_5611),
            (STREAMON, 0x4004_5612),
            (STREAMOFF, 0x4004_5613),
            (S_PARM, 0xC0CC_5616),
            (ENUM_FRAMESIZES, 0xC02C_564A),
            (ENUM_FRAMEINTERVALS, 0xC034_564B),
        ];
        for (is, kernel) in numbers {
            assert_eq!(is, kernel as Opcode, "{is:#x} {kernel:#x}");
        }
        assert_eq!(core::mem::offset_of!(V4l2Buffer, offset), 64);
        assert_eq!(core::mem::offset_of!(V4l2Buffer, length), 72);
        assert_eq!(core::mem::offset_of!(V4l2Format, width), 8);
    }
}

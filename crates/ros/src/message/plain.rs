//! Messages of one value.

use super::{Message, Time};
use crate::error::RosError;
use crate::wire::{Reader, Writer};

macro_rules! plain {
    ($(#[$doc:meta])* $name:ident($type:ty), $ros:literal, $md5:literal, $fields:literal, $read:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name(
            /// The value.
            pub $type,
        );

        impl Message for $name {
            const TYPE: &'static str = $ros;
            const MD5: &'static str = $md5;
            const FIELDS: &'static str = $fields;
            const PARTS: &'static [(&'static str, &'static str)] = &[];

            fn read(reader: &mut Reader<'_>) -> Result<Self, RosError> {
                Ok(Self(reader.$read("data")?))
            }

            fn write(&self, writer: &mut Writer) {
                self.put(writer);
            }
        }
    };
}

plain!(
    /// `std_msgs/Bool`.
    Bool(bool), "std_msgs/Bool", "8b94c1b53db61fb6aed406028ad6332a", "bool data\n", bool
);
plain!(
    /// `std_msgs/Float64`.
    Float64(f64), "std_msgs/Float64", "fdb28210bfa9d7c91146260178d9a584", "float64 data\n", f64
);
plain!(
    /// `std_msgs/String`.
    Text(String), "std_msgs/String", "992ce8a1687cec8c8bd883ec73ca41d1", "string data\n", string
);
plain!(
    /// Any type that is one signed byte: modes of a UR, whose constants (and so whose md5sum) differ
    /// between versions of its driver. For subscribers only.
    Int8(i8), "*", "*", "int8 mode\n", i8
);

impl Bool {
    fn put(&self, writer: &mut Writer) {
        writer.bool(self.0);
    }
}

impl Float64 {
    fn put(&self, writer: &mut Writer) {
        writer.f64(self.0);
    }
}

impl Text {
    fn put(&self, writer: &mut Writer) {
        writer.string(&self.0);
    }
}

impl Int8 {
    fn put(&self, writer: &mut Writer) {
        writer.u8(self.0.cast_unsigned());
    }
}

/// `rosgraph_msgs/Clock`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock(
    /// What time it is.
    pub Time,
);

impl Message for Clock {
    const TYPE: &'static str = "rosgraph_msgs/Clock";
    const MD5: &'static str = "a9c97c1d230cfc112e270351a944ee47";
    const FIELDS: &'static str = "time clock\n";
    const PARTS: &'static [(&'static str, &'static str)] = &[];

    fn read(reader: &mut Reader<'_>) -> Result<Self, RosError> {
        Ok(Self(Time::read(reader, "clock")?))
    }

    fn write(&self, writer: &mut Writer) {
        self.0.write(writer);
    }
}

/// The answer of a `std_srvs/Trigger` service; its request is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TriggerAnswer {
    /// Whether it was done.
    pub success: bool,
    /// What is said of it.
    pub message: String,
}

impl Message for TriggerAnswer {
    const TYPE: &'static str = "std_srvs/Trigger";
    const MD5: &'static str = "937c9679a518e3a18d831e57125ea522";
    const FIELDS: &'static str = "bool success\nstring message\n";
    const PARTS: &'static [(&'static str, &'static str)] = &[];

    fn read(reader: &mut Reader<'_>) -> Result<Self, RosError> {
        Ok(Self { success: reader.bool("success")?, message: reader.string("message")? })
    }

    fn write(&self, writer: &mut Writer) {
        writer.bool(self.success);
        writer.string(&self.message);
    }
}

//! Why a thing cannot be taken, with the figures that say so.

use crate::reason::Reason;

/// What stands against a grasp. The later ones are nearer to success.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Refusal {
    /// The hand does not get there.
    Unreachable { error_m: f64, tilt_rad: f64, most_tilt_deg: f64, height_m: f64 },
    /// It does not fit between the jaws.
    TooWide { width_m: f64, opening_m: f64, clearance_m: f64 },
    /// The closed jaws leave more room than it fills.
    TooThin { width_m: f64, least_m: f64 },
    /// A jaw is not beside it.
    NotBeside,
    /// The hand itself would stand in it.
    InTheHand { by_m: f64 },
    /// The hand would be in the floor.
    Floor { by_m: f64 },
    /// The jaws would press so slantingly that it slips out.
    Slanting { slant_deg: f64, most_deg: f64, wedge_deg: f64, most_wedge_deg: f64 },
    /// Only the very tips would hold it.
    Shallow { by_m: f64, least_m: f64 },
    /// Something else is in the way.
    Blocked { by: String, missing_m: f64 },
}

impl Refusal {
    /// Its code.
    pub(crate) fn reason(&self) -> Reason {
        match self {
            Self::Unreachable { .. } => Reason::IkUnreachable,
            Self::TooWide { .. } => Reason::TooWide,
            Self::TooThin { .. } => Reason::TooThin,
            Self::NotBeside
            | Self::InTheHand { .. }
            | Self::Slanting { .. }
            | Self::Shallow { .. } => Reason::NoGrip,
            Self::Floor { .. } => Reason::Floor,
            Self::Blocked { .. } => Reason::Blocked,
        }
    }

    /// How near to success it was: the kind first, then the figure.
    pub(crate) fn nearness(&self) -> [f64; 2] {
        match self {
            Self::Unreachable { error_m, .. } => [0.0, -error_m],
            Self::NotBeside => [1.0, 0.0],
            Self::TooWide { width_m, opening_m, .. } => [2.0, opening_m - width_m],
            Self::TooThin { width_m, least_m } => [3.0, width_m - least_m],
            Self::Floor { by_m } => [4.0, -by_m],
            Self::InTheHand { by_m } => [5.0, -by_m],
            Self::Shallow { by_m, .. } => [6.0, *by_m],
            Self::Slanting { slant_deg, wedge_deg, .. } => [7.0, -slant_deg.max(*wedge_deg)],
            Self::Blocked { missing_m, .. } => [8.0, -missing_m],
        }
    }

    /// For people.
    pub(crate) fn text(&self) -> String {
        let mm = |m: &f64| (m * 1e4).round() / 10.0;
        match self {
            Self::Unreachable { error_m, tilt_rad, most_tilt_deg, height_m } => {
                let tilt = tilt_rad.to_degrees().round();
                let (off, high) = (mm(error_m), mm(height_m));
                if *error_m > 0.0005 {
                    format!("the hand comes no nearer than {off} mm at a height of {high} mm")
                } else {
                    format!(
                        "at a height of {high} mm the tool would lean {tilt} degrees, \
                         at most {most_tilt_deg} are allowed"
                    )
                }
            }
            Self::TooWide { width_m, opening_m, clearance_m } => format!(
                "it is {} mm wide where the jaws go; they open {} mm there, and {} mm must be left",
                mm(width_m),
                mm(opening_m),
                mm(clearance_m)
            ),
            Self::TooThin { width_m, least_m } => format!(
                "it is {} mm wide where the jaws go; closed they leave {} mm there",
                mm(width_m),
                mm(least_m)
            ),
            Self::NotBeside => "no height brings both jaws beside it".to_owned(),
            Self::InTheHand { by_m } => {
                format!("it would reach {} mm into the hand", mm(by_m))
            }
            Self::Floor { by_m } => {
                format!("the jaw tips would be {} mm below the table and its clearance", mm(by_m))
            }
            Self::Slanting { slant_deg, most_deg, wedge_deg, most_wedge_deg } => format!(
                "the jaws would stand {} degrees to each other and press {} off the line between \
                 them; at most {most_wedge_deg} and {most_deg} hold",
                wedge_deg.round(),
                slant_deg.round()
            ),
            Self::Shallow { by_m, least_m } => format!(
                "only {} mm of the jaws would be beside it, {} are needed",
                mm(by_m),
                mm(least_m)
            ),
            Self::Blocked { by, missing_m } => {
                format!("{by} is in the way: the open jaws lack {} mm", mm(missing_m))
            }
        }
    }
}

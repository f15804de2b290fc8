//! What a page wants of the autopilot, as far as this stage has it.

use citrange_teleop::AutopilotRequest;

use crate::protocol::{Aim, clean};
use citrange_teleop::telemetry::AutopilotInfo;

/// What the autopilot of this stage is to do.
pub(crate) fn request(
    aim: &Aim,
    autopilot: Option<&AutopilotInfo>,
) -> Result<AutopilotRequest, String> {
    let Some(AutopilotInfo { targets, .. }) = autopilot else {
        return Err("there is no autopilot here".into());
    };
    let number = match aim {
        Aim::Key(0) => return Ok(AutopilotRequest::All),
        Aim::Key(key) => Some(usize::from(*key)).filter(|number| *number <= targets.len()),
        Aim::Name(name) => targets.iter().position(|known| known == name).map(|at| at + 1),
    };
    number.map(AutopilotRequest::Target).ok_or_else(|| {
        let asked = match aim {
            Aim::Key(key) => key.to_string(),
            Aim::Name(name) => clean(name),
        };
        let keys = targets.iter().enumerate().map(|(at, name)| format!("{} {name}", at + 1));
        let keys: Vec<String> = keys.collect();
        format!("there is no target {asked}; there are {}", keys.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_go_by_key_and_by_name_and_others_are_refused() {
        let targets = vec!["orange_1".to_owned(), "orange_2".to_owned()];
        let stage = AutopilotInfo { targets, states: vec![] };
        let of = |aim| request(&aim, Some(&stage));
        assert_eq!(of(Aim::Key(0)), Ok(AutopilotRequest::All));
        assert_eq!(of(Aim::Key(2)), Ok(AutopilotRequest::Target(2)));
        assert_eq!(of(Aim::Name("orange_1".into())), Ok(AutopilotRequest::Target(1)));
        let said = of(Aim::Key(3)).unwrap_err();
        assert_eq!(said, "there is no target 3; there are 1 orange_1, 2 orange_2");
        let said = of(Aim::Name("apple\n".into())).unwrap_err();
        assert!(said.contains("no target apple;"), "{said}");
        assert!(request(&Aim::Key(0), None).unwrap_err().contains("no autopilot"));
    }
}

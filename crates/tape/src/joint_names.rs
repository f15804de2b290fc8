//! Joints of somebody else's MJCF text, and whose they are in a scene of ours.

use citrange_core::restore::JointSlot;

/// How much of a file's joint name is the name of a joint of the scene; 0 when it is another's.
pub(crate) fn likeness(name: &str, slot: &JointSlot) -> usize {
    let plain = name.replace('/', "_");
    let own = slot.name.replace('/', "_");
    if plain == own {
        return usize::MAX;
    }
    if slot.is_free {
        let rest = plain.strip_prefix(&own);
        let usual = ["_joint0", "_joint", "_freejoint", "_free"];
        return if rest.is_some_and(|rest| usual.contains(&rest)) { own.len() } else { 0 };
    }
    let base = slot.name.rsplit('/').next().unwrap_or(&slot.name);
    let ends = plain.strip_suffix(base).is_some_and(|rest| rest.is_empty() || rest.ends_with('_'));
    if ends { base.len() } else { 0 }
}

/// Names of the joints of an MJCF model in the order of their positions, and whether they are
/// free; `None` when it has joints of other kinds or no plain structure.
pub(crate) fn joints_of(xml: &str) -> Option<Vec<(String, bool)>> {
    let mut joints = Vec::new();
    let mut bodies: Vec<String> = Vec::new();
    let mut rest = xml;
    let mut inside = false;
    while let Some(open) = rest.find('<') {
        rest = &rest[open..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = &comment[comment.find("-->")?..];
            continue;
        }
        let end = rest.find('>')?;
        let tag = &rest[1..end];
        rest = &rest[end..];
        let word = tag.split(|c: char| c.is_whitespace() || c == '/').find(|w| !w.is_empty());
        let closes = tag.starts_with('/');
        match word {
            Some("worldbody") => inside = !closes && !tag.ends_with('/'),
            Some("body") if inside && closes => drop(bodies.pop()),
            Some("body") if inside && !tag.ends_with('/') => {
                bodies.push(attribute(tag, "name").unwrap_or_default().to_owned());
            }
            Some(kind @ ("joint" | "freejoint")) if inside && !closes => {
                let own = attribute(tag, "type").unwrap_or("hinge");
                let is_free = kind == "freejoint" || own == "free";
                if own == "ball" {
                    return None;
                }
                // A free joint without a name is its body's.
                let body = bodies.last().map(String::as_str).unwrap_or_default();
                let name = attribute(tag, "name").unwrap_or(body);
                joints.push((name.to_owned(), is_free));
            }
            _ => {}
        }
    }
    (!joints.is_empty()).then_some(joints)
}

/// The value of an attribute of a tag.
pub(crate) fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = tag;
    loop {
        let at = rest.find(name)?;
        let before = rest[..at].chars().next_back();
        let after = rest[at + name.len()..].trim_start();
        if before.is_some_and(char::is_whitespace)
            && let Some(value) = after.strip_prefix('=')
        {
            let value = value.trim_start();
            let quote = value.chars().next().filter(|c| ['"', '\''].contains(c))?;
            return value[1..].split(quote).next();
        }
        rest = &rest[at + name.len()..];
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) const XML: &str = r#"<mujoco><default><joint type="ball"/></default>
        <!-- <joint name="no"/> --><worldbody><body name="base"><joint name="robot0_joint1" class="a"/>
          <body name="hand"><joint type="slide" name="gripper0_right_finger_joint1"/></body></body>
          <body name="cubeB"><freejoint/></body>
          <body name="cubeA_main"><joint name="cubeA_joint0" type='free'/><geom/></body>
        </worldbody><equality><joint joint1="x"/></equality></mujoco>"#;

    #[test]
    fn broken_models_are_no_models() {
        for end in 0..XML.len() {
            let _any = joints_of(&XML[..end]);
        }
        assert_eq!(joints_of("<worldbody><joint type=\"ball\"/></worldbody>"), None);
        assert_eq!(
            joints_of("<worldbody><joint name></worldbody>"),
            Some(vec![("".into(), false)])
        );
    }
}

//! Whatever the ranges: randomised scenes are scenes, and episodes are functions of their index.

use proptest::prelude::*;

use super::*;

fn scene() -> Scene {
    let text = include_str!("../../../../scenes/orange_plate.yaml");
    from_yaml(text, "orange_plate.yaml").unwrap()
}

fn robots() -> BTreeMap<String, RobotDescription> {
    let text = include_str!("../../../../models/so101/robot.yaml");
    BTreeMap::from([("robot0".to_owned(), from_yaml(text, "robot.yaml").unwrap())])
}

fn factor() -> impl Strategy<Value = Factor> {
    (0.01..2.0, 0.0..2.0).prop_map(|(from, more)| [from, from + more])
}

prop_compose! {
    fn colours()(hue_deg in 0.0..400.0, saturation in factor(), value in factor()) -> Colours {
        Colours { hue_deg, saturation, value }
    }
}

prop_compose! {
    fn ranges()(
        (of_objects, of_fixtures, floor) in (colours(), colours(), colours()),
        (friction, mass, rough) in (factor(), factor(), factor()),
        (intensity, ambient) in (factor(), factor()),
        direction_deg in 0.0..180.0,
        (position_m, orientation_deg, fovy_deg) in (0.0..0.5, 0.0..180.0, 0.0..200.0),
        arm_joints_rad in 0.0..0.5,
    ) -> Randomise {
        Randomise {
            objects: Objects { colours: of_objects, alike: vec!["orange".into()], friction, mass },
            fixtures: Fixtures { colours: of_fixtures, friction: rough },
            floor,
            light: Lamps { intensity, direction_deg, ambient },
            cameras: Cameras { position_m, orientation_deg, fovy_deg },
            robots: Robots { friction: rough, arm_joints_rad },
        }
    }
}

proptest! {
    #[test]
    fn always_a_scene_and_a_function_of_the_index(
        how in ranges(), seed: u64, episode in 0..u64::MAX - 1,
    ) {
        how.check().unwrap();
        let (plain, robots) = (scene(), robots());
        let one = randomised(&plain, &robots, &how, seed, episode);
        one.check().unwrap();
        prop_assert_eq!(&one, &randomised(&plain, &robots, &how, seed, episode));
        prop_assert_ne!(&one, &randomised(&plain, &robots, &how, seed, episode + 1));
        prop_assert_ne!(&one, &randomised(&plain, &robots, &how, seed ^ 1, episode));
        let colours = one.objects.values().flat_map(|o| &o.parts).map(|p| p.rgba);
        prop_assert!(colours.flatten().all(|c| (0.0..=1.0).contains(&c)));
    }
}

#[test]
fn nothing_asked_is_nothing_changed() {
    let how = Randomise::default();
    how.check().unwrap();
    assert_eq!(randomised(&scene(), &robots(), &how, 3, 4), scene());
}

#[test]
fn the_built_in_ranges_are_kept() {
    let how = Randomise::built_in().unwrap();
    how.check().unwrap();
    let (plain, robots) = (scene(), robots());
    let (mut lightest, mut heaviest) = (f64::INFINITY, 0.0f64);
    for episode in 0..300 {
        let one = randomised(&plain, &robots, &how, 0, episode);
        let orange = |n: u32| &one.objects[&format!("orange_{n}")].parts[0];
        // Alike in colour, each with its own mass.
        assert_eq!(orange(1).rgba, orange(2).rgba);
        assert_ne!(orange(1).mass_kg, orange(2).mass_kg);
        let factor = orange(3).mass_kg / plain.objects["orange_3"].parts[0].mass_kg;
        (lightest, heaviest) = (lightest.min(factor), heaviest.max(factor));
        let friction = orange(1).friction.unwrap()[0];
        assert!((0.7..1.3).contains(&friction), "{friction}");
        let shift = one.cameras["front"].pos_m[0] - plain.cameras["front"].pos_m[0];
        assert!(shift.abs() <= 0.005, "{shift}");
        let turned = one.cameras["front"].pose().unwrap().isometry().rotation;
        let rotation = turned.angle_to(&plain.cameras["front"].pose().unwrap().isometry().rotation);
        assert!(rotation.to_degrees() <= 1.0 + 1e-9, "{rotation}");
    }
    assert!(lightest > 0.7 && lightest < 0.72, "{lightest}");
    assert!(heaviest < 1.4 && heaviest > 1.38, "{heaviest}");
}

#[test]
fn wrong_ranges_are_named() {
    let wrong = [
        ("objects: {mass: [0, 1]}", "objects.mass"),
        ("light: {intensity: [1.4, 0.6]}", "light.intensity"),
        ("cameras: {position_m: -0.1}", "cameras.position_m"),
        ("floor: {value: [-1, 1]}", "floor.value"),
    ];
    for (text, key) in wrong {
        let how: Randomise = from_yaml(text, "r.yaml").unwrap();
        let said = how.check().unwrap_err();
        assert!(said.contains(key), "{said}");
    }
    let unknown = from_yaml::<Randomise>("lamp: {}", "r.yaml").unwrap_err();
    assert!(unknown.to_string().contains("lamp"), "{unknown}");
}

//! Where the files of a URDF are: `package://name/path` and what else people write.

use std::path::{Path, PathBuf};

/// Folders above the file that are looked in.
const PARENTS: usize = 12;

/// Folders in which packages and files are looked for, in this order.
#[derive(Clone, Debug)]
pub(crate) struct Packages {
    /// The folder of the file and those above it.
    own: Vec<PathBuf>,
    /// Folders that hold packages, or are packages.
    given: Vec<PathBuf>,
}

impl Packages {
    /// For a file; `folders` come before ROS_PACKAGE_PATH and AMENT_PREFIX_PATH.
    pub(crate) fn new(path: &Path, folders: &[PathBuf]) -> Self {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let own = path.ancestors().skip(1).take(PARENTS).map(Path::to_owned).collect();
        let mut given = folders.to_vec();
        for (variable, below) in
            [("ROS_PACKAGE_PATH", ""), ("AMENT_PREFIX_PATH", "share"), ("CITRANGE_ASSETS", "")]
        {
            if let Some(list) = std::env::var_os(variable) {
                given.extend(std::env::split_paths(&list).map(|folder| folder.join(below)));
            }
        }
        Self { own, given }
    }

    /// Where a file is, if it is anywhere. `mesh_folder`: where the file says its meshes are.
    pub(crate) fn find(&self, uri: &str, mesh_folder: &str) -> Option<PathBuf> {
        let schemes = ["package://", "model://", "package:/"];
        let beside = self.own.first()?;
        if let Some(rest) = schemes.iter().find_map(|scheme| uri.strip_prefix(scheme)) {
            let (package, inside) = rest.split_once('/').unwrap_or(("", rest));
            let all = self.given.iter().chain(&self.own);
            let mut places = all.flat_map(|folder| {
                let is_package = folder.file_name().is_some_and(|name| name == package);
                let within = is_package.then(|| folder.join(inside));
                within.into_iter().chain([folder.join(package).join(inside)])
            });
            // Last, for a package that was taken out of its place: the folders above it.
            return places
                .find(|place| place.is_file())
                .or_else(|| self.own.iter().map(|f| f.join(inside)).find(|f| f.is_file()));
        }
        let plain = uri.strip_prefix("file://").unwrap_or(uri);
        let near = [beside.join(mesh_folder).join(plain), beside.join(plain)];
        let given = self.given.iter().map(|folder| folder.join(plain));
        near.into_iter().chain(given).find(|place| place.is_file())
    }

    /// For people: where was looked.
    pub(crate) fn searched(&self) -> String {
        let near = self.own.first().map(|f| format!("{} and the folders above", f.display()));
        let given = self.given.iter().map(|f| f.display().to_string());
        near.into_iter().chain(given).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_found_above_the_file_and_where_people_say() {
        let root = tempfile::tempdir().unwrap();
        let arm = root.path().join("ws/arm_description");
        let other = root.path().join("elsewhere/hand_description");
        for (folder, file) in [(&arm, "meshes/a.stl"), (&other, "meshes/b.stl")] {
            std::fs::create_dir_all(folder.join("meshes")).unwrap();
            std::fs::write(folder.join(file), "x").unwrap();
        }
        std::fs::create_dir_all(arm.join("urdf")).unwrap();
        let urdf = arm.join("urdf/arm.urdf");
        let alone = Packages::new(&urdf, &[]);
        let found = alone.find("package://arm_description/meshes/a.stl", "");
        assert_eq!(found, Some(arm.join("meshes/a.stl")));
        assert_eq!(alone.find("../meshes/a.stl", ""), Some(arm.join("urdf/../meshes/a.stl")));
        assert_eq!(alone.find("package://hand_description/meshes/b.stl", ""), None);
        let told = Packages::new(&urdf, &[root.path().join("elsewhere")]);
        let found = told.find("package://hand_description/meshes/b.stl", "");
        assert_eq!(found, Some(other.join("meshes/b.stl")));
        assert!(told.searched().contains("elsewhere"));
    }
}

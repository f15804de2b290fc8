//! Sizes that a model file may have. The engine ends the process when memory runs out, so what
//! would ask for too much is refused before it sees it.

use std::fs;
use std::path::{Path, PathBuf};

use roxmltree::{Document, Node};

/// Nodes of an XML file.
pub(crate) const MOST_NODES: u32 = 4_000_000;
/// Size of a file with text.
const MOST_TEXT_BYTES: u64 = 64 << 20;
/// Size of a mesh, texture or height field.
const MOST_ASSET_BYTES: u64 = 512 << 20;
/// Copies that a file may ask for with <replicate>, <composite> and <flexcomp>, all together.
const MOST_COPIES: f64 = 20_000.0;
/// Pixels of a built-in texture, cells of a height field.
const MOST_CELLS: f64 = 64e6;
/// Numbers or bytes that <size> may reserve.
const MOST_RESERVED: f64 = 4e9;
/// Files that include each other.
const MOST_INCLUDES: usize = 200;

/// The text of a model file.
pub(crate) fn read(path: &Path) -> Result<String, String> {
    let size = fs::metadata(path).map_err(|e| e.to_string())?.len();
    if size > MOST_TEXT_BYTES {
        return Err(format!("{size} bytes of text; at most {MOST_TEXT_BYTES} are read"));
    }
    let bytes = fs::read(path).map_err(|e| e.to_string())?;
    String::from_utf8(bytes).map_err(|_| "it is no text in UTF-8".to_owned())
}

/// Checks an MJCF and what it includes.
pub(crate) fn check(path: &Path, document: &Document<'_>) -> Result<(), String> {
    let mut left = MOST_INCLUDES;
    check_file(path.parent().unwrap_or(Path::new("")), document, &mut left)
}

fn check_file(folder: &Path, document: &Document<'_>, left: &mut usize) -> Result<(), String> {
    for node in document.descendants().filter(Node::is_element) {
        let line = document.text_pos_at(node.range().start).row;
        let at = |reason: String| format!("<{}> in line {line}: {reason}", node.tag_name().name());
        check_node(&node).map_err(at)?;
        match node.tag_name().name() {
            "include" => {
                let Some(file) = node.attribute("file") else { continue };
                *left = left.checked_sub(1).ok_or_else(|| {
                    at(format!("more than {MOST_INCLUDES} files include each other"))
                })?;
                let path = folder.join(file);
                // What is not there, the engine says.
                let Ok(text) = read(&path) else { continue };
                let inside = Document::parse(&text)
                    .map_err(|e| format!("{}: not well-formed XML: {e}", path.display()));
                check_file(folder, &inside?, left)
                    .map_err(|reason| format!("{}: {reason}", path.display()))?;
            }
            "mesh" | "texture" | "hfield" | "skin" => {
                let Some(file) = node.attribute("file") else { continue };
                let size = fs::metadata(asset(folder, document, file)).map_or(0, |m| m.len());
                if size > MOST_ASSET_BYTES {
                    let most = MOST_ASSET_BYTES;
                    return Err(at(format!("{file} has {size} bytes; at most {most} are read")));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn asset(folder: &Path, document: &Document<'_>, file: &str) -> PathBuf {
    let compiler = document.descendants().find(|n| n.has_tag_name("compiler"));
    let below = compiler.and_then(|n| n.attribute("meshdir").or_else(|| n.attribute("assetdir")));
    folder.join(below.unwrap_or_default()).join(file)
}

fn check_node(node: &Node<'_, '_>) -> Result<(), String> {
    let numbers = |key: &str| -> Vec<f64> {
        let words = node.attribute(key).unwrap_or_default().split_ascii_whitespace();
        words.filter_map(|word| word.parse().ok()).collect()
    };
    let product = |key: &str| numbers(key).iter().product::<f64>();
    let too_many = |what: &str, found: f64, most: f64| {
        if found.is_finite() && found <= most {
            return Ok(());
        }
        Err(format!("{what} {found}; at most {most} are read"))
    };
    match node.tag_name().name() {
        "replicate" | "composite" | "flexcomp" => {
            let copies = node.ancestors().filter(Node::is_element).map(|outer| {
                let words = outer.attribute("count").unwrap_or("1").split_ascii_whitespace();
                let is_copier =
                    ["replicate", "composite", "flexcomp"].contains(&outer.tag_name().name());
                let count: f64 = words.filter_map(|w| w.parse::<f64>().ok()).product();
                if is_copier { count } else { 1.0 }
            });
            too_many("copies:", copies.product(), MOST_COPIES)
        }
        "texture" => {
            let [w, h] =
                ["width", "height"].map(|key| numbers(key).first().copied().unwrap_or(1.0));
            too_many("pixels:", w * h.max(1.0), MOST_CELLS)
        }
        "hfield" => too_many("cells:", product("nrow") * product("ncol"), MOST_CELLS),
        "size" => {
            let keys = ["nconmax", "njmax", "nstack", "nuserdata", "nkey"];
            for key in keys {
                too_many(
                    &format!("{key}:"),
                    numbers(key).first().copied().unwrap_or(0.0),
                    MOST_RESERVED / 100.0,
                )?;
            }
            let memory = node.attribute("memory").unwrap_or_default();
            too_many("memory in bytes:", bytes(memory), MOST_RESERVED)
        }
        _ => Ok(()),
    }
}

/// `100M` as bytes; 0 for what is no size.
fn bytes(text: &str) -> f64 {
    let text = text.trim();
    let (number, unit) =
        text.split_at(text.find(|c: char| c.is_alphabetic()).unwrap_or(text.len()));
    let power = "KMGTPE".find(|u| unit.to_ascii_uppercase().starts_with(u)).map_or(0, |p| p + 1);
    let unit = 1024_f64.powi(power as i32);
    number.trim().parse::<f64>().map_or(0.0, |n| n * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(body: &str) -> String {
        let text = format!("<mujoco>\n{body}</mujoco>");
        check(Path::new("x.xml"), &Document::parse(&text).unwrap()).unwrap_err()
    }

    #[test]
    fn sizes_that_would_fill_the_memory_are_refused_with_their_line() {
        let nested = "<replicate count=\"1000\"><replicate count=\"1000\"/></replicate>";
        assert!(refusal(nested).contains("<replicate> in line 2: copies: 1000000"));
        assert!(refusal("<size memory=\"900G\"/>").contains("memory"));
        assert!(refusal("<hfield nrow=\"100000\" ncol=\"100000\"/>").contains("cells"));
        assert!(refusal("<texture width=\"100000\" height=\"100000\"/>").contains("pixels"));
        let fine = Document::parse("<mujoco><size memory=\"10M\"/></mujoco>").unwrap();
        check(Path::new("x.xml"), &fine).unwrap();
    }
}

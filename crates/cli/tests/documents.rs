//! Every command line that a document shows can be parsed.

mod common;

use common::{citrange, stderr, temp};

/// Words of a line after `citrange`, without its comment; quoted words are one.
fn words(line: &str) -> Vec<String> {
    let mut all = Vec::new();
    for (index, part) in line.split('"').enumerate() {
        if index % 2 == 1 {
            all.push(part.to_owned());
            continue;
        }
        let (part, comment) = part.split_once('#').map_or((part, None), |(p, c)| (p, Some(c)));
        all.extend(part.split_whitespace().map(str::to_owned));
        if comment.is_some() {
            break;
        }
    }
    all
}

/// The lines that a line with alternatives stands for: `data list|show`, `[--json]`.
fn spelled_out(line: &[String]) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    for word in line {
        let bare = word.trim_start_matches('[').trim_end_matches(']');
        let choices: Vec<&str> = bare.split('|').collect();
        let each = |head: &Vec<String>| -> Vec<Vec<String>> {
            let more = |one: &&str| [head.clone(), vec![(*one).to_owned()]].concat();
            choices.iter().map(more).collect()
        };
        all = all.iter().flat_map(each).collect();
    }
    all
}

#[test]
fn command_lines_of_documents_are_understood() {
    let root = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut files: Vec<_> = std::fs::read_dir(root.join("docs")).unwrap().flatten().collect();
    files.sort_by_key(std::fs::DirEntry::path);
    let documents = files.iter().map(std::fs::DirEntry::path).chain([root.join("README.md")]);
    let here = temp();
    let mut count = 0;
    for path in documents.filter(|path| path.extension().is_some_and(|e| e == "md")) {
        let text = std::fs::read_to_string(&path).unwrap();
        // Code stands between the fences: every second part.
        for line in text.split("```").skip(1).step_by(2).flat_map(str::lines) {
            for part in line.split("citrange ").skip(1).filter(|_| line.starts_with("citrange ")) {
                let line = words(part);
                // Arguments that a reader fills in.
                if line.is_empty() || line.iter().any(|word| word == "…") {
                    continue;
                }
                for line in spelled_out(&line) {
                    let asked = ["config", "show"].into_iter();
                    let asked: Vec<&str> = asked.chain(line.iter().map(String::as_str)).collect();
                    let done = citrange(here.path(), &asked, &[]);
                    let (place, line) = (path.display(), line.join(" "));
                    let said = stderr(&done);
                    // 3: the files of the document are not here.
                    assert_ne!(done.status.code(), Some(2), "{place}: citrange {line}: {said}");
                    assert!(!said.contains("not given:"), "{place}: citrange {line}: {said}");
                    count += 1;
                }
            }
        }
    }
    assert!(count >= 30, "{count} lines");
}

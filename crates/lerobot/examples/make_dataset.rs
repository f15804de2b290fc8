//! Makes small datasets, edited in every way, for other readers to look at:
//! `make_dataset FOLDER` writes FOLDER/created, appended, deleted, trimmed, split, labelled,
//! merged, packed. `make_dataset FOLDER DATASET` edits a copy of a dataset of three episodes or
//! more that another program wrote.

#[path = "../tests/support/synthetic.rs"]
mod synthetic;

use std::error::Error;
use std::path::Path;

use citrange_lerobot::{Dataset, Edit, Packing, Piece, apply, plan, rewrite};

fn edited(from: &Path, to: &Path, edit: &Edit) -> Result<(), Box<dyn Error>> {
    synthetic::copy(from, to);
    let plan = plan(&Dataset::open(to)?, edit)?;
    let trash = to.with_extension("trash");
    apply(&plan, &trash, &|_, _, _| Ok(()), &mut |_, _| {})?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let dir = std::env::args().nth(1).ok_or("usage: make_dataset FOLDER [DATASET]")?;
    let dir = Path::new(&dir);
    if let Some(other) = std::env::args().nth(2) {
        let other = Path::new(&other);
        edited(other, &dir.join("other-deleted"), &Edit::Delete { episodes: vec![1] })?;
        edited(other, &dir.join("other-trimmed"), &Edit::Trim { episode: 0, frames: 4..20 })?;
        let label = Edit::Label { episodes: vec![2], task: "something else".into() };
        return edited(other, &dir.join("other-labelled"), &label);
    }
    let scratch = dir.join("scratch");
    let created = dir.join("created");
    synthetic::make(&created, &scratch, &[20, 26, 17]);
    synthetic::copy(&created, &dir.join("appended"));
    synthetic::make(&dir.join("appended"), &scratch, &[31]);
    let edits = [
        ("deleted", Edit::Delete { episodes: vec![1] }),
        ("trimmed", Edit::Trim { episode: 1, frames: 7..22 }),
        ("split", Edit::Split { episode: 0, at: 9 }),
        ("labelled", Edit::Label { episodes: vec![0, 2], task: "stack the cups".into() }),
    ];
    for (name, edit) in edits {
        edited(&created, &dir.join(name), &edit)?;
    }
    let (a, b) = (Dataset::open(&created)?, Dataset::open(dir.join("appended"))?);
    let mut pieces = Vec::new();
    for set in [&a, &b] {
        for episode in 0..set.episodes().len() {
            pieces.push(Piece::whole(set, episode)?);
        }
    }
    rewrite(&pieces, &dir.join("merged"), Packing::PerEpisode, &mut |_, _| {})?;
    rewrite(&pieces, &dir.join("packed"), Packing::Packed, &mut |_, _| {})?;
    Ok(())
}

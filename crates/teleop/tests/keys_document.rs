//! `docs/keys.md` says what the table of keys says.

use std::path::Path;

#[test]
fn the_document_is_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/keys.md");
    let table = citrange_teleop::key_document();
    if std::env::var_os("CITRANGE_UPDATE_DOCS").is_some() {
        std::fs::write(&path, &table).unwrap();
    }
    let document = std::fs::read_to_string(&path).unwrap();
    assert!(
        document == table,
        "docs/keys.md is not the table of keys; write it again with CITRANGE_UPDATE_DOCS=1 \
         cargo test --workspace --test keys_document"
    );
}

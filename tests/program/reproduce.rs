//! `dashpot reproduce`: claims are tried, told, and kept.

use crate::common::{dashpot, refused, succeeds};
use std::path::Path;

fn json(folder: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(folder.join("reproduction.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The claims of a few seconds: none fails, and none is *not reproduced* without saying why.
#[test]
fn quick_claims_are_tried_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let said = succeeds(folder.path(), &["reproduce", "--quick", "--out", "."]);
    let entries = json(folder.path());
    assert!(said.contains(&format!("{} claims:", entries.len())), "{said}");
    for entry in &entries {
        assert!(entry["error"].is_null(), "{entry}");
        let reasons = entry["reason"].as_str().unwrap();
        assert!(entry["verdict"] == "reproduced" || !reasons.is_empty(), "{}: says no reason", entry["name"]);
    }
    let page = std::fs::read_to_string(folder.path().join("reproduction.html")).unwrap();
    let text = std::fs::read_to_string(folder.path().join("reproduction.md")).unwrap();
    for entry in &entries {
        let name = entry["name"].as_str().unwrap();
        assert!(page.contains(&format!("<article id=\"{name}\">")) && text.contains(&format!("### {name}")));
        for picture in entry["pictures"].as_array().unwrap() {
            assert!(text.contains(picture["file"].as_str().unwrap()), "{name}");
        }
    }
    assert!(!page.contains("src=\"reproduction/"), "the page stands alone");
}

/// A run that was stopped goes on where it was: results of the same program are kept, pictures that are missing are made again.
#[test]
fn results_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let claim = ["reproduce", "laplacian/momentum", "--quick", "--out", "."];
    succeeds(folder.path(), &claim);
    let first = json(folder.path());
    let again = || {
        let output = dashpot(folder.path(), &claim);
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(again().contains("kept"));
    assert_eq!(json(folder.path()), first, "seconds included");
    let picture = first[0]["pictures"][0]["file"].as_str().unwrap().to_string();
    std::fs::remove_file(folder.path().join("reproduction").join(&picture)).unwrap();
    assert!(!again().contains("kept"));
    assert!(folder.path().join("reproduction").join(&picture).is_file());
}

#[test]
fn names_are_checked_and_listed() {
    let folder = tempfile::tempdir().unwrap();
    refused(folder.path(), &["reproduce", "laplacian/momentun"], &["did you mean `laplacian/momentum`?"]);
    assert!(!folder.path().join("reproduction").exists(), "nothing is written before names are checked");
    let list = succeeds(folder.path(), &["reproduce", "--list"]);
    assert!(list.contains("laplacian/momentum") && list.contains("Section 4"), "{list}");
}

//! Every file of tests is named where it has to be: one that is not would never be compiled, and nobody would miss it.

use std::fs;
use std::path::Path;

#[test]
fn every_file_of_tests_is_a_module_of_its_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut files = 0;
    for folder in fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()) {
        let Ok(main) = fs::read_to_string(folder.join("main.rs")) else { continue };
        for file in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = file.file_stem().unwrap().to_str().unwrap();
            let named = main.lines().any(|line| line == format!("mod {name};"));
            assert!(named || name == "main", "{} is not in main.rs beside it", file.display());
            files += 1;
        }
    }
    assert!(files > 7, "only {files} files were looked at");
}

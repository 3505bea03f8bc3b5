//! NumPy archives: ZIP with NPY inside, as `numpy.savez_compressed` writes them.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// One array, row by row.
pub struct Array {
    pub shape: Vec<usize>,
    pub values: Vec<f64>,
}

/// All arrays of an archive, by name.
pub fn read(path: &Path) -> HashMap<String, Array> {
    let mut archive = zip::ZipArchive::new(File::open(path).unwrap()).unwrap();
    let names: Vec<String> = archive.file_names().map(str::to_owned).collect();
    let mut arrays = HashMap::new();
    for name in names {
        let mut bytes = Vec::new();
        archive.by_name(&name).unwrap().read_to_end(&mut bytes).unwrap();
        arrays.insert(name.trim_end_matches(".npy").to_owned(), array(&bytes));
    }
    arrays
}

fn array(bytes: &[u8]) -> Array {
    assert_eq!(&bytes[..6], b"\x93NUMPY");
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = std::str::from_utf8(&bytes[10..10 + length]).unwrap();
    assert!(header.contains("'fortran_order': False"));
    let between = |open: &str, close: char| {
        let rest = header.split_once(open).unwrap().1;
        rest.split_once(close).unwrap().0.to_owned()
    };
    let shape: Vec<usize> =
        between("'shape': (", ')').split(',').filter_map(|n| n.trim().parse().ok()).collect();
    let data = &bytes[10 + length..];
    let values: Vec<f64> = match between("'descr': '", '\'').as_str() {
        "<f4" => data.as_chunks().0.iter().map(|b| f64::from(f32::from_le_bytes(*b))).collect(),
        "<f8" => data.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b)).collect(),
        "<i2" => data.as_chunks().0.iter().map(|b| f64::from(i16::from_le_bytes(*b))).collect(),
        other => panic!("array of {other}"),
    };
    assert_eq!(values.len(), shape.iter().product::<usize>());
    Array { shape, values }
}

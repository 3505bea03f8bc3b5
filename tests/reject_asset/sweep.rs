//! Everything changed, a little at a time.

use proptest::prelude::*;
use serde_json::Value;
use throng::asset::{Compression, glb};

use crate::vat_glb::{Shape, with_json};
use crate::{decode, good, good_zstd, patch_words};

fn small_files() -> [Vec<u8>; 2] {
    let asset = Shape { textured: false, ..Shape::default() }.asset();
    [Compression::None, Compression::Zstd].map(|compression| {
        let file = glb::encode(&asset, compression);
        assert!((3000..6000).contains(&file.len()), "{}", file.len());
        assert_eq!(decode(file.clone()).unwrap(), asset);
        file
    })
}

#[test]
fn every_truncation_is_refused() {
    for file in small_files() {
        let length = file.len();
        for end in 0..length {
            let mut cut = file[..end].to_vec();
            assert!(decode(cut.clone()).is_err(), "{end} of {length} bytes");
            // A header that admits to the shorter file leads deeper.
            if end >= 12 {
                cut[8..12].copy_from_slice(&(end as u32).to_le_bytes());
                assert!(decode(cut).is_err(), "{end} of {length} bytes");
            }
        }
    }
}

#[test]
fn a_changed_byte_is_refused_or_harmless() {
    for file in small_files() {
        let mut refused = 0;
        for at in 0..file.len() {
            for change in [file[at] ^ 0xff, file[at] ^ 0x01, file[at] ^ 0x80, b'9'] {
                let mut changed = file.clone();
                changed[at] = change;
                refused += usize::from(decode(changed).is_err());
            }
        }
        assert!(refused > file.len(), "{refused}");
    }
}

#[test]
fn a_changed_header_is_refused() {
    for file in small_files() {
        for at in 0..20 {
            for change in 1..=255 {
                let mut changed = file.clone();
                changed[at] ^= change;
                assert!(decode(changed).is_err(), "byte {at} changed by {change:#x}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn noise_is_refused(noise in prop::collection::vec(any::<u8>(), 0..200)) {
        glb::sniff(&noise);
        glb::sniff(&[b"glTF\x02\0\0\0", &noise[..]].concat());
        prop_assert!(decode(noise.clone()).is_err());
        prop_assert!(decode(with_json(&noise, &noise)).is_err());
    }

    #[test]
    fn any_number_in_any_place_is_refused_or_harmless(place in any::<prop::sample::Index>(), number in number()) {
        let chunks = good();
        let places = numbers(&chunks.json, String::new());
        prop_assert!(places.len() > 90, "{}", places.len());
        let _ = decode(chunks.set(place.get(&places), number).file());
    }

    #[test]
    fn any_words_in_a_texel_header_are_refused_or_harmless(word in 3usize..44, value in edge()) {
        let _ = decode(patch_words(good(), word * 4, &[value]).file());
        let _ = decode(patch_words(good_zstd(), word * 4, &[value]).file());
    }
}

fn edge() -> impl Strategy<Value = u32> {
    prop_oneof![
        any::<u32>(),
        0..8u32,
        (0..32u32).prop_map(|bit| 1 << bit),
        (0..8u32).prop_map(|low| u32::MAX - low)
    ]
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        edge().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<f32>().prop_map(Value::from),
    ]
}

/// JSON pointers of all numbers.
fn numbers(value: &Value, pointer: String) -> Vec<String> {
    match value {
        Value::Number(_) => vec![pointer],
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.flat_map(|(index, item)| numbers(item, format!("{pointer}/{index}"))).collect()
        }
        Value::Object(fields) => {
            let fields = fields.iter();
            fields.flat_map(|(key, item)| numbers(item, format!("{pointer}/{key}"))).collect()
        }
        _ => Vec::new(),
    }
}

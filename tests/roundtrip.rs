//! The asset file: what is written is read back, byte for byte, and readers that are not ours agree.
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    unreachable_pub,
    dead_code,
    reason = "a test may panic"
)]

mod vat_glb;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use boon::{Compiler, SchemaIndex, Schemas};
use bytes::Bytes;
use proptest::prelude::*;
use serde_json::{Value, json};
use throng::asset::{Asset, Compression, Parts, glb};
use throng::mesh::{Mesh, Primitive};
use throng::vat::{Encoding, Normals, PositionSpace};
use vat_glb::{Chunks, PNG, Shape};

const COMPRESSIONS: [Compression; 2] = [Compression::None, Compression::Zstd];

fn decode(bytes: &Bytes) -> Asset {
    glb::decode(bytes, Path::new("test.vat.glb")).unwrap_or_else(|error| panic!("{error}"))
}

/// Blocks have no alpha.
fn fits(encoding: Encoding, normals: Normals) -> bool {
    encoding.has_alpha() || normals != Normals::Alpha
}

/// Every encoding with every kind of normals, in both spaces, with and without textures.
fn shapes() -> impl Iterator<Item = Shape> {
    Encoding::ALL.iter().enumerate().flat_map(|(i, encoding)| {
        let fitting = Normals::ALL.iter().filter(|normals| fits(*encoding, **normals));
        fitting.enumerate().map(move |(j, normals)| Shape {
            seed: (i * 10 + j) as u64,
            encoding: *encoding,
            normals: *normals,
            space: PositionSpace::ALL[(i + j) % 2],
            textured: j % 2 == 0,
            primitives: 1 + (i + j) % 3,
            ..Shape::default()
        })
    })
}

fn any_shape() -> impl Strategy<Value = Shape> {
    let names = prop::collection::vec("\\PC*|[\\x00-\\x20\"\\\\/]{0,4}", 1..4);
    (
        any::<u64>(),
        prop::sample::select(Encoding::ALL),
        prop::sample::select(Normals::ALL),
        prop::sample::select(PositionSpace::ALL),
        any::<bool>(),
        1..4usize,
        (1..40u32, 1..9u32, 8..64u32),
        names,
    )
        .prop_map(|(seed, encoding, normals, space, textured, primitives, grid, clip_names)| Shape {
            seed,
            encoding,
            normals,
            space,
            textured,
            primitives,
            elements: grid.0,
            frames: grid.1,
            max_size: grid.2,
            clip_names,
        })
        .prop_filter("the elements fit", |shape| {
            let (elements, frames) = (shape.elements, shape.frames);
            fits(shape.encoding, shape.normals)
                && throng::vat::grid::Grid::new(elements, frames, shape.max_size).is_ok()
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn writing_reading_and_writing_gives_the_same_asset_and_the_same_bytes(shape in any_shape()) {
        let asset = shape.asset();
        for compression in COMPRESSIONS {
            let first = Bytes::from(glb::encode(&asset, compression));
            let read = glb::decode(&first, Path::new("a")).unwrap();
            prop_assert_eq!(&read, &asset);
            prop_assert!(glb::encode(&read, compression) == first, "the second file differs");
        }
    }

    #[test]
    fn any_finite_numbers_are_read_back_to_the_bit(bits in prop::collection::vec(any::<u32>(), 24), fps in 0f64..) {
        let mut parts = Shape { primitives: 2, ..Shape::default() }.parts();
        let finite = |index: usize| {
            let number = f32::from_bits(bits[index]);
            if number.is_finite() { number } else { 0.5 }
        };
        let vector = |index: usize| glam::Vec3::new(finite(index), finite(index + 1), finite(index + 2));
        parts.animation.remap = throng::vat::encoding::Remap::new(vector(0), vector(3));
        parts.clip_bounds = vec![throng::bounds::Bounds { min: vector(6).min(vector(9)), max: vector(6).max(vector(9)) }];
        parts.mesh.positions[0] = vector(12);
        parts.materials[0].base_color = vector(15).extend(finite(18));
        parts.materials[0].roughness = (finite(19).abs()).clamp(0.0, 1.0);
        parts.clips[0].fps = fps;
        let asset = Asset::new(parts).unwrap();
        let file = Bytes::from(glb::encode(&asset, Compression::None));
        let read = glb::decode(&file, Path::new("a")).unwrap();
        prop_assert_eq!(read.animation.remap, asset.animation.remap);
        prop_assert_eq!(&read.clip_bounds, &asset.clip_bounds);
        prop_assert_eq!(read.materials[0].base_color, asset.materials[0].base_color);
        prop_assert_eq!(read.materials[0].roughness.to_bits(), asset.materials[0].roughness.to_bits());
        prop_assert_eq!(read.clips[0].fps.to_bits(), fps.to_bits());
        prop_assert_eq!(&read, &asset);
    }
}

#[test]
fn every_encoding_with_every_kind_of_normals_survives() {
    let mut seen = 0;
    for shape in shapes() {
        let asset = shape.asset();
        for compression in COMPRESSIONS {
            let file = Bytes::from(glb::encode(&asset, compression));
            assert!(glb::sniff(&file[..256]), "{shape:?}");
            assert_eq!(decode(&file), asset, "{shape:?}");
            assert_eq!(glb::encode(&decode(&file), compression), file, "{shape:?}");
            seen += 1;
        }
    }
    assert_eq!(seen, (Encoding::ALL.len() * Normals::ALL.len() - 1) * COMPRESSIONS.len());
}

#[test]
fn many_vertices_take_wide_indices() {
    for (vertices, component_type) in [(65_534, 5123), (65_535, 5125), (70_000, 5125)] {
        let mut parts = Shape::default().parts();
        parts.mesh = Mesh {
            positions: vec![glam::Vec3::ONE; vertices],
            normals: vec![glam::Vec3::Y; vertices],
            tangents: None,
            uvs: None,
            elements: vec![0; vertices],
            indices: vec![0, 1, vertices as u32 - 1],
            primitives: vec![Primitive { indices: 0..3, material: None }],
            ..Mesh::default()
        };
        let asset = Asset::new(parts).unwrap();
        let chunks = Chunks::of(&asset, Compression::None);
        let accessor = &chunks.json["meshes"][0]["primitives"][0]["indices"];
        let accessor = &chunks.json["accessors"][accessor.as_u64().unwrap() as usize];
        assert_eq!(accessor["componentType"], component_type, "{vertices}");
        assert_eq!(decode(&chunks.file().into()), asset);
    }
}

#[test]
fn whatever_is_stored_aligned_is_aligned_in_the_file() {
    for shape in shapes() {
        let file = glb::encode(&shape.asset(), Compression::None);
        let chunks = Chunks::parse(&file);
        let start = file.len() - chunks.binary.len();
        assert_eq!(start % 16, 0, "the binary data");
        for view in chunks.json["bufferViews"].as_array().unwrap() {
            assert_eq!(view["byteOffset"].as_u64().unwrap() % 16, 0, "{view}");
        }
        let asset = decode(&Bytes::from(file.clone()));
        let at = file
            .windows(asset.animation.positions.data().len())
            .position(|window| window == asset.animation.positions.data());
        assert_eq!(at.unwrap() % 16, 0, "the texels");
    }
}

#[test]
fn uncompressed_texels_and_images_are_slices_of_the_file() {
    let asset = Shape::default().asset();
    let inside = |outer: &Bytes, inner: &Bytes| outer.as_ptr_range().contains(&inner.as_ptr());
    let file = Bytes::from(glb::encode(&asset, Compression::None));
    let read = decode(&file);
    assert!(inside(&file, read.animation.positions.data()));
    assert!(inside(&file, read.animation.normal_texels.as_ref().unwrap().data()));
    assert!(inside(&file, &read.images[0].data));
    let file = Bytes::from(glb::encode(&asset, Compression::Zstd));
    assert!(!inside(&file, decode(&file).animation.positions.data()));
}

#[cfg(target_os = "linux")]
#[test]
fn texels_of_a_file_on_disk_lie_in_its_mapping() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.vat.glb");
    let asset = Shape::default().asset();
    glb::write(&asset, &path, Compression::None, false).unwrap();
    let read = glb::read(&path).unwrap();
    assert_eq!(read, asset);
    let data = read.animation.positions.data().as_ptr() as usize;
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let mapped = maps.lines().filter(|line| line.ends_with("/a.vat.glb")).any(|line| {
        let (range, _) = line.split_once(' ').unwrap();
        let (start, end) = range.split_once('-').unwrap();
        let number = |text| usize::from_str_radix(text, 16).unwrap();
        (number(start)..number(end)).contains(&data)
    });
    assert!(mapped, "{data:x} is in no mapping of the file:\n{maps}");
    // Replacing the file leaves the asset in use as it is.
    let other = Shape { seed: 99, ..Shape::default() }.asset();
    glb::write(&other, &path, Compression::None, true).unwrap();
    assert_eq!(read, asset);
    assert_eq!(glb::read(&path).unwrap(), other);
}

#[test]
fn zstandard_makes_smooth_texels_smaller() {
    let mut parts = Shape { elements: 64, frames: 64, max_size: 64, ..Shape::default() }.parts();
    let texels = &parts.animation.positions;
    let flat = vec![7; texels.data().len()];
    parts.animation.positions = throng::vat::Texels::new(texels.format(), texels.size(), flat).unwrap();
    let asset = Asset::new(parts).unwrap();
    let [plain, packed] = COMPRESSIONS.map(|compression| glb::encode(&asset, compression).len());
    assert!(packed + 64 * 64 * 8 < plain + 256, "{packed} against {plain}");
}

// Other readers.

#[test]
fn another_gltf_reader_sees_the_mesh() {
    for shape in shapes() {
        let asset = shape.asset();
        let file = glb::encode(&asset, Compression::Zstd);
        // Parses and validates.
        let gltf::Gltf { document, blob } = gltf::Gltf::from_slice(&file).unwrap();
        let blob = blob.unwrap();
        assert_eq!(document.extensions_used().collect::<Vec<_>>(), ["THRONG_vertex_animation"]);
        assert_eq!(document.extensions_required().count(), 0);
        let node = document.default_scene().unwrap().nodes().next().unwrap();
        assert_eq!(node.name(), Some(asset.name.as_str()));
        let mesh = node.mesh().unwrap();
        assert_eq!(mesh.primitives().len(), asset.mesh.primitives.len());
        for (theirs, ours) in mesh.primitives().zip(&asset.mesh.primitives) {
            let reader = theirs.reader(|buffer| (buffer.index() == 0).then_some(&blob));
            let positions: Vec<_> = reader.read_positions().unwrap().map(glam::Vec3::from).collect();
            assert_eq!(positions, asset.mesh.positions);
            let normals: Vec<_> = reader.read_normals().unwrap().map(glam::Vec3::from).collect();
            assert_eq!(normals, asset.mesh.normals);
            let range = ours.indices.start as usize..ours.indices.end as usize;
            let indices: Vec<_> = reader.read_indices().unwrap().into_u32().collect();
            assert_eq!(indices, asset.mesh.indices[range]);
            let uvs = reader.read_tex_coords(0);
            let uvs = uvs.map(|uvs| uvs.into_f32().map(glam::Vec2::from).collect::<Vec<_>>());
            assert_eq!(uvs, asset.mesh.uvs);
            let bounds = theirs.bounding_box();
            let points = throng::bounds::Bounds::of_points(asset.mesh.positions.iter().copied());
            assert_eq!((bounds.min, bounds.max), (points.min.into(), points.max.into()));

            let elements = theirs.get(&gltf::Semantic::Extras("ELEMENT".to_owned())).unwrap();
            assert_eq!(elements.data_type(), gltf::accessor::DataType::F32);
            assert_eq!(elements.dimensions(), gltf::accessor::Dimensions::Scalar);
            assert_eq!(elements.count(), asset.mesh.elements.len());
            let start = elements.view().unwrap().offset() + elements.offset();
            let elements: Vec<_> = blob[start..start + 4 * elements.count()]
                .as_chunks()
                .0
                .iter()
                .map(|bytes| f32::from_le_bytes(*bytes) as u32)
                .collect();
            assert_eq!(elements, asset.mesh.elements);

            let material = theirs.material();
            assert_eq!(material.index().map(|index| index as u32), ours.material);
            let Some(index) = ours.material else { continue };
            let (pbr, ours) = (material.pbr_metallic_roughness(), &asset.materials[index as usize]);
            assert_eq!(glam::Vec4::from(pbr.base_color_factor()), ours.base_color);
            assert_eq!(pbr.metallic_factor(), ours.metallic);
            assert_eq!(pbr.roughness_factor(), ours.roughness);
            assert_eq!(material.double_sided(), ours.double_sided);
            assert_eq!(pbr.base_color_texture().is_some(), ours.base_color_image.is_some());
            if let Some(texture) = pbr.base_color_texture() {
                let gltf::image::Source::View { view, mime_type } = texture.texture().source().source()
                else {
                    panic!("the image is not in the file");
                };
                assert_eq!(mime_type, "image/png");
                assert_eq!(&blob[view.offset()..view.offset() + view.length()], PNG);
            }
        }
    }
}

#[test]
fn another_ktx2_reader_sees_the_texels() {
    use ktx2::{Format, SupercompressionScheme, TransferFunction};
    let position_format = |encoding| match encoding {
        Encoding::Unorm8 | Encoding::Split256 | Encoding::Split255 => Format::R8G8B8A8_UNORM,
        Encoding::Unorm16 => Format::R16G16B16A16_UNORM,
        Encoding::Float16 | Encoding::Float16Bounded => Format::R16G16B16A16_SFLOAT,
        Encoding::Float32 => Format::R32G32B32A32_SFLOAT,
        Encoding::Bc6h => Format::BC6H_UFLOAT_BLOCK,
    };
    let normal_format = |normals| match normals {
        Normals::Texture8 => Format::R8G8_UNORM,
        Normals::Rotation => Format::R16G16B16A16_UNORM,
        _ => Format::R16G16_UNORM,
    };
    for shape in shapes() {
        let asset = shape.asset();
        for compression in COMPRESSIONS {
            let chunks = Chunks::of(&asset, compression);
            let mut blobs = vec![("positions", &asset.animation.positions, position_format(shape.encoding))];
            if let Some(texels) = &asset.animation.normal_texels {
                blobs.push(("normalTexels", texels, normal_format(shape.normals)));
            }
            for (name, texels, format) in blobs {
                let bytes = &chunks.binary[chunks.ktx2(name)];
                let reader = ktx2::Reader::new(bytes).unwrap();
                let header = reader.header();
                assert_eq!(header.format, Some(format));
                assert_eq!([header.pixel_width, header.pixel_height], texels.size().to_array());
                assert_eq!([header.pixel_depth, header.layer_count], [0, 0]);
                assert_eq!([header.face_count, header.level_count], [1, 1]);
                assert_eq!(reader.transfer_function(), Some(TransferFunction::Linear));
                assert_eq!(reader.writer(), Some("throng\0"));
                // Their descriptor of this format, made independently of ours.
                let (theirs, type_size) = ktx2::dfd::Basic::from_format(format).unwrap();
                assert_eq!(reader.dfd_blocks().len(), 1);
                assert_eq!(reader.basic_dfd(), Some(&theirs), "{format:?}");
                assert_eq!(header.type_size, type_size);
                let level = reader.levels().next().unwrap();
                assert_eq!(level.uncompressed_byte_length, texels.data().len() as u64);
                let data = match compression {
                    Compression::None => {
                        assert_eq!(header.supercompression_scheme, None);
                        level.data.to_vec()
                    }
                    Compression::Zstd => {
                        let scheme = header.supercompression_scheme;
                        assert_eq!(scheme, Some(SupercompressionScheme::Zstandard));
                        zstd::stream::decode_all(level.data).unwrap()
                    }
                };
                assert_eq!(data, texels.data()[..]);
            }
        }
    }
}

// The JSON Schema.

fn schema() -> (Schemas, SchemaIndex) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/THRONG_vertex_animation.schema.json");
    let text = fs::read_to_string(path).unwrap();
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    compiler.add_resource("extension", serde_json::from_str(&text).unwrap()).unwrap();
    let index = compiler.compile("extension", &mut schemas).unwrap();
    (schemas, index)
}

#[test]
fn every_file_follows_the_schema() {
    let (schemas, index) = schema();
    for shape in shapes() {
        let chunks = Chunks::of(&shape.asset(), Compression::None);
        let extension = &chunks.json["extensions"]["THRONG_vertex_animation"];
        schemas.validate(extension, index).unwrap_or_else(|error| panic!("{error:#}"));
    }
}

#[test]
fn schema_and_reader_refuse_the_same_values() {
    let (schemas, index) = schema();
    let good = Chunks::of(&Shape::default().asset(), Compression::None);
    let at = "/extensions/THRONG_vertex_animation";
    let refused = |chunks: &Chunks, why: &str| {
        let extension = chunks.json.pointer(at).unwrap();
        assert!(schemas.validate(extension, index).is_err(), "the schema allows {why}");
        let file = chunks.file().into();
        assert!(glb::decode(&file, Path::new("a")).is_err(), "the reader allows {why}");
    };
    for (field, wrong) in [
        ("version", json!(2)),
        ("mode", json!("hard")),
        ("space", json!("relative")),
        ("encoding", json!("unorm32")),
        ("encoding", json!("float16")),
        ("normals", json!("none")),
        ("range/lo", json!([0, 0])),
        ("range/hi", json!([0, 0, "0"])),
        ("elementCount", json!(0)),
        ("elementCount", json!(1.5)),
        ("elementCount", json!(16_777_217)),
        ("grid/columns", json!(0)),
        ("grid/rowsPerFrame", json!(-1)),
        ("grid/framesPerBand", json!(0)),
        ("grid/frameCount", json!(0)),
        ("positions/bufferView", json!(-1)),
        ("bounds/min", json!(null)),
        ("clips", json!([])),
        ("clips/0/name", json!(7)),
        ("clips/0/frameCount", json!(0)),
        ("clips/0/fps", json!(-1)),
        ("clips/0/loop", json!("forever")),
        ("producer", json!(["throng"])),
    ] {
        refused(&good.clone().set(&format!("{at}/{field}"), wrong.clone()), &format!("{field}: {wrong}"));
    }
    let mut keys = 0;
    for parent in ["", "/range", "/grid", "/positions", "/bounds", "/clips/0", "/clips/0/bounds"] {
        let pointer = format!("{at}{parent}");
        let object = |chunks: &Chunks| chunks.json.pointer(&pointer).unwrap().as_object().unwrap().clone();
        let required = object(&good);
        for key in required.keys().filter(|key| {
            !["assumptions", "lods", "rigVertices", "sourceKey", "warnings"].contains(&key.as_str())
        }) {
            let mut less = object(&good);
            less.remove(key);
            refused(&good.clone().set(&pointer, Value::Object(less)), &format!("no {parent}/{key}"));
            keys += 1;
        }
        let mut more = required;
        more.insert("surprise".to_owned(), json!(1));
        refused(&good.clone().set(&pointer, Value::Object(more)), &format!("{parent}/surprise"));
    }
    assert!(keys >= 30, "{keys}");
}

// The Khronos validator, a program for node: THRONG_GLTF_VALIDATOR is the node_modules folder with
// the package gltf-validator.

const VALIDATE: &str = "
const validator = require('gltf-validator');
const file = new Uint8Array(require('fs').readFileSync(process.argv[1]));
validator.validateBytes(file).then(report => console.log(JSON.stringify(report.issues)));
";

#[test]
fn the_khronos_validator_finds_no_fault() {
    let Some(modules) = env::var_os("THRONG_GLTF_VALIDATOR").map(PathBuf::from) else {
        eprintln!("skipped: THRONG_GLTF_VALIDATOR does not name a folder with the package gltf-validator");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.vat.glb");
    let issues = |file: &[u8]| -> Value {
        fs::write(&path, file).unwrap();
        let output = Command::new("node")
            .args(["-e", VALIDATE])
            .arg(&path)
            .env("NODE_PATH", &modules)
            .output()
            .unwrap();
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
    };
    for (index, shape) in shapes().enumerate() {
        let found = issues(&glb::encode(&shape.asset(), COMPRESSIONS[index % 2]));
        assert_eq!((&found["numErrors"], &found["numWarnings"]), (&json!(0), &json!(0)), "{found:#}");
    }
    // It does look: a wrong box of positions is found.
    let mut parts: Parts = Shape::default().parts();
    parts.mesh.positions[0].x += 100.0;
    let wrong = Chunks::of(&Asset::new(parts).unwrap(), Compression::None).set("/accessors/0/max/0", 0.0);
    assert_ne!(issues(&wrong.file())["numErrors"], 0);
}

//! Stanford PLY: points with a normal and texture coordinates, and faces.

use std::io::Cursor;
use std::path::Path;

use glam::{Vec2, Vec3};
use ply_rs_bw::parser::{Parser, Reader};
use ply_rs_bw::ply::{Property, PropertyAccess, PropertyAccessResult, PropertyType};

use super::super::{Error, Options};
use super::shape::{Corner, Shape};

#[derive(Clone, Copy, Default)]
struct Vertex {
    position: Vec3,
    normal: Vec3,
    uv: Vec2,
}

#[derive(Default)]
struct Face(Vec<i64>);

/// What is not read.
struct Other;

fn number(property: &Property) -> Option<f64> {
    Some(match property {
        Property::Char(n) => f64::from(*n),
        Property::UChar(n) => f64::from(*n),
        Property::Short(n) => f64::from(*n),
        Property::UShort(n) => f64::from(*n),
        Property::Int(n) => f64::from(*n),
        Property::UInt(n) => f64::from(*n),
        Property::Float(n) => f64::from(*n),
        Property::Double(n) => *n,
        _ => return None,
    })
}

impl PropertyAccess for Vertex {
    fn new() -> Self {
        Self::default()
    }

    #[expect(clippy::cast_possible_truncation, reason = "positions are single floats")]
    fn set_property(&mut self, name: &str, property: Property) -> PropertyAccessResult {
        let place = match name {
            "x" => &mut self.position.x,
            "y" => &mut self.position.y,
            "z" => &mut self.position.z,
            "nx" => &mut self.normal.x,
            "ny" => &mut self.normal.y,
            "nz" => &mut self.normal.z,
            "s" | "u" | "texture_u" => &mut self.uv.x,
            "t" | "v" | "texture_v" => &mut self.uv.y,
            _ => return PropertyAccessResult::Ignored,
        };
        match number(&property) {
            Some(value) => *place = value as f32,
            None => return PropertyAccessResult::UnsupportedType,
        }
        PropertyAccessResult::Set
    }
}

impl PropertyAccess for Face {
    fn new() -> Self {
        Self::default()
    }

    fn set_property(&mut self, name: &str, property: Property) -> PropertyAccessResult {
        if name != "vertex_indices" && name != "vertex_index" {
            return PropertyAccessResult::Ignored;
        }
        self.0 = match property {
            Property::ListChar(list) => list.into_iter().map(i64::from).collect(),
            Property::ListUChar(list) => list.into_iter().map(i64::from).collect(),
            Property::ListShort(list) => list.into_iter().map(i64::from).collect(),
            Property::ListUShort(list) => list.into_iter().map(i64::from).collect(),
            Property::ListInt(list) => list.into_iter().map(i64::from).collect(),
            Property::ListUInt(list) => list.into_iter().map(i64::from).collect(),
            _ => return PropertyAccessResult::UnsupportedType,
        };
        PropertyAccessResult::Set
    }
}

impl PropertyAccess for Other {
    fn new() -> Self {
        Self
    }
}

/// Reads the elements `vertex` and `face`.
pub(super) fn read(bytes: &[u8], path: &Path, options: &Options) -> Result<Shape, Error> {
    let refused = |message: String| Error::Mesh { message, path: path.to_owned() };
    let said = |error: ply_rs_bw::parser::ParseError| refused(error.to_string());
    let mut reader = Reader::new(Cursor::new(bytes));
    let header = Parser::<Other>::new().read_header(&mut reader).map_err(said)?;
    // Each vertex and each face takes a byte at the very least.
    for (name, element) in &header.elements {
        if element.count > bytes.len() {
            return Err(refused(format!(
                "the header counts {} of {name:?}, more than the file has bytes",
                element.count
            )));
        }
    }
    let mut shape = Shape::default();
    let mut vertices: Vec<Vertex> = Vec::new();
    let mut has_normals = false;
    let mut faces: Vec<Face> = Vec::new();
    for (name, element) in &header.elements {
        let has = |property: &str| element.properties.contains_key(property);
        match &name[..] {
            "vertex" => {
                if !["x", "y", "z"].iter().all(|axis| has(axis)) {
                    return Err(refused("found vertices without x, y and z".to_owned()));
                }
                has_normals = has("nx") && has("ny") && has("nz");
                shape.has_uvs = ["s", "u", "texture_u"].iter().any(|u| has(u));
                super::super::mesh::check_vertices(element.count as u64, path, options)?;
                vertices = Parser::<Vertex>::new()
                    .read_payload_for_element(&mut reader, element, &header)
                    .map_err(said)?;
            }
            "face" => {
                let is_list = |name: &str| {
                    let found = element.properties.get(name);
                    found.is_some_and(|property| matches!(property.data_type, PropertyType::List(..)))
                };
                if !is_list("vertex_indices") && !is_list("vertex_index") {
                    return Err(refused("found faces without a list vertex_indices".to_owned()));
                }
                faces = Parser::<Face>::new()
                    .read_payload_for_element(&mut reader, element, &header)
                    .map_err(said)?;
            }
            _ => {
                Parser::<Other>::new()
                    .read_payload_for_element(&mut reader, element, &header)
                    .map_err(said)?;
            }
        }
    }
    shape.points = vertices.iter().map(|vertex| vertex.position).collect();
    for (at, Face(corners)) in faces.iter().enumerate() {
        let corner = |index: &i64| {
            let vertex =
                usize::try_from(*index).ok().and_then(|index| vertices.get(index)).ok_or_else(|| {
                    Error::Value {
                        pointer: format!("face {at}"),
                        found: index.to_string(),
                        expected: format!("a vertex below {}", vertices.len()),
                        path: path.to_owned(),
                    }
                })?;
            Ok(Corner {
                point: u32::try_from(*index).unwrap_or(u32::MAX),
                uv: Vec2::new(vertex.uv.x, 1.0 - vertex.uv.y),
                normal: has_normals.then_some(vertex.normal),
            })
        };
        let corners: Vec<Corner> = corners.iter().map(corner).collect::<Result<_, Error>>()?;
        shape.face(&corners, None);
    }
    Ok(shape)
}

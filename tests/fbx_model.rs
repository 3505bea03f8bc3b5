//! FBX models move as ufbx's own evaluation of the scene says: skins, blend shapes, nodes and caches.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test may panic")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use glam::{DVec3, Vec3};
use throng::bake::{self, Settings};
use throng::import::{self, Options};
use throng::random::Random;
use throng::source::Model;
use throng::source::timeline::Wanted;
use throng::vat::playback::encode_frames;
use throng::vat::{Encoding, FrameBlend};

/// Units of an FBX second.
const SECOND: i64 = 46_186_158_000;
const STEPS: usize = 9;

/// Points of a strip, two for each step, in centimetres.
fn points() -> Vec<Vec3> {
    (0..STEPS * 2).map(|at| Vec3::new((at % 2) as f32 * 30.0, (at / 2) as f32 * 25.0, 0.0)).collect()
}

fn list(values: impl IntoIterator<Item = f64>) -> String {
    let values: Vec<String> = values.into_iter().map(|value| format!("{value}")).collect();
    format!("*{} {{ a: {} }}", values.len(), values.join(","))
}

fn whole(values: impl IntoIterator<Item = i64>) -> String {
    let values: Vec<String> = values.into_iter().map(|value| format!("{value}")).collect();
    format!("*{} {{ a: {} }}", values.len(), values.join(","))
}

/// An FBX file as text: objects, and which belongs to which.
#[derive(Default)]
struct Made {
    objects: String,
    connections: String,
    up_axis: i32,
    time_mode: i32,
}

impl Made {
    /// A strip under a node that is moved and turned; two bones, of which the second bends.
    fn new() -> Self {
        let mut made = Self { up_axis: 1, time_mode: 6, ..Self::default() };
        let vertices = list(points().iter().flat_map(|p| p.to_array()).map(f64::from));
        let quads = (0..STEPS as i64 - 1).map(|step| step * 2);
        let indices = whole(quads.flat_map(|at| [at, at + 1, at + 3, -(at + 2) - 1]));
        made.object(&format!("Geometry: 1, \"Geometry::strip\", \"Mesh\" {{ Vertices: {vertices}\nPolygonVertexIndex: {indices}\nGeometryVersion: 124 }}"));
        made.node(2, "strip", "Mesh", [5.0, 0.0, 0.0], [0.0, 10.0, 0.0]);
        made.connect(1, 2);
        made.connect(2, 0);
        made
    }

    fn object(&mut self, text: &str) {
        writeln!(self.objects, "{text}").unwrap();
    }

    fn connect(&mut self, child: i64, parent: i64) {
        writeln!(self.connections, "C: \"OO\",{child},{parent}").unwrap();
    }

    fn connect_property(&mut self, child: i64, parent: i64, property: &str) {
        writeln!(self.connections, "C: \"OP\",{child},{parent}, \"{property}\"").unwrap();
    }

    fn node(&mut self, id: i64, name: &str, kind: &str, at: [f64; 3], turned: [f64; 3]) {
        let [x, y, z] = at;
        let [a, b, c] = turned;
        self.object(&format!(
            "Model: {id}, \"Model::{name}\", \"{kind}\" {{ Version: 232\nProperties70: {{ P: \"Lcl Translation\", \"Lcl Translation\", \"\", \"A\",{x},{y},{z}\nP: \"Lcl Rotation\", \"Lcl Rotation\", \"\", \"A\",{a},{b},{c} }} }}"
        ));
    }

    /// Pivots, an offset of the geometry and a parent whose scale is not inherited: what no other format has.
    fn pivoted(mut self) -> Self {
        self.objects = self.objects.replace(
            "Model: 2, \"Model::strip\", \"Mesh\" { Version: 232\nProperties70: {",
            "Model: 2, \"Model::strip\", \"Mesh\" { Version: 232\nProperties70: { P: \"RotationPivot\", \"Vector3D\", \"Vector\", \"\",10,20,0\nP: \"RotationOffset\", \"Vector3D\", \"Vector\", \"\",0,5,3\nP: \"ScalingPivot\", \"Vector3D\", \"Vector\", \"\",0,7,0\nP: \"Lcl Scaling\", \"Lcl Scaling\", \"\", \"A\",1,2,1\nP: \"PreRotation\", \"Vector3D\", \"Vector\", \"\",15,0,0\nP: \"RotationActive\", \"bool\", \"\", \"\",1\nP: \"GeometricTranslation\", \"Vector3D\", \"Vector\", \"\",0,30,0\nP: \"GeometricRotation\", \"Vector3D\", \"Vector\", \"\",0,0,20\nP: \"InheritType\", \"enum\", \"\", \"\",2\n",
        );
        self.node(3, "parent", "Null", [0.0, 10.0, 0.0], [0.0, 30.0, 0.0]);
        self.objects = self.objects.replace(
            "Model: 3, \"Model::parent\", \"Null\" { Version: 232\nProperties70: {",
            "Model: 3, \"Model::parent\", \"Null\" { Version: 232\nProperties70: { P: \"Lcl Scaling\", \"Lcl Scaling\", \"\", \"A\",2,1,1\n",
        );
        self.connections = self.connections.replace("C: \"OO\",2,0\n", "C: \"OO\",2,3\n");
        self.connect(3, 0);
        self
    }

    fn skinned(mut self) -> Self {
        self.node(10, "lower", "LimbNode", [5.0, 0.0, 0.0], [0.0, 0.0, 0.0]);
        self.node(11, "upper", "LimbNode", [0.0, 100.0, 0.0], [0.0, 0.0, 0.0]);
        self.connect(10, 0);
        self.connect(11, 10);
        self.object("Deformer: 20, \"Deformer::skin\", \"Skin\" { Version: 101 }");
        self.connect(20, 1);
        for (id, bone, height) in [(21, 10, 0.0), (22, 11, 100.0)] {
            let weight = |at: usize| {
                let upper = (at / 2) as f64 / (STEPS - 1) as f64;
                if bone == 11 { upper } else { 1.0 - upper }
            };
            // The last two points have no bone at all.
            let held: Vec<usize> = (0..STEPS * 2 - 2).filter(|at| weight(*at) > 0.0).collect();
            let indices = whole(held.iter().map(|at| *at as i64));
            let weights = list(held.iter().map(|at| weight(*at) * 0.5));
            let place = |x: f64, y: f64| list([1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., x, y, 0., 1.]);
            self.object(&format!("Deformer: {id}, \"SubDeformer::c\", \"Cluster\" {{ Version: 100\nIndexes: {indices}\nWeights: {weights}\nTransform: {}\nTransformLink: {} }}", place(0.0, -height), place(5.0, height)));
            self.connect(id, 20);
            self.connect(bone, id);
        }
        self
    }

    fn blended(mut self) -> Self {
        self.object("Deformer: 30, \"Deformer::blend\", \"BlendShape\" { Version: 100 }");
        self.object("Deformer: 31, \"SubDeformer::bulge\", \"BlendShapeChannel\" { Version: 100\nDeformPercent: 0\nFullWeights: *2 { a: 50,100 } }");
        self.connect(30, 1);
        self.connect(31, 30);
        for (id, forth) in [(32, 10.0), (33, -40.0)] {
            let held = whole([4, 5, 6, 7]);
            let offsets = list([0., 0., forth, 0., 0., forth, 5., 0., forth, 5., 0., forth]);
            self.object(&format!("Geometry: {id}, \"Geometry::s\", \"Shape\" {{ Version: 100\nIndexes: {held}\nVertices: {offsets} }}"));
            self.connect(id, 31);
        }
        self
    }

    /// Keys in seconds on one property, straight from one to the next.
    fn animated(mut self, base: i64, target: i64, property: &str, axis: &str, keys: &[(f64, f64)]) -> Self {
        if !self.objects.contains("AnimationStack") {
            let stop = 2 * SECOND;
            self.object(&format!("AnimationStack: 100, \"AnimStack::bend\", \"\" {{ Properties70: {{ P: \"LocalStop\", \"KTime\", \"Time\", \"\",{stop} }} }}"));
            self.object("AnimationLayer: 101, \"AnimLayer::base\", \"\" { }");
            self.connect(101, 100);
        }
        let default = keys[0].1;
        self.object(&format!("AnimationCurveNode: {base}, \"AnimCurveNode::n\", \"\" {{ Properties70: {{ P: \"d|{axis}\", \"Number\", \"\", \"A\",{default} }} }}"));
        let times = whole(keys.iter().map(|(time, _)| (time * SECOND as f64) as i64));
        let values = list(keys.iter().map(|(_, value)| *value));
        let count = keys.len();
        // 4 is linear.
        self.object(&format!("AnimationCurve: {}, \"AnimCurve::\", \"\" {{ Default: 0\nKeyVer: 4008\nKeyTime: {times}\nKeyValueFloat: {values}\nKeyAttrFlags: *1 {{ a: 4 }}\nKeyAttrDataFloat: *4 {{ a: 0,0,0,0 }}\nKeyAttrRefCount: *1 {{ a: {count} }} }}", base + 1));
        self.connect(base, 101);
        self.connect_property(base, target, property);
        self.connect_property(base + 1, base, &format!("d|{axis}"));
        self
    }

    fn cached(mut self, name: &str) -> Self {
        self.object(&format!("Video: 49, \"Video::unused\", \"Clip\" {{ }}\nCache: 40, \"Cache::c\", \"\" {{ Properties70: {{ P: \"CacheFileName\", \"KString\", \"XRefUrl\", \"\", \"{name}\"\nP: \"CacheFileType\", \"enum\", \"\", \"\",1 }}\nCacheFileName: \"{name}\" }}"));
        self.object("Deformer: 41, \"Deformer::v\", \"VertexCacheDeformer\" { Properties70: { P: \"Active\", \"bool\", \"\", \"\",1 } }");
        self.connect(41, 1);
        self.connect(40, 41);
        self
    }

    fn text(&self) -> String {
        format!(
            "; FBX 7.4.0 project file\nFBXHeaderExtension: {{ FBXHeaderVersion: 1003\nFBXVersion: 7400\nCreator: \"a test\" }}\nGlobalSettings: {{ Version: 1000\nProperties70: {{ P: \"UpAxis\", \"int\", \"Integer\", \"\",{}\nP: \"UpAxisSign\", \"int\", \"Integer\", \"\",1\nP: \"FrontAxis\", \"int\", \"Integer\", \"\",{}\nP: \"FrontAxisSign\", \"int\", \"Integer\", \"\",{}\nP: \"CoordAxis\", \"int\", \"Integer\", \"\",0\nP: \"CoordAxisSign\", \"int\", \"Integer\", \"\",1\nP: \"UnitScaleFactor\", \"double\", \"Number\", \"\",1\nP: \"TimeMode\", \"enum\", \"\", \"\",{} }} }}\nObjects: {{\n{}}}\nConnections: {{\n{}}}\n",
            self.up_axis,
            if self.up_axis == 1 { 2 } else { 1 },
            if self.up_axis == 1 { 1 } else { -1 },
            self.time_mode,
            self.objects,
            self.connections
        )
    }

    fn write(&self, folder: &Path) -> std::path::PathBuf {
        let path = folder.join("made.fbx");
        fs::write(&path, self.text()).unwrap();
        path
    }
}

/// Where ufbx says the points of the strip are, metres, Y up.
fn truth(path: &Path, seconds: f64) -> Vec<DVec3> {
    let scene = ufbx::load_file(
        path.to_str().unwrap(),
        ufbx::LoadOpts {
            load_external_files: true,
            ignore_missing_external_files: true,
            target_axes: ufbx::CoordinateAxes {
                right: ufbx::CoordinateAxis::PositiveX,
                up: ufbx::CoordinateAxis::PositiveY,
                front: ufbx::CoordinateAxis::PositiveZ,
            },
            target_unit_meters: 1.0,
            ..Default::default()
        },
    )
    .unwrap();
    let options = ufbx::EvaluateOpts {
        evaluate_skinning: true,
        evaluate_caches: true,
        load_external_files: true,
        ..Default::default()
    };
    let anim = scene.anim_stacks.iter().next().map_or(&scene.anim, |stack| &stack.anim);
    let moved = ufbx::evaluate_scene(&scene, anim, seconds, options).unwrap();
    let node = moved.nodes.iter().find(|node| node.mesh.is_some()).unwrap();
    let mesh = node.mesh.as_ref().unwrap();
    let place = |p: &ufbx::Vec3| match mesh.skinned_is_local {
        true => ufbx::transform_position(&node.geometry_to_world, *p),
        false => *p,
    };
    mesh.skinned_position.values.iter().map(place).map(|p| DVec3::new(p.x, p.y, p.z)).collect()
}

/// Worst distance between the model and ufbx, metres.
fn worst(model: &Model, path: &Path, times: &[f64]) -> f64 {
    let rest: Vec<Vec3> = points();
    let mut worst = 0.0_f64;
    for time in times {
        let truth = truth(path, *time);
        let found = model.rig.evaluate(Some(0), *time);
        assert_eq!(truth.len(), STEPS * 2);
        for (vertex, position) in found.positions.iter().enumerate() {
            let point = rest.iter().position(|p| *p == model.rig.positions[vertex]).unwrap();
            worst = worst.max(truth[point].distance(*position));
        }
    }
    worst
}

const TIMES: [f64; 7] = [0.0, 0.25, 0.5, 0.99, 1.0, 1.7, 2.0];

fn open(path: &Path) -> Model {
    import::model(path, &Options::default()).unwrap()
}

#[test]
fn a_skin_bends_with_its_bones() {
    let folder = tempfile::tempdir().unwrap();
    for up_axis in [1, 2] {
        let mut made = Made::new()
            .skinned()
            .animated(110, 11, "Lcl Rotation", "Z", &[(0.0, 0.0), (1.0, 80.0), (2.0, 0.0)])
            .animated(120, 10, "Lcl Translation", "X", &[(0.0, 5.0), (2.0, 60.0)]);
        made.up_axis = up_axis;
        let path = made.write(folder.path());
        let model = open(&path);
        assert_eq!((model.rig.clips.len(), &model.rig.clips[0].name[..]), (1, "bend"));
        let off = worst(&model, &path, &TIMES);
        println!("up axis {up_axis}: skinned within {off:.1e} m");
        // Turning keys are resampled at 30 a second and slerped; the strip is two metres long.
        assert!(off < 1e-5, "{off}");
        let moved =
            truth(&path, 0.0).iter().zip(truth(&path, 1.0)).map(|(a, b)| a.distance(b)).fold(0.0, f64::max);
        assert!(moved > 0.5 && moved < 3.0, "metres, not centimetres: {moved}");
    }
}

#[test]
fn shapes_blend_one_after_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let keys = [(0.0, 0.0), (1.0, 120.0), (2.0, -20.0)];
    let made = Made::new().blended().animated(130, 31, "DeformPercent", "DeformPercent", &keys);
    let path = made.write(folder.path());
    let model = open(&path);
    assert_eq!(model.rig.parts[0].targets.len(), 2);
    let off = worst(&model, &path, &[0.0, 0.2, 0.5, 0.7, 0.9, 1.0, 1.5, 2.0]);
    println!("blended within {off:.1e} m");
    assert!(off < 1e-4, "{off}");
}

#[test]
fn a_node_moves_what_it_carries_and_the_bake_keeps_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let made = Made::new().animated(140, 2, "Lcl Rotation", "Y", &[(0.0, 0.0), (2.0, 170.0)]).animated(
        150,
        2,
        "Lcl Translation",
        "Y",
        &[(0.0, 0.0), (1.0, 50.0), (2.0, 0.0)],
    );
    let path = made.write(folder.path());
    let model = open(&path);
    let off = worst(&model, &path, &TIMES);
    assert!(off < 1e-5, "{off}");
    let source = model.source(None, &Wanted::default()).unwrap();
    assert_eq!(source.clips[0].fps, 30.0);
    let settings = Settings { encoding: Encoding::Float32, ..Settings::default() };
    let baked = bake::bake(&source, &settings).unwrap();
    assert!(baked.report.position_error_metres.error < 1e-6);
    let frame = 20.0;
    let pose = baked.asset.positions(encode_frames(&baked.asset.clips[0], frame), FrameBlend::Step);
    let truth = truth(&path, frame / 30.0);
    let near = |p: &Vec3| truth.iter().map(|q| q.distance(p.as_dvec3())).fold(f64::INFINITY, f64::min);
    assert!(pose.iter().map(near).fold(0.0, f64::max) < 1e-5);
}

#[test]
fn pivots_offsets_and_scales_that_are_not_inherited_count() {
    let folder = tempfile::tempdir().unwrap();
    let made =
        Made::new().pivoted().animated(140, 2, "Lcl Rotation", "Y", &[(0.0, 0.0), (0.7, 70.0), (2.0, 170.0)]);
    let path = made.write(folder.path());
    let model = open(&path);
    let off = worst(&model, &path, &TIMES);
    println!("with pivots within {off:.1e} m");
    assert!(off < 2e-4, "{off}");
    let plain = Made::new().write(folder.path());
    assert!(worst_at_rest(&model, &open(&plain)) > 0.2, "they are there at all");
}

fn worst_at_rest(a: &Model, b: &Model) -> f64 {
    let [a, b] = [a, b].map(|model| model.rig.evaluate(None, 0.0).positions);
    a.iter().zip(&b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
}

#[test]
fn the_rate_is_that_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut made = Made::new().animated(140, 2, "Lcl Rotation", "Y", &[(0.0, 0.0), (2.0, 170.0)]);
    made.time_mode = 11;
    let source = open(&made.write(folder.path())).source(None, &Wanted::default()).unwrap();
    // Its keys stand on whole seconds, which would suit any rate.
    assert_eq!((source.clips[0].fps, source.clips[0].frame_count()), (24.0, 49));
}

/// What both caches do.
fn lifted(p: Vec3, frame: f32) -> Vec3 {
    p + Vec3::new(0.0, 0.0, frame * p.y * 0.1)
}

fn pc2() -> Vec<u8> {
    let mut bytes = b"POINTCACHE2\0".to_vec();
    bytes.extend(1i32.to_le_bytes());
    bytes.extend(((STEPS * 2) as i32).to_le_bytes());
    bytes.extend([0f32, 1.0].iter().flat_map(|n| n.to_le_bytes()));
    bytes.extend(5i32.to_le_bytes());
    for frame in 0..5 {
        for p in points() {
            let p = lifted(p, frame as f32);
            bytes.extend(p.to_array().iter().flat_map(|n| n.to_le_bytes()));
        }
    }
    bytes
}

#[test]
fn a_cache_beside_the_file_plays_and_one_outside_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).unwrap();
    fs::write(inner.join("strip.pc2"), pc2()).unwrap();
    fs::write(folder.path().join("outside.pc2"), pc2()).unwrap();
    let path = Made::new().cached("strip.pc2").write(&inner);
    let model = open(&path);
    assert!(model.warnings.is_empty(), "{:?}", model.warnings);
    let clip = &model.rig.clips[0];
    assert_eq!((model.rig.parts[0].targets.len(), &clip.name[..]), (5, "cache"));
    let off = worst(&model, &path, clip.channels[0].track.times());
    println!("cached within {off:.1e} m, {} s", clip.seconds());
    assert!(off < 1e-6, "{off}");
    let first = model.rig.evaluate(Some(0), 0.0).positions;
    let last = model.rig.evaluate(Some(0), clip.seconds()).positions;
    assert!(first.iter().zip(&last).any(|(a, b)| a.distance(*b) > 0.5), "it moves");
    for outside in ["../outside.pc2", folder.path().join("outside.pc2").to_str().unwrap(), "nothing.pc2"] {
        let model = open(&Made::new().cached(outside).write(&inner));
        assert!(model.rig.parts[0].targets.is_empty(), "{outside} was opened");
        assert!(model.warnings.iter().any(|text| text.contains("geometry cache")), "{:?}", model.warnings);
    }
}

/// A Maya cache of one file: a description, and big-endian chunks with a time of 1/6000 s each.
fn maya(folder: &Path) {
    let xml = "<?xml version=\"1.0\"?>\n<Autodesk_Cache_File>\n<cacheType Type=\"OneFile\" Format=\"mcc\"/>\n<time Range=\"0-1000\"/>\n<cacheTimePerFrame TimePerFrame=\"250\"/>\n<cacheVersion Version=\"2.0\"/>\n<Channels>\n<channel0 ChannelName=\"stripShape\" ChannelType=\"FloatVectorArray\" ChannelInterpretation=\"positions\" SamplingType=\"Regular\" SamplingRate=\"250\" StartTime=\"0\" EndTime=\"1000\"/>\n</Channels>\n</Autodesk_Cache_File>\n";
    fs::write(folder.join("strip.xml"), xml).unwrap();
    let chunk = |tag: &str, data: &[u8]| {
        let mut bytes = [tag.as_bytes(), &(data.len() as u32).to_be_bytes(), data].concat();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    };
    let number = |tag: &str, value: u32| chunk(tag, &value.to_be_bytes());
    let head = [b"CACH".to_vec(), chunk("VRSN", b"0.1\0"), number("STIM", 0), number("ETIM", 1000)].concat();
    let mut bytes = chunk("FOR4", &head);
    for frame in 0..5u32 {
        let moved = points().into_iter().map(|p| lifted(p, frame as f32));
        let data: Vec<u8> = moved.flat_map(|p| p.to_array()).flat_map(f32::to_be_bytes).collect();
        let body = [
            b"MYCH".to_vec(),
            number("TIME", frame * 250),
            chunk("CHNM", b"stripShape\0"),
            number("SIZE", (STEPS * 2) as u32),
            chunk("FVCA", &data),
        ];
        bytes.extend(chunk("FOR4", &body.concat()));
    }
    fs::write(folder.join("strip.mc"), bytes).unwrap();
}

#[test]
fn a_maya_cache_plays_at_its_own_times() {
    let folder = tempfile::tempdir().unwrap();
    maya(folder.path());
    let path = Made::new().cached("strip.xml").write(folder.path());
    let model = open(&path);
    assert!(model.warnings.is_empty(), "{:?}", model.warnings);
    let clip = &model.rig.clips[0];
    let times = clip.channels[0].track.times();
    assert!(
        times.iter().zip(0..5).all(|(time, frame)| (time - f64::from(frame) / 24.0).abs() < 1e-9),
        "{times:?}"
    );
    assert!(worst(&model, &path, times) < 1e-6);
    // By the numbers that were written, too: the strip stands under a node, and lifts its far end.
    let [first, last] = [0.0, clip.seconds()].map(|time| model.rig.evaluate(Some(0), time).positions);
    for ((a, b), rest) in first.iter().zip(&last).zip(&model.rig.positions) {
        let lift = lifted(*rest, 4.0).distance(*rest);
        assert!((a.distance(*b) - f64::from(lift) * 0.01).abs() < 1e-5, "{a} {b}");
    }
}

#[test]
fn a_cache_of_another_size_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = pc2();
    bytes[16..20].copy_from_slice(&17i32.to_le_bytes());
    fs::write(folder.path().join("strip.pc2"), bytes).unwrap();
    let path = Made::new().cached("strip.pc2").write(folder.path());
    let error = import::model(&path, &Options::default()).unwrap_err().to_string();
    assert!(error.contains("geometry cache") && error.contains("18"), "{error}");
}

#[test]
fn broken_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text = Made::new().skinned().text();
    let path = folder.path().join("broken.fbx");
    let mut refused = 0;
    for cut in (0..text.len()).step_by(97) {
        fs::write(&path, &text[..cut]).unwrap();
        // Cut files may still be whole for a tolerant reader; none may panic or lie about its triangles.
        match import::model(&path, &Options::default()) {
            Ok(model) => assert!(!model.indices.is_empty()),
            Err(_) => refused += 1,
        }
    }
    println!("{refused} of {} refused", text.len() / 97 + 1);
    assert!(refused > 10);
    // Single bytes changed: what is read must still hold together, whatever it says.
    let whole = Made::new()
        .skinned()
        .blended()
        .animated(110, 11, "Lcl Rotation", "Z", &[(0.0, 0.0), (1.0, 80.0)])
        .animated(130, 31, "DeformPercent", "DeformPercent", &[(0.0, 0.0), (1.0, 120.0)])
        .text();
    let mut random = Random::new(8);
    let mut loaded = 0;
    for _ in 0..3000 {
        let mut bytes = whole.clone().into_bytes();
        for _ in 0..1 + random.below(3) {
            let at = random.below(bytes.len());
            bytes[at] = b"0123456789-.,eE*{}\" \n\xff"[random.below(22)];
        }
        fs::write(&path, &bytes).unwrap();
        let Ok(model) = import::model(&path, &Options::default()) else { continue };
        loaded += 1;
        let source = model.source(None, &Wanted::default());
        if let Ok(source) = source.as_ref().map_err(drop).and_then(|source| {
            let frames: usize = source.clips.iter().map(throng::source::SourceClip::frame_count).sum();
            if frames < 2000 { Ok(source) } else { Err(()) }
        }) {
            // Refused or baked, but no panic.
            drop(bake::encode(source, &Settings::default()));
        }
    }
    println!("{loaded} of 3000 changed files are models");
    assert!(loaded > 500);
    fs::write(&path, b"Kaydara FBX Binary  \0\x1a\0\xe8\x1c\0\0rubbish").unwrap();
    assert!(import::model(&path, &Options::default()).is_err());
}

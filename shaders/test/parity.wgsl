// Runs the integer twins on data of a test.
#import vat/grid
#import vat/playback

struct Question {
    clip: ClipCursor,
    phase: u32,
    speed: i32,
    grid: Grid,
    element: u32,
    frame: u32,
}

struct Answer {
    frames: Frames,
    address_x: u32,
    address_y: u32,
    product_low: u32,
    product_high: u32,
}

@group(0) @binding(0) var<storage, read> questions: array<Question>;
@group(0) @binding(1) var<storage, read_write> answers: array<Answer>;

@compute @workgroup_size(64)
fn answer_all(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&questions) {
        return;
    }
    let question = questions[id.x];
    let frames = clip_frames(question.clip, question.phase, question.speed);
    let address = texel_address(question.grid, question.element, question.frame);
    let product = multiply_wide(question.phase, u32(question.speed));
    answers[id.x] = Answer(frames, address.x, address.y, product.x, product.y);
}

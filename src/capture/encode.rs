use std::io::Cursor;

use image::codecs::gif::{GifEncoder, Repeat};
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{Delay, ExtendedColorType, Frame, ImageEncoder, ImageError, RgbaImage};

/// The picture as a PNG without an alpha channel: what is drawn is opaque.
///
/// # Errors
/// [`ImageError`] when the encoder refuses, which a picture of at least one pixel does not cause.
pub fn png(picture: &RgbaImage) -> Result<Vec<u8>, ImageError> {
    let rgb: Vec<u8> = picture.pixels().flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    let mut bytes = Vec::new();
    PngEncoder::new_with_quality(&mut bytes, CompressionType::Default, FilterType::Adaptive).write_image(
        &rgb,
        picture.width(),
        picture.height(),
        ExtendedColorType::Rgb8,
    )?;
    Ok(bytes)
}

/// Pictures of one size as a GIF that loops for ever. GIF counts hundredths of a second, so `fps`
/// is rounded to the nearest delay, at least 2 hundredths.
///
/// # Errors
/// [`ImageError`] when the encoder refuses, as for sides above 65,535 pixels.
pub fn gif(pictures: impl IntoIterator<Item = RgbaImage>, fps: f64) -> Result<Vec<u8>, ImageError> {
    let mut bytes = Cursor::new(Vec::new());
    // Speed 10 of 1..30: the palette is as good as at 1 for these pictures and comes ten times sooner.
    let mut encoder = GifEncoder::new_with_speed(&mut bytes, 10);
    encoder.set_repeat(Repeat::Infinite)?;
    #[expect(clippy::cast_possible_truncation, reason = "float to integer casts saturate, NaN is 0")]
    let hundredths = ((100.0 / fps).round() as u32).clamp(2, 60_000);
    for picture in pictures {
        let delay = Delay::from_numer_denom_ms(hundredths * 10, 1);
        encoder.encode_frame(Frame::from_parts(picture, 0, 0, delay))?;
    }
    drop(encoder);
    Ok(bytes.into_inner())
}

#[cfg(test)]
mod tests {
    use image::{AnimationDecoder, Rgba, codecs::gif::GifDecoder};

    use super::*;

    fn picture(red: u8) -> RgbaImage {
        RgbaImage::from_fn(7, 5, |x, y| Rgba([red, [0, 90][x as usize % 2], [40, 200][y as usize % 2], 255]))
    }

    #[test]
    fn png_keeps_every_pixel() {
        let decoded = image::load_from_memory(&png(&picture(9)).unwrap()).unwrap();
        assert_eq!(decoded.color(), image::ColorType::Rgb8);
        assert_eq!(decoded.into_rgba8(), picture(9));
    }

    #[test]
    fn gif_has_all_frames_and_their_rate() {
        let bytes = gif([picture(0), picture(100), picture(200)], 25.0).unwrap();
        let frames = GifDecoder::new(Cursor::new(&bytes)).unwrap().into_frames().collect_frames().unwrap();
        assert_eq!(frames.len(), 3);
        assert!(frames.iter().all(|frame| frame.delay().numer_denom_ms() == (40, 1)));
        assert!(bytes.windows(11).any(|window| window == b"NETSCAPE2.0"), "it loops");
    }
}

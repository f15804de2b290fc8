//! Small letters for captions in pictures.

use crate::image::Image;

/// Width of a letter, in dots.
const WIDTH: usize = 5;
/// Height of a letter, in dots.
pub const HEIGHT: usize = 7;

/// How tall a line of text is, gaps included, at a scale.
#[must_use]
pub fn line_height(scale: usize) -> usize {
    (HEIGHT + 3) * scale
}

/// Writes text with its upper left corner at (`left`, `top`); what does not fit is cut off.
pub fn write(
    image: &mut Image,
    (left, top): (usize, usize),
    scale: usize,
    rgb: [u8; 3],
    text: &str,
) {
    for (index, letter) in text.chars().enumerate() {
        let x0 = left + index * (WIDTH + 1) * scale;
        for (row, dots) in rows(letter.to_ascii_lowercase()).iter().enumerate() {
            for (column, dot) in dots.bytes().enumerate() {
                if dot == b'#' {
                    dab(image, (x0 + column * scale, top + row * scale), scale, rgb);
                }
            }
        }
    }
}

/// A filled square.
pub fn dab(image: &mut Image, (left, top): (usize, usize), edge: usize, rgb: [u8; 3]) {
    for y in top..(top + edge).min(image.height) {
        for x in left..(left + edge).min(image.width) {
            let at = 3 * (y * image.width + x);
            image.rgb[at..at + 3].copy_from_slice(&rgb);
        }
    }
}

/// Darkens the upper left corner, so that letters can be read on it.
pub fn dim(image: &mut Image, (width, height): (usize, usize)) {
    let rows = image.rgb.chunks_exact_mut(3 * image.width).take(height);
    rows.flat_map(|row| row.iter_mut().take(3 * width)).for_each(|value| *value /= 4);
}

#[rustfmt::skip]
fn rows(letter: char) -> [&'static str; 7] {
    match letter {
        'a' => ["", "", " ### ", "    #", " ####", "#   #", " ####"],
        'b' => ["#", "#", "#### ", "#   #", "#   #", "#   #", "#### "],
        'c' => ["", "", " ####", "#", "#", "#", " ####"],
        'd' => ["    #", "    #", " ####", "#   #", "#   #", "#   #", " ####"],
        'e' => ["", "", " ### ", "#   #", "#####", "#", " ### "],
        'f' => ["  ## ", " #", "####", " #", " #", " #", " #"],
        'g' => ["", "", " ####", "#   #", " ####", "    #", " ### "],
        'h' => ["#", "#", "#### ", "#   #", "#   #", "#   #", "#   #"],
        'i' => ["  #", "", " ##", "  #", "  #", "  #", " ###"],
        'j' => ["   #", "", "  ##", "   #", "   #", "#  #", " ##"],
        'k' => ["#", "#", "#  #", "# #", "##", "# #", "#  #"],
        'l' => [" ##", "  #", "  #", "  #", "  #", "  #", " ###"],
        'm' => ["", "", "## # ", "# # #", "# # #", "# # #", "# # #"],
        'n' => ["", "", "#### ", "#   #", "#   #", "#   #", "#   #"],
        'o' => ["", "", " ### ", "#   #", "#   #", "#   #", " ### "],
        'p' => ["", "", "#### ", "#   #", "#### ", "#", "#"],
        'q' => ["", "", " ####", "#   #", " ####", "    #", "    #"],
        'r' => ["", "", "# ## ", "##  #", "#", "#", "#"],
        's' => ["", "", " ####", "#", " ### ", "    #", "#### "],
        't' => [" #", " #", "####", " #", " #", " #", "  ##"],
        'u' => ["", "", "#   #", "#   #", "#   #", "#   #", " ####"],
        'v' => ["", "", "#   #", "#   #", "#   #", " # # ", "  #  "],
        'w' => ["", "", "#   #", "# # #", "# # #", "# # #", " # # "],
        'x' => ["", "", "#   #", " # # ", "  #  ", " # # ", "#   #"],
        'y' => ["", "", "#   #", "#   #", " ####", "    #", " ### "],
        'z' => ["", "", "#####", "   # ", "  #  ", " #   ", "#####"],
        '0' => [" ### ", "#   #", "#  ##", "# # #", "##  #", "#   #", " ### "],
        '1' => ["  #", " ##", "  #", "  #", "  #", "  #", " ###"],
        '2' => [" ### ", "#   #", "    #", "   # ", "  #  ", " #   ", "#####"],
        '3' => [" ### ", "#   #", "    #", "  ## ", "    #", "#   #", " ### "],
        '4' => ["   # ", "  ## ", " # # ", "#  # ", "#####", "   # ", "   # "],
        '5' => ["#####", "#", "#### ", "    #", "    #", "#   #", " ### "],
        '6' => [" ### ", "#", "#### ", "#   #", "#   #", "#   #", " ### "],
        '7' => ["#####", "    #", "   # ", "  #  ", " #", " #", " #"],
        '8' => [" ### ", "#   #", "#   #", " ### ", "#   #", "#   #", " ### "],
        '9' => [" ### ", "#   #", "#   #", " ####", "    #", "    #", " ### "],
        '.' => ["", "", "", "", "", " ##", " ##"],
        ',' => ["", "", "", "", "", " ##", " #"],
        ':' => ["", "", " ##", "", "", " ##", ""],
        '-' => ["", "", "", " ###", "", "", ""],
        '_' => ["", "", "", "", "", "", "#####"],
        '/' => ["    #", "   # ", "   # ", "  #  ", " #", " #", "#"],
        '%' => ["##  #", "##  #", "   # ", "  #  ", " #   ", "#  ##", "#  ##"],
        '(' => ["   #", "  #", " #", " #", " #", "  #", "   #"],
        ')' => [" #", "  #", "   #", "   #", "   #", "  #", " #"],
        '=' => ["", "", "#####", "", "#####", "", ""],
        '+' => ["", "  #", "  #", "#####", "  #", "  #", ""],
        ' ' => [""; 7],
        _ => ["#####", "#   #", "#   #", "#   #", "#   #", "#   #", "#####"],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_leave_ink_and_stay_inside() {
        let mut sheet = Image { width: 30, height: 16, rgb: vec![255; 30 * 16 * 3] };
        write(&mut sheet, (0, 0), 2, [0; 3], "I_1 and more");
        let pixel = |x: usize, y: usize| sheet.rgb[3 * (y * 30 + x)];
        assert_eq!((pixel(4, 0), pixel(0, 4)), (0, 255));
        assert_eq!(sheet.rgb.len(), 30 * 16 * 3);
    }
}

//! How many workers make episodes at a time.

/// A number above 0, or `auto` for one per core.
///
/// # Errors
/// When it is neither, with what would be right.
pub fn worker_count(text: &str) -> Result<usize, String> {
    if text == "auto" {
        return Ok(std::thread::available_parallelism().map_or(1, usize::from));
    }
    let number = text.parse().ok().filter(|n| *n > 0);
    number.ok_or_else(|| format!("\"{text}\": give auto or a number above 0"))
}

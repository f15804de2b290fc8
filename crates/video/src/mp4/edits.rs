//! Edit lists: what of a track is shown, and when it begins.

use super::boxes::{Kind, Parsed, children, find, unsupported};

/// Time of the track that is shown at time 0 of the film, in units of the track.
///
/// Negative where the film begins with nothing.
pub(super) fn start(
    trak: &[(Kind, &[u8])],
    movie_timescale: u32,
    track_timescale: u32,
) -> Parsed<i64> {
    let Some((_, edts)) = trak.iter().find(|(kind, _)| kind == b"edts") else { return Ok(0) };
    let Some(mut elst) = find(&children(edts)?, b"elst") else { return Ok(0) };
    let (version, _) = elst.version()?;
    let count = elst.u32()?;
    let (mut nothing, mut shown) = (0i64, None);
    for index in 0..count {
        let duration = elst.u32_or_u64(version)?;
        let from = match version {
            0 => i64::from(elst.u32()? as i32),
            _ => elst.u64()? as i64,
        };
        elst.u32()?; // rate
        if from >= 0 {
            if shown.is_some() {
                return unsupported(format!("its edit list has {count} parts"));
            }
            shown = Some(from);
        } else if index == 0 {
            let scaled = u128::from(duration) * u128::from(track_timescale)
                / u128::from(movie_timescale.max(1));
            nothing = i64::try_from(scaled).unwrap_or(i64::MAX);
        }
    }
    Ok(shown.unwrap_or(0).saturating_sub(nothing))
}

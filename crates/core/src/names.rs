//! Names: finding the nearest known one when a user mistypes.

/// The known name most like `given`, if any is close enough to be what was meant.
#[must_use]
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = given.to_lowercase();
    known
        .into_iter()
        .map(|name| {
            let known = name.to_lowercase();
            // A part of a name is as good as a small typo.
            let part = lower.len() >= 3 && (known.contains(&lower) || lower.contains(&known));
            (if part { 1 } else { distance(&lower, &known) }, name)
        })
        .filter(|(d, name)| *d <= 1 + name.len().max(given.len()) / 3)
        .min_by_key(|(d, name)| (*d, name.len()))
        .map(|(_, name)| name)
}

/// `, did you mean "x"? Known: a, b, c`: the tail of every unknown-name error.
#[must_use]
pub fn suggestion<'a>(given: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    let mut all: Vec<&str> = known.clone().into_iter().collect();
    all.sort_unstable();
    let list = if all.is_empty() { "none".to_owned() } else { all.join(", ") };
    match nearest(given, known) {
        Some(name) => format!("did you mean \"{name}\"? Known: {list}"),
        None => format!("known: {list}"),
    }
}

/// Edit distance with swaps of neighbours (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    for (j, cell) in rows[0].iter_mut().enumerate() {
        *cell = j;
    }
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let swap_cost = usize::from(a[i - 1] != b[j - 1]);
            let mut best =
                (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(rows[i - 1][j - 1] + swap_cost);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_its_name_and_nonsense_finds_none() {
        let known = ["orange_plate", "block_box", "ur5_cell"];
        assert_eq!(nearest("orange_plat", known), Some("orange_plate"));
        assert_eq!(nearest("Ur5_cel", known), Some("ur5_cell"));
        assert_eq!(nearest("blokc_box", known), Some("block_box"));
        assert_eq!(nearest("orange", known), Some("orange_plate"));
        assert_eq!(nearest("zzzzzzzz", known), None);
    }

    #[test]
    fn a_swap_of_neighbours_counts_once() {
        assert_eq!(distance("ab", "ba"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
    }
}

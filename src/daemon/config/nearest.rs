//! Which known name a misspelt one was meant to be.

/// The known name with the fewest letters to change, if they are few, or else the one it begins.
pub(super) fn nearest<'a>(
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).max(2);
    known
        .clone()
        .map(|known| (distance(name, known), known))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, known)| known)
        .or_else(|| begun(name, known))
}

/// The one known name that begins with `name`, such as a key without its unit.
fn begun<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut longer = known.filter(|known| name.len() > 2 && known.starts_with(name));
    let only = longer.next()?;
    longer.next().is_none().then_some(only)
}

/// Letters to add, take away or replace. The distance of long names is not worked out: nothing is
/// near them.
fn distance(from: &str, to: &str) -> usize {
    const LONGEST: usize = 64;
    if from.len() > LONGEST {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (line, left) in from.chars().enumerate() {
        let mut diagonal = line;
        let mut before = line + 1;
        let mut next = vec![before];
        for (right, above) in to.chars().zip(row.iter().skip(1)) {
            let replaced = diagonal + usize::from(left != right);
            diagonal = *above;
            before = replaced.min(above + 1).min(before + 1);
            next.push(before);
        }
        row = next;
    }
    row.last().copied().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_letters_to_change() {
        for (from, to, expected) in [
            ("web", "web", 0),
            ("wbe", "web", 2),
            ("", "web", 3),
            ("fast", "fast_seconds", 8),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(from, to), expected, "{from} {to}");
            assert_eq!(distance(to, from), expected, "{to} {from}");
        }
    }

    #[test]
    fn a_neighbour_is_near_or_begun_or_there_is_none() {
        assert_eq!(
            nearest("lvl", ["level", "format"].into_iter()),
            Some("level")
        );
        let keys = ["fast_seconds", "far_seconds", "slow_seconds"];
        assert_eq!(nearest("fast", keys.into_iter()), Some("fast_seconds"));
        assert_eq!(nearest("fa", keys.into_iter()), None);
        assert_eq!(nearest("colour", ["level", "format"].into_iter()), None);
        assert_eq!(nearest(&"x".repeat(1 << 20), ["level"].into_iter()), None);
    }
}

//! `Accept-Encoding` (RFC 9110 §12.5.3): whether an answer may go out as gzip.

/// Whether the client takes gzip and does not like plain bytes better.
pub(super) fn wants_gzip<'a>(headers: impl Iterator<Item = &'a str>) -> bool {
    let mut gzip = None;
    let mut identity = None;
    let mut any = None;
    for element in headers.flat_map(|value| value.split(',')) {
        let Some((coding, weight)) = parse(element) else {
            continue;
        };
        let place = if coding.eq_ignore_ascii_case("gzip") || coding.eq_ignore_ascii_case("x-gzip")
        {
            &mut gzip
        } else if coding.eq_ignore_ascii_case("identity") {
            &mut identity
        } else if coding == "*" {
            &mut any
        } else {
            continue;
        };
        *place = Some(weight);
    }
    // Plain bytes are always acceptable unless ruled out, but never better than what is asked for.
    let gzip = gzip.or(any).unwrap_or(0);
    gzip > 0 && gzip >= identity.unwrap_or(0)
}

/// A coding and its weight in thousandths; `None` if the weight is malformed.
fn parse(element: &str) -> Option<(&str, u16)> {
    let mut parts = element.split(';').map(str::trim);
    let coding = parts.next().filter(|coding| !coding.is_empty())?;
    let mut weight = 1000;
    for parameter in parts {
        let (name, value) = parameter.split_once('=')?;
        if name.trim().eq_ignore_ascii_case("q") {
            weight = thousandths(value.trim())?;
        }
    }
    Some((coding, weight))
}

/// `0.5` → 500. At most three decimals and at most 1.
fn thousandths(text: &str) -> Option<u16> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    if decimals.len() > 3 || !decimals.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let part: u16 = format!("{decimals:0<3}").parse().ok()?;
    match whole {
        "0" => Some(part),
        "1" if part == 0 => Some(1000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::wants_gzip;

    #[test]
    fn gzip_goes_out_only_to_who_takes_it() {
        for (header, expected) in [
            ("gzip", true),
            ("deflate, gzip;q=0.5", true),
            ("GZIP", true),
            ("x-gzip", true),
            ("*", true),
            ("gzip;q=1.0, identity; q=0.5, *;q=0", true),
            ("", false),
            ("br", false),
            ("gzip;q=0", false),
            ("gzip;q=0.000", false),
            ("*;q=0", false),
            ("*, gzip;q=0", false),
            ("gzip;q=0.5, identity;q=0.8", false),
            ("gzip;q=2", false),
            ("gzip;q=abc", false),
            ("gzip;q=0.1234", false),
        ] {
            assert_eq!(wants_gzip([header].into_iter()), expected, "{header:?}");
        }
    }

    #[test]
    fn several_headers_count_as_one() {
        assert!(wants_gzip(["br", "gzip"].into_iter()));
    }
}

//! Kinds of derivative, by name.

use saltus::step::Gradient;

/// What `relaxed` without a number means, J.
const KAPPA: f64 = 1e-3;
/// What `smoothed` without a number means, m.
const RADIUS_M: f64 = 5e-3;
/// Displacements that `smoothed` averages over.
const SAMPLES: u16 = 16;

/// The kinds, as they are written.
const KINDS: &str = "exact, relaxed[:kappa], aware or smoothed[:radius_m]";

/// Reads a kind of derivative: `exact`, `relaxed`, `relaxed:1e-2` (κ in J), `aware`, `smoothed`, `smoothed:0.01`
/// (radius in m). The error says what was expected, to stand after "expected".
///
/// ```
/// use saltus::step::Gradient;
/// use saltus_loaders::task::parse_gradient;
///
/// assert_eq!(parse_gradient("relaxed:1e-2"), Ok(Gradient::Relaxed { kappa: 1e-2 }));
/// assert!(parse_gradient("finite").is_err());
/// ```
pub fn parse_gradient(text: &str) -> Result<Gradient<f64>, String> {
    let (kind, number) = match text.split_once(':') {
        Some((kind, number)) => (kind, Some(number)),
        None => (text, None),
    };
    let or = |default: f64| match number.map(str::parse::<f64>) {
        None => Ok(default),
        Some(Ok(number)) if number > 0.0 && number.is_finite() => Ok(number),
        Some(_) => Err(format!("a number above zero after \"{kind}:\"")),
    };
    match (kind, number) {
        ("exact", None) => Ok(Gradient::Exact),
        ("aware", None) => Ok(Gradient::ComplementarityAware),
        ("relaxed", _) => Ok(Gradient::Relaxed { kappa: or(KAPPA)? }),
        ("smoothed", _) => Ok(Gradient::Smoothed { samples: SAMPLES, radius_m: or(RADIUS_M)?, seed: 1 }),
        _ => Err(KINDS.to_owned()),
    }
}

//! Convergence curves as SVG.

use std::fmt::Write;

/// A line of the plot.
pub struct Curve {
    pub name: String,
    /// One per iteration, above zero.
    pub residuals: Vec<f64>,
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const MARGIN: f64 = 56.0;
/// Exponents of ten at the bottom and the top.
const BOTTOM: f64 = -16.0;
const TOP: f64 = 2.0;
const COLOURS: [&str; 6] = ["#0b6e99", "#c4572b", "#4d7c0f", "#7c3aed", "#b91c1c", "#525252"];

/// Residual over iteration, with a logarithmic axis.
pub fn convergence(title: &str, curves: &[Curve]) -> String {
    let most = curves.iter().map(|curve| curve.residuals.len()).max().unwrap_or(1).max(2) - 1;
    let x = |k: usize| MARGIN + (WIDTH - 2.0 * MARGIN) * k as f64 / most as f64;
    let y = |residual: f64| {
        let exponent = residual.max(1e-300).log10().clamp(BOTTOM, TOP);
        HEIGHT - MARGIN - (HEIGHT - 2.0 * MARGIN) * (exponent - BOTTOM) / (TOP - BOTTOM)
    };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{MARGIN}\" y=\"28\" font-size=\"15\">{title}</text>\n"
    );
    for exponent in (BOTTOM as i32..=TOP as i32).step_by(3) {
        let height = y(10f64.powi(exponent));
        let _ = writeln!(
            svg,
            "<line x1=\"{MARGIN}\" x2=\"{}\" y1=\"{height:.1}\" y2=\"{height:.1}\" stroke=\"#ddd\"/>\
             <text x=\"8\" y=\"{:.1}\">1e{exponent}</text>",
            WIDTH - MARGIN,
            height + 4.0
        );
    }
    let _ = writeln!(svg, "<text x=\"{:.1}\" y=\"{:.1}\">iteration (0 to {most})</text>", WIDTH / 2.0, HEIGHT - 16.0);
    for (index, curve) in curves.iter().enumerate() {
        let colour = COLOURS[index % COLOURS.len()];
        let points: Vec<String> =
            curve.residuals.iter().enumerate().map(|(k, r)| format!("{:.1},{:.1}", x(k), y(*r))).collect();
        let points = points.join(" ");
        let _ = writeln!(
            svg,
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" fill=\"{colour}\">{}</text>",
            WIDTH - MARGIN - 200.0,
            MARGIN + 16.0 * index as f64,
            curve.name
        );
    }
    svg.push_str("</svg>\n");
    svg
}

//! A plot with logarithmic axes, as text and as SVG.

use std::fmt::Write;
use std::path::Path;

/// Curves over the same axes.
pub struct Plot {
    pub file: &'static str,
    pub title: &'static str,
    pub x: &'static str,
    pub series: Vec<Series>,
}

/// A curve: sizes and microseconds.
pub struct Series {
    pub name: &'static str,
    pub points: Vec<(usize, f64)>,
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
/// Left, right, top, bottom.
const MARGINS: [f64; 4] = [64.0, 24.0, 48.0, 56.0];
/// Legible on white and on black.
const COLORS: [&str; 3] = ["#1f77b4", "#d62728", "#2ca02c"];
const INK: &str = "#808080";

impl Plot {
    /// Takes from a second measurement of the same what was faster.
    pub fn keep_fastest(&mut self, again: Plot) {
        for (series, again) in self.series.iter_mut().zip(again.series) {
            for (point, again) in series.points.iter_mut().zip(again.points) {
                point.1 = point.1.min(again.1);
            }
        }
    }

    /// Columns: size, then one for each curve.
    pub fn print(&self) {
        println!("{}, µs", self.title);
        print!("{:>9}", self.x);
        for series in &self.series {
            print!("  {:>26}", series.name);
        }
        for (row, (size, _)) in self.series[0].points.iter().enumerate() {
            print!("\n{size:>9}");
            for series in &self.series {
                print!("  {:>26.2}", series.points[row].1);
            }
        }
        println!("\n");
    }

    /// Writes the SVG.
    pub fn write(&self, folder: &Path) -> std::io::Result<()> {
        std::fs::write(folder.join(self.file), self.svg())
    }

    fn svg(&self) -> String {
        let axes = Axes::around(&self.series);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             font-family=\"sans-serif\" font-size=\"13\" fill=\"{INK}\">\n\
             <!-- made by `cargo xtask plots` -->\n"
        );
        let [left, right, top, bottom] = MARGINS;
        let middle = (left + WIDTH - right) / 2.0;
        text(&mut out, [middle, 24.0], "middle", self.title);
        text(&mut out, [middle, HEIGHT - 12.0], "middle", self.x);
        text(&mut out, [left, top - 10.0], "end", "µs");
        for (size, _) in &self.series[0].points {
            let x = axes.x(*size as f64);
            line(&mut out, [x, top], [x, HEIGHT - bottom]);
            text(&mut out, [x, HEIGHT - bottom + 18.0], "middle", &size.to_string());
        }
        for time in axes.decades() {
            let y = axes.y(time);
            line(&mut out, [left, y], [WIDTH - right, y]);
            text(&mut out, [left - 8.0, y + 4.0], "end", &time.to_string());
        }
        for (k, series) in self.series.iter().enumerate() {
            let color = COLORS[k % COLORS.len()];
            let points: Vec<[f64; 2]> = series.points.iter().map(|&(n, us)| [axes.x(n as f64), axes.y(us)]).collect();
            let path: Vec<String> = points.iter().map(|[x, y]| format!("{x:.1},{y:.1}")).collect();
            let path = path.join(" ");
            let _ = writeln!(out, "<polyline points=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"/>");
            for [x, y] in &points {
                let _ = writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{color}\"/>");
            }
            let y = top + 20.0 + 18.0 * k as f64;
            let _ = writeln!(out, "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"{color}\"/>", left + 16.0, y - 4.0);
            text(&mut out, [left + 28.0, y], "start", series.name);
        }
        out.push_str("</svg>\n");
        out
    }
}

/// From sizes and microseconds to the page.
struct Axes {
    sizes: [f64; 2],
    times: [f64; 2],
}

impl Axes {
    fn around(series: &[Series]) -> Self {
        let points = || series.iter().flat_map(|series| series.points.iter());
        let sizes = points().map(|point| point.0 as f64).fold([f64::INFINITY, 0.0], |[a, b], x| [a.min(x), b.max(x)]);
        let times = points().map(|point| point.1).fold([f64::INFINITY, 0.0], |[a, b], x| [a.min(x), b.max(x)]);
        let decade = |time: f64, round: fn(f64) -> f64| 10_f64.powf(round(time.log10()));
        Self { sizes, times: [decade(times[0], f64::floor), decade(times[1], f64::ceil)] }
    }

    fn x(&self, size: f64) -> f64 {
        MARGINS[0] + share(size, self.sizes) * (WIDTH - MARGINS[0] - MARGINS[1])
    }

    fn y(&self, time: f64) -> f64 {
        HEIGHT - MARGINS[3] - share(time, self.times) * (HEIGHT - MARGINS[2] - MARGINS[3])
    }

    fn decades(&self) -> impl Iterator<Item = f64> {
        let [least, most] = self.times.map(|time| time.log10().round() as i32);
        (least..=most).map(|power| 10_f64.powi(power))
    }
}

/// Where `x` lies between two numbers, by its logarithm.
fn share(x: f64, [least, most]: [f64; 2]) -> f64 {
    (x / least).ln() / (most / least).ln()
}

fn line(out: &mut String, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2]) {
    let ends = format!("x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"");
    let _ = writeln!(out, "<line {ends} stroke=\"{INK}\" stroke-opacity=\"0.3\"/>");
}

fn text(out: &mut String, [x, y]: [f64; 2], anchor: &str, content: &str) {
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{content}</text>");
}

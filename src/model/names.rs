//! Names, as one text and the places where each ends, so that they live in flash as they do in a `String`.

/// A list of names.
///
/// ```
/// use saltus::model::Names;
///
/// let names = Names { text: "cartpole", ends: &[4, 8] };
/// assert_eq!(names.get(1), "pole");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Names<'m> {
    /// All names, one after the other.
    pub text: &'m str,
    /// Byte offset at which each name ends.
    pub ends: &'m [u32],
}

impl<'m> Names<'m> {
    /// Name `k`; empty when there is none.
    pub fn get(&self, k: usize) -> &'m str {
        let Some(&end) = self.ends.get(k) else { return "" };
        let start = k.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |start| *start);
        self.text.get(start as usize..end as usize).unwrap_or("")
    }
}

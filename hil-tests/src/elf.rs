//! What is in an image: sizes, calls into the panic machinery, heap symbols.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};
use serde::Serialize;

/// Functions of `core` that end in the panic handler, by parts of their names.
const PANICS: [&str; 7] = [
    "core9panicking",
    "slice_index_fail",
    "slice_start_index_len_fail",
    "slice_end_index_len_fail",
    "len_mismatch_fail",
    "unwrap_failed",
    "expect_failed",
];

/// Names that only an image with a heap has.
const HEAP: [&str; 6] = ["__rust_alloc", "__rust_realloc", "__rg_alloc", "malloc", "_sbrk", "alloc5alloc"];

/// What an image takes of the part, and what could go wrong in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Elf {
    /// Code, constants and the start values of data.
    pub flash_bytes: u64,
    /// Data, and the room that is kept for the stacks.
    pub ram_bytes: u64,
    /// Room for the stacks alone.
    pub stack_room_bytes: u64,
    /// Branches from anywhere else into the functions that panic, by the function that holds them.
    pub panic_sites: BTreeMap<String, usize>,
    /// Symbols of an allocator.
    pub heap_symbols: Vec<String>,
}

impl Elf {
    /// Reads an image.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let file = object::File::parse(bytes).context("not an ELF file")?;
        let functions = functions(&file);
        let address = |name: &str| file.symbol_by_name(name).map(|symbol| symbol.address());
        let bottom = address("_main_stack_end").context("the image has no symbol _main_stack_end")?;
        let top = address("_stack_start").context("the image has no symbol _stack_start")?;
        let (mut flash_bytes, mut ram_bytes) = (0, top - bottom);
        for section in file.sections() {
            match section.kind() {
                SectionKind::Text | SectionKind::ReadOnlyData => flash_bytes += section.size(),
                SectionKind::Data => {
                    flash_bytes += section.size();
                    ram_bytes += section.size();
                }
                SectionKind::UninitializedData => ram_bytes += section.size(),
                _ => {}
            }
        }
        Ok(Self {
            flash_bytes,
            ram_bytes,
            stack_room_bytes: top - bottom,
            panic_sites: panic_sites(&file, &functions)?,
            heap_symbols: heap_symbols(&file),
        })
    }

    /// All branches into the panic machinery.
    pub fn panic_count(&self) -> usize {
        self.panic_sites.values().sum()
    }
}

/// A function: where it starts and ends, and its name.
struct Function {
    start: u64,
    end: u64,
    name: String,
}

impl Function {
    fn panics(&self) -> bool {
        PANICS.iter().any(|part| self.name.contains(part))
    }
}

/// The functions of an image, by address.
fn functions(file: &object::File<'_>) -> Vec<Function> {
    let mut functions: Vec<Function> = file
        .symbols()
        .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0)
        .map(|symbol| {
            let start = symbol.address() & !1;
            Function { start, end: start + symbol.size(), name: symbol.name().unwrap_or("").to_owned() }
        })
        .collect();
    functions.sort_by_key(|function| function.start);
    functions
}

fn panic_sites(file: &object::File<'_>, functions: &[Function]) -> Result<BTreeMap<String, usize>> {
    let text = file.section_by_name(".text").context("the image has no .text")?;
    let (data, base) = (text.data()?, text.address());
    let data_ranges = data_in_code(file);
    let mut sites = BTreeMap::new();
    for function in functions.iter().filter(|function| !function.panics()) {
        let mut address = function.start;
        while address < function.end {
            if data_ranges.iter().any(|range| range.contains(&address)) {
                address += 2;
                continue;
            }
            let word = |at: u64| {
                let at = usize::try_from(at.checked_sub(base)?).ok()?;
                Some(u16::from_le_bytes([*data.get(at)?, *data.get(at + 1)?]))
            };
            let Some(first) = word(address) else { break };
            let wide = first >> 11 >= 0b11101;
            if let Some(target) = branch_target(address, first, word(address + 2).unwrap_or(0)) {
                let into = functions.iter().find(|callee| callee.start == target);
                if into.is_some_and(Function::panics) {
                    *sites.entry(function.name.clone()).or_insert(0) += 1;
                }
            }
            address += if wide { 4 } else { 2 };
        }
    }
    Ok(sites)
}

/// Where a branch leads: BL and the long and short forms of B (ARMv7-M, A7.7.12 and A7.7.18).
fn branch_target(address: u64, first: u16, second: u16) -> Option<u64> {
    let offset = if first >> 11 == 0b11110 && second & 0x9000 == 0x9000 {
        let bit = |word: u16, k: u32| i64::from(word >> k & 1);
        let sign = bit(first, 10);
        let (i1, i2) = (1 - (bit(second, 13) ^ sign), 1 - (bit(second, 11) ^ sign));
        let low = i64::from(first & 0x3FF) << 12 | i64::from(second & 0x7FF) << 1;
        (-sign << 24) | i1 << 23 | i2 << 22 | low
    } else if first >> 11 == 0b11110 && second & 0xD000 == 0x8000 && (first >> 7) & 7 != 7 {
        let bit = |word: u16, k: u32| i64::from(word >> k & 1);
        let low = i64::from(first & 0x3F) << 12 | i64::from(second & 0x7FF) << 1;
        (-bit(first, 10) << 20) | bit(second, 11) << 19 | bit(second, 13) << 18 | low
    } else if first >> 11 == 0b11100 {
        (i64::from(first & 0x7FF) << 53) >> 52
    } else {
        return None;
    };
    address.checked_add(4)?.checked_add_signed(offset)
}

/// Constants between instructions, as the mapping symbols `$d` and `$t` mark them.
fn data_in_code(file: &object::File<'_>) -> Vec<std::ops::Range<u64>> {
    let mut marks: Vec<(u64, bool)> = file
        .symbols()
        .filter_map(|symbol| {
            let name = symbol.name().ok()?;
            let is_data = name.starts_with("$d");
            (is_data || name.starts_with("$t")).then(|| (symbol.address() & !1, is_data))
        })
        .collect();
    marks.sort_unstable();
    marks.windows(2).filter(|pair| pair[0].1).map(|pair| pair[0].0..pair[1].0).collect()
}

fn heap_symbols(file: &object::File<'_>) -> Vec<String> {
    let names = file.symbols().filter_map(|symbol| symbol.name().ok());
    names.filter(|name| HEAP.iter().any(|part| name.contains(part))).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodings by the GNU assembler.
    #[test]
    fn branches_lead_where_the_assembler_meant_them_to() {
        assert_eq!(branch_target(0x100, 0xF000, 0xF800), Some(0x104)); // bl .+4
        assert_eq!(branch_target(0x100, 0xF7FF, 0xFFFE), Some(0x100)); // bl .
        assert_eq!(branch_target(0x100, 0xF000, 0xB800), Some(0x104)); // b.w .+4
        assert_eq!(branch_target(0x100, 0xE7FE, 0), Some(0x100)); // b.n .
        assert_eq!(branch_target(0x100, 0xF43F, 0xAFFE), Some(0x100)); // beq.w .
        assert_eq!(branch_target(0x100, 0x4770, 0), None); // bx lr
    }
}

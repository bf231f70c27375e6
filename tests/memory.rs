//! The arena hands out aligned slices of the caller's memory, exactly as many blocks as the sizes say.

use std::mem::{align_of, size_of};
use std::sync::Mutex;

use saltus::dynamics::Dynamics;
use saltus::kinematics::Kinematics;
use saltus::memory::{Arena, ArenaTooSmall, BLOCK_BYTES, Block, blocks_for};
use saltus::model::Dims;
use saltus::scalar::{Dual, Real};

/// From nothing but the world to a humanoid: odd and even, on and off vector boundaries.
const ROBOTS: [Dims; 5] =
    [Dims::new(0, 0, 0), Dims::new(1, 1, 1), Dims::new(2, 2, 2), Dims::new(13, 19, 18), Dims::new(30, 36, 35)];

fn check_workspaces<T: Real>() {
    for dims in ROBOTS {
        let mut memory = vec![Block::EMPTY; Kinematics::<T>::blocks(dims) + Dynamics::<T>::blocks(dims)];
        let mut arena = Arena::new(&mut memory);
        let kinematics = Kinematics::<T>::carve(&mut arena, dims).unwrap();
        assert_eq!(arena.remaining(), Dynamics::<T>::blocks(dims));
        let dynamics = Dynamics::<T>::carve(&mut arena, dims).unwrap();
        assert_eq!(arena.remaining(), 0);
        assert_eq!(kinematics.placement.len(), dims.bodies + 1);
        assert_eq!(dynamics.mass_matrix.len(), dims.square());
    }
}

#[test]
fn carving_uses_exactly_the_blocks_that_the_size_says() {
    check_workspaces::<f64>();
    check_workspaces::<f32>();
    check_workspaces::<Dual<f64>>();
}

#[test]
fn one_block_less_is_too_small() {
    for dims in ROBOTS {
        let blocks = Dynamics::<f64>::blocks(dims);
        let mut memory = vec![Block::EMPTY; blocks - 1];
        let result = Dynamics::<f64>::carve(&mut Arena::new(&mut memory), dims);
        let error = result.expect_err("a block is missing");
        assert!(error.needed > error.got, "{error}");
    }
}

#[test]
fn an_arena_that_is_too_small_says_so_and_stays_as_it_was() {
    let mut memory = [Block::EMPTY; 3];
    let mut arena = Arena::new(&mut memory);
    assert_eq!(arena.slice::<f64>(13).err(), Some(ArenaTooSmall { needed: 4, got: 3 }));
    assert_eq!(arena.remaining(), 3);
    let first = arena.slice::<f64>(4).unwrap();
    assert_eq!(arena.slice::<u8>(65).err(), Some(ArenaTooSmall { needed: 3, got: 2 }));
    assert_eq!(arena.remaining(), 2);
    let rest = arena.slice::<f64>(8).unwrap();
    first.fill(1.0);
    rest.fill(2.0);
    assert!(first.iter().all(|&x| x == 1.0) && arena.remaining() == 0);
    assert_eq!(arena.slice::<f32>(0).map(|empty| empty.len()), Ok(0));
}

fn check_slice<X: Copy + Default + PartialEq + 'static>(arena: &mut Arena<'_>, len: usize) {
    let before = arena.remaining();
    let slice = arena.slice::<X>(len).unwrap();
    assert_eq!(slice.len(), len);
    assert_eq!(slice.as_ptr().addr() % BLOCK_BYTES, 0);
    assert!(slice.iter().all(|x| *x == X::default()));
    assert_eq!(before - arena.remaining(), (len * size_of::<X>()).div_ceil(BLOCK_BYTES));
}

#[test]
fn every_slice_starts_on_a_block_and_holds_defaults() {
    assert_eq!((size_of::<Block>(), align_of::<Block>()), (BLOCK_BYTES, BLOCK_BYTES));
    let mut memory = vec![Block::EMPTY; 2000];
    // What a slice holds is set, not left from the last use.
    Arena::new(&mut memory).slice::<u8>(2000 * BLOCK_BYTES).unwrap().fill(0xff);
    let mut arena = Arena::new(&mut memory);
    for len in 0..20 {
        check_slice::<u8>(&mut arena, len);
        check_slice::<u16>(&mut arena, len);
        check_slice::<f32>(&mut arena, len);
        check_slice::<f64>(&mut arena, len);
        check_slice::<[f64; 3]>(&mut arena, len);
        check_slice::<u128>(&mut arena, len);
        check_slice::<()>(&mut arena, len);
    }
}

#[test]
fn slices_do_not_overlap() {
    let mut memory = [Block::EMPTY; 8];
    let mut arena = Arena::new(&mut memory);
    let slices: Vec<&mut [u8]> = [1, 33, 64, 32, 5].map(|len| arena.slice(len).unwrap()).into();
    let ranges: Vec<_> = slices.iter().map(|s| s.as_ptr_range()).collect();
    assert!(ranges.windows(2).all(|pair| pair[0].end <= pair[1].start));
}

#[test]
fn a_static_sized_at_compile_time_holds_a_quadruped() {
    const GO1: Dims = Dims::new(13, 19, 18);
    const BLOCKS: usize = Dynamics::<f32>::blocks(GO1) + blocks_for::<f32>(GO1.nv);
    static MEMORY: Mutex<[Block; BLOCKS]> = Mutex::new([Block::EMPTY; BLOCKS]);
    let mut memory = MEMORY.lock().unwrap();
    let mut arena = Arena::new(&mut *memory);
    Dynamics::<f32>::carve(&mut arena, GO1).unwrap();
    assert_eq!(arena.slice::<f32>(GO1.nv).unwrap().len(), 18);
    assert_eq!(arena.remaining(), 0);
}

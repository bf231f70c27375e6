//! The declaration of a workspace: fields once, size and carving derived.

/// Declares a workspace whose slices are carved from an [`Arena`](crate::memory::Arena).
///
/// `[X; expression]` is a slice of that many `X`, `{ W }` another carved workspace of the same dimensions, `{ W(dims) }`
/// one of other dimensions, `(X)` a plain value. The macro makes the struct, `const fn blocks(dims)` and `fn carve(arena, dims)`.
macro_rules! carved {
    (
        $(#[$outer:meta])*
        $vis:vis struct $name:ident<$life:lifetime, $t:ident>($dims:ident: $dims_type:ty) {
            $( $(#[$inner:meta])* $fvis:vis $field:ident: $kind:tt ),* $(,)?
        }
    ) => {
        $(#[$outer])*
        $vis struct $name<$life, $t> {
            $( $(#[$inner])* $fvis $field: $crate::memory::carved!(@type $life $t $kind), )*
            _scalar: core::marker::PhantomData<&$life $t>,
        }

        impl<$t> core::fmt::Debug for $name<'_, $t> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }

        impl<$life, $t: $crate::scalar::Real> $name<$life, $t> {
            /// Arena blocks that a workspace of these dimensions takes.
            #[allow(unused_variables)]
            pub const fn blocks($dims: $dims_type) -> usize {
                0 $( + $crate::memory::carved!(@blocks $t $dims $kind) )*
            }

            /// Carves the workspace, with every value at its default.
            #[allow(unused_variables)]
            pub fn carve(
                arena: &mut $crate::memory::Arena<$life>,
                $dims: $dims_type,
            ) -> Result<Self, $crate::memory::ArenaTooSmall> {
                Ok(Self {
                    $( $field: $crate::memory::carved!(@carve arena $dims $kind), )*
                    _scalar: core::marker::PhantomData,
                })
            }
        }
    };
    (@type $life:lifetime $t:ident [$x:ty; $len:expr]) => { &$life mut [$x] };
    (@type $life:lifetime $t:ident {$w:ident}) => { $w<$life, $t> };
    (@type $life:lifetime $t:ident {$w:ident($inner:expr)}) => { $w<$life, $t> };
    (@type $life:lifetime $t:ident ($x:ty)) => { $x };
    (@blocks $t:ident $dims:ident [$x:ty; $len:expr]) => { $crate::memory::blocks_for::<$x>($len) };
    (@blocks $t:ident $dims:ident {$w:ident}) => { $w::<$t>::blocks($dims) };
    (@blocks $t:ident $dims:ident {$w:ident($inner:expr)}) => { $w::<$t>::blocks($inner) };
    (@blocks $t:ident $dims:ident ($x:ty)) => { 0 };
    (@carve $arena:ident $dims:ident [$x:ty; $len:expr]) => { $arena.slice::<$x>($len)? };
    (@carve $arena:ident $dims:ident {$w:ident}) => { $w::carve($arena, $dims)? };
    (@carve $arena:ident $dims:ident {$w:ident($inner:expr)}) => { $w::carve($arena, $inner)? };
    (@carve $arena:ident $dims:ident ($x:ty)) => { <$x>::default() };
}

pub(crate) use carved;

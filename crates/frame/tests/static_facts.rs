//! What the compiler is to hold us to: sizes, what may cross threads, what cannot be copied.
#![cfg(not(loom))]

use core::mem::size_of;

use frame::*;

/// `has_not!(T: Trait)` compiles only when `T` lacks `Trait`: otherwise the two impls that could
/// be meant are ambiguous.
macro_rules! has_not {
    ($type:ty: $trait:path) => {
        const _: fn() = || {
            trait Either<Which> {
                fn meant() {}
            }
            impl<T: ?Sized> Either<()> for T {}
            struct Has;
            impl<T: ?Sized + $trait> Either<Has> for T {}
            <$type as Either<_>>::meant()
        };
    };
}

macro_rules! has {
    ($type:ty: $($trait:tt)+) => {
        const _: fn() = || {
            fn has<T: ?Sized + $($trait)+>() {}
            has::<$type>()
        };
    };
}

has!(Frame: Send + Sync + 'static);
has_not!(Frame: Clone);
has_not!(Frame: Copy);
has_not!(Frame: Default);

has!(FramePool: Send + 'static);
has_not!(FramePool: Sync);
has_not!(FramePool: Clone);

has!(Burst: Send);
has_not!(Burst: Clone);

has!(Region: Send + Sync);
has!(Mapping: Send + Sync);

has!(HugeSlice<u32>: Send + Sync);
has_not!(HugeSlice<core::cell::Cell<u32>>: Sync);
has_not!(HugeSlice<*const u8>: Send);

has!(Producer<Frame>: Send);
has!(Consumer<Frame>: Send);
has_not!(Producer<u32>: Clone);
has_not!(Consumer<u32>: Clone);
has_not!(Producer<std::rc::Rc<u32>>: Send);
has_not!(Consumer<std::rc::Rc<u32>>: Send);

#[test]
fn sizes() {
    assert_eq!(size_of::<Frame>(), 16);
    assert_eq!(size_of::<Option<Frame>>(), 16);
    assert_eq!(size_of::<FrameMeta>(), 32);
    assert_eq!(size_of::<Burst>(), BURST_MAX * 16 + 8);
    assert_eq!(size_of::<Nanos>(), 8);
    assert_eq!(size_of::<PortId>(), 1);
}

//! Fourteen arrays at a chosen distance, and a 19-point stencil over them.

/// Arrays that the stencil reads or writes.
pub(super) const ARRAYS: usize = 14;
const PAGE_BYTES: usize = 4096;
const FLOAT_BYTES: usize = size_of::<f32>();
/// Room behind each array for its offset: the largest offset times the number of arrays.
const SLACK_BYTES: usize = 64 << 10;
/// Share of the correction that a sweep applies.
const RELAXATION: f32 = 0.8;
/// Multiplications and additions for one point.
pub(super) const FLOPS: u64 = 34;

/// Points of an array in each direction; `z` is the direction of neighbouring addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grid {
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) z: usize,
}

impl Grid {
    fn points(self) -> usize {
        self.x * self.y * self.z
    }

    /// Bytes of one array.
    pub(super) fn array_bytes(self) -> usize {
        self.points() * FLOAT_BYTES
    }

    /// Points that a sweep computes: those with a neighbour on each side.
    pub(super) fn inner(self) -> u64 {
        ((self.x - 2) * (self.y - 2) * (self.z - 2)) as u64
    }

    /// Floats from the start of one array to the start of the next, without an offset: whole
    /// pages.
    fn slot(self) -> usize {
        (self.array_bytes() + SLACK_BYTES).next_multiple_of(PAGE_BYTES) / FLOAT_BYTES
    }
}

/// Memory for the arrays of the largest grid.
pub(super) struct Arena {
    floats: Vec<f32>,
    /// The first float that begins a page.
    start: usize,
}

impl Arena {
    pub(super) fn new(grid: Grid) -> Self {
        let floats = vec![0.0; ARRAYS * grid.slot() + PAGE_BYTES / FLOAT_BYTES];
        let start = floats.as_ptr().addr().wrapping_neg() % PAGE_BYTES / FLOAT_BYTES;
        Self { floats, start }
    }

    /// The arrays of a grid with fresh contents. Array `n` begins `n * offset` bytes behind the
    /// start of a page.
    pub(super) fn arrays(&mut self, grid: Grid, offset: usize) -> Arrays<'_> {
        debug_assert!(offset * (ARRAYS - 1) <= SLACK_BYTES);
        let slots = self.floats[self.start..].chunks_exact_mut(grid.slot());
        let mut arrays = slots.take(ARRAYS).enumerate().map(|(number, slot)| {
            let first = number * offset / FLOAT_BYTES;
            &mut slot[first..first + grid.points()]
        });
        let mut filled = |value: f32| {
            let array = arrays.next().unwrap_or_default();
            array.fill(value);
            array
        };
        let next = [1.0, 1.0, 1.0].map(&mut filled);
        let scale = filled(1.0 / 6.0);
        let cross = [0.0; 3].map(&mut filled);
        let before = [1.0; 3].map(&mut filled);
        let pressure = filled(0.0);
        for (plane, points) in pressure.chunks_exact_mut(grid.y * grid.z).enumerate() {
            points.fill((plane * plane) as f32 / ((grid.x - 1) * (grid.x - 1)) as f32);
        }
        Arrays {
            grid,
            next,
            scale,
            cross,
            before,
            pressure,
            bound: filled(1.0),
            source: filled(0.0),
            made: filled(0.0),
        }
    }
}

/// The fourteen arrays: coefficients of the next and previous neighbours by direction, those of
/// the mixed derivatives, the pressure, and what a sweep makes of it.
pub(super) struct Arrays<'a> {
    grid: Grid,
    next: [&'a mut [f32]; 3],
    scale: &'a mut [f32],
    cross: [&'a mut [f32]; 3],
    before: [&'a mut [f32]; 3],
    pressure: &'a mut [f32],
    bound: &'a mut [f32],
    source: &'a mut [f32],
    made: &'a mut [f32],
}

/// Where the nine rows of the pressure begin that a row of points needs: by plane, then by row.
#[derive(Clone, Copy)]
struct Rows<'a>([[&'a [f32]; 3]; 3]);

impl<'a> Rows<'a> {
    fn of(pressure: &'a [f32], grid: Grid, row: usize) -> Self {
        let plane = grid.y * grid.z;
        let starts = [row - plane, row, row + plane];
        Self(starts.map(|middle| {
            [middle - grid.z, middle, middle + grid.z].map(|start| &pressure[start..][..grid.z])
        }))
    }
}

impl Arrays<'_> {
    /// One sweep of the stencil; the sum of the squared corrections.
    pub(super) fn sweep(&mut self) -> f32 {
        let grid = self.grid;
        let mut sum = 0.0;
        for x in 1..grid.x - 1 {
            for y in 1..grid.y - 1 {
                sum += self.row((x * grid.y + y) * grid.z);
            }
        }
        for x in 1..grid.x - 1 {
            for y in 1..grid.y - 1 {
                let inner = (x * grid.y + y) * grid.z + 1..(x * grid.y + y + 1) * grid.z - 1;
                self.pressure[inner.clone()].copy_from_slice(&self.made[inner]);
            }
        }
        sum
    }

    /// The points of one row.
    fn row(&mut self, row: usize) -> f32 {
        let length = self.grid.z;
        let Rows([below, level, above]) = Rows::of(self.pressure, self.grid, row);
        let [next_x, next_y, next_z] = self.next.each_ref().map(|array| &array[row..][..length]);
        let [cross_xy, cross_yz, cross_xz] =
            self.cross.each_ref().map(|array| &array[row..][..length]);
        let [before_x, before_y, before_z] =
            self.before.each_ref().map(|array| &array[row..][..length]);
        let [scale, bound, source] =
            [&*self.scale, &*self.bound, &*self.source].map(|array| &array[row..][..length]);
        let made = &mut self.made[row..][..length];
        let mut sum = 0.0;
        for z in 1..length - 1 {
            let flow = next_x[z] * above[1][z]
                + next_y[z] * level[2][z]
                + next_z[z] * level[1][z + 1]
                + cross_xy[z] * (above[2][z] - above[0][z] - below[2][z] + below[0][z])
                + cross_yz[z]
                    * (level[2][z + 1] - level[0][z + 1] - level[2][z - 1] + level[0][z - 1])
                + cross_xz[z]
                    * (above[1][z + 1] - below[1][z + 1] - above[1][z - 1] + below[1][z - 1])
                + before_x[z] * below[1][z]
                + before_y[z] * level[0][z]
                + before_z[z] * level[1][z - 1]
                + source[z];
            let correction = (flow * scale[z] - level[1][z]) * bound[z];
            sum += correction * correction;
            made[z] = level[1][z] + RELAXATION * correction;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRID: Grid = Grid { x: 5, y: 6, z: 7 };

    /// Contents without symmetry, so that a neighbour that is mixed up changes the result.
    fn scramble(arrays: &mut Arrays<'_>) {
        let mut state = 1u32;
        let mut draw = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 24) as f32
        };
        let coefficients = arrays.next.iter_mut().chain(&mut arrays.cross);
        for array in coefficients.chain(&mut arrays.before) {
            array.fill_with(&mut draw);
        }
        arrays.pressure.fill_with(&mut draw);
        arrays.source.fill_with(&mut draw);
    }

    /// The stencil as its definition has it: neighbours by their distances in three directions.
    fn twin(arrays: &Arrays<'_>, [x, y, z]: [usize; 3]) -> f32 {
        let index = |x: usize, y: usize, z: usize| (x * GRID.y + y) * GRID.z + z;
        let near = |by: [i64; 3]| {
            let at = [x, y, z].map(|at| at as i64);
            let at = [at[0] + by[0], at[1] + by[1], at[2] + by[2]].map(|at| at as usize);
            arrays.pressure[index(at[0], at[1], at[2])]
        };
        let here = index(x, y, z);
        let mut flow = arrays.source[here];
        for direction in 0..3 {
            let mut by = [0; 3];
            by[direction] = 1;
            flow += arrays.next[direction][here] * near(by);
            flow += arrays.before[direction][here] * near(by.map(|by: i64| -by));
        }
        for (cross, [one, other]) in [[0, 1], [1, 2], [0, 2]].into_iter().enumerate() {
            for (sign_one, sign_other) in [(1, 1), (1, -1), (-1, 1), (-1, -1)] {
                let mut by = [0; 3];
                (by[one], by[other]) = (sign_one, sign_other);
                let sign = (sign_one * sign_other) as f32;
                flow += sign * arrays.cross[cross][here] * near(by);
            }
        }
        let centre = arrays.pressure[here];
        centre + RELAXATION * (flow * arrays.scale[here] - centre) * arrays.bound[here]
    }

    #[test]
    fn a_sweep_is_the_stencil_at_each_inner_point() {
        let mut arena = Arena::new(GRID);
        let mut arrays = arena.arrays(GRID, 64);
        scramble(&mut arrays);
        let mut expected = arrays.pressure.to_vec();
        for x in 1..GRID.x - 1 {
            for y in 1..GRID.y - 1 {
                for z in 1..GRID.z - 1 {
                    expected[(x * GRID.y + y) * GRID.z + z] = twin(&arrays, [x, y, z]);
                }
            }
        }
        assert!(arrays.sweep() > 0.0);
        for (index, (made, expected)) in arrays.pressure.iter().zip(&expected).enumerate() {
            assert!((made - expected).abs() < 1e-4, "{index}: {made} {expected}");
        }
    }

    #[test]
    fn the_layout_changes_addresses_and_no_result() {
        let mut arena = Arena::new(GRID);
        let mut sums = Vec::new();
        for offset in [0, 16, 64, 4096] {
            let mut arrays = arena.arrays(GRID, offset);
            let place = |array: &[f32]| array.as_ptr().addr() % PAGE_BYTES;
            assert_eq!(place(arrays.next[0]), 0);
            assert_eq!(place(arrays.next[1]), offset % PAGE_BYTES);
            assert_eq!(place(arrays.made), 13 * offset % PAGE_BYTES);
            sums.push([arrays.sweep(), arrays.sweep()]);
        }
        assert!(
            sums.iter().all(|sum| *sum == sums[0]) && sums[0][0] > 0.0,
            "{sums:?}"
        );
    }
}

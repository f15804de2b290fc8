//! Arrays of Python over memory that Rust owns: no copy, and the owner lives as long as they do.
#![allow(unsafe_code)]

use citrange_sim::{CompiledScene, TableField, World};
use ndarray::{ArrayViewD, ShapeBuilder as _};
use numpy::{Element, PyArrayDyn, PyArrayMethods as _, PyReadwriteArrayDyn};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// An array that shows `numbers`, which nobody can write through.
///
/// # Safety
/// `numbers` must stay where they are, and be numbers, for as long as `owner` lives.
pub(crate) unsafe fn view<'py, T: Element + Copy>(
    owner: &Bound<'py, PyAny>,
    numbers: *const T,
    shape: &[usize],
    strides: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    let shape = ndarray::IxDyn(shape).strides(ndarray::IxDyn(strides));
    // SAFETY: the caller says that the memory is there; shape and strides are within it.
    let shown = unsafe { ArrayViewD::from_shape_ptr(shape, numbers) };
    // SAFETY: the owner becomes the array's base, so it lives at least as long.
    let array = unsafe { PyArrayDyn::borrow_from_array(&shown, owner.clone()) };
    let writing: PyReadwriteArrayDyn<'py, T> = array.readwrite();
    drop(writing.make_nonwriteable());
    Ok(array.into_any())
}

/// A view of all of `numbers`, environments first.
///
/// # Safety
/// As [`view`].
pub(crate) unsafe fn rows<'py, T: Element + Copy>(
    owner: &Bound<'py, PyAny>,
    numbers: &[T],
    shape: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    // SAFETY: of the caller; the strides are those of a block without gaps.
    unsafe { view(owner, numbers.as_ptr(), shape, &strides) }
}

/// Where the published rows of a world are.
pub(crate) struct Table {
    address: usize,
    row_len: usize,
    num_envs: usize,
    fields: Vec<TableField>,
}

impl Table {
    pub(crate) fn of(world: &World) -> Self {
        let (numbers, row_len) = world.table();
        let (num_envs, fields) = (world.num_envs(), world.table_fields());
        Self { address: numbers.as_ptr().expose_provenance(), row_len, num_envs, fields }
    }
}

/// The state of a world as it is at any time: the nested dictionary of a TensorState.
///
/// # Safety
/// The table's world must be owned by `owner` and never be exchanged.
pub(crate) unsafe fn shown<'py>(
    owner: &Bound<'py, PyAny>,
    table: Table,
    scene: &CompiledScene,
) -> PyResult<Bound<'py, PyDict>> {
    let py = owner.py();
    let all = PyDict::new(py);
    all.set_item("num_envs", table.num_envs)?;
    let (objects, robots) = (PyDict::new(py), PyDict::new(py));
    for field in table.fields {
        let of = if field.is_robot { &robots } else { &objects };
        let thing = match of.get_item(&field.thing)? {
            Some(thing) => thing,
            None => {
                let thing = PyDict::new(py);
                if field.is_robot {
                    let joints = scene.joint_names(&field.thing);
                    let joints = joints.map_err(|error| crate::raise::raise(py, &error))?;
                    thing.set_item("joint_names", joints)?;
                }
                of.set_item(&field.thing, &thing)?;
                thing.into_any()
            }
        };
        let mut strides = vec![table.row_len];
        let mut inner = vec![1; field.shape.len()];
        for axis in (1..field.shape.len()).rev() {
            inner[axis - 1] = inner[axis] * field.shape[axis];
        }
        strides.extend(inner);
        let shape = [&[table.num_envs][..], &field.shape].concat();
        let first =
            std::ptr::with_exposed_provenance::<f64>(table.address).wrapping_add(field.from);
        // SAFETY: the rows of a world stay where they are while it lives, which the owner sees to;
        // every field lies within its row.
        thing.set_item(field.field, unsafe { view(owner, first, &shape, &strides) }?)?;
    }
    all.set_item("objects", objects)?;
    all.set_item("robots", robots)?;
    all.set_item("cameras", PyDict::new(py))?;
    all.set_item("extras", PyDict::new(py))?;
    Ok(all)
}

//! Index of the chunks of a dataset: a version 1 B-tree, built when all chunks are known.

use crate::encode::UNDEFINED;

/// Half the children of a node; HDF5's default, which version 2 superblocks imply.
const HALF: usize = 32;
const FAN_OUT: usize = 2 * HALF;

/// A chunk in the file: one picture, deflated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk {
    pub(crate) address: u64,
    pub(crate) bytes: u32,
}

/// A subtree: where it lies, and the first frame below it with the bytes of its chunk.
#[derive(Clone, Copy)]
struct Entry {
    address: u64,
    frame: u64,
    bytes: u32,
}

/// Lays out the tree for chunks of one frame each, in a dataset of `rank` dimensions, as if
/// written at `start`. Returns the bytes and the address of the root.
pub(crate) fn tree(chunks: &[Chunk], rank: usize, start: u64) -> (Vec<u8>, u64) {
    let mut out = Vec::new();
    let mut level: u8 = 0;
    let mut entries: Vec<Entry> = chunks
        .iter()
        .zip(0u64..)
        .map(|(chunk, frame)| Entry { address: chunk.address, frame, bytes: chunk.bytes })
        .collect();
    let end = chunks.len() as u64;
    loop {
        let nodes = entries.len().div_ceil(FAN_OUT);
        let size = node_bytes(rank);
        let base = start + out.len() as u64;
        let address = |node: usize| base + (node * size) as u64;
        let mut parents = Vec::with_capacity(nodes);
        for (node, children) in entries.chunks(FAN_OUT).enumerate() {
            let left = if node == 0 { UNDEFINED } else { address(node - 1) };
            let right = if node + 1 == nodes { UNDEFINED } else { address(node + 1) };
            let next = entries.get((node + 1) * FAN_OUT);
            let begin = out.len();
            out.extend(b"TREE\x01");
            out.push(level);
            out.extend((children.len() as u16).to_le_bytes());
            out.extend(left.to_le_bytes());
            out.extend(right.to_le_bytes());
            for child in children {
                key(&mut out, child.bytes, child.frame, rank);
                out.extend(child.address.to_le_bytes());
            }
            // The last key is the first of the next node, or the end of the dataset.
            key(&mut out, next.map_or(0, |e| e.bytes), next.map_or(end, |e| e.frame), rank);
            // Readers fetch whole nodes.
            out.resize(begin + size, 0);
            parents.push(Entry { address: address(node), ..children[0] });
        }
        if let [root] = parents[..] {
            return (out, root.address);
        }
        entries = parents;
        level += 1;
    }
}

fn key(out: &mut Vec<u8>, bytes: u32, frame: u64, rank: usize) {
    out.extend(bytes.to_le_bytes());
    out.extend(0u32.to_le_bytes()); // no filter is left out
    out.extend(frame.to_le_bytes());
    out.extend(std::iter::repeat_n(0, 8 * rank)); // other dimensions, and the element
}

fn node_bytes(rank: usize) -> usize {
    let key = 8 + 8 * (rank + 1);
    24 + FAN_OUT * 8 + (FAN_OUT + 1) * key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_whole_and_the_root_is_last() {
        for (count, nodes) in [(1, 1), (64, 1), (65, 3), (4096, 65), (4097, 68)] {
            let chunks = vec![Chunk { address: 48, bytes: 7 }; count];
            let (bytes, root) = tree(&chunks, 4, 1000);
            assert_eq!(bytes.len(), nodes * node_bytes(4), "{count}");
            assert_eq!(root, 1000 + ((nodes - 1) * node_bytes(4)) as u64, "{count}");
        }
    }
}

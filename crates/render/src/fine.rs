//! Finer samples of the pixels at edges.

use crate::packet::{NONE, Packet, RAYS, in_blocks};
use crate::shade::Colours;
use crate::view::View;

/// Samples of edge pixels that wait to be drawn together.
pub(crate) struct FineSamples {
    pub(crate) packet: Packet,
    /// The same rays, those of one instance side by side, so that registers are shaded whole.
    pub(crate) sorted: Packet,
    /// Where each ray is in `sorted`.
    pub(crate) places: [u8; RAYS],
    pub(crate) colours: Colours,
    /// In block order.
    pub(crate) pixels: [usize; RAYS],
    pub(crate) count: usize,
}

impl FineSamples {
    pub(crate) fn new() -> Self {
        Self {
            packet: Packet::new(),
            sorted: Packet::new(),
            places: [0; RAYS],
            colours: Colours::new(),
            pixels: [0; RAYS],
            count: 0,
        }
    }

    pub(crate) fn sort(&mut self, view: &View) {
        let len = self.packet.len;
        // Few instances meet in a tile: number them in order of appearance and count them.
        let (mut seen, mut counts, mut kinds) = ([NONE; RAYS], [0_usize; RAYS], 0);
        let mut kind_of = [0_u8; RAYS];
        for (surf, kind_of) in self.packet.surf[..len].iter().zip(&mut kind_of) {
            let owner = view.owner(*surf);
            let kind = seen[..kinds].iter().position(|s| *s == owner).unwrap_or(kinds);
            if kind == kinds {
                seen[kinds] = owner;
                kinds += 1;
            }
            counts[kind] += 1;
            *kind_of = kind as u8;
        }
        let mut next = 0;
        for count in &mut counts[..kinds] {
            next += std::mem::replace(count, next);
        }
        for (ray, kind) in kind_of[..len].iter().enumerate() {
            let slot = &mut counts[usize::from(*kind)];
            let to = *slot;
            *slot += 1;
            self.places[ray] = to as u8;
            self.sorted.x[to] = self.packet.x[ray];
            self.sorted.y[to] = self.packet.y[ray];
            self.sorted.z[to] = self.packet.z[ray];
            self.sorted.surf[to] = self.packet.surf[ray];
        }
        self.sorted.len = len;
    }

    pub(crate) fn push(&mut self, view: &View, [column, row]: [usize; 2], samples: &[[f64; 2]]) {
        self.pixels[self.count] = in_blocks(column, row);
        self.count += 1;
        for [dx, dy] in samples {
            self.packet.push(view, column as f64 + dx, row as f64 + dy);
        }
    }

    pub(crate) fn is_full(&self, samples: &[[f64; 2]]) -> bool {
        self.packet.len + samples.len() > RAYS
    }
}

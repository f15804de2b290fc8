//! Surfaces one can look through: drawn one by one over what is behind them.

use citrange_lanes::Isa;

use crate::packet::{NONE, Packet, RAYS};
use crate::shade::{Colours, Shade, Stage};
use crate::view::View;

/// What one transparent instance adds to a packet.
struct Layer {
    alpha: f32,
    packet: Packet,
    colours: Colours,
}

/// The transparent instances of a frame. Reused: its layers only grow in number.
pub(crate) struct Glass {
    pub(crate) view: View,
    layers: Vec<Layer>,
    order: Vec<usize>,
}

impl std::fmt::Debug for Glass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Glass").field("view", &self.view).finish_non_exhaustive()
    }
}

impl Glass {
    pub(crate) fn new(isa: Isa) -> Self {
        Self { view: View::new(isa), layers: Vec::new(), order: Vec::new() }
    }

    /// Blends, per ray from back to front, all that lies before the opaque `packet`.
    /// `stage` is that of the opaque surfaces.
    pub(crate) fn blend(
        &mut self,
        stage: &Stage,
        tile: usize,
        packet: &Packet,
        colours: &mut Colours,
    ) {
        let mut used = 0;
        let mut last = NONE;
        for &surf in self.view.surfaces_in(tile) {
            // Surfaces of one instance follow each other.
            let owner = self.view.owner(surf);
            if owner == last {
                continue;
            }
            last = owner;
            if self.layers.len() == used {
                let (packet, colours) = (Packet::new(), Colours::new());
                self.layers.push(Layer { alpha: 0.0, packet, colours });
            }
            let layer = &mut self.layers[used];
            used += 1;
            layer.alpha = stage.model.instances[owner as usize].material.rgba[3];
            layer.packet.x = packet.x;
            layer.packet.y = packet.y;
            layer.packet.z = packet.z;
            layer.packet.len = packet.len;
            layer.packet.surf.fill(NONE);
            self.view.cast(tile, &mut layer.packet, false, |surf| self.view.owner(surf) == owner);
            let owners = layer.packet.surf.map(|surf| if surf == NONE { NONE } else { owner });
            self.view.isa.run(Shade {
                stage: Stage { view: &self.view, ..*stage },
                tile,
                packet: &layer.packet,
                owners: &owners,
                with_sky: false,
                out: &mut layer.colours,
            });
        }
        let layers = &self.layers[..used];
        for ray in 0..packet.len.min(RAYS) {
            self.order.clear();
            self.order.extend((0..used).filter(|i| layers[*i].packet.surf[ray] != NONE));
            self.order.sort_unstable_by(|a, b| {
                let depth = |i: usize| layers[i].packet.z[ray];
                depth(*b).total_cmp(&depth(*a)).then(a.cmp(b))
            });
            for &i in &self.order {
                for (to, from) in colours.rgb.iter_mut().zip(&layers[i].colours.rgb) {
                    to[ray] += layers[i].alpha * (from[ray] - to[ray]);
                }
            }
        }
    }
}

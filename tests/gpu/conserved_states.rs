//! What kernels of conservation are compared with their twins in.

use crate::common::Random;
use dashpot::gpu::buffer::{Buffer, Contents};
use dashpot::gpu::layout::{
    AttachmentAim, BodyAim, BodyWish, ConservedDirection, ConservedVertex, conserved,
};
use dashpot::model::Model;

/// Numbers of every size in all that conservation keeps; whole numbers are such as can be.
pub fn fill_conservation(all: &mut Contents, model: &Model, size: f64, random: &mut Random) {
    let buffers = [
        Buffer::BodyWishes,
        Buffer::BodyAims,
        Buffer::ConservedVertices,
        Buffer::ConservedDirections,
        Buffer::AttachmentAims,
        Buffer::ConservationPartials,
        Buffer::TurnSolution,
        Buffer::DriveSolution,
        Buffer::WeightGradient,
        Buffer::WeightSolution,
        Buffer::FrontSolution,
        Buffer::BodySystems,
    ];
    for buffer in buffers {
        all.items_mut::<f32>(buffer).iter_mut().for_each(|number| *number = (random.number() * size) as f32);
    }
    let n = model.vertex_count() as u32;
    for (i, vertex) in (0..n).zip(all.items_mut::<ConservedVertex>(Buffer::ConservedVertices)) {
        (vertex.mass, vertex.column) = (vertex.mass.abs(), (i + 7) % n);
    }
    for (i, direction) in (0..n).zip(all.items_mut::<ConservedDirection>(Buffer::ConservedDirections)) {
        direction.column = (i + 7) % n;
    }
    let held: Vec<u32> = model.attachments.iter().map(|a| a.vertex).collect();
    for (aim, vertex) in all.items_mut::<AttachmentAim>(Buffer::AttachmentAims).iter_mut().zip(&held) {
        (aim.vertex, aim.body) = (*vertex, model.body_of(*vertex) as u32);
    }
    let range = |body: usize| {
        let mine = held.iter().enumerate().filter(|(_, vertex)| model.body_of(**vertex) == body);
        let numbers: Vec<u32> = mine.map(|(number, _)| number as u32).collect();
        (numbers.first().copied().unwrap_or(0), numbers.last().map_or(0, |last| last + 1))
    };
    let [p, l, h] = conserved::HOLDS;
    let [wishes_p, wishes_l, wishes_h] = conserved::WISHES;
    // one after the other: free, held, wishing, left alone
    let flags = [
        conserved::FREE + p + l + h,
        p + l + h,
        conserved::FREE + p + l + h + wishes_p + wishes_l,
        conserved::FREE + h + l + wishes_h,
        conserved::FREE + p + conserved::FORGETS,
        conserved::ALONE + p + l,
        conserved::FREE + p + l + h + conserved::FORGETS + wishes_p + wishes_h,
    ];
    for (body, wish) in all.items_mut::<BodyWish>(Buffer::BodyWishes).iter_mut().enumerate() {
        wish.flags = flags[body % flags.len()];
        (wish.first, wish.end) = range(body);
        (wish.decay, wish.tolerance) = (0.1, 1e-4);
    }
    for (body, aim) in all.items_mut::<BodyAim>(Buffer::BodyAims).iter_mut().enumerate() {
        aim.flags = flags[body % flags.len()];
        if aim.flags & (conserved::FREE + p + l) == conserved::FREE + p + l {
            aim.flags |= conserved::WITHOUT_RIGID;
        }
        aim.known = body as u32 % 4;
        (aim.first, aim.end) = range(body);
        (aim.worst, aim.made, aim.least) = (body as u32 % 3, 3, body as u32 % 2);
        (aim.mass, aim.inertia) = (1.0 + aim.mass.abs(), aim.inertia.abs());
        for positive in
            [&mut aim.floor, &mut aim.kinetic, &mut aim.damped, &mut aim.square, &mut aim.tolerance]
        {
            *positive = positive.abs() + 10.0 * size as f32;
        }
        // shares: of the curvature counted on by an iteration that went to the far side, or none; among huge numbers the far root is a
        // difference that single precision does not have
        (aim.bend, aim.crossed) = (0.6, if body % 2 == 0 || size > 1e3 { 0.0 } else { 0.7 });
        aim.turning = aim.turning.abs();
    }
    let partials = all.items_mut::<[f32; 16]>(Buffer::ConservationPartials);
    for (k, partial) in partials.iter_mut().enumerate() {
        // sums of squares, and of matrices that are definite
        let positive: &[usize] = if k % 2 == 0 { &[0, 4, 6, 7, 8, 12, 14] } else { &[6] };
        positive.iter().for_each(|slot| partial[*slot] = partial[*slot].abs() + 3.0 * size as f32);
    }
    for (k, number) in all.items_mut::<f32>(Buffer::BodySystems).iter_mut().enumerate() {
        let (own, row, column) = (k % 80, k % 80 % 36 / 6, k % 80 % 36 % 6);
        let about_one = 1.0 + 0.5 * *number / size as f32;
        // the energy's own part is larger than what the momenta have of it
        *number = match own {
            78 => 20.0 * size as f32,
            0..72 if row != column => 0.0,
            0..36 => about_one * size as f32,
            36..72 => about_one / size as f32,
            _ => *number,
        };
    }
}

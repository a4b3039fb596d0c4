// What programs in TypeScript write; the compiler says whether the package's types allow it, and refuse what is wrong.
import { BoughError, load, type Bough, type TreeState } from "bough-rt";

export async function fall(pack: ArrayBuffer): Promise<number> {
    const bough: Bough = await load();
    const model = bough.readPack(pack), state: TreeState = model.createState();
    state.gravity = [0, 0, -9.81];
    state.wind = { velocity: [5, 0, 0], gust: 0.3 };
    state.pull("twig", 0, new Float64Array(3), 100);
    const halved: number = state.advance(1 / 60);
    const { positions, normals }: { positions: Float32Array; normals: Float32Array } = state.surface({ continuity: "C1" });
    try {
        state.restore(state.snapshot());
    } catch (error) {
        if (error instanceof BoughError && error.recoverable) return NaN;
    }
    // @ts-expect-error: a step has a length
    state.step();
    // @ts-expect-error: there is no such continuity
    state.surface({ continuity: "C7" });
    return halved + positions.length + normals.length + state.energies.momentum[0];
}

// The camera goes where things go: what walks or flies away stays in the picture.

const GLIDE = 0.25; // s: in which most of the way to the middle is done, when it begins

const minus = (a, b) => a.map((x, c) => x - b[c]);

// Moves `orbit` by the motion of a point that it is told in each picture, so that panning and zooming mean what they do
// otherwise; where the point is not in the middle at first, it glides there.
export class Follower {
    constructor(orbit) {
        this.orbit = orbit;
        this.on = false;
    }

    switch(on) {
        this.on = on;
        this.beginAnew();
    }

    // The next point is of something else, such as of fewer parts.
    beginAnew() {
        this.seen = this.rest = null;
    }

    // Tells whether the view changed.
    update(point, seconds) {
        if (!this.on || !point.every(Number.isFinite)) return false;
        this.seen ??= point;
        this.rest ??= minus(point, this.orbit.target.toArray());
        const share = 1 - Math.exp(-seconds / GLIDE);
        const shift = minus(point, this.seen).map((x, c) => x + share * this.rest[c]);
        if (Math.hypot(...shift) < 1e-5 * this.orbit.distance) return false; // it adds up, where something creeps
        this.rest = this.rest.map((x) => (1 - share) * x);
        this.seen = point;
        this.orbit.shift(shift);
        return true;
    }
}

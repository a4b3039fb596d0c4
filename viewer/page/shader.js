// The shaders. A first pass finds every vertex once, by the formula, and leaves it in a texture, one pixel each; picture,
// shadow, wireframe and picking then only look it up.

import { CREASE } from "./creases.js";
import { WIDTH_BITS } from "./textures.js";

const place = /* glsl */ `
in vec2 part; // its number, and the slot of its first vertex
ivec2 place(int i) { return ivec2(i & ${(1 << WIDTH_BITS) - 1}, i >> ${WIDTH_BITS}); }
`;

export const moveVertex = /* glsl */ `
precision highp isampler2D;
uniform sampler2D atlas;    // of components: X, U, N0, N for each vertex
uniform sampler2D frames;   // of parts: origin and scale; quaternion
uniform sampler2D rest;     // likewise, at rest
uniform sampler2D coordinates;
uniform sampler2D stream;   // positions and normals of streamed parts
uniform isampler2D parts;   // where the component begins, r, where the coordinates begin
uniform isampler2D seamOf, seamMembers;
uniform bool join;          // copies at a seam are drawn at their mean
uniform sampler2D values;   // of vertices: what they are coloured by
uniform bool byValue;       // instead of by displacement
uniform vec2 size;          // of the texture with all vertices
flat out vec4 where;        // position, and how far it is from where it is at rest, or its value
flat out vec3 area;         // in the direction of the normal
${place}
vec3 turn(vec4 k, vec3 v) { return v + 2.0 * cross(k.xyz, cross(k.xyz, v) + k.w * v); }

// x + scale R (X + sum_l q_l U_l), and the direction of R (N0 + sum_l q_l N_l), as the part alone has them.
void alone(int p, int vertex, out vec3 x, out vec3 n) {
    ivec4 about = texelFetch(parts, place(p), 0);
    int r = about.y;
    if (r < 0) {
        x = texelFetch(stream, place(about.z + 2 * vertex), 0).xyz;
        n = texelFetch(stream, place(about.z + 2 * vertex + 1), 0).xyz;
        return;
    }
    int at = about.x + 2 * (r + 1) * vertex;
    vec3 X = texelFetch(atlas, place(at), 0).xyz;
    vec3 N = texelFetch(atlas, place(at + r + 1), 0).xyz;
    vec4 q = vec4(0);
    for (int l = 0; l < r; l++) {
        if ((l & 3) == 0) q = texelFetch(coordinates, place(about.z + (l >> 2)), 0);
        X += q[l & 3] * texelFetch(atlas, place(at + 1 + l), 0).xyz;
        N += q[l & 3] * texelFetch(atlas, place(at + r + 2 + l), 0).xyz;
    }
    vec4 origin = texelFetch(frames, place(2 * p), 0), k = texelFetch(frames, place(2 * p + 1), 0);
    x = origin.xyz + origin.w * turn(k, X);
    n = turn(k, N);
}

// The mean over all copies of the place, and the sum of those normals that make no sharp edge with its own; of a vertex at
// no seam: itself. The first copies are of the mesh, the others only have normals.
void joined(int p, int vertex, int first, out vec3 x, out vec3 n) {
    alone(p, vertex, x, n);
    int seam = join ? texelFetch(seamOf, place(first + vertex), 0).x : -1;
    if (seam < 0) return;
    ivec2 counts = texelFetch(seamMembers, place(seam), 0).xy;
    vec3 own = n;
    x = vec3(0);
    n = vec3(0);
    for (int i = 1; i <= counts.y; i++) {
        ivec2 copy = texelFetch(seamMembers, place(seam + i), 0).xy;
        vec3 y, m;
        alone(copy.x, copy.y, y, m);
        if (i <= counts.x) x += y / float(counts.x);
        if (dot(own, m) >= ${Math.cos(CREASE).toFixed(4)} * length(own) * length(m)) n += m;
    }
}

vec3 atRest(int p, int vertex) {
    ivec4 about = texelFetch(parts, place(p), 0);
    vec3 X = texelFetch(atlas, place(about.x + 2 * (max(about.y, 0) + 1) * vertex), 0).xyz;
    vec4 origin = texelFetch(rest, place(2 * p), 0), k = texelFetch(rest, place(2 * p + 1), 0);
    return origin.xyz + origin.w * turn(k, X);
}

void main() {
    int p = int(part.x), first = int(part.y);
    vec3 x;
    joined(p, gl_VertexID, first, x, area);
    where = vec4(x, byValue ? texelFetch(values, place(first + gl_VertexID), 0).x : distance(x, atRest(p, gl_VertexID)));
    gl_Position = vec4((vec2(place(first + gl_VertexID)) + 0.5) / size * 2.0 - 1.0, 0, 1);
    gl_PointSize = 1.0;
}
`;
export const moveFragment = /* glsl */ `
flat in vec4 where;
flat in vec3 area;
layout(location = 0) out vec4 first;
layout(location = 1) out vec4 second;
void main() {
    first = where;
    second = vec4(area, 0);
}
`;

const found = /* glsl */ `
uniform sampler2D positions, normals; // of all vertices, as the first pass left them
${place}
`;

export const surfaceVertex = /* glsl */ `
${found}
uniform sampler2D tints; // of parts: colour
uniform float whole;     // the displacement (m) or value that has the last colour; 0: parts have colours of their own
uniform int picked;
uniform bool natural;    // vertices may have colours of their own
in vec4 dye;             // such a colour, and 0; 1: it has none
out vec3 world, area, tint;
out float displaced, glow;

void main() {
    int p = int(part.x), i = int(part.y) + gl_VertexID;
    vec4 x = texelFetch(positions, place(i), 0);
    world = x.xyz;
    area = texelFetch(normals, place(i), 0).xyz;
    tint = natural && dye.a < 0.5 ? dye.rgb : texelFetch(tints, place(p), 0).rgb;
    displaced = whole > 0.0 ? x.w / whole : 0.0;
    glow = p == picked ? 1.0 : 0.0;
    gl_Position = projectionMatrix * viewMatrix * vec4(world, 1);
}
`;

// How much of the sun reaches a point: nine looks into the shadow map.
const shadows = /* glsl */ `
uniform sampler2D shadowMap; // depth along the sun's rays
uniform mat4 shadowMatrix;

float sunlight(vec3 x, float slope) {
#ifndef SHADOWED
    return 1.0;
#endif
    vec3 s = (shadowMatrix * vec4(x, 1)).xyz * 0.5 + 0.5;
    if (any(lessThan(s, vec3(0))) || any(greaterThan(s, vec3(1)))) return 1.0;
    vec2 texel = 1.0 / vec2(textureSize(shadowMap, 0));
    float bias = 0.0008 + 0.0022 * (1.0 - slope), sum = 0.0;
    for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++)
            sum += texture(shadowMap, s.xy + vec2(i, j) * texel).x + bias < s.z ? 0.0 : 1.0;
    return sum / 9.0;
}
`;

// Five colours from low to high, dark blue to yellow, told apart also by those who do not see red and green.
export const RAMP = [[0.17, 0.16, 0.42], [0.15, 0.43, 0.62], [0.16, 0.66, 0.52], [0.66, 0.80, 0.25], [0.99, 0.89, 0.32]];
const vec = (c) => `vec3(${c.map((x) => x.toFixed(3)).join(", ")})`;
const ramp = /* glsl */ `
vec3 ramp(float t) {
    vec3 c[5] = vec3[5](${RAMP.map(vec).join(", ")});
    float s = clamp(t, 0.0, 1.0) * 4.0;
    int i = min(int(s), 3);
    vec3 srgb = mix(c[i], c[i + 1], s - float(i));
    return pow(srgb, vec3(2.2));
}
`;

export const surfaceFragment = /* glsl */ `
uniform vec3 sun, sky, bounce;
uniform float whole, opacity;
uniform vec3 glowing;
in vec3 world, area, tint;
in float displaced, glow;
out vec4 colour;
${shadows}
${ramp}

void main() {
    // Linearised normals may be wrong where a part is bent far: the triangle's own one is asked then.
    vec3 flat_ = normalize(cross(dFdx(world), dFdy(world)));
    vec3 toEye = normalize(cameraPosition - world);
    if (dot(flat_, toEye) < 0.0) flat_ = -flat_;
    vec3 n = length(area) > 0.0 ? normalize(area) : flat_;
    if (dot(n, flat_) < 0.0) n = -n;
    if (dot(n, flat_) < 0.2) n = normalize(n + 2.0 * flat_);
    vec3 base = whole > 0.0 ? ramp(displaced) : tint;
    float slope = dot(n, sun);
    float direct = clamp(slope, 0.0, 1.0) * sunlight(world, clamp(slope, 0.0, 1.0));
    vec3 ambient = mix(bounce, sky, 0.5 + 0.5 * n.z);
    vec3 shine = pow(clamp(dot(n, normalize(sun + toEye)), 0.0, 1.0), 40.0) * direct * vec3(0.10);
    float rim = pow(1.0 - clamp(dot(n, toEye), 0.0, 1.0), 2.0);
    vec3 light = base * (ambient + direct * vec3(0.90, 0.86, 0.78)) + shine;
    light = mix(light, glowing, glow * ((whole > 0.0 ? 0.06 : 0.30) + 0.55 * rim)); // colours that tell something stay
    colour = vec4(light, opacity);
    colour = linearToOutputTexel(colour);
}
`;

export const wireFragment = /* glsl */ `
uniform vec3 line, glowing;
uniform float ink; // opacity
uniform float whole;
in vec3 world, area, tint;
in float displaced, glow;
out vec4 colour;
${ramp}
void main() {
    vec3 dyed = mix(line, whole > 0.0 ? ramp(displaced) : tint, 0.45);
    colour = vec4(mix(dyed, glowing, glow), ink * (1.0 + glow));
    colour = linearToOutputTexel(colour);
}
`;

// Part, vertex and depth of what is in front: 1 added, so that 0 is nothing.
export const pickVertex = /* glsl */ `
${found}
flat out vec2 which;
void main() {
    vec3 x = texelFetch(positions, place(int(part.y) + gl_VertexID), 0).xyz;
    which = vec2(part.x + 1.0, gl_VertexID + 1);
    gl_Position = projectionMatrix * viewMatrix * vec4(x, 1);
}
`;
export const pickFragment = /* glsl */ `
flat in vec2 which;
out vec4 colour;
void main() { colour = vec4(which, gl_FragCoord.z, 1); }
`;

export const depthFragment = /* glsl */ `
flat in vec2 which;
out vec4 colour;
void main() { colour = vec4(gl_FragCoord.z, 0, 0, 1); }
`;

export const groundVertex = /* glsl */ `
out vec3 world;
void main() {
    world = (modelMatrix * vec4(position, 1)).xyz;
    gl_Position = projectionMatrix * viewMatrix * vec4(world, 1);
}
`;

// A grid that fades into the background, with thin lines every metre, decimetre or ten metres, and the shadow of what is
// above it. It has no surface of its own, because nothing would come to rest on it.
export const groundFragment = /* glsl */ `
uniform vec3 sun, line, centre;
uniform float radius, cell;
in vec3 world;
out vec4 colour;
${shadows}

float lines(vec2 x) {
    vec2 width = fwidth(x);
    vec2 d = abs(fract(x - 0.5) - 0.5) / max(width, vec2(1e-6));
    return (1.0 - clamp(min(d.x, d.y), 0.0, 1.0)) * clamp(0.5 - max(width.x, width.y), 0.0, 0.5) * 2.0;
}

void main() {
    float far = clamp(distance(world.xy, centre.xy) / radius, 0.0, 1.0);
    float drawn = 0.6 * lines(world.xy / cell), shade = 0.22 * (1.0 - sunlight(world, 1.0));
    float seen = (1.0 - smoothstep(0.35, 1.0, far)) * smoothstep(0.0, 0.12, abs(normalize(cameraPosition - world).z));
    float opacity = drawn + shade * (1.0 - drawn);
    colour = linearToOutputTexel(vec4(opacity > 0.0 ? line * drawn / opacity : line, 1));
    colour.a = opacity * seen;
}
`;

export const backdropVertex = /* glsl */ `
out float height;
void main() {
    height = position.y * 0.5 + 0.5;
    gl_Position = vec4(position.xy, 1.0, 1.0);
}
`;
export const backdropFragment = /* glsl */ `
uniform vec3 top, bottom;
in float height;
out vec4 colour;
void main() {
    colour = vec4(mix(bottom, top, height), 1);
    colour = linearToOutputTexel(colour);
}
`;

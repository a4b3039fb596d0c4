// Copies of one place are drawn at their mean, as long as their parts hang where they did at the start. When a part was
// cut off, a place falls into groups: each of them is drawn at its own mean.

// Two copies stay together when one's part hangs at the other's, or both hang at the same parent.
function together(a, b, parent, loose) {
    if (a === b) return true;
    if (parent[a] === b) return !loose.has(a);
    if (parent[b] === a) return !loose.has(b);
    return parent[a] === parent[b] && !loose.has(a) && !loose.has(b);
}

// Lists of {part, vertex}, each of two or more that are drawn at one place. owner(v): {part, vertex} of vertex v of all.
export function seamGroups(seams, owner, parent, loose, absent) {
    const groups = [];
    for (let i = 0; i + 1 < seams.place.length; i++) {
        let left = [];
        for (let m = seams.place[i]; m < seams.place[i + 1]; m++) {
            const copy = owner(seams.member[m]);
            if (!absent.has(copy.part)) left.push(copy);
        }
        while (left.length > 1) {
            const group = [left.shift()];
            for (let n = 0; n < group.length; n++) {
                const joins = (copy) => together(group[n].part, copy.part, parent, loose);
                group.push(...left.filter(joins));
                left = left.filter((copy) => !joins(copy));
            }
            if (group.length > 1) groups.push(group);
        }
    }
    return groups;
}

/* Packs: a whole model in one file, components included. docs/pack-format.md describes each chunk. */
#include "tree/tree.h"

#include "base/file.h"
#include "component/layout.h"
#include "rig/joint.h"

#include <float.h>
#include <string.h>

#define PACK_KIND "model"
enum { PACK_VERSION = 2 };

/* Integers of "form" */
enum { FORM_COUPLING, FORM_PASSES, FORM_SIZE };
/* Numbers of "wind" */
enum { WIND_VELOCITY, WIND_GUST = 3, WIND_LENGTH, WIND_DENSITY, WIND_DRAG, WIND_SIZE };
/* Integers of a row of "part.links" */
enum { LINK_COMPONENT, LINK_PARENT, LINK_INTERFACE, LINK_FLAGS, LINK_JOINT, LINK_SIZE };
/* Bits of its flags */
enum { FLAG_FREE = 1, FLAG_LOCKED = 2, FLAG_ABSENT = 4 };
/* Numbers of a row of "part.joint" */
enum { JOINT_AXIS, JOINT_STIFFNESS = 3, JOINT_DAMPING, JOINT_ANGLE, JOINT_SIZE = JOINT_ANGLE + 3 };
/* Integers of a row of "tie.links": parts, then interfaces. Numbers of one of "tie.springs" */
enum { TIE_LINKS = 4 };
enum { TIE_STIFFNESS, TIE_DAMPING, TIE_TURNING_STIFFNESS, TIE_TURNING_DAMPING, TIE_SPRINGS };

typedef enum pack_size {
    SIZE_1,
    SIZE_2,
    SIZE_3,
    SIZE_4,
    SIZE_8,
    SIZE_9,
    SIZE_FORM,
    SIZE_WIND,
    SIZE_LINK,
    SIZE_JOINT,
    SIZE_TIE_LINKS,
    SIZE_TIE_SPRINGS,
    SIZE_BLOCK, /* bytes */
    SIZE_FIXED, /* those before are always the same */
    SIZE_COMPONENTS = SIZE_FIXED,
    SIZE_BLOCKS, /* of all components together */
    SIZE_PARTS,
    SIZE_NAMES, /* bytes */
    SIZE_TRACKS,
    SIZE_KEYS, /* of all tracks together */
    SIZE_TIES,
    SIZE_TIE_NAMES, /* bytes */
    SIZE_COUNT
} pack_size;

static const uint64_t fixed_sizes[SIZE_FIXED] = {
    1, 2, 3, 4, 8, 9, FORM_SIZE, WIND_SIZE, LINK_SIZE, JOINT_SIZE, TIE_LINKS, TIE_SPRINGS, BO_IMAGE_ALIGNMENT};

/* A model as it stands in a file. */
typedef struct pack {
    uint64_t sizes[SIZE_COUNT];
    const int32_t *form;
    const double *gravity, *alpha, *wind;
    const unsigned char *wind_seed;
    const int32_t *component_blocks;
    const unsigned char *component_images;
    const int32_t *part_links;
    const char *part_names;
    const double *part_rotation, *part_position, *part_scale, *part_stiffness, *part_damping, *part_offset, *part_joint;
    const int32_t *track_part, *track_count;
    const double *track_time, *track_position, *track_rotation;
    const int32_t *tie_links;
    const double *tie_springs;
    const char *tie_names;
} pack;

/* One table for writing and for reading. */
typedef struct pack_array {
    const char *name;
    bo_chunk_type type;
    int32_t rank;
    pack_size dims[2];
    size_t place; /* offset of the pointer in pack */
} pack_array;

static const pack_array arrays[] = {
    {"form", BO_I32, 1, {SIZE_FORM}, offsetof(pack, form)},
    {"gravity", BO_F64, 1, {SIZE_3}, offsetof(pack, gravity)},
    {"alpha", BO_F64, 1, {SIZE_1}, offsetof(pack, alpha)},
    {"wind", BO_F64, 1, {SIZE_WIND}, offsetof(pack, wind)},
    {"wind.seed", BO_U8, 1, {SIZE_8}, offsetof(pack, wind_seed)},
    {"component.blocks", BO_I32, 1, {SIZE_COMPONENTS}, offsetof(pack, component_blocks)},
    {"component.images", BO_U8, 2, {SIZE_BLOCKS, SIZE_BLOCK}, offsetof(pack, component_images)},
    {"part.links", BO_I32, 2, {SIZE_PARTS, SIZE_LINK}, offsetof(pack, part_links)},
    {"part.names", BO_U8, 1, {SIZE_NAMES}, offsetof(pack, part_names)},
    {"part.rotation", BO_F64, 2, {SIZE_PARTS, SIZE_9}, offsetof(pack, part_rotation)},
    {"part.position", BO_F64, 2, {SIZE_PARTS, SIZE_3}, offsetof(pack, part_position)},
    {"part.scale", BO_F64, 1, {SIZE_PARTS}, offsetof(pack, part_scale)},
    {"part.stiffness", BO_F64, 1, {SIZE_PARTS}, offsetof(pack, part_stiffness)},
    {"part.damping", BO_F64, 2, {SIZE_PARTS, SIZE_2}, offsetof(pack, part_damping)},
    {"part.offset", BO_F64, 2, {SIZE_PARTS, SIZE_3}, offsetof(pack, part_offset)},
    {"part.joint", BO_F64, 2, {SIZE_PARTS, SIZE_JOINT}, offsetof(pack, part_joint)},
    {"track.part", BO_I32, 1, {SIZE_TRACKS}, offsetof(pack, track_part)},
    {"track.count", BO_I32, 1, {SIZE_TRACKS}, offsetof(pack, track_count)},
    {"track.time", BO_F64, 1, {SIZE_KEYS}, offsetof(pack, track_time)},
    {"track.position", BO_F64, 2, {SIZE_KEYS, SIZE_3}, offsetof(pack, track_position)},
    {"track.rotation", BO_F64, 2, {SIZE_KEYS, SIZE_4}, offsetof(pack, track_rotation)},
    {"tie.links", BO_I32, 2, {SIZE_TIES, SIZE_TIE_LINKS}, offsetof(pack, tie_links)},
    {"tie.springs", BO_F64, 2, {SIZE_TIES, SIZE_TIE_SPRINGS}, offsetof(pack, tie_springs)},
    {"tie.names", BO_U8, 1, {SIZE_TIE_NAMES}, offsetof(pack, tie_names)},
};
enum { ARRAYS = sizeof arrays / sizeof *arrays };

static const void *data_of(const pack *p, const pack_array *array) {
    const void *data;
    memcpy(&data, (const char *)p + array->place, sizeof data);
    return data;
}

static size_t count_of(const pack *p, const pack_array *array) {
    return (size_t)(p->sizes[array->dims[0]] * (array->rank > 1 ? p->sizes[array->dims[1]] : 1));
}

static bough_status check_numbers(bough_context *ctx, const pack *p, bough_status status) {
    for (int i = 0; i < ARRAYS; i++)
        if (arrays[i].type == BO_F64 && !bo_all_sane_f64(data_of(p, &arrays[i]), count_of(p, &arrays[i]), BO_LARGEST))
            return bo_fail(ctx, status, "\"%s\" holds a number that is not finite, or beyond %g", arrays[i].name,
                           BO_LARGEST);
    return BOUGH_OK;
}

/* ---- writing ---- */

/* The arrays that the file holds in another shape than the model. */
typedef struct draft {
    pack p;
    int32_t form[FORM_SIZE];
    double wind[WIND_SIZE];
    unsigned char seed[8];
    double *numbers;
    int32_t *integers;
    char *names;
    unsigned char *images;
} draft;

static bough_status measure(bough_context *ctx, const bough_tree_model_def *def, uint64_t sizes[SIZE_COUNT]) {
    memset(sizes, 0, SIZE_COUNT * sizeof *sizes);
    memcpy(sizes, fixed_sizes, sizeof fixed_sizes);
    sizes[SIZE_COMPONENTS] = (uint64_t)def->component_count;
    sizes[SIZE_PARTS] = (uint64_t)def->part_count;
    for (int32_t i = 0; i < def->component_count; i++) {
        if (!def->components[i]->image)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                           "component %d was neither cooked nor read, so it has no file image", i);
        sizes[SIZE_BLOCKS] += def->components[i]->image_size / BO_IMAGE_ALIGNMENT;
    }
    for (int32_t i = 0; i < def->part_count; i++) {
        sizes[SIZE_NAMES] += strlen(def->parts[i].name) + 1;
        sizes[SIZE_TRACKS] += def->parts[i].track.count > 0;
        sizes[SIZE_KEYS] += (uint64_t)def->parts[i].track.count;
    }
    sizes[SIZE_TIES] = (uint64_t)def->tie_count;
    for (int32_t i = 0; i < def->tie_count; i++)
        sizes[SIZE_TIE_NAMES] += strlen(def->ties[i].name) + 1;
    return BOUGH_OK;
}

/* Numbers of a part in the file. */
enum { PART_NUMBERS = 9 + 3 + 1 + 1 + 2 + 3 + JOINT_SIZE };

static bough_status allocate(bough_context *ctx, draft *d) {
    const uint64_t *sizes = d->p.sizes, parts = sizes[SIZE_PARTS];
    d->numbers = BO_NEW_ARRAY(ctx, double,
                              parts *PART_NUMBERS + sizes[SIZE_KEYS] * (1 + 3 + 4) + TIE_SPRINGS * sizes[SIZE_TIES]);
    d->integers = BO_NEW_ARRAY(ctx, int32_t,
                               sizes[SIZE_COMPONENTS] + LINK_SIZE * parts + 2 * sizes[SIZE_TRACKS] +
                                   TIE_LINKS * sizes[SIZE_TIES]);
    d->names = BO_NEW_ARRAY(ctx, char, sizes[SIZE_NAMES] + sizes[SIZE_TIE_NAMES]);
    d->images = BO_NEW_ARRAY(ctx, unsigned char, sizes[SIZE_BLOCKS] * BO_IMAGE_ALIGNMENT);
    return d->numbers && d->integers && d->names && d->images ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

static void release(bough_context *ctx, draft *d) {
    bo_free(ctx, d->numbers);
    bo_free(ctx, d->integers);
    bo_free(ctx, d->names);
    bo_free(ctx, d->images);
}

static void lay_out_settings(const bough_tree_model_def *def, draft *d) {
    const bough_wind *wind = &def->wind;
    d->form[FORM_COUPLING] = (int32_t)def->coupling;
    d->form[FORM_PASSES] = def->passes;
    memcpy(d->wind + WIND_VELOCITY, wind->velocity, sizeof wind->velocity);
    d->wind[WIND_GUST] = wind->gust, d->wind[WIND_LENGTH] = wind->length;
    d->wind[WIND_DENSITY] = wind->density, d->wind[WIND_DRAG] = wind->drag;
    for (int i = 0; i < 8; i++)
        d->seed[i] = (unsigned char)(wind->seed >> (8 * i));
    d->p.form = d->form, d->p.gravity = def->gravity, d->p.alpha = &def->alpha;
    d->p.wind = d->wind, d->p.wind_seed = d->seed;
}

static void lay_out_components(const bough_tree_model_def *def, draft *d, int32_t *blocks) {
    unsigned char *image = d->images;
    d->p.component_blocks = blocks, d->p.component_images = d->images;
    for (int32_t i = 0; i < def->component_count; i++) {
        const bough_component *c = def->components[i];
        blocks[i] = (int32_t)(c->image_size / BO_IMAGE_ALIGNMENT);
        memcpy(image, c->image, c->image_size);
        image += c->image_size;
    }
}

static void lay_out_parts(const bough_tree_model_def *def, draft *d, double *numbers, int32_t *links) {
    const size_t n = (size_t)def->part_count;
    double *rotation = numbers, *position = rotation + 9 * n, *scale = position + 3 * n, *stiffness = scale + n;
    double *damping = stiffness + n, *offset = damping + 2 * n, *joint = offset + 3 * n;
    char *name = d->names;
    d->p.part_links = links, d->p.part_names = name;
    d->p.part_rotation = rotation, d->p.part_position = position, d->p.part_scale = scale;
    d->p.part_stiffness = stiffness, d->p.part_damping = damping, d->p.part_offset = offset, d->p.part_joint = joint;
    for (size_t i = 0; i < n; i++) {
        const bough_part_def *part = &def->parts[i];
        const size_t length = strlen(part->name) + 1;
        links[LINK_SIZE * i + LINK_COMPONENT] = part->component;
        links[LINK_SIZE * i + LINK_PARENT] = part->parent;
        links[LINK_SIZE * i + LINK_INTERFACE] = part->interface_index;
        memcpy(name, part->name, length);
        name += length;
        memcpy(rotation + 9 * i, part->rotation, sizeof part->rotation);
        memcpy(position + 3 * i, part->position, sizeof part->position);
        scale[i] = part->scale, stiffness[i] = part->stiffness;
        damping[2 * i] = part->damping_mass, damping[2 * i + 1] = part->damping_stiffness;
        links[LINK_SIZE * i + LINK_FLAGS] =
            FLAG_FREE * part->free + FLAG_LOCKED * part->locked + FLAG_ABSENT * part->absent;
        links[LINK_SIZE * i + LINK_JOINT] = part->joint ? (int32_t)part->joint->kind : BOUGH_JOINT_WELD;
        memcpy(offset + 3 * i, part->offset, sizeof part->offset);
        double *j = joint + JOINT_SIZE * i;
        memset(j, 0, JOINT_SIZE * sizeof *j);
        if (!part->joint)
            continue;
        bo_store3(j + JOINT_AXIS, bo_joint_axis(part->joint));
        memcpy(j + JOINT_ANGLE, part->joint->start, 3 * sizeof *j);
        j[JOINT_STIFFNESS] = part->joint->stiffness[0], j[JOINT_DAMPING] = part->joint->damping[0];
    }
}

static void lay_out_ties(const bough_tree_model_def *def, draft *d, double *springs, int32_t *links) {
    char *name = d->names + d->p.sizes[SIZE_NAMES];
    d->p.tie_links = links, d->p.tie_springs = springs, d->p.tie_names = name;
    for (int32_t i = 0; i < def->tie_count; i++, links += TIE_LINKS, springs += TIE_SPRINGS) {
        const bough_joint_def *tie = &def->ties[i];
        const size_t length = strlen(tie->name) + 1;
        for (int end = 0; end < 2; end++) {
            links[end] = bo_joint_end(tie, end)->body;
            links[2 + end] = bo_joint_end(tie, end)->interface_index;
        }
        springs[TIE_STIFFNESS] = tie->stiffness[0], springs[TIE_DAMPING] = tie->damping[0];
        springs[TIE_TURNING_STIFFNESS] = tie->stiffness[3];
        springs[TIE_TURNING_DAMPING] = tie->damping[3];
        memcpy(name, tie->name, length);
        name += length;
    }
}

static void lay_out_tracks(const bough_tree_model_def *def, draft *d, double *numbers, int32_t *parts) {
    const size_t keys = (size_t)d->p.sizes[SIZE_KEYS];
    int32_t *counts = parts + d->p.sizes[SIZE_TRACKS];
    double *time = numbers, *position = time + keys, *rotation = position + 3 * keys;
    d->p.track_part = parts, d->p.track_count = counts;
    d->p.track_time = time, d->p.track_position = position, d->p.track_rotation = rotation;
    for (int32_t i = 0; i < def->part_count; i++) {
        const bough_track *track = &def->parts[i].track;
        const size_t n = (size_t)track->count;
        if (n == 0)
            continue;
        *parts++ = i, *counts++ = track->count;
        memcpy(time, track->time, n * sizeof *time);
        memcpy(position, track->position, 3 * n * sizeof *position);
        memcpy(rotation, track->rotation, 4 * n * sizeof *rotation);
        time += n, position += 3 * n, rotation += 4 * n;
    }
}

static bough_status write_chunks(bough_context *ctx, const pack *p, void **bytes, size_t *size) {
    bo_image_builder builder;
    bo_image_begin(ctx, &builder, PACK_KIND, PACK_VERSION);
    for (int i = 0; i < ARRAYS; i++) {
        uint64_t dims[2];
        for (int32_t k = 0; k < arrays[i].rank; k++)
            dims[k] = p->sizes[arrays[i].dims[k]];
        bo_image_add(&builder, arrays[i].name, arrays[i].type, arrays[i].rank, dims, data_of(p, &arrays[i]));
    }
    return bo_image_finish(&builder, bytes, size);
}

static bough_status write_pack(bough_context *ctx, const bough_tree_model_def *def, void **bytes, size_t *size) {
    draft d = {0};
    BO_TRY(measure(ctx, def, d.p.sizes));
    bough_status status = allocate(ctx, &d);
    if (status == BOUGH_OK) {
        const size_t parts = (size_t)d.p.sizes[SIZE_PARTS], components = (size_t)d.p.sizes[SIZE_COMPONENTS];
        lay_out_settings(def, &d);
        lay_out_components(def, &d, d.integers);
        lay_out_parts(def, &d, d.numbers, d.integers + components);
        double *numbers = d.numbers + PART_NUMBERS * parts;
        int32_t *integers = d.integers + components + LINK_SIZE * parts;
        lay_out_tracks(def, &d, numbers, integers);
        lay_out_ties(def, &d, numbers + 8 * d.p.sizes[SIZE_KEYS], integers + 2 * d.p.sizes[SIZE_TRACKS]);
        status = check_numbers(ctx, &d.p, BOUGH_ERROR_ARGUMENT);
    }
    if (status == BOUGH_OK)
        status = write_chunks(ctx, &d.p, bytes, size);
    release(ctx, &d);
    return status;
}

bough_status bough_tree_model_save(bough_context *ctx, const bough_tree_model *model, const char *path) {
    void *bytes = NULL;
    size_t size = 0;
    bough_status status = write_pack(ctx, &model->def, &bytes, &size);
    if (status != BOUGH_OK)
        bo_prefix_message(ctx, "%s: ", path);
    else
        status = bo_image_save(ctx, bytes, size, path);
    bo_free(ctx, bytes);
    return status;
}

/* ---- reading ---- */

static bough_status read_chunks(bough_context *ctx, const bo_image *image, pack *p) {
    bo_chunk unused;
    memcpy(p->sizes, fixed_sizes, sizeof fixed_sizes);
    for (int i = SIZE_FIXED; i < SIZE_COUNT; i++)
        p->sizes[i] = BO_ANY_SIZE;
    if (!bo_image_find(image, "track.part", &unused))
        p->sizes[SIZE_TRACKS] = p->sizes[SIZE_KEYS] = 0;
    if (!bo_image_find(image, "tie.links", &unused))
        p->sizes[SIZE_TIES] = p->sizes[SIZE_TIE_NAMES] = 0;
    for (int i = 0; i < ARRAYS; i++) {
        uint64_t dims[2];
        for (int32_t k = 0; k < arrays[i].rank; k++)
            dims[k] = p->sizes[arrays[i].dims[k]];
        const void *data;
        BO_TRY(bo_image_get(ctx, image, arrays[i].name, arrays[i].type, arrays[i].rank, dims, &data));
        if (!data)
            continue;
        for (int32_t k = 0; k < arrays[i].rank; k++)
            p->sizes[arrays[i].dims[k]] = dims[k];
        memcpy((char *)p + arrays[i].place, &data, sizeof data);
    }
    return check_numbers(ctx, p, BOUGH_ERROR_FORMAT);
}

static bough_status read_components(bough_context *ctx, const pack *p, bough_component **components) {
    const unsigned char *image = p->component_images;
    uint64_t left = p->sizes[SIZE_BLOCKS];
    for (uint64_t i = 0; i < p->sizes[SIZE_COMPONENTS]; i++) {
        const int32_t blocks = p->component_blocks[i];
        if (blocks < 1 || (uint64_t)blocks > left)
            return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"component.blocks\" gives component %d %d blocks of %llu", (int)i,
                           blocks, (unsigned long long)left);
        const size_t size = (size_t)blocks * BO_IMAGE_ALIGNMENT;
        bough_status status = bough_component_read(ctx, image, size, &components[i]);
        if (status != BOUGH_OK) {
            bo_prefix_message(ctx, "component %d: ", (int)i);
            return status;
        }
        image += size, left -= (uint64_t)blocks;
    }
    return left == 0 ? BOUGH_OK
                     : bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"component.images\" has %llu blocks too many",
                               (unsigned long long)left);
}

/* All coordinates together, and tables with few rows for each, are counted by 32-bit integers. */
static bough_status check_sizes(bough_context *ctx, const pack *p, bough_component *const *components) {
    enum { MOST = INT32_MAX / 64 };
    int64_t sum = 0;
    for (uint64_t i = 0; i < p->sizes[SIZE_PARTS] && sum <= MOST; i++) {
        const int32_t component = p->part_links[LINK_SIZE * i + LINK_COMPONENT];
        if (component < 0 || (uint64_t)component >= p->sizes[SIZE_COMPONENTS])
            return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"part.links\" gives part %d component %d, which does not exist",
                           (int)i, component);
        sum += components[component]->r;
    }
    return sum <= MOST ? BOUGH_OK
                       : bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "the model has more than %d coordinates", (int)MOST);
}

/* The next of the texts up to `end`; NULL: there is none. */
static const char *next_name(const char **name, const char *end) {
    const char *found = *name, *stop = found < end ? memchr(found, 0, (size_t)(end - found)) : NULL;
    *name = stop ? stop + 1 : found;
    return stop ? found : NULL;
}

/* An axis that was saved with length 1 is taken as it is, since another normalisation could change its last bit. */
static bo_mat3 axes_about(bo_vec3 axis) {
    bo_mat3 R = bo_axes_about(axis);
    if (fabs(bo_dot(axis, axis) - 1) < 8 * DBL_EPSILON)
        R.m[2] = axis.x, R.m[5] = axis.y, R.m[8] = axis.z;
    return R;
}

static void read_joint(const pack *p, uint64_t i, bough_joint_def *joint) {
    const double *from = p->part_joint + JOINT_SIZE * i;
    *joint = bough_default_joint_def();
    joint->kind = (bough_joint_kind)p->part_links[LINK_SIZE * i + LINK_JOINT];
    if (joint->kind == BOUGH_JOINT_HINGE)
        joint->child.pose = bo_put_pose((bo_se3){axes_about(bo_load3(from + JOINT_AXIS)), {0, 0, 0}});
    memcpy(joint->start, from + JOINT_ANGLE, 3 * sizeof *from);
    for (int k = 0; k < BO_MOST_FREEDOMS; k++)
        joint->stiffness[k] = from[JOINT_STIFFNESS], joint->damping[k] = from[JOINT_DAMPING];
}

static bool is_welded(const pack *p, uint64_t part) {
    return p->part_links[LINK_SIZE * part + LINK_JOINT] == BOUGH_JOINT_WELD;
}

/* joints: one for each part that is not welded. */
static bough_status read_parts(bough_context *ctx, const pack *p, bough_part_def *parts, bough_joint_def *joints) {
    const char *name = p->part_names, *end = name + p->sizes[SIZE_NAMES];
    for (uint64_t i = 0; i < p->sizes[SIZE_PARTS]; i++) {
        bough_part_def *part = &parts[i];
        const int32_t flags = p->part_links[LINK_SIZE * i + LINK_FLAGS];
        *part = bough_default_part_def();
        part->name = next_name(&name, end);
        if (!part->name)
            return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"part.names\" has no name for part %d", (int)i);
        if (flags & ~(FLAG_FREE | FLAG_LOCKED | FLAG_ABSENT))
            return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"part.links\" gives part %d flags that do not exist", (int)i);
        part->free = flags & FLAG_FREE, part->locked = flags & FLAG_LOCKED, part->absent = flags & FLAG_ABSENT;
        if (!is_welded(p, i)) {
            read_joint(p, i, joints);
            part->joint = joints++;
        }
        memcpy(part->offset, p->part_offset + 3 * i, sizeof part->offset);
        part->component = p->part_links[LINK_SIZE * i + LINK_COMPONENT];
        part->parent = p->part_links[LINK_SIZE * i + LINK_PARENT];
        part->interface_index = p->part_links[LINK_SIZE * i + LINK_INTERFACE];
        memcpy(part->rotation, p->part_rotation + 9 * i, sizeof part->rotation);
        memcpy(part->position, p->part_position + 3 * i, sizeof part->position);
        part->scale = p->part_scale[i], part->stiffness = p->part_stiffness[i];
        part->damping_mass = p->part_damping[2 * i], part->damping_stiffness = p->part_damping[2 * i + 1];
    }
    return name == end ? BOUGH_OK : bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"part.names\" has names of no part");
}

static bough_status read_ties(bough_context *ctx, const pack *p, bough_joint_def *ties) {
    const char *name = p->tie_names, *end = name ? name + p->sizes[SIZE_TIE_NAMES] : NULL;
    for (uint64_t i = 0; i < p->sizes[SIZE_TIES]; i++) {
        const double *springs = p->tie_springs + TIE_SPRINGS * i;
        const int32_t *ends = p->tie_links + TIE_LINKS * i;
        bough_joint_def *tie = &ties[i];
        *tie = bough_default_joint_def();
        tie->kind = BOUGH_JOINT_COMPLIANT;
        tie->name = next_name(&name, end);
        if (!tie->name)
            return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"tie.names\" has no name for tie %d", (int)i);
        tie->parent.body = ends[0], tie->child.body = ends[1];
        tie->parent.interface_index = ends[2], tie->child.interface_index = ends[3];
        bo_set_springs(tie->stiffness, springs[TIE_STIFFNESS], springs[TIE_TURNING_STIFFNESS]);
        bo_set_springs(tie->damping, springs[TIE_DAMPING], springs[TIE_TURNING_DAMPING]);
    }
    return name == end ? BOUGH_OK : bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"tie.names\" has names of no tie");
}

static bough_status read_tracks(bough_context *ctx, const pack *p, bough_part_def *parts) {
    const uint64_t keys = p->sizes[SIZE_KEYS];
    uint64_t used = 0;
    for (uint64_t i = 0; i < p->sizes[SIZE_TRACKS]; i++) {
        const int32_t part = p->track_part[i], count = p->track_count[i];
        if (part < 0 || (uint64_t)part >= p->sizes[SIZE_PARTS] || parts[part].track.count > 0)
            return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"track.part\" names part %d, which does not exist or has a track",
                           part);
        if (count < 1 || (uint64_t)count > keys - used)
            return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"track.count\" gives track %d %d keys of %llu", (int)i, count,
                           (unsigned long long)(keys - used));
        parts[part].track = (bough_track){.count = count,
                                          .time = p->track_time + used,
                                          .position = p->track_position + 3 * used,
                                          .rotation = p->track_rotation + 4 * used};
        used += (uint64_t)count;
    }
    return used == keys ? BOUGH_OK : bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"track.time\" has keys of no track");
}

static void read_settings(const pack *p, bough_tree_model_def *def) {
    bough_wind *wind = &def->wind;
    def->coupling = (bough_coupling)p->form[FORM_COUPLING];
    def->passes = p->form[FORM_PASSES];
    memcpy(def->gravity, p->gravity, sizeof def->gravity);
    def->alpha = p->alpha[0];
    memcpy(wind->velocity, p->wind + WIND_VELOCITY, sizeof wind->velocity);
    wind->gust = p->wind[WIND_GUST], wind->length = p->wind[WIND_LENGTH];
    wind->density = p->wind[WIND_DENSITY], wind->drag = p->wind[WIND_DRAG];
    wind->seed = 0;
    for (int i = 0; i < 8; i++)
        wind->seed |= (uint64_t)p->wind_seed[i] << (8 * i);
}

static bough_status make_model(bough_context *ctx, const pack *p, bough_component **components, bough_part_def *parts,
                               bough_joint_def *joints, bough_joint_def *ties, bough_tree_model **model) {
    bough_tree_model_def def = bough_default_tree_model_def();
    BO_TRY(read_components(ctx, p, components));
    BO_TRY(check_sizes(ctx, p, components));
    BO_TRY(read_parts(ctx, p, parts, joints));
    BO_TRY(read_tracks(ctx, p, parts));
    BO_TRY(read_ties(ctx, p, ties));
    read_settings(p, &def);
    def.component_count = (int32_t)p->sizes[SIZE_COMPONENTS];
    def.components = (const bough_component *const *)components;
    def.part_count = (int32_t)p->sizes[SIZE_PARTS];
    def.parts = parts;
    def.tie_count = (int32_t)p->sizes[SIZE_TIES], def.ties = ties;
    bough_status status = bough_tree_model_create(ctx, &def, model);
    return status == BOUGH_ERROR_ARGUMENT ? BOUGH_ERROR_FORMAT : status; /* the file says what cannot be */
}

static bough_status read_pack(bough_context *ctx, const void *bytes, size_t size, bough_tree_model **model) {
    bo_image image;
    pack p = {0};
    BO_TRY(bo_image_open(ctx, bytes, size, PACK_KIND, PACK_VERSION, &image));
    BO_TRY(read_chunks(ctx, &image, &p));
    const uint64_t count = p.sizes[SIZE_COMPONENTS];
    bough_component **components = BO_NEW_ZEROS(ctx, bough_component *, count);
    bough_part_def *parts = BO_NEW_ZEROS(ctx, bough_part_def, p.sizes[SIZE_PARTS]);
    uint64_t joint_count = 0;
    for (uint64_t i = 0; i < p.sizes[SIZE_PARTS]; i++)
        joint_count += !is_welded(&p, i);
    bough_joint_def *joints = BO_NEW_ARRAY(ctx, bough_joint_def, joint_count);
    bough_joint_def *ties = BO_NEW_ZEROS(ctx, bough_joint_def, p.sizes[SIZE_TIES]);
    bough_status status = components && parts && joints && ties
                              ? make_model(ctx, &p, components, parts, joints, ties, model)
                              : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK)
        (*model)->owns_components = true;
    for (uint64_t i = 0; i < count && components && status != BOUGH_OK; i++)
        bough_component_destroy(ctx, components[i]);
    bo_free(ctx, components);
    bo_free(ctx, parts);
    bo_free(ctx, joints);
    bo_free(ctx, ties);
    return status;
}

bough_status bough_tree_model_read(bough_context *ctx, const void *bytes, size_t size, bough_tree_model **model) {
    *model = NULL;
    if ((uintptr_t)bytes % sizeof(double) == 0)
        return read_pack(ctx, bytes, size, model);
    void *copy = bo_alloc(ctx, size, 1);
    if (!copy)
        return BOUGH_ERROR_MEMORY;
    memcpy(copy, bytes, size);
    bough_status status = read_pack(ctx, copy, size, model);
    bo_free(ctx, copy);
    return status;
}

bough_status bough_tree_model_load(bough_context *ctx, const char *path, bough_tree_model **model) {
    *model = NULL;
    bo_mapping mapping;
    BO_TRY(bo_map_file(ctx, path, &mapping));
    bough_status status = read_pack(ctx, mapping.data, mapping.size, model);
    if (status != BOUGH_OK)
        bo_prefix_message(ctx, "%s: ", path);
    bo_unmap_file(ctx, &mapping);
    return status;
}

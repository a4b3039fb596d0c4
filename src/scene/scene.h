/* Inside view of a scene: what the run needs to start. */
#ifndef BO_SCENE_SCENE_H
#define BO_SCENE_SCENE_H

#include "fem/drive.h"
#include "scene/json.h"

#include <bough/scene.h>
#include <bough/time.h>

/* Mean motion of vertices, or the stress of one element. */
typedef struct bo_scene_probe {
    char *name;
    int32_t count, *vertices; /* NULL: a stress probe */
    int32_t element;          /* of a stress probe */
} bo_scene_probe;

struct bough_scene {
    bough_body *body;
    bo_drive drive;
    bough_integrator_def integrator; /* its name is the registry's */
    double dt, duration;             /* s; duration 0: the file does not say */
    double *velocity;                /* 3 vertex_count, m/s, at the start */
    int32_t probe_count;
    bo_scene_probe *probes;
    uint64_t hash; /* of the file and of the mesh */
};

/* "time": goes over the scene's integrator, dt and duration, which hold the defaults. */
bough_status bo_scene_time(bo_json at, bough_scene *scene);

/* FNV-1a; begin with BO_HASH_START. */
#define BO_HASH_START 0xCBF29CE484222325u
uint64_t bo_hash_bytes(uint64_t hash, const void *data, size_t size);
/* Vertices and elements. */
uint64_t bo_hash_mesh(uint64_t hash, const bough_mesh *mesh);

#endif

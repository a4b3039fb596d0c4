/* A picture of triangles by OpenGL 1.1, which every driver has, and a camera that turns around a place. */
#ifndef DRAW_H
#define DRAW_H

#include <stdbool.h>
#include <stdint.h>

typedef struct camera {
    float centre[3], distance; /* m: what it looks at, and from how far */
    float turn, tilt;          /* radians: around z, and above the horizon */
    int width, height;         /* pixels of the window */
    float matrix[16];          /* from the world to the picture, column after column; camera_update() makes it */
    float right[3], up[3];     /* of the picture, in the world */
} camera;

typedef struct surface {
    int32_t vertex_count, triangle_count;
    const float *positions, *normals; /* vertex_count x 3 */
    const unsigned char *colours;     /* vertex_count x 4 */
    const int32_t *triangles;         /* triangle_count x 3 */
} surface;

void camera_update(camera *c);
/* Pixels from the left and from the top, and the depth, which grows with the distance. False: behind the camera. */
bool camera_project(const camera *c, const float point[3], float pixel[2], float *depth);
/* Metres of the world for each pixel at a depth. */
float camera_scale(const camera *c, float depth);

/* The surface on a ground at z = 0, with a line from one point to the other unless `line` is NULL. */
void draw_scene(const camera *c, const surface *s, const float line[6]);
/* Writes what was drawn as a picture file, PPM. */
bool draw_save(const camera *c, const char *path);

#endif

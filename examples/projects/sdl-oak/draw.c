#include "draw.h"

#include <SDL_opengl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const float opening = 0.45f, nearest = 0.1f, farthest = 200; /* tangent of half the angle of view; m */

void camera_update(camera *c) {
    const float ct = cosf(c->turn), st = sinf(c->turn), ci = cosf(c->tilt), si = sinf(c->tilt);
    const float back[3] = {ct * ci, st * ci, si}; /* from the centre to the eye */
    const float right[3] = {-st, ct, 0}, up[3] = {-ct * si, -st * si, ci};
    const float *rows[3] = {right, up, back};
    float eye[3], view[3][4];
    for (int i = 0; i < 3; i++) {
        eye[i] = c->centre[i] + c->distance * back[i];
        c->right[i] = right[i];
        c->up[i] = up[i];
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            view[i][j] = rows[i][j];
        view[i][3] = -(rows[i][0] * eye[0] + rows[i][1] * eye[1] + rows[i][2] * eye[2]);
    }
    const float scale[2] = {(float)c->height / (float)c->width / opening, 1 / opening};
    const float a = (farthest + nearest) / (nearest - farthest), b = 2 * farthest * nearest / (nearest - farthest);
    for (int j = 0; j < 4; j++) { /* projection times view */
        c->matrix[4 * j] = scale[0] * view[0][j];
        c->matrix[4 * j + 1] = scale[1] * view[1][j];
        c->matrix[4 * j + 2] = a * view[2][j] + (j == 3 ? b : 0);
        c->matrix[4 * j + 3] = -view[2][j];
    }
}

bool camera_project(const camera *c, const float p[3], float pixel[2], float *depth) {
    float h[4];
    for (int i = 0; i < 4; i++)
        h[i] = c->matrix[i] * p[0] + c->matrix[4 + i] * p[1] + c->matrix[8 + i] * p[2] + c->matrix[12 + i];
    if (h[3] < nearest)
        return false;
    pixel[0] = (1 + h[0] / h[3]) / 2 * (float)c->width;
    pixel[1] = (1 - h[1] / h[3]) / 2 * (float)c->height;
    *depth = h[3];
    return true;
}

float camera_scale(const camera *c, float depth) {
    return 2 * opening * depth / (float)c->height;
}

static void draw_ground(void) {
    glDisable(GL_LIGHTING);
    glBegin(GL_TRIANGLE_FAN); /* a disk that fades into the sky */
    glColor3f(0.42f, 0.52f, 0.33f);
    glVertex3f(0, 0, 0);
    glColor3f(0.70f, 0.80f, 0.88f);
    for (int i = 0; i <= 48; i++)
        glVertex3f(25 * cosf((float)i * 6.2831853f / 48), 25 * sinf((float)i * 6.2831853f / 48), 0);
    glEnd();
}

static void draw_surface(const surface *s) {
    const float sun[4] = {0.4f, -0.5f, 0.8f, 0}, light[4] = {0.75f, 0.72f, 0.66f, 1}, sky[4] = {0.45f, 0.47f, 0.5f, 1};
    glEnable(GL_LIGHTING);
    glEnable(GL_LIGHT0);
    glEnable(GL_COLOR_MATERIAL);
    glLightModeli(GL_LIGHT_MODEL_TWO_SIDE, 1);
    glLightModelfv(GL_LIGHT_MODEL_AMBIENT, sky);
    glLightfv(GL_LIGHT0, GL_POSITION, sun);
    glLightfv(GL_LIGHT0, GL_DIFFUSE, light);
    glEnableClientState(GL_VERTEX_ARRAY);
    glEnableClientState(GL_NORMAL_ARRAY);
    glEnableClientState(GL_COLOR_ARRAY);
    glVertexPointer(3, GL_FLOAT, 0, s->positions);
    glNormalPointer(GL_FLOAT, 0, s->normals);
    glColorPointer(4, GL_UNSIGNED_BYTE, 0, s->colours);
    glDrawElements(GL_TRIANGLES, 3 * s->triangle_count, GL_UNSIGNED_INT, s->triangles);
    glDisableClientState(GL_VERTEX_ARRAY);
    glDisableClientState(GL_NORMAL_ARRAY);
    glDisableClientState(GL_COLOR_ARRAY);
    glDisable(GL_LIGHTING);
}

void draw_scene(const camera *c, const surface *s, const float line[6]) {
    glViewport(0, 0, c->width, c->height);
    glClearColor(0.70f, 0.80f, 0.88f, 1);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    glEnable(GL_DEPTH_TEST);
    glMatrixMode(GL_PROJECTION);
    glLoadMatrixf(c->matrix);
    glMatrixMode(GL_MODELVIEW);
    glLoadIdentity();
    draw_ground();
    draw_surface(s);
    if (line) {
        glDisable(GL_DEPTH_TEST);
        glLineWidth(3);
        glColor3f(0.85f, 0.2f, 0.1f);
        glBegin(GL_LINES);
        glVertex3fv(line);
        glVertex3fv(line + 3);
        glEnd();
    }
}

bool draw_save(const camera *c, const char *path) {
    const size_t row = 3 * (size_t)c->width;
    unsigned char *pixels = malloc(row * (size_t)c->height);
    FILE *file = pixels ? fopen(path, "wb") : NULL;
    if (!file) {
        free(pixels);
        return false;
    }
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, c->width, c->height, GL_RGB, GL_UNSIGNED_BYTE, pixels);
    bool good = fprintf(file, "P6\n%d %d\n255\n", c->width, c->height) > 0;
    for (int y = c->height - 1; y >= 0 && good; y--) /* OpenGL begins at the bottom */
        good = fwrite(pixels + row * (size_t)y, 1, row, file) == row;
    free(pixels);
    return fclose(file) == 0 && good;
}

/* Volume meshes (tet4, tet10, hex8) and triangle surfaces: files, checks, sets, selections, generators.
 *
 * A mesh is plain data that belongs to the caller; any number of threads may read one as long as nobody changes it.
 * <bough/base.h> has the rules on ownership and failure. Readers give BOUGH_ERROR_FILE, BOUGH_ERROR_FORMAT or
 * BOUGH_ERROR_UNSUPPORTED with the file and the line; functions that take numbers, names or expressions give
 * BOUGH_ERROR_ARGUMENT when one is wrong; all may give BOUGH_ERROR_MEMORY, and long ones BOUGH_CANCELLED. */
#ifndef BOUGH_MESH_H
#define BOUGH_MESH_H

#include <bough/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Node order, corners first; a positive element has det[v1-v0, v2-v0, v3-v0] > 0 (tets).
 *   tet10: edge nodes 4..9 on edges 01 12 20 03 13 23 (as in VTK and Abaqus)
 *   hex8:  0123 counter-clockwise seen from 4567, which lie above them (as in VTK, Abaqus, Gmsh) */
typedef enum bough_element_type { BOUGH_TRI3, BOUGH_TET4, BOUGH_TET10, BOUGH_HEX8 } bough_element_type;
enum { BOUGH_MAX_ELEMENT_NODES = 10 };

/* Name ("tet10"), nodes and corners of an element. Any thread may ask. */
BOUGH_API const char *bough_element_name(bough_element_type type);
BOUGH_API int32_t bough_element_node_count(bough_element_type type);
BOUGH_API int32_t bough_element_corner_count(bough_element_type type);
/* Returns the number of faces, which are numbered from 0 in Abaqus' order; 0 for TRI3. */
BOUGH_API int32_t bough_element_face_count(bough_element_type type);
/* Finds the corners of one face (3 or 4), counter-clockwise seen from outside. Returns their number. */
BOUGH_API int32_t bough_element_face_corners(bough_element_type type, int32_t face, int32_t corners[4]);

typedef enum bough_set_kind { BOUGH_SET_VERTEX, BOUGH_SET_FACE, BOUGH_SET_ELEMENT } bough_set_kind;

/* A named set. Items are sorted and unique: vertex indices, element indices, or faces written as
 * element * bough_element_face_count(type) + local face. Names are unique within a kind. */
typedef struct bough_set {
    char *name;
    bough_set_kind kind;
    int32_t count;
    int32_t *items;
} bough_set;

/* Isotropic constants that came with a mesh file (SI units); 0 where the file says nothing. */
typedef struct bough_mesh_material {
    char *name;
    double young, poisson, density;
} bough_mesh_material;

/* Elements of the element set `set` ("" = all elements) are made of materials[material]. Later regions win. */
typedef struct bough_mesh_region {
    char *set;
    int32_t material;
} bough_mesh_region;

/* Plain data; change it through the functions below, or in place and then call bough_mesh_check(). */
typedef struct bough_mesh {
    bough_element_type type;
    int32_t vertex_count;
    double *vertices; /* vertex_count x 3, m */
    int32_t element_count;
    int32_t *elements; /* element_count x bough_element_node_count(type) */
    int32_t set_count;
    bough_set *sets;
    int32_t material_count;
    bough_mesh_material *materials;
    int32_t region_count;
    bough_mesh_region *regions;
} bough_mesh;

/* Copies the arrays. Indices are range-checked, coordinates must be finite; volumes are not looked at. */
BOUGH_API bough_status bough_mesh_create(bough_context *ctx, bough_element_type type, int32_t vertex_count,
                                         const double *vertices, int32_t element_count, const int32_t *elements,
                                         bough_mesh **mesh);
BOUGH_API void bough_mesh_destroy(bough_context *ctx, bough_mesh *mesh);

/* ---- sets ---- */

/* Adds to the set `name` (made when new); items are copied, range-checked, sorted, made unique. */
BOUGH_API bough_status bough_mesh_add_set(bough_context *ctx, bough_mesh *mesh, bough_set_kind kind, const char *name,
                                          const int32_t *items, int32_t count);
/* Returns the set, which belongs to the mesh, or NULL when there is none. */
BOUGH_API const bough_set *bough_mesh_find_set(const bough_mesh *mesh, bough_set_kind kind, const char *name);
/* Adds constants (SI units; 0: unknown) and the region that has them: an element set, or "" for all elements. */
BOUGH_API bough_status bough_mesh_add_material(bough_context *ctx, bough_mesh *mesh, const char *name, double young,
                                               double poisson, double density, const char *element_set);

/* Finds the vertices that an expression chooses, sorted:
 *   NAME                      a vertex set, or the vertices of a face or element set; "in quotes" when it has blanks
 *   x<0.01  y>=1  z=0.5       a half space, or a plane within 1e-9 of the mesh's size
 *   nearest:0.1,0,2           the vertex nearest to a point
 *   box:0,0,0,1,1,0.5         x0,y0,z0,x1,y1,z1: vertices in a box
 *   vertex:17                 one vertex, counted from 0
 *   all
 *   A & B,  A | B,  ( A )     both, either ('&' binds tighter)
 * On success *vertices is to be freed with bough_release(). An empty selection is an error. */
BOUGH_API bough_status bough_mesh_select(bough_context *ctx, const bough_mesh *mesh, const char *expression,
                                         int32_t **vertices, int32_t *count);
/* ---- files ---- */

typedef enum bough_volume_policy {
    BOUGH_VOLUME_REFUSE, /* an inverted or flat element is an error that names it (default) */
    BOUGH_VOLUME_REPAIR, /* inverted elements are flipped, flat ones are an error */
    BOUGH_VOLUME_ACCEPT  /* as it is, for programs that only look */
} bough_volume_policy;

typedef struct bough_mesh_read_def {
    uint32_t cookie;
    bough_volume_policy volumes;
    uint64_t reserved[4]; /* zeros: room for fields of later versions */
} bough_mesh_read_def;

BOUGH_API bough_mesh_read_def bough_default_mesh_read_def(void);

/* Reads a mesh; the extension tells the format: .msh (Gmsh 2.2, 4.1), .veg, .node or .ele (TetGen pair), .mesh (MEDIT),
 * .vtk (legacy), .inp (Abaqus, CalculiX), .obj, .stl, .ply. def may be NULL. */
BOUGH_API bough_status bough_mesh_read(bough_context *ctx, const char *path, const bough_mesh_read_def *def,
                                       bough_mesh **mesh);
/* Converts a mesh with other units and axes to metres with z up. Applied in this order: the scale, `up`, the
 * rotation. Materials that came with the file stay as they are. */
typedef struct bough_mesh_transform_def {
    uint32_t cookie;
    double scale;         /* on all coordinates: 0.001 for millimetres; BOUGH_MESH_SCALE_MIN to BOUGH_MESH_SCALE_MAX */
    char up;              /* 'x', 'y' or 'z': the axis that points up in the file becomes z (default 'z') */
    double rotate_deg[3]; /* degrees about x, then y, then z, about the origin */
    uint64_t reserved[4]; /* zeros: room for fields of later versions */
} bough_mesh_transform_def;

#define BOUGH_MESH_SCALE_MIN 1e-6
#define BOUGH_MESH_SCALE_MAX 1e6

BOUGH_API bough_mesh_transform_def bough_default_mesh_transform_def(void);
/* Moves the vertices; everything else of the mesh stays. Quarter turns are exact. */
BOUGH_API bough_status bough_mesh_transform(bough_context *ctx, bough_mesh *mesh, const bough_mesh_transform_def *def);

/* Writes .msh (4.1 ASCII), .vtu, .inp for volumes; .obj, .stl (binary), .msh, .vtu for surfaces. Writing a volume to
 * .obj or .stl writes its boundary surface. The file appears under its name only when it is complete. */
BOUGH_API bough_status bough_mesh_write(bough_context *ctx, const bough_mesh *mesh, const char *path);

/* Numbers on a mesh, one row for each vertex or element. */
typedef struct bough_field {
    const char *name;
    bool on_elements;
    int32_t components;
    const double *values; /* rows x components */
} bough_field;

/* Writes the mesh, its vertex and element sets, and these fields as a .vtu file for ParaView; other extensions are
 * refused. */
BOUGH_API bough_status bough_mesh_write_fields(bough_context *ctx, const bough_mesh *mesh, const char *path,
                                               const bough_field *fields, int32_t field_count);

/* ---- measuring, checking, surfaces ---- */

typedef struct bough_mesh_report {
    double volume;      /* m^3; enclosed volume for a closed surface */
    double area;        /* of the boundary, m^2 */
    double centroid[3]; /* of the volume (of the area for an open surface) */
    double lower[3], upper[3];
    double smallest, largest; /* element volumes (areas for surfaces) */
    double worst_quality;     /* 0 flat .. 1 regular */
    int32_t worst_element;
    int32_t inverted_count, first_inverted; /* negative volume; first is -1 when there is none */
    int32_t flat_count, first_flat;         /* |volume| below 1e-12 of the element's longest edge cubed */
    int32_t unused_vertex_count;            /* in no element */
    int32_t duplicate_element_count;        /* same corners as an earlier element */
    int32_t boundary_face_count;
    int32_t nonmanifold_count; /* volume: faces of three or more elements; surface: edges of other than two triangles */
    int32_t piece_count;       /* connected pieces */
} bough_mesh_report;

/* Measures any mesh, also one that bough_mesh_check() refuses for inverted or flat elements. */
BOUGH_API bough_status bough_mesh_measure(bough_context *ctx, const bough_mesh *mesh, bough_mesh_report *report);

/* Fails when an index is out of range (in elements, sets and regions), a coordinate is not finite, or an element is
 * inverted or flat. */
BOUGH_API bough_status bough_mesh_check(bough_context *ctx, const bough_mesh *mesh);
/* Flips inverted elements in place; *flipped may be NULL. */
BOUGH_API bough_status bough_mesh_repair(bough_context *ctx, bough_mesh *mesh, int32_t *flipped);

/* Extracts the boundary of a volume mesh as triangles, outward; quads are cut in two, tet10 faces in four. The surface
 * has its own compact vertices: (*vertex_map)[surface vertex] = mesh vertex and (*face_map)[triangle] = face as in face
 * sets. Either map may be NULL; free with bough_release(). */
BOUGH_API bough_status bough_mesh_surface(bough_context *ctx, const bough_mesh *mesh, bough_mesh **surface,
                                          int32_t **vertex_map, int32_t **face_map);

/* Lists every edge of the mesh once: pairs of vertices, ascending. A tet10 has both halves of an edge, by way of its
 * node. Free with bough_release(). */
BOUGH_API bough_status bough_mesh_edges(bough_context *ctx, const bough_mesh *mesh, int32_t **edges,
                                        int32_t *edge_count);

/* ---- domains ---- */

/* One part of a mesh that was cut up, as a mesh of its own: compact vertices, elements in their old order. Sets hold
 * the items that lie in the domain; empty sets are left out. Materials keep their numbers; regions of left out sets are
 * left out too. */
typedef struct bough_domain {
    bough_mesh *mesh;
    int32_t *vertex_map;      /* mesh->vertex_count: vertex of the whole mesh; ascending */
    int32_t *element_map;     /* mesh->element_count: element of the whole mesh; ascending */
    int32_t piece_count;      /* pieces that share no vertex; 1 when the domain hangs together */
    int32_t face_piece_count; /* pieces that share no face: more than piece_count when some hang by a vertex or edge */
} bough_domain;

/* Two domains that share element faces. */
typedef struct bough_domain_interface {
    int32_t domains[2];         /* domains[0] < domains[1] */
    int32_t vertex_count;       /* nodes of the shared faces, edge nodes included */
    int32_t *vertices[2];       /* vertices[s][i]: vertex i in the mesh of domains[s]; both ascending */
    double *weights;            /* vertex_count: shares of the area of the shared faces; positive, sum 1 */
    int32_t face_count;         /* shared faces */
    double area;                /* of the shared faces as bough_mesh_surface() cuts them, m^2 */
    int32_t loose_vertex_count; /* vertices of both domains that are in none of the shared faces */
} bough_domain_interface;

/* Two domains that share vertices, but no face: nothing joins them, and they may come apart. */
typedef struct bough_domain_touch {
    int32_t domains[2]; /* domains[0] < domains[1] */
    int32_t vertex_count;
} bough_domain_touch;

typedef struct bough_split {
    int32_t domain_count;
    bough_domain *domains;
    int32_t interface_count;
    bough_domain_interface *interfaces; /* sorted by their domains */
    int32_t touching_count;
    bough_domain_touch *touching; /* sorted by their domains */
} bough_split;

/* Cuts a volume mesh into domains: domain[element] is 0..domain_count-1. BOUGH_ERROR_ARGUMENT for a surface, a number
 * out of range, a domain without elements, or a face of three or more elements. */
BOUGH_API bough_status bough_mesh_split(bough_context *ctx, const bough_mesh *mesh, const int32_t *domain,
                                        int32_t domain_count, bough_split **split);
BOUGH_API void bough_split_destroy(bough_context *ctx, bough_split *split);

/* Domain k is the element set names[k], or the k-th of all element sets when names is NULL (name_count is then not
 * looked at). BOUGH_ERROR_ARGUMENT, with an element that is in none or in two of them, unless every element is in
 * exactly one. *domain has one number for each element; free it with bough_release(). domain_count may be NULL. */
BOUGH_API bough_status bough_mesh_domains_from_sets(bough_context *ctx, const bough_mesh *mesh,
                                                    const char *const *names, int32_t name_count, int32_t **domain,
                                                    int32_t *domain_count);

/* Finds the tree of domains joined by interfaces, breadth first from `root`: parent[domain] (-1 for the root), and the
 * domains in the order in which they are reached; both arrays have domain_count entries and are the caller's.
 * BOUGH_ERROR_ARGUMENT names two domains when interfaces close a loop, or when a domain cannot be reached. */
BOUGH_API bough_status bough_mesh_domain_tree(bough_context *ctx, const bough_split *split, int32_t root,
                                              int32_t *parent, int32_t *order);

/* ---- generators ---- */

/* A box [0,size] with corner at `origin`, cut into cells[0] x cells[1] x cells[2] cells. Face sets and vertex sets x0
 * x1 y0 y1 z0 z1. */
typedef struct bough_box_def {
    uint32_t cookie;
    bough_element_type type; /* TET4, TET10 or HEX8 */
    double origin[3], size[3];
    int32_t cells[3];
    int32_t tets_per_cell; /* 5 (mirrored from cell to cell) or 6 */
    uint64_t reserved[4];  /* zeros: room for fields of later versions */
} bough_box_def;
BOUGH_API bough_box_def bough_default_box_def(void);
/* Makes the mesh. BOUGH_ERROR_ARGUMENT where a size or a number of cells is out of range. */
BOUGH_API bough_status bough_mesh_generate_box(bough_context *ctx, const bough_box_def *def, bough_mesh **mesh);

/* A round rod along z from 0 to length: a core square blended into rings ("butterfly"), so that no element degenerates
 * at the axis. Vertex and face sets: bottom, top, side. */
typedef struct bough_rod_def {
    uint32_t cookie;
    bough_element_type type; /* TET4, TET10 (edge nodes of the side on the cylinder) or HEX8 */
    double length;
    double radius, top_radius; /* top_radius 0: same as radius; another value makes a cone frustum */
    int32_t cells_along;
    int32_t core_cells;   /* across the core square */
    int32_t rings;        /* of cells between core and side */
    double grading;       /* thickness of each ring over that of the ring inside it; 1 = even */
    uint64_t reserved[4]; /* zeros: room for fields of later versions */
} bough_rod_def;
BOUGH_API bough_rod_def bough_default_rod_def(void);
/* Makes the mesh. BOUGH_ERROR_ARGUMENT where a size or a number of cells is out of range. */
BOUGH_API bough_status bough_mesh_generate_rod(bough_context *ctx, const bough_rod_def *def, bough_mesh **mesh);

/* Tets of any shape whose distance to the surface is known: negative inside, and changing by no more than the distance
 * from point to point (a lower bound of the distance will do). The union of shapes is the smallest of their
 * distances. A body-centred lattice with 12 tets in each cube of edge `cell`, fitted to the surface; features thinner
 * than a cell may get lost. */
typedef struct bough_implicit_def {
    uint32_t cookie;
    double (*distance)(void *user, const double x[3]); /* m */
    void *user;
    double lower[3], upper[3]; /* a box that holds the shape, m */
    double cell;               /* m */
    uint64_t reserved[4];      /* zeros: room for fields of later versions */
} bough_implicit_def;
BOUGH_API bough_implicit_def bough_default_implicit_def(void);
/* Makes the mesh; the calling thread calls `distance`. BOUGH_ERROR_ARGUMENT where box or cells do not suit the shape.
 */
BOUGH_API bough_status bough_mesh_generate_implicit(bough_context *ctx, const bough_implicit_def *def,
                                                    bough_mesh **mesh);

/* A surface embedded in a volume mesh: surface vertex v follows
 *   sum_k weights[v BOUGH_MAX_ELEMENT_NODES + k] displacement(node k of element elements[v]).
 * The weights are the element's shape functions; they sum to 1, those behind its last node are zero. */
typedef struct bough_embedding {
    int32_t vertex_count;
    int32_t *elements; /* vertex_count */
    double *weights;   /* vertex_count x BOUGH_MAX_ELEMENT_NODES */
} bough_embedding;
/* Frees an embedding. Takes NULL. */
BOUGH_API void bough_embedding_destroy(bough_context *ctx, bough_embedding *embedding);

/* Findings about a surface that was bound to a volume mesh. */
typedef struct bough_bind_report {
    int32_t outside_count;             /* vertices in no element, beyond round-off */
    double largest_distance;           /* from a vertex to the element that holds it, m; 0 when none is outside */
    int32_t farthest_vertex;           /* the one with that distance; -1 when none is outside */
    int32_t degenerate_triangle_count; /* triangles without area: repeated vertices, or corners on a line */
    int32_t torn_triangle_count;       /* triangles two of whose corners are held by points of the volume that are more
                                        * than four times as far apart as they: they bridge a gap between its parts */
} bough_bind_report;

/* Binds any triangle surface to any volume mesh: each vertex to the element that contains it, else to the nearest point
 * of the nearest element; nothing is extrapolated, so the weights of tet4 and hex8 are in 0..1 (those of tet10 are
 * negative where its shape functions are, down to -1/8). Warns when a vertex is further outside than 5 % of the
 * surface's size. BOUGH_ERROR_ARGUMENT when the kinds of mesh are wrong or the volume has no elements,
 * BOUGH_NOT_FINITE for a coordinate that is not. report may be NULL. */
BOUGH_API bough_status bough_mesh_bind(bough_context *ctx, const bough_mesh *volume, const bough_mesh *surface,
                                       bough_embedding **embedding, bough_bind_report *report);

/* Cuts a surface that is drawn instead of a volume mesh along the mesh's domains (domain[element], as for
 * bough_mesh_split()): a triangle goes where most of its corners lie. The caller destroys the parts
 * (domain_count); a part is NULL if its domain has no triangle. */
BOUGH_API bough_status bough_mesh_split_surface(bough_context *ctx, const bough_mesh *volume, const int32_t *domain,
                                                int32_t domain_count, const bough_mesh *surface, bough_mesh **parts);

/* Makes a hex8 mesh of all cubes of edge `cell` that meet the inside of a closed surface. embedding may be NULL. */
BOUGH_API bough_status bough_mesh_voxelize(bough_context *ctx, const bough_mesh *surface, double cell,
                                           bough_mesh **mesh, bough_embedding **embedding);

/* Makes conforming tets of a closed surface by the program `gmsh` or `tetgen` (NULL: whichever is installed).
 * max_edge 0 leaves the size to the program. BOUGH_ERROR_MISSING_PROGRAM when there is none. */
BOUGH_API bough_status bough_mesh_tetrahedralize(bough_context *ctx, const bough_mesh *surface, const char *program,
                                                 double max_edge, bough_mesh **mesh);

/* Makes a tet10 mesh of a tet4 mesh by straight edge midpoints; sets and materials are carried over. */
BOUGH_API bough_status bough_mesh_raise_order(bough_context *ctx, const bough_mesh *mesh, bough_mesh **raised);

#ifdef __cplusplus
}
#endif

#endif

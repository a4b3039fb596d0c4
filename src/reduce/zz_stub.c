#include "reduce/cook.h"
#include "component/pack.h"
bough_status bo_cook_cubature(bo_cook *cook) { (void)cook; return BOUGH_OK; }
bough_status bo_cook_samples(bo_cook *cook) { (void)cook; return BOUGH_OK; }
bough_status bo_cook_surface(bo_cook *cook) { (void)cook; return BOUGH_OK; }
bough_status bo_component_pack(bough_context *ctx, const bough_component *draft, bough_component **component){(void)draft;*component=NULL;return bo_fail(ctx,BOUGH_ERROR_UNSUPPORTED,"stub");}
bough_status bough_component_load(bough_context *ctx, const char *path, bough_component **component){(void)ctx;(void)path;*component=NULL;return BOUGH_ERROR_UNSUPPORTED;}
bough_status bough_component_save(bough_context *ctx, const bough_component *component, const char *path){(void)ctx;(void)path;(void)component;return BOUGH_ERROR_UNSUPPORTED;}
void bough_component_destroy(bough_context *ctx, bough_component *component){(void)ctx;(void)component;}
double bough_component_operations(const bough_component *component){(void)component;return 0;}
bool bough_component_evaluate(const bough_component *component, const double *q, double *scratch,                                        double *energy, double *gradient, double *hessian){(void)component;(void)q;(void)scratch;(void)energy;(void)gradient;(void)hessian;return true;}
size_t bough_component_scratch(const bough_component *component){(void)component;return 1;}
bough_status bo_cook_pose(bo_cook *cook, bo_pose_random *random, double *q){(void)cook;(void)random;(void)q;return BOUGH_OK;}
void bo_cook_displace(const bo_cook *cook, const double *q, double *u){(void)cook;(void)q;(void)u;}
void bo_cook_project(const bo_cook *cook, const double *f, double *reduced){(void)cook;(void)f;(void)reduced;}
bool bough_component_interface_frame(const bough_component *component, int32_t interface, const double *q,                                               double centre[3], double rotation[9]){(void)component;(void)interface;(void)q;(void)centre;(void)rotation;return true;}

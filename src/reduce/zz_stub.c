#include "reduce/cook.h"
#include "component/pack.h"
bough_status bo_cook_cubature(bo_cook *cook) { (void)cook; return BOUGH_OK; }
bough_status bo_cook_samples(bo_cook *cook) { (void)cook; return BOUGH_OK; }
bough_status bo_cook_surface(bo_cook *cook) { (void)cook; return BOUGH_OK; }
bough_status bo_cook_pose(bo_cook *cook, bo_pose_random *random, double *q){(void)random;for(int i=0;i<cook->r;i++)q[i]=1e-3;return BOUGH_OK;}
void bo_cook_displace(const bo_cook *cook, const double *q, double *u){for(int i=0;i<cook->n;i++){u[i]=0;for(int l=0;l<cook->r;l++)u[i]+=cook->U[(size_t)i*(size_t)cook->r+(size_t)l]*q[l];}}
void bo_cook_project(const bo_cook *cook, const double *f, double *reduced){for(int l=0;l<cook->r;l++)reduced[l]=0;for(int i=0;i<cook->n;i++){for(int l=0;l<cook->r;l++)reduced[l]+=cook->U[(size_t)i*(size_t)cook->r+(size_t)l]*f[i];}}

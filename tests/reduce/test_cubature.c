#include "cooked.h"
#include "linalg/nnls.h"
static void errors(cooked *c, double *plain, double *worst, double *tangent) {
    bo_cook *k = &c->cook; size_t r = (size_t)k->r, n = (size_t)k->n;
    const bough_material_points *p = &k->draft.cubature;
    bo_pose_random random = {99};
    double *q = calloc(r,8), *u = calloc(n,8), *f=calloc(n,8), *full=calloc(r,8), *red=calloc(r,8);
    double sum=0,esum=0; *worst=0; int T=70;
    for (int t=0;t<T;t++) {
        check_ok(c->ctx, bo_cook_pose(k,&random,q));
        bo_cook_displace(k,q,u);
        check_ok(c->ctx, bough_body_evaluate(c->ctx,k->body,u,false,NULL,f,NULL));
        bo_cook_project(k,f,full);
        memset(red,0,r*8);
        for (int32_t i=0;i<p->count;i++) {
            const double *G = p->gradient+9*(size_t)i*r; bo_mat3 F=bo_identity3(),P; double psi;
            for (size_t a=0;a<9;a++) for (size_t l=0;l<r;l++) F.m[a]+=G[a*r+l]*q[l];
            bo_elastic_eval(&k->body->elastic[p->material[i]],&F,&psi,&P,NULL);
            for (size_t a=0;a<9;a++) for (size_t l=0;l<r;l++) red[l]+=p->weight[i]*P.m[a]*G[a*r+l];
        }
        double d=0,s=0,ed=0,es=0; for (size_t l=0;l<r;l++) ed+=pow(red[l]+full[l],2)/k->draft.K[l*r+l], es+=full[l]*full[l]/k->draft.K[l*r+l]; esum+=ed/es;
        for (size_t l=0;l<r;l++) d+=(red[l]+full[l])*(red[l]+full[l]), s+=full[l]*full[l];
        sum+=d/s; *worst=fmax(*worst,sqrt(d/s));
    }
    *plain=sqrt(sum/T); printf("energy norm %.4f K %g ",sqrt(esum/T), sqrt(k->draft.K[r*r-1]/k->draft.K[0]));
    /* tangent */
    double wd=0;
    double *K=calloc(r*r,8);
    for (int32_t i=0;i<p->count;i++) {
        const double *G = p->gradient+9*(size_t)i*r; bo_mat3 F=bo_identity3(),P; double psi,C[81];
        bo_elastic_eval(&k->body->elastic[p->material[i]],&F,&psi,&P,C);
        for (size_t l=0;l<r;l++) for (size_t m=0;m<r;m++) for(size_t a=0;a<9;a++) for (size_t b=0;b<9;b++)
            K[l*r+m]+=p->weight[i]*G[a*r+l]*C[9*a+b]*G[b*r+m];
    }
    double avg=0;
    for (size_t l=0;l<r;l++) { double e=0; for (size_t m=0;m<r;m++) { double x=(K[l*r+m]-k->draft.K[l*r+m]); e+=x*x/(k->draft.K[l*r+l]*k->draft.K[m*r+m]); } wd=fmax(wd,sqrt(e)); avg+=e/(double)r; }
    *tangent=wd; (void)avg;
    free(q),free(u),free(f),free(full),free(red),free(K);
}
static void experiment(void **state) {
    (void)state;
    for (int deriv=0; deriv<2; deriv++)
    for (double tol=0.02; tol>0.001; tol/=2) {
    bough_context *ctx = test_context(2);
    bough_body_def def = bough_default_body_def();
    def.material.model = BOUGH_MATERIAL_STABLE_NEO_HOOKEAN;
    cooked c;
    double t0=seconds();
    cooked_create(ctx, cooked_box(ctx, BOUGH_TET4, getenv("BIG")?40:20, getenv("BIG")?10:5), &def, getenv("R")?atoi(getenv("R")):20, deriv, &c);
    c.def.cubature_tolerance = tol;
    if (getenv("POSES")) c.def.training_count = atoi(getenv("POSES"));
    if (getenv("AMP")) c.def.pose_amplitude = atof(getenv("AMP"));
    double t1=seconds();
    check_ok(ctx, bo_cook_cubature(&c.cook));
    double t2=seconds(), plain, worst, tangent;
    errors(&c,&plain,&worst,&tangent);
    printf("deriv %d tol %.4f: %d elements, %d points, training %.4f test %.4f, plain %.4f worst %.4f tangent %.4f  setup %.2f s cubature %.2f s\n", deriv, tol, c.cook.body->mesh->element_count, c.cook.draft.cubature.count,
      c.cook.draft.quality.cubature_training, c.cook.draft.quality.cubature_test, plain, worst, tangent, t1-t0,t2-t1);
    cooked_destroy(&c);
    bough_context_destroy(ctx);
    }
}
int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(experiment) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

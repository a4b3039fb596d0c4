/* The exact motion of one linear mode. */
#ifndef BO_TIME_EXPONENTIAL_H
#define BO_TIME_EXPONENTIAL_H

/* For x'' = g - lambda x - d x' over a step h:
 *     h phi1(h [[0, 1], [-lambda, -d]]) = [[S + d C, C], [-lambda C, S]],
 * so that from rest forces g_v and velocity g_q: dq = (S + d C) g_q + C g_v, dv = -lambda C g_q + S g_v. */
void bo_mode_functions(double lambda, double d, double h, double *S, double *C);

#endif

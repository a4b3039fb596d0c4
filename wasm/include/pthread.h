/* Locks and threads of a program that has one thread: nobody holds a lock, nobody can be waited for, and no thread can be
 * started. */
#ifndef BOUGH_WASM_PTHREAD_H
#define BOUGH_WASM_PTHREAD_H

#define __NEED_pthread_t
#define __NEED_pthread_mutex_t
#define __NEED_pthread_cond_t
#define __NEED_pthread_once_t
#define __NEED_pthread_condattr_t
#include <bits/alltypes.h>
#include <errno.h>
#include <time.h>

#define PTHREAD_MUTEX_INITIALIZER \
    { 0 }
#define PTHREAD_ONCE_INIT 0

static inline int pthread_mutex_init(pthread_mutex_t *lock, const void *attributes) {
    return (void)lock, (void)attributes, 0;
}
static inline int pthread_mutex_destroy(pthread_mutex_t *lock) {
    return (void)lock, 0;
}
static inline int pthread_mutex_lock(pthread_mutex_t *lock) {
    return (void)lock, 0;
}
static inline int pthread_mutex_unlock(pthread_mutex_t *lock) {
    return (void)lock, 0;
}
static inline int pthread_condattr_init(pthread_condattr_t *attributes) {
    return (void)attributes, 0;
}
static inline int pthread_condattr_setclock(pthread_condattr_t *attributes, clockid_t clock) {
    return (void)attributes, (void)clock, 0;
}
static inline int pthread_condattr_destroy(pthread_condattr_t *attributes) {
    return (void)attributes, 0;
}
static inline int pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes) {
    return (void)condition, (void)attributes, 0;
}
static inline int pthread_cond_destroy(pthread_cond_t *condition) {
    return (void)condition, 0;
}
static inline int pthread_cond_signal(pthread_cond_t *condition) {
    return (void)condition, 0;
}
static inline int pthread_cond_broadcast(pthread_cond_t *condition) {
    return (void)condition, 0;
}
static inline int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *lock, const struct timespec *until) {
    return (void)condition, (void)lock, (void)until, ETIMEDOUT;
}
static inline int pthread_create(pthread_t *thread, const void *attributes, void *(*run)(void *), void *data) {
    return (void)thread, (void)attributes, (void)run, (void)data, EAGAIN;
}
static inline int pthread_join(pthread_t thread, void **result) {
    return (void)thread, (void)result, 0;
}
static inline pthread_t pthread_self(void) {
    return (pthread_t)0;
}
static inline int pthread_equal(pthread_t a, pthread_t b) {
    return a == b;
}
static inline int pthread_once(pthread_once_t *done, void (*call)(void)) {
    if (!*done)
        *done = 1, call();
    return 0;
}

#endif

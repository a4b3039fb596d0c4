// Bough's objects as C++ keeps them: a smart pointer that knows the context, and exceptions that carry the sentence.
#pragma once

#include <bough/base.h>

#include <memory>
#include <stdexcept>

inline void check(bough_context *ctx, bough_status status) {
    if (status != BOUGH_OK)
        throw std::runtime_error(bough_message(ctx));
}

struct context_end {
    void operator()(bough_context *ctx) const {
        bough_context_destroy(ctx);
    }
};
using context = std::unique_ptr<bough_context, context_end>;

inline context make_context() {
    context ctx(bough_context_create(nullptr));
    if (!ctx)
        throw std::bad_alloc();
    return ctx;
}

// owned<bough_tree_model, bough_tree_model_destroy>
template <class T, void (*destroy)(bough_context *, T *)> class owned {
  public:
    explicit owned(bough_context *ctx) : ctx(ctx) {
    }
    ~owned() {
        destroy(ctx, thing);
    }
    owned(const owned &) = delete;
    owned &operator=(const owned &) = delete;

    T **out() { // for functions that make one
        return &thing;
    }
    operator T *() const {
        return thing;
    }
    T *operator->() const {
        return thing;
    }

  private:
    bough_context *ctx;
    T *thing = nullptr;
};

/* JSON values: objects, lists, texts, numbers. */
#include "values.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

static json_t the_true = {JSON_TRUE, (size_t)-1}, the_false = {JSON_FALSE, (size_t)-1},
              the_null = {JSON_NULL, (size_t)-1};

json_t *json_true(void) {
    return &the_true;
}
json_t *json_false(void) {
    return &the_false;
}
json_t *json_null(void) {
    return &the_null;
}

static void *make(json_type type, size_t size) {
    json_t *json = calloc(1, size);
    if (json)
        json->type = type, json->refcount = 1;
    return json;
}

json_t *json_object(void) {
    return make(JSON_OBJECT, sizeof(object_value));
}
json_t *json_array(void) {
    return make(JSON_ARRAY, sizeof(array_value));
}

json_t *json_stringn(const char *value, size_t length) {
    string_value *s = value ? make(JSON_STRING, sizeof *s + length + 1) : NULL;
    if (s) {
        s->length = length;
        memcpy(s->text, value, length);
    }
    return (json_t *)s;
}
json_t *json_string(const char *value) {
    return value ? json_stringn(value, strlen(value)) : NULL;
}

json_t *json_sprintf(const char *format, ...) {
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    const int length = vsnprintf(NULL, 0, format, list);
    string_value *s = length < 0 ? NULL : make(JSON_STRING, sizeof *s + (size_t)length + 1);
    if (s) {
        s->length = (size_t)length;
        vsnprintf(s->text, s->length + 1, format, again);
    }
    va_end(again);
    va_end(list);
    return (json_t *)s;
}

json_t *json_integer(json_int_t value) {
    integer_value *i = make(JSON_INTEGER, sizeof *i);
    if (i)
        i->value = value;
    return (json_t *)i;
}
json_t *json_real(double value) {
    real_value *r = isfinite(value) ? make(JSON_REAL, sizeof *r) : NULL;
    if (r)
        r->value = value;
    return (json_t *)r;
}

static void forget(pair *p) {
    json_decref(p->value);
    free(p);
}

void json_delete(json_t *json) {
    if (json_is_object(json)) {
        object_value *o = (object_value *)json;
        for (size_t i = 0; i < o->count; i++)
            forget(o->pairs[i]);
        free(o->pairs);
    } else if (json_is_array(json)) {
        array_value *a = (array_value *)json;
        for (size_t i = 0; i < a->count; i++)
            json_decref(a->values[i]);
        free(a->values);
    }
    free(json);
}

const char *json_string_value(const json_t *json) {
    return json_is_string(json) ? ((const string_value *)json)->text : NULL;
}
size_t json_string_length(const json_t *json) {
    return json_is_string(json) ? ((const string_value *)json)->length : 0;
}
json_int_t json_integer_value(const json_t *json) {
    return json_is_integer(json) ? ((const integer_value *)json)->value : 0;
}
double json_real_value(const json_t *json) {
    return json_is_real(json) ? ((const real_value *)json)->value : 0;
}
double json_number_value(const json_t *json) {
    return json_is_integer(json) ? (double)json_integer_value(json) : json_real_value(json);
}

/* Makes room for one more; false: no memory. */
static bool make_room(void *list, size_t count, size_t *capacity) {
    if (count < *capacity)
        return true;
    const size_t wanted = *capacity ? 2 * *capacity : 8;
    void *grown = realloc(*(void **)list, wanted * sizeof(void *));
    if (grown)
        *(void **)list = grown, *capacity = wanted;
    return grown;
}

size_t json_array_size(const json_t *array) {
    return json_is_array(array) ? ((const array_value *)array)->count : 0;
}
json_t *json_array_get(const json_t *array, size_t index) {
    return index < json_array_size(array) ? ((const array_value *)array)->values[index] : NULL;
}
int json_array_set_new(json_t *array, size_t index, json_t *value) {
    if (!value || index >= json_array_size(array)) {
        json_decref(value);
        return -1;
    }
    array_value *a = (array_value *)array;
    json_decref(a->values[index]);
    a->values[index] = value;
    return 0;
}
int json_array_append_new(json_t *array, json_t *value) {
    array_value *a = (array_value *)array;
    if (!value || !json_is_array(array) || !make_room(&a->values, a->count, &a->capacity)) {
        json_decref(value);
        return -1;
    }
    a->values[a->count++] = value;
    return 0;
}
int json_array_extend(json_t *array, json_t *other) {
    int result = json_is_array(array) && json_is_array(other) ? 0 : -1;
    for (size_t i = 0, n = json_array_size(other); i < n && result == 0; i++)
        result = json_array_append(array, json_array_get(other, i));
    return result;
}

static size_t find(const json_t *object, const char *key) {
    const object_value *o = (const object_value *)object;
    size_t i = 0;
    while (i < o->count && strcmp(o->pairs[i]->key, key) != 0)
        i++;
    return i;
}

size_t json_object_size(const json_t *object) {
    return json_is_object(object) ? ((const object_value *)object)->count : 0;
}
json_t *json_object_get(const json_t *object, const char *key) {
    if (!json_is_object(object) || !key)
        return NULL;
    const size_t i = find(object, key);
    return i < json_object_size(object) ? ((const object_value *)object)->pairs[i]->value : NULL;
}

static int add_pair(object_value *o, const char *key, json_t *value) {
    pair *p = make_room(&o->pairs, o->count, &o->capacity) ? malloc(sizeof *p + strlen(key) + 1) : NULL;
    if (!p)
        return -1;
    p->owner = o;
    p->number = o->count;
    p->value = value;
    strcpy(p->key, key);
    o->pairs[o->count++] = p;
    return 0;
}

int json_object_set_new(json_t *object, const char *key, json_t *value) {
    if (!value || !key || !json_is_object(object)) {
        json_decref(value);
        return -1;
    }
    object_value *o = (object_value *)object;
    const size_t i = find(object, key);
    if (i < o->count) {
        json_decref(o->pairs[i]->value);
        o->pairs[i]->value = value;
        return 0;
    }
    if (add_pair(o, key, value) == 0)
        return 0;
    json_decref(value);
    return -1;
}

int json_object_del(json_t *object, const char *key) {
    object_value *o = (object_value *)object;
    const size_t i = json_is_object(object) && key ? find(object, key) : 0;
    if (i >= json_object_size(object))
        return -1;
    forget(o->pairs[i]);
    o->count--;
    for (size_t k = i; k < o->count; k++)
        o->pairs[k] = o->pairs[k + 1], o->pairs[k]->number = k;
    return 0;
}

typedef enum { ALL, MISSING, WITHIN } update;

static int take_over(json_t *object, json_t *other, update how) {
    int result = json_is_object(object) && json_is_object(other) ? 0 : -1;
    for (size_t i = 0; i < json_object_size(other) && result == 0; i++) {
        const pair *p = ((object_value *)other)->pairs[i];
        json_t *old = how == ALL ? NULL : json_object_get(object, p->key);
        if (how == WITHIN && json_is_object(old) && json_is_object(p->value))
            result = take_over(old, p->value, how);
        else if (how != MISSING || !old)
            result = json_object_set(object, p->key, p->value);
    }
    return result;
}
int json_object_update(json_t *object, json_t *other) {
    return take_over(object, other, ALL);
}
int json_object_update_missing(json_t *object, json_t *other) {
    return take_over(object, other, MISSING);
}
int json_object_update_recursive(json_t *object, json_t *other) {
    return take_over(object, other, WITHIN);
}

void *json_object_iter(json_t *object) {
    return json_object_size(object) > 0 ? ((object_value *)object)->pairs[0] : NULL;
}
void *json_object_iter_next(json_t *object, void *iterator) {
    const pair *p = iterator;
    return p && p->number + 1 < json_object_size(object) ? ((object_value *)object)->pairs[p->number + 1] : NULL;
}
void *json_object_key_to_iter(const char *key) {
    return key ? (void *)(key - offsetof(pair, key)) : NULL;
}
const char *json_object_iter_key(void *iterator) {
    return iterator ? ((pair *)iterator)->key : NULL;
}
json_t *json_object_iter_value(void *iterator) {
    return iterator ? ((pair *)iterator)->value : NULL;
}

static json_t *copy_of(const json_t *json, bool deep) {
    json_t *made;
    switch (json ? json->type : JSON_NULL) {
    case JSON_OBJECT:
        made = json_object();
        for (size_t i = 0; i < json_object_size(json); i++) {
            const pair *p = ((const object_value *)json)->pairs[i];
            json_object_set_new(made, p->key, deep ? copy_of(p->value, true) : json_incref(p->value));
        }
        return made;
    case JSON_ARRAY:
        made = json_array();
        for (size_t i = 0; i < json_array_size(json); i++)
            json_array_append_new(made,
                                  deep ? copy_of(json_array_get(json, i), true) : json_incref(json_array_get(json, i)));
        return made;
    case JSON_STRING:
        return json_stringn(json_string_value(json), json_string_length(json));
    case JSON_INTEGER:
        return json_integer(json_integer_value(json));
    case JSON_REAL:
        return json_real(json_real_value(json));
    default:
        return (json_t *)json;
    }
}
json_t *json_copy(json_t *json) {
    return copy_of(json, false);
}
json_t *json_deep_copy(const json_t *json) {
    return copy_of(json, true);
}

/* ---- json_pack ---- */

typedef struct {
    const char *at;
    va_list list;
    bool failed;
} packing;

static char next_sign(packing *p) {
    while (*p->at == ' ' || *p->at == ',' || *p->at == ':')
        p->at++;
    return *p->at ? *p->at++ : 0;
}

static bool may_be_null(packing *p) {
    const bool may = *p->at == '?';
    p->at += may;
    return may;
}

static json_t *pack_value(packing *p, char sign);

static json_t *pack_object(packing *p) {
    json_t *object = json_object();
    for (char sign; (sign = next_sign(p)) != '}';) {
        const char *key = sign == 's' ? va_arg(p->list, const char *) : NULL;
        json_t *value = key ? pack_value(p, next_sign(p)) : NULL;
        if (!key || json_object_set_new(object, key, value) != 0) {
            p->failed = true;
            if (!key)
                break;
        }
    }
    return object;
}

static json_t *pack_array(packing *p) {
    json_t *array = json_array();
    for (char sign; (sign = next_sign(p)) != ']';) {
        if (!sign || json_array_append_new(array, pack_value(p, sign)) != 0)
            p->failed = true;
        if (!sign)
            break;
    }
    return array;
}

static json_t *pack_value(packing *p, char sign) {
    json_t *value;
    const char *text;
    bool may;
    switch (sign) {
    case '{':
        return pack_object(p);
    case '[':
        return pack_array(p);
    case 's':
        may = may_be_null(p);
        text = va_arg(p->list, const char *);
        return text ? json_string(text) : may ? json_null() : NULL;
    case 'i':
        return json_integer(va_arg(p->list, int));
    case 'I':
        return json_integer(va_arg(p->list, json_int_t));
    case 'f':
        return json_real(va_arg(p->list, double));
    case 'b':
        return json_boolean(va_arg(p->list, int));
    case 'n':
        return json_null();
    case 'o':
    case 'O':
        may = may_be_null(p);
        value = va_arg(p->list, json_t *);
        if (sign == 'O')
            json_incref(value);
        return value ? value : may ? json_null() : NULL;
    default:
        p->failed = true;
        return NULL;
    }
}

json_t *json_pack(const char *format, ...) {
    packing p = {.at = format};
    va_start(p.list, format);
    json_t *value = pack_value(&p, next_sign(&p));
    va_end(p.list);
    if (!p.failed)
        return value;
    json_decref(value);
    return NULL;
}

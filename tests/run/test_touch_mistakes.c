/* Mistakes in what scenes say of contact get a sentence, by whichever engine; and parts that begin inside of something are
 * named. */
#include "play.h"

#define PARTS(samples, solid, contact, more)                                                                      \
    "{'bough': 1, 'components': {'bar': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [0.5, 0.1, 0.1], "   \
    "'cells': [6, 2, 2], 'origin': [-0.25, -0.05, -0.05]}, 'material': {'young': 1e7, 'density': 500}, 'basis': " \
    "{'r': 6}" samples                                                                                            \
    "}}, 'parts': [{'name': 'bar', 'component': 'bar', 'position': [0, 0, 0.2]}], 'obstacles': [" solid           \
    "], 'contact': {" contact "}, 'time': {'dt': 0.004, 'duration': 1}" more "}"
#define MECHANISM(shape, more)                                                                                        \
    "{'bough': 1, 'bodies': [{'name': 'ball', 'density': 300, 'shape': {'sphere': 0.06}, 'position': [0, 0, 0.2]}], " \
    "'obstacles': [{'name': 'floor', 'shape': " shape "}], 'time': {'dt': 0.005, 'duration': 0.5}" more "}"
#define SYSTEM(touch, more)                                                                                          \
    "{'bough': 1, 'engine': {'kind': 'multibody'}, 'bodies': [{'name': 'ball', 'density': 300, 'shape': {'sphere': " \
    "0.06}, 'position': [0, 0, 0.2], 'touch': " touch "}], 'obstacles': [{'name': 'floor', 'shape': {'plane': "      \
    "true}}]" more ", 'time': {'dt': 0.005, 'duration': 0.5}}"
#define GROUND "{'name': 'ground', 'shape': {'plane': true}}"

static void mistakes_get_a_sentence(void **unused) {
    (void)unused;
    static const struct {
        const char *text, *sentence;
    } wrong[] = {
        {PARTS("", "{'name': 'ground', 'shape': []}", "", ""), "no shape in it"},
        {PARTS("", "{'name': 'ground', 'shape': 'plane'}", "", ""), "a shape such as"},
        {PARTS("", "{'name': 'ground', 'shape': 7}", "", ""), "a shape such as"},
        {PARTS("", "{'name': 'ground', 'shape': {'plane': true}, 'part': 'bar'}", "", ""), "unknown key \"part\""},
        {PARTS("", GROUND, "'most_contacts': 1.5", ""), "integer"},
        {PARTS("", GROUND, "'most_contacts': 0", ""), "most_contacts"},
        {PARTS("", GROUND, "'between': ['bra']", ""), "no component"},
        {PARTS("", GROUND, "'solids': [{'part': 'bra', 'shape': {'sphere': 0.1}}]", ""), "did you mean \"bar\""},
        {PARTS("", GROUND, "'solids': [{'part': 'bar', 'shape': []}]", ""), "no shape in it"},
        {PARTS("", GROUND, "'solids': [{'part': 'bar', 'shape': {'plane': true}}]", ""), "a plane, which has no end"},
        {PARTS("", GROUND, "'solids': [{'part': 'bar', 'shape': {'sphere': -0.1}}]", ""), "sphere"},
        {PARTS(", 'samples': {'contact': 0}", GROUND, "", ""), "no part has contact samples"},
        {PARTS(", 'samples': {'contact': 0}", GROUND, "'between': true", ""),
         "the component \"bar\" has no contact samples"},
        {PARTS("", GROUND, "", ", 'probes': [{'name': 'push', 'contact': 'grund'}]"), "did you mean \"ground\""},
        {PARTS("", "{'name': 'bar', 'shape': {'plane': true}}", "", ", 'probes': [{'name': 'push', 'contact': 'bar'}]"),
         "the name of 2 things"},
        {MECHANISM("[]", ""), "no shape in it"},
        {MECHANISM("'plane'", ""), "a shape such as"},
        {SYSTEM("[]", ""), "no shape in it"},
        {SYSTEM("true", ", 'pass_through': [['ball', 'ball']]"), "the same thing twice"},
        {SYSTEM("true", ", 'pass_through': [['ball', 'flor']]"), "flor"},
    };
    bough_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        bough_scene *scene = NULL;
        bough_run *run = NULL;
        const bough_run_def def = bough_default_run_def();
        bough_status status = bough_scene_load(ctx, write_scene("wrong.json", wrong[i].text), &scene);
        if (status == BOUGH_OK)
            status = bough_run_create(ctx, scene, &def, &run);
        if (status == BOUGH_OK || !strstr(bough_message(ctx), wrong[i].sentence))
            fail_msg("scene %zu: status %d, %s", i, (int)status, bough_message(ctx));
        printf("%s\n", bough_message(ctx));
        bough_run_destroy(ctx, run);
        bough_scene_destroy(ctx, scene);
    }
    bough_context_destroy(ctx);
}

/* ---- what begins inside of something ---- */

static char warned[600];
static void note_warning(void *user, const char *message) {
    (void)user;
    snprintf(warned, sizeof warned, "%s", message);
}

static void what_begins_inside_is_named(void **unused) {
    (void)unused;
    static const struct {
        const char *obstacle, *name;
    } cases[] = {
        {GROUND, NULL},
        {"{'name': 'table', 'shape': {'plane': true}, 'position': [0, 0, 0.19]}",
         "\"bar\" begins 0.04 m inside \"table\""},
        {"{'name': 'hand', 'shape': {'sphere': 0.1}, 'track': [{'time': 0, 'position': [0, 0, 0.2]}, {'time': 1}]}",
         "inside \"hand\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bough_context_def def = bough_default_context_def();
        bough_context *ctx;
        char text[2000];
        def.thread_count = 1, def.warn = note_warning;
        ctx = bough_context_create(&def);
        snprintf(text, sizeof text, PARTS("", "%s", "", ""), cases[i].obstacle);
        *warned = 0;
        const bough_run_def run = bough_default_run_def();
        play p = begin_file(ctx, write_scene("inside.json", text), &run);
        printf("%s\n", warned);
        check(cases[i].name ? strstr(warned, cases[i].name) != NULL : !*warned);
        end(ctx, &p);
        bough_context_destroy(ctx);
    }
}

/* Free bodies, bodies of systems and flexible parts, too: a warning names what begins inside of something, or is pressed far
 * into it, and so does the sentence of a run that cannot go on for that. Where all is clear nothing is said. */
#define WEDGE(more)                                                                                                    \
    "{'bough': 1, 'bodies': [{'name': 'ball', 'density': 300, 'shape': {'sphere': 0.06}, 'position': [0, 0, "          \
    "0.0601]}], 'gravity': [0, 0, -9.81], 'obstacles': [{'name': 'floor', 'shape': {'plane': true}}, {'name': 'ram', " \
    "'shape': {'box': [1, 1, 0.1]}, 'track': [{'time': 0, 'position': [0, 0, 0.3]}, {'time': 0.4, 'position': [0, 0, " \
    "0.1]}]}], 'time': {'dt': 0.005, 'duration': 0.6}" more "}"
#define CLAMPED(height)                                                                                             \
    "{'bough': 1, 'components': {'bar': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [0.3, 0.04, 0.04], "   \
    "'origin': [0, -0.02, -0.02], 'cells': [6, 2, 2]}, 'material': {'young': 1e7, 'density': 1000}, 'interfaces': " \
    "{'base': {'select': 'x0'}}, 'basis': {'r': 6}}}, 'parts': [{'name': 'arm', 'component': 'bar', 'clamp': "      \
    "'world', 'touch': true}], 'bodies': [], 'joints': [], 'obstacles': [{'name': 'ground', 'shape': {'plane': "    \
    "true}, 'position': [0, 0, " height "]}], 'time': {'dt': 0.004, 'duration': 0.1}}"
static void overlaps_of_rigid_things_are_named(void **unused) {
    (void)unused;
    static const struct {
        const char *text, *warning, *failure; /* NULL: none */
    } cases[] = {
        {MECHANISM("{'plane': true}", ""), NULL, NULL},
        {MECHANISM("{'box': [1, 1, 0.3]}", ""), "\"ball\" begins 0.01 m inside \"floor\"", NULL},
        {SYSTEM("true", ", 'probes': []"), NULL, NULL},
        {SYSTEM("{'sphere': 0.25}", ""), "", "\"ball\" is 0.05 m inside \"floor\""},
        {WEDGE(""), "inside \"floor\"", NULL},
        {CLAMPED("-0.1"), NULL, NULL},
        {CLAMPED("0.01"), "", "\"arm\" is 0.03 m inside \"ground\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bough_context_def def = bough_default_context_def();
        def.thread_count = 1, def.warn = note_warning;
        bough_context *ctx = bough_context_create(&def);
        const bough_run_def run = bough_default_run_def();
        play p = begin_file(ctx, write_scene("overlap.json", cases[i].text), &run);
        *warned = 0;
        const bough_status status = bough_run_advance(ctx, p.run);
        printf("%zu: %d, %s; %s\n", i, (int)status, warned, status == BOUGH_OK ? "" : bough_message(ctx));
        check((status == BOUGH_OK) == (cases[i].failure == NULL));
        check(!cases[i].failure || strstr(bough_message(ctx), cases[i].failure));
        check(!cases[i].failure || !strstr(bough_message(ctx), "another integrator"));
        check(cases[i].warning ? strstr(warned, cases[i].warning) != NULL : !*warned);
        end(ctx, &p);
        bough_context_destroy(ctx);
    }
}

/* The whole object in full order touches obstacles, and says that it knows nothing else. */
#define WHOLE(contact)                                                                                                \
    "{'bough': 1, 'object': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [0.6, 0.06, 0.06], 'cells': [6, 1, " \
    "1]}, 'sets': {'a': {'elements': 'x<0.31'}, 'b': {'elements': 'x>0.29'}}, 'domains': ['a', 'b'], 'root': 'a', "   \
    "'fix': 'x0', 'basis': {'r': 4}}, 'obstacles': [{'name': 'ground', 'shape': {'plane': true}, 'position': [0, 0, " \
    "-0.1]}], 'contact': {" contact "}, 'time': {'dt': 0.01, 'duration': 0.1}}"
static void full_order_says_what_it_does_not_touch(void **unused) {
    (void)unused;
    static const char *const texts[] = {WHOLE("'friction': 0.3"),
                                        WHOLE("'solids': [{'part': 'b', 'shape': {'sphere': 0.05}}]"),
                                        WHOLE("'between': true")};
    for (int i = 0; i < 3; i++) {
        bough_context_def def = bough_default_context_def();
        def.thread_count = 1, def.warn = note_warning;
        bough_context *ctx = bough_context_create(&def);
        bough_run_def run = bough_default_run_def();
        run.engine = "full";
        *warned = 0;
        play p = begin_file(ctx, write_scene("whole.json", texts[i]), &run);
        check((strstr(warned, "parts touch the obstacles alone") != NULL) == (i > 0));
        end(ctx, &p);
        bough_context_destroy(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_get_a_sentence), cmocka_unit_test(what_begins_inside_is_named),
        cmocka_unit_test(overlaps_of_rigid_things_are_named), cmocka_unit_test(full_order_says_what_it_does_not_touch)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A run that is killed leaves a checkpoint to resume from and recordings that can be read. */
#include "program.h"

#define CHAIN                                                                                                     \
    "{\"bough\": 1, \"object\": {\"mesh\": {\"generate\": \"box\", \"type\": \"hex8\", \"size\": [1, 0.1, 0.1], " \
    "\"cells\": [10, 1, 1]}, \"sets\": {\"a\": {\"elements\": \"x<0.51\"}, \"b\": {\"elements\": \"x>0.49\"}}, "  \
    "\"material\": {\"young\": 4e6}, \"damping\": {\"stiffness\": 0.001}, \"fix\": \"x0\", \"basis\": {\"r\": "   \
    "8}}, \"gravity\": [0, 0, -2], \"time\": {\"dt\": 0.002, \"duration\": 100000}, \"probes\": [{\"name\": "     \
    "\"tip\", \"part\": \"b\", \"nearest\": [1, 0, 0]}], \"events\": [{\"time\": 0.05, \"lock\": \"b\"}]}"

static int prepare(void **state) {
    (void)state;
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
    unsetenv("ARGP_HELP_FMT");
    mkdir(work(""), 0700);
    test_write_text(work("chain.json"), CHAIN);
    return 0;
}

static unsigned char *load(const char *name, size_t *size) {
    FILE *f = fopen(work(name), "rb");
    if (!f)
        fail_msg("%s is not there", name);
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    unsigned char *bytes = calloc(*size + 1, 1);
    check(bytes && fread(bytes, 1, *size, f) == *size);
    fclose(f);
    return bytes;
}

static uint32_t number_at(const unsigned char *b) {
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static void pause_briefly(void) {
    nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
}

/* Starts, waits until the checkpoint is there, and a little longer; then the process ends as nobody can prevent. */
static void kill_a_run(void) {
    const pid_t child = start_with_output(WORDS("run", "chain.json", "--checkpoint", "run.state", "--every", "0.3",
                                                "--record", "run.csv", "--record", "run.npy", "--record", "run.npz",
                                                "--record", "run.glb", "--frames", "frames", "--fps", "5", "--changes",
                                                "changes.csv", "--inputs", "run.log", "--stress", "stress.npy"),
                                          test_path("stdout"));
    for (int tries = 0; !exists("run.state"); tries++) {
        int status;
        if (tries == 3000 || waitpid(child, &status, WNOHANG) != 0)
            fail_msg("no checkpoint was written in a minute");
        pause_briefly();
    }
    for (int i = 0; i < 30; i++)
        pause_briefly();
    kill(child, SIGKILL);
    check_int(finish(child), -SIGKILL);
}

/* Rows that the header of a .npy file promises, all of which are there. */
static int npy_rows(const unsigned char *b, size_t size) {
    int rows = 0, columns = 1;
    check(size >= 128 && memcmp(b, "\x93NUMPY", 6) == 0);
    const char *shape = strstr((const char *)b + 10, "'shape': (");
    check(shape && sscanf(shape + 10, "%d, %d", &rows, &columns) >= 1);
    check(size >= 128 + 8 * (size_t)rows * (size_t)columns);
    return rows;
}

/* A zip file ends with the place and the number of its directory's entries. */
static int npz_rows(const unsigned char *b, size_t size) {
    check(size > 22 && number_at(b) == 0x04034b50 && number_at(b + size - 22) == 0x06054b50);
    const uint32_t length = number_at(b + size - 10), start = number_at(b + size - 6);
    check_int((size_t)start + length, size - 22);
    check(number_at(b + start) == 0x02014b50);
    const size_t name = 26, head = 30 + ((size_t)b[name] | (size_t)b[name + 1] << 8);
    int rows = 0;
    const char *shape = strstr((const char *)b + head + 10, "'shape': (");
    check(shape && sscanf(shape + 10, "%d", &rows) == 1);
    return rows;
}

static void check_series(void) {
    size_t size;
    char *index = (char *)load("frames/frames.pvd", &size);
    static const char tail[] = "</Collection>\n</VTKFile>\n";
    int count = 0;
    check(size > sizeof tail && strcmp(index + size - (sizeof tail - 1), tail) == 0);
    for (char *at = index; (at = strstr(at, "file=\"")); count++) {
        char name[64];
        at += 6;
        snprintf(name, sizeof name, "frames/%.*s", (int)strcspn(at, "\""), at);
        check(exists(name));
    }
    check(count > 1);
    free(index);
}

static int count_leftovers(const char *folder, const char *beginning) {
    int count = 0;
    DIR *d = opendir(work(folder));
    check(d != NULL);
    for (struct dirent *entry; (entry = readdir(d));)
        count += strncmp(entry->d_name, beginning, strlen(beginning)) == 0 && strstr(entry->d_name, ".part") != NULL;
    closedir(d);
    return count;
}

static void recordings_can_be_read(void) {
    size_t size;
    unsigned char *b = load("run.npy", &size);
    check(npy_rows(b, size) > 1);
    free(b);
    b = load("stress.npy", &size);
    check(npy_rows(b, size) > 1);
    free(b);
    b = load("run.npz", &size);
    check(npz_rows(b, size) > 1);
    free(b);
    b = load("run.glb", &size);
    check(size > 20 && memcmp(b, "glTF", 4) == 0);
    check_int(number_at(b + 8), size);
    free(b);
    b = load("changes.csv", &size);
    check(strstr((char *)b, ",lock,b,") != NULL);
    free(b);
    check_series();
    json_t *answer;
    check_json(answer, 0, "replay", "chain.json", "run.log", "--json");
    check(truth(answer, "same") && number(answer, "steps") > 10);
    json_decref(answer);
}

/* Time of the last row. */
static double last_time(const char *name) {
    size_t size;
    char *table = (char *)load(name, &size), *end = strrchr(table, '\n');
    check(end != NULL);
    *end = 0;
    const double time = atof(strrchr(table, '\n') + 1);
    free(table);
    return time;
}

static void check_same_bytes(const char *a, const char *b) {
    size_t sizes[2];
    unsigned char *x = load(a, &sizes[0]), *y = load(b, &sizes[1]);
    check_int(sizes[0], sizes[1]);
    check(memcmp(x, y, sizes[0]) == 0);
    free(x);
    free(y);
}

/* Afterwards it is as if nobody had killed it. */
static void a_killed_run_goes_on(void **state) {
    (void)state;
    char time[32];
    kill_a_run();
    recordings_can_be_read();
    check(count_leftovers("", "") > 0); /* of what was being written */
    snprintf(time, sizeof time, "%.17g", last_time("run.csv") + 0.1);
    check_run(0, "run", "chain.json", "--resume", "run.state", "--checkpoint", "run.state", "--time", time, "--record",
              "run.csv", "--record", "run.npy", "--record", "run.npz", "--record", "run.glb", "--frames", "frames",
              "--fps", "5", "--changes", "changes.csv", "--stress", "stress.npy", "--inputs", "run.log");
    check_run(0, "run", "chain.json", "--time", time, "--record", "whole.csv", "--record", "whole.npy", "--fps", "5",
              "--changes", "whole_changes.csv", "--stress", "whole_stress.npy");
    check_same_bytes("run.csv", "whole.csv");
    check_same_bytes("run.npy", "whole.npy");
    check_same_bytes("stress.npy", "whole_stress.npy");
    check_same_bytes("changes.csv", "whole_changes.csv");
    check_int(count_leftovers("", ""), 0);
    check_int(count_leftovers("frames", ""), 0);
}

/* Films of a body and of a mechanism are made otherwise. */
static void other_engines_leave_their_films_too(void **state) {
    (void)state;
    static const char *const scenes[] = {
        "{\"bough\": 1, \"mesh\": {\"generate\": \"box\", \"type\": \"hex8\", \"size\": [1, 0.2, 0.2], \"cells\": [4, "
        "1, 1]}, \"fix\": \"x0\", \"gravity\": [0, 0, -2], \"material\": {\"young\": 1e6}, \"time\": {\"dt\": 0.005, "
        "\"duration\": 100000}}",
        "{\"bough\": 1, \"bodies\": [{\"name\": \"ball\", \"mass\": 2, \"shape\": {\"box\": [0.2, 0.2, 0.2]}}], "
        "\"gravity\": [0, 0, 0], \"time\": {\"dt\": 0.02, \"duration\": 100000}}"};
    for (size_t i = 0; i < 2; i++) {
        size_t size;
        test_write_text(work("other.json"), scenes[i]);
        unlink(work("other.glb"));
        unlink(work("other.npz"));
        const pid_t child = start_with_output(WORDS("run", "other.json", "--every", "0.1", "--fps", "2", "--record",
                                                    "other.glb", "--record", "other.npz"),
                                              test_path("stdout"));
        for (int tries = 0; tries < 3000 && !exists("other.npz"); tries++)
            pause_briefly();
        kill(child, SIGKILL);
        check_int(finish(child), -SIGKILL);
        unsigned char *b = load("other.glb", &size);
        check(size > 20 && memcmp(b, "glTF", 4) == 0);
        check_int(number_at(b + 8), size);
        free(b);
        b = load("other.npz", &size);
        check(npz_rows(b, size) > 0);
        free(b);
    }
}

/* Films of pictures are complete at the end only; the next run that writes them clears away what was begun. */
static void what_was_left_of_films_goes(void **state) {
    (void)state;
    const bool ffmpeg = system("command -v ffmpeg >/dev/null 2>&1") == 0;
    int ends[2];
    char nothing;
    check_int(pipe(ends), 0);
    const pid_t child = start_with_output(WORDS("run", "chain.json", "--record", "film.png", "--fps", "100", "--record",
                                                ffmpeg ? "film.webm" : "film.csv"),
                                          test_path("stdout"));
    close(ends[1]);
    if (ffmpeg)
        wait_for_file("", "film.webm.part", 0);
    wait_for_file("", "film.png.part", 10000);
    kill(child, SIGKILL);
    check_int(finish(child), -SIGKILL);
    check(!exists("film.png") && !exists("film.webm"));
    check_int(count_leftovers("", "film."), ffmpeg ? 2 : 1);
    check_int(read(ends[0], &nothing, 1), 0); /* the encoder has inherited the pipe: it has ended, too */
    close(ends[0]);
    check_run(0, "run", "chain.json", "--time", "0.1", "--record", "film.png", "--fps", "100", "--record",
              ffmpeg ? "film.webm" : "film.csv");
    check_is_png("film.png");
    check_int(count_leftovers("", "film."), 0);
    if (!ffmpeg)
        test_skip("ffmpeg is not installed: ./bough setup tools");
    check_begins("film.webm", "\x1a\x45\xdf\xa3", 4, 500);
}

/* So does every command that writes a file. */
static void commands_clear_away_what_was_left(void **state) {
    (void)state;
    static const char *const left[] = {"still.png.part99999", "bar.msh.part99999", "bar.bough.part99999-3",
                                       "lines.svg.part99999", "sag.vtu.part99999", "movie.png.part99999"};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        test_write_text(work(left[i]), "half of it");
    test_write_text(work("bar.json"),
                    "{\"bough\": 1, \"mesh\": {\"generate\": \"box\", \"type\": \"hex8\", \"size\": [1, 0.1, 0.1], "
                    "\"cells\": [6, 1, 1]}, \"material\": {\"young\": 4e6}, \"fix\": \"x0\", \"basis\": {\"r\": 4}}");
    check_run(0, "picture", "chain.json", "-o", "still.png", "--size", "80x60");
    check_run(0, "movie", "chain.json", "-o", "movie.png", "--size", "80x60", "--time", "0.02");
    check_run(0, "mesh", "generate", "box", "-o", "bar.msh", "--size", "1,1,1", "--cells", "1,1,1");
    check_run(0, "cook", "bar.json", "-o", "bar.bough");
    check_run(0, "static", "bar.json", "--gravity", "0,0,-1", "-o", "sag.vtu");
    check_run(0, "run", "chain.json", "--time", "0.02", "--record", "lines.csv");
    check_run(0, "plot", "lines.csv", "-o", "lines.svg");
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        if (exists(left[i]))
            fail_msg("%s is still there", left[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_killed_run_goes_on), cmocka_unit_test(other_engines_leave_their_films_too),
        cmocka_unit_test(what_was_left_of_films_goes), cmocka_unit_test(commands_clear_away_what_was_left)};
    return cmocka_run_group_tests(tests, prepare, NULL);
}

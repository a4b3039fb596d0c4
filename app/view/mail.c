/* Seats: messages that wait for those who look on. One who does not read holds up nobody: what can be newer replaces
 * what waits, and whose mailbox is full is shown out. */
#include "session.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- under the lock ---- */

/* It is free for others. */
static void close_seat(view_seat *seat) {
    view_session *s = seat->session;
    for (int i = 0; i < VIEW_SEATS; i++)
        if (s->seats[i] == seat)
            s->seats[i] = NULL;
    seat->closed = true;
    pthread_cond_broadcast(&seat->arrived);
}

static void post(view_seat *seat, view_message *message) {
    if (seat->closed || !message)
        return;
    if (seat->mail_count == MAILBOX_SIZE) {
        close_seat(seat);
        return;
    }
    seat->mail[(seat->mail_first + seat->mail_count++) % MAILBOX_SIZE] = view_message_hold(message);
    pthread_cond_broadcast(&seat->arrived);
}

static void replace(view_seat *seat, view_message **slot, view_message *message) {
    view_message_drop(*slot);
    *slot = view_message_hold(message);
    pthread_cond_broadcast(&seat->arrived);
}

/* Drops the newest frames and colours, which belong to an older stage. */
static void clear_newest(view_seat *seat) {
    for (int k = 0; k < VIEW_LAYERS; k++) {
        view_snapshot_drop(seat->newest[k]);
        view_message_drop(seat->colours[k]);
        seat->newest[k] = NULL, seat->colours[k] = NULL;
    }
}

/* ---- telling ---- */

void session_tell_all(view_session *s, view_message *message) {
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < VIEW_SEATS; i++)
        if (s->seats[i])
            post(s->seats[i], message);
    pthread_mutex_unlock(&s->lock);
    view_message_drop(message);
}

void session_tell(view_session *s, uint64_t seat, view_message *message) {
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < VIEW_SEATS; i++)
        if (s->seats[i] && s->seats[i]->serial == seat)
            post(s->seats[i], message);
    pthread_mutex_unlock(&s->lock);
    view_message_drop(message);
}

void session_tell_newest(view_session *s, view_slot slot, view_message *message) {
    pthread_mutex_lock(&s->lock);
    view_message_drop(s->kept[slot]);
    s->kept[slot] = view_message_hold(message);
    for (int i = 0; i < VIEW_SEATS; i++)
        if (s->seats[i]) {
            if (slot == SLOT_STAGE)
                clear_newest(s->seats[i]);
            replace(s->seats[i], &s->seats[i]->slots[slot], message);
        }
    pthread_mutex_unlock(&s->lock);
    view_message_drop(message);
}

void session_show(view_session *s, uint32_t layer, view_snapshot *snapshot) {
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < VIEW_SEATS; i++) {
        view_seat *seat = s->seats[i];
        if (!seat || seat->closed)
            continue;
        view_snapshot_drop(seat->newest[layer]);
        seat->newest[layer] = view_snapshot_hold(snapshot);
        pthread_cond_broadcast(&seat->arrived);
    }
    pthread_mutex_unlock(&s->lock);
    view_snapshot_drop(snapshot);
}

void session_show_colours(view_session *s, uint32_t what, uint32_t layer, view_message *message) {
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < VIEW_SEATS; i++)
        if (s->seats[i] && s->seats[i]->colour == what)
            replace(s->seats[i], &s->seats[i]->colours[layer], message);
    pthread_mutex_unlock(&s->lock);
    view_message_drop(message);
}

bool session_somebody_wants(view_session *s, uint32_t colour) {
    bool wanted = false;
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < VIEW_SEATS; i++)
        wanted |= s->seats[i] && s->seats[i]->colour == colour;
    pthread_mutex_unlock(&s->lock);
    return wanted;
}

bool session_has_seat(view_session *s, uint64_t seat) {
    bool has = false;
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < VIEW_SEATS; i++)
        has |= s->seats[i] && s->seats[i]->serial == seat;
    pthread_mutex_unlock(&s->lock);
    return has;
}

int32_t view_session_seats_taken(view_session *s) {
    int32_t count = 0;
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < VIEW_SEATS; i++)
        count += s->seats[i] != NULL;
    pthread_mutex_unlock(&s->lock);
    return count;
}

void session_complain(view_session *s, uint64_t seat, bool fatal, const char *format, ...) {
    char sentence[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    view_message *message = view_message_json(
        json_pack("{s:s, s:o, s:b}", "say", "error", "text", app_json_text(sentence), "fatal", (int)fatal));
    if (seat)
        session_tell(s, seat, message);
    else
        session_tell_all(s, message);
}

void session_note(view_session *s, const char *format, ...) {
    char sentence[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    session_tell_all(s, view_message_json(json_pack("{s:s, s:o}", "say", "note", "text", app_json_text(sentence))));
}

void session_complain_of(view_session *s, uint64_t seat, bough_status status) {
    const char *sentence = bough_message(s->ctx);
    const bool own = status == BOUGH_ERROR_MEMORY || !sentence[0]; /* the context has an older sentence, or none */
    session_complain(s, seat, false, "%s", own ? bough_status_name(status) : sentence);
}

/* ---- seats ---- */

static view_seat *new_seat(view_session *s) {
    view_seat *seat = calloc(1, sizeof *seat);
    pthread_condattr_t monotonic;
    if (!seat)
        return NULL;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&seat->arrived, &monotonic);
    pthread_condattr_destroy(&monotonic);
    seat->session = s;
    seat->credit = VIEW_BURST, seat->credited = app_seconds();
    return seat;
}

view_seat *view_session_join(view_session *s) {
    int place = 0;
    pthread_mutex_lock(&s->lock);
    while (place < VIEW_SEATS && s->seats[place])
        place++;
    view_seat *seat = place < VIEW_SEATS ? new_seat(s) : NULL;
    if (seat) {
        s->seats[place] = seat;
        seat->serial = ++s->serials;
        for (int k = 0; k < SLOTS; k++)
            seat->slots[k] = view_message_hold(s->kept[k]);
        s->joined = true;
        pthread_cond_broadcast(&s->wake);
    }
    pthread_mutex_unlock(&s->lock);
    return seat;
}

void view_seat_close(view_seat *seat) {
    pthread_mutex_lock(&seat->session->lock);
    close_seat(seat);
    pthread_mutex_unlock(&seat->session->lock);
}

bool view_seat_is_closed(view_seat *seat) {
    pthread_mutex_lock(&seat->session->lock);
    const bool closed = seat->closed;
    pthread_mutex_unlock(&seat->session->lock);
    return closed;
}

void view_session_leave(view_seat *seat) {
    view_seat_close(seat);
    for (; seat->mail_count > 0; seat->mail_count--)
        view_message_drop(seat->mail[seat->mail_first++ % MAILBOX_SIZE]);
    clear_newest(seat);
    for (int k = 0; k < SLOTS; k++)
        view_message_drop(seat->slots[k]);
    for (int k = 0; k < VIEW_LAYERS; k++)
        view_seen_forget(&seat->seen[k]);
    pthread_cond_destroy(&seat->arrived);
    free(seat);
}

/* ---- taking out ---- */

static view_message *take(view_message **slot) {
    view_message *message = *slot;
    *slot = NULL;
    return message;
}

/* First what others are understood by. */
static view_message *take_waiting(view_seat *seat) {
    for (int k = 0; k < SLOT_NUMBERS; k++)
        if (seat->slots[k])
            return take(&seat->slots[k]);
    if (seat->mail_count > 0) {
        view_message *message = seat->mail[seat->mail_first % MAILBOX_SIZE];
        seat->mail_first = (seat->mail_first + 1) % MAILBOX_SIZE, seat->mail_count--;
        return message;
    }
    for (int k = 0; k < VIEW_LAYERS; k++)
        if (seat->colours[k])
            return take(&seat->colours[k]);
    return take(&seat->slots[SLOT_NUMBERS]);
}

/* The layers take turns; each may have so many under way. */
static view_snapshot *take_snapshot(view_seat *seat, uint32_t *layer) {
    if (seat->frame - seat->drawn >= seat->session->layers * VIEW_FRAMES_UNDER_WAY)
        return NULL;
    *layer = seat->newest[0] ? 0 : 1;
    view_snapshot *snapshot = seat->newest[*layer];
    seat->newest[*layer] = NULL;
    seat->frame += snapshot != NULL;
    return snapshot;
}

static struct timespec time_in(double seconds) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    const double whole = floor(seconds);
    t.tv_sec += (time_t)whole;
    t.tv_nsec += (long)(1e9 * (seconds - whole));
    if (t.tv_nsec >= 1000000000)
        t.tv_sec++, t.tv_nsec -= 1000000000;
    return t;
}

view_message *view_seat_next(view_seat *seat, double seconds) {
    view_session *s = seat->session;
    const struct timespec until = time_in(seconds);
    view_message *message = NULL;
    view_snapshot *snapshot = NULL;
    uint32_t layer = 0;
    int waited = 0;
    pthread_mutex_lock(&s->lock);
    while (!seat->closed && !(message = take_waiting(seat)) && !(snapshot = take_snapshot(seat, &layer)) && !waited)
        waited = pthread_cond_timedwait(&seat->arrived, &s->lock, &until);
    const uint32_t frame = seat->frame;
    pthread_mutex_unlock(&s->lock);
    if (snapshot)
        message = view_frame_encode(snapshot, frame, layer, &seat->seen[layer]);
    view_snapshot_drop(snapshot);
    return message;
}

/* ---- what clients say ---- */

bool view_seat_may_send(view_seat *seat) {
    const double now = app_seconds();
    pthread_mutex_lock(&seat->session->lock);
    seat->credit = fmin(VIEW_BURST, seat->credit + VIEW_RATE * (now - seat->credited)) - 1;
    seat->credited = now;
    const bool may = seat->credit >= 0;
    pthread_mutex_unlock(&seat->session->lock);
    return may;
}

/* Only a client's last word on where a hand goes counts. */
static bool replaces(const view_order *last, const view_order *next) {
    return last->seat == next->seat && last->command.what == VIEW_DO_PULL && next->command.what == VIEW_DO_PULL &&
           last->command.hand == next->command.hand;
}

static bool enqueue(view_session *s, const view_order *order) {
    if (s->queue_count > 0 && replaces(&s->queue[s->queue_count - 1], order))
        s->queue_count--;
    if (s->queue_count == QUEUE_SIZE)
        return false;
    s->queue[s->queue_count++] = *order;
    pthread_cond_broadcast(&s->wake);
    return true;
}

static void take_ack(view_seat *seat, uint32_t frame) {
    if (frame - seat->drawn <= seat->frame - seat->drawn) /* between what was drawn and what was sent */
        seat->drawn = frame;
    pthread_cond_broadcast(&seat->arrived);
}

/* Under the lock. */
static bool take_order(view_seat *seat, const view_command *command) {
    if (command->what == VIEW_DO_ACK)
        take_ack(seat, command->number);
    else if (command->what == VIEW_DO_COLOUR)
        seat->colour = command->number;
    else
        return enqueue(seat->session, &(view_order){seat->serial, *command});
    return true;
}

int view_seat_receive(view_seat *seat, const char *text, size_t size, char reason[128]) {
    enum { NOT_ALLOWED = 1008, TOO_LARGE = 1009 }; /* RFC 6455, 7.4.1 */
    view_session *s = seat->session;
    view_command command;
    if (size > VIEW_TEXT_SIZE) {
        snprintf(reason, 128, "messages have at most %d bytes", VIEW_TEXT_SIZE);
        return TOO_LARGE;
    }
    if (!view_seat_may_send(seat)) {
        snprintf(reason, 128, "at most %d messages in a second", VIEW_RATE);
        return NOT_ALLOWED;
    }
    const view_parsed parsed = view_command_parse(text, size, &command, reason);
    if (parsed == VIEW_NO_COMMAND)
        return NOT_ALLOWED;
    if (parsed == VIEW_OUT_OF_RANGE) {
        session_complain(s, seat->serial, false, "%s", reason);
        return 0;
    }
    pthread_mutex_lock(&s->lock);
    const bool taken = take_order(seat, &command);
    pthread_mutex_unlock(&s->lock);
    if (!taken)
        session_complain(s, seat->serial, false, "the simulation is too busy for \"%s\"",
                         view_command_name(command.what));
    return 0;
}

/* The energy of trees: what each should have, by what it had and by the work that was done on it since; and what steps
 * make of it. docs/theory/tree.md, "Energy". */
#ifndef BO_TREE_LEDGER_H
#define BO_TREE_LEDGER_H

#include "tree/tree.h"

/* Account of one tree; of all of them together where ties join trees. J. */
typedef struct bo_tree_account {
    double open;   /* 1: the target is known */
    double every;  /* it is looked at in each step of this number; 0: in the one in progress */
    double target; /* what it should have, as of the last look */
    double scale;  /* the most that it had in motion and bending */
    double lately; /* the same, of the last looks */
    double work;   /* done on it since the last look */
    double span;   /* the same without signs: how much could be wrong with it */
    double excess; /* what it has beyond that, at the start of the step, if `known` is 1 */
    double known;
    double led;             /* W, of the track of its root, in the step */
    double pushing, pushed; /* work of loads without signs, in the step and in the one before */
    /* W, of the track of its root against forces of contacts: those that the accelerations at the end of the step feel, and
     * of the step before */
    double pressing, pressed;
} bo_tree_account;

/* Plain numbers in one block, which snapshots copy. */
typedef struct bo_tree_ledger {
    double work;  /* J, done on all trees since the state was made */
    double span;  /* J: the same without signs */
    double doubt; /* J: by how much the work may be off */
    double steps; /* since the state was made */
    double asked; /* 1: a step was refused for what it made; the next attempt looks at where it starts too */
    double gravity[3];
    double numbers[]; /* accounts (as many as there are parts), then the factors that energies depend on as they were */
} bo_tree_ledger;

/* Size of the ledger of a model, whatever is detached and attached. */
size_t bo_ledger_size(const bough_tree_model *model);
/* Doubles of work->energies. */
size_t bo_ledger_room(const bough_tree_model *model);

/* Forget what the trees should have: the state was changed from outside. */
void bo_ledger_close(const bough_tree_model *model, bough_tree_state *state);
/* After a change of which part hangs where: trees that were left alone, by the outside numbers of their roots, go on.
 */
void bo_ledger_shift(const bough_tree_model *before, const bough_tree_model *after, bough_tree_state *state,
                     const bool *alone);
/* Before a step from where the frames are: what the trees have, where nobody knows it. `share` of the step feels
 * gravity as it is now; the rest, as it was in the step before. */
bough_status bo_ledger_begin(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state, double share);
/* Stiffness, ties or gravity are not what they were in the last step. */
bool bo_ledger_settings_differ(const bough_tree_model *model, const bough_tree_state *state);
/* The next step looks at the energies where it starts, too. */
void bo_ledger_ask(bough_tree_state *state);
/* A tree is to be looked at in the step in progress. */
void bo_ledger_look(bough_tree_state *state, int32_t tree);
/* Within a step, after its accelerations: the power of those who lead roots, without contacts. A step that is made again
 * counts once. */
void bo_ledger_lead(const bough_tree_model *model, const bough_tree_state *state, double lead_time, double gamma);
/* After its contacts: what they add, which push the frames of roots by p (6 of each part, inside). */
void bo_ledger_press(const bough_tree_model *model, const bough_tree_state *state, double lead_time, double gamma,
                     const double *p);
/* After a step from q, with the state's frames, to next_q and next_v, which are where the frames are, and before it is
 * accepted: BOUGH_ENERGY_GAINED refuses it, strictly where smaller ones can be tried. steer: what comes and goes
 * without work is put right in next_v; steered: that was changed. */
bough_status bo_ledger_end(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state, const double *q,
                           double dt, bool steer, bool strictly, bool *steered);

#endif

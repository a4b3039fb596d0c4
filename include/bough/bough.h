/* Everything at once. */
#ifndef BOUGH_BOUGH_H
#define BOUGH_BOUGH_H

#include <bough/base.h>
#include <bough/component.h>
#include <bough/contact.h>
#include <bough/engine.h>
#include <bough/fem.h>
#include <bough/linalg.h>
#include <bough/material.h>
#include <bough/mechanism.h>
#include <bough/mesh.h>
#include <bough/multibody.h>
#include <bough/record.h>
#include <bough/reduce.h>
#include <bough/retarget.h>
#include <bough/rig.h>
#include <bough/run.h>
#include <bough/scene.h>
#include <bough/time.h>
#include <bough/tree.h>
#include <bough/twin.h>

#endif

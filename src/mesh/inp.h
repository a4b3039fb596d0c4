/* Names that the reader and the writer of .inp files share. */
#ifndef BO_MESH_INP_H
#define BO_MESH_INP_H

/* Abaqus has no word for "all elements" in a section: Bough writes this set, and reads it back as the region "". */
#define BO_INP_ALL "BOUGH_ALL"

#endif

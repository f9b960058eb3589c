/*
 * Which way a branch goes, where it is met once for every event of a file.
 *
 * The compiler lays the common way out in one line and puts what is rare out of it.  A jump that is
 * taken costs as much as several instructions: with these hints a plane of a GPU is read in a tenth
 * less time.  They are for what holds in every profile; what differs between profiles (a nested
 * lane, an asynchronous op) gets none.
 */
#ifndef BASE_BRANCH_H
#define BASE_BRANCH_H

#define mostly(x) __builtin_expect(!!(x), 1)
#define rarely(x) __builtin_expect(!!(x), 0)
/* A function that is rarely called, and so is what leads to it. */
#define COLD __attribute__((noinline, cold))

#endif

/* What the parts of the probe share. All times are nanoseconds of CLOCK_MONOTONIC. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* An operation is timed in three ways that alternate at random: without the event, without it once
 * more (their difference shows what the clock and the machine do by themselves), and with it. */
enum way { WITHOUT, WITHOUT_AGAIN, WITH, WAYS };

struct event {
	const char *name;
	/* What WITH does more than WITHOUT, for people. */
	const char *pair;
	/* How often WITH does the event in one operation. */
	double times;
	/* NULL, or why the event cannot be had here. Called once. */
	const char *(*prepare)(const struct event *self);
	/* Nanoseconds of *count* operations; below zero: it failed. */
	double (*run)(enum way way, long count);
	/* For `prepare`: which piece of code, or which control. */
	int detail;
	/* Of a check: what WITH does more than WITHOUT, "event=times event=times"; else NULL. */
	const char *bill;
};

extern const struct event inline_events[], kernel_events[], switch_events[];

extern const struct event aftermath_events[];

/* Branches behind each operation, in all ways alike: what they take more in WITH is its aftermath.
 * MIXED has the others in turn. */
enum follower { NO_FOLLOWER, INDIRECT, TAKEN, RETURNS, MIXED };
extern void (*follow)(void);

double now_ns(void);
uint32_t random_below(uint32_t bound);
int pinned_cpu(void);
/* "Operation not permitted (prctl)". */
const char *refusal(const char *call);
/* Reads at most size - 1 bytes; the text is empty where the file cannot be read. */
void read_text(const char *path, char *text, size_t size);
/* NULL, or why there is none. */
const char *emit_follower(enum follower kind, int count);
/* The first (0) or second (1) piece of code of `snippet`; 0 where it cannot be read or is empty. */
extern const struct event snippet_event;
int read_snippet(int number, const char *path);
double history_ns(enum way way);
/* As fork(2), for a child that reads from one pipe and writes to another: it has no other one, so
 * that it sees the end of the first as soon as its parent is gone. */
int fork_child(int from, int to);

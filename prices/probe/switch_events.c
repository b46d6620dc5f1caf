/* Events of a switch between two tasks on one CPU, which hand a byte to and fro through pipes. */
#define _GNU_SOURCE
#include "probe.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifndef PR_GET_SPECULATION_CTRL
#define PR_GET_SPECULATION_CTRL 52
#define PR_SET_SPECULATION_CTRL 53
#endif
#define STORE_BYPASS 0
#define INDIRECT_BRANCH 1
#define L1D_FLUSH 2
/* PR_SPEC_ENABLE and PR_SPEC_DISABLE say whether *speculation* is on; for the flush, whether it is. */
#define ON 2
#define OFF 4

struct partner {
	int to, from;
};
static struct partner thread, process, alone;
static int control;

static void echo(int from, int to)
{
	char byte;

	while (read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1)
		;
}

static void *echo_thread(void *ends)
{
	int *both = ends;

	echo(both[0], both[1]);
	return NULL;
}

static const char *connect_alone(void)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return refusal("pipe");
	alone = (struct partner){ ends[1], ends[0] };
	return NULL;
}

/* A task that hands on from one pipe to the next. */
static const char *begin_echo(int from, int to, int is_thread)
{
	static int ends[8][2];
	static int threads;
	pthread_t id;

	if (is_thread) {
		ends[threads][0] = from;
		ends[threads][1] = to;
		return pthread_create(&id, NULL, echo_thread, ends[threads++]) ? "no thread could be made" :
										 NULL;
	}
	int child = fork_child(from, to);

	if (child < 0)
		return refusal("fork");
	if (child == 0) {
		echo(from, to);
		_exit(0);
	}
	return NULL;
}

/* A ring of so many tasks beside this one. */
static const char *connect(struct partner *partner, int tasks, int is_thread)
{
	const char *why = NULL;
	int first[2], next[2];

	if (pipe2(first, O_CLOEXEC))
		return refusal("pipe");
	int from = first[0];

	for (int task = 0; task < tasks && !why; task++) {
		if (pipe2(next, O_CLOEXEC))
			return refusal("pipe");
		why = begin_echo(from, next[1], is_thread);
		from = next[0];
	}
	*partner = (struct partner){ first[1], from };
	return why;
}

/* To the partner and back, *count* times. */
static double handed(struct partner partner, long count)
{
	char byte = 0;
	double began = now_ns();

	for (long i = 0; i < count; i++) {
		if (write(partner.to, &byte, 1) != 1 || read(partner.from, &byte, 1) != 1)
			return -1;
		if (follow)
			follow();
	}
	return now_ns() - began;
}

static const char *prepare_tasks(const struct event *self)
{
	(void)self;
	const char *why = connect(&process, 1, 0);

	why = why ? why : connect(&thread, 1, 1);
	return why ? why : connect_alone();
}

/* Both switch twice a round: to a process, and to a thread. */
static double run_page_tables(enum way way, long count)
{
	return handed(way == WITH ? process : thread, count);
}

/* Two writes and two reads, with a switch in between and without. */
static double run_switch(enum way way, long count)
{
	return way == WITH ? handed(thread, count) : handed(alone, 2 * count);
}

/* A control of speculation that this process has and its partner has not. */

static int set_control(int is_on)
{
	int value = (control == L1D_FLUSH) == is_on ? ON : OFF;

	return prctl(PR_SET_SPECULATION_CTRL, control, value, 0, 0);
}

static const char *prepare_control(const struct event *self)
{
	static char text[4096];
	const char *why = connect(&process, 1, 0);

	if (why)
		return why;
	control = self->detail;
	if (set_control(1))
		return refusal("PR_SET_SPECULATION_CTRL");
	int shown = prctl(PR_GET_SPECULATION_CTRL, control, 0, 0, 0);

	if (shown < 0 || !(shown & (control == L1D_FLUSH ? ON : OFF)))
		return "the kernel does not say that the control is on";
	read_text("/sys/devices/system/cpu/vulnerabilities/spectre_v2", text, sizeof(text));
	if (control == INDIRECT_BRANCH && !strstr(text, "IBPB: conditional"))
		return strstr(text, "IBPB: always-on") ?
			       "the kernel does an IBPB at each switch already (spectre_v2)" :
			       "the kernel does no IBPB at a switch here (spectre_v2)";
	return NULL;
}

static double run_control(enum way way, long count)
{
	if (set_control(way == WITH))
		return -1;
	return handed(process, count);
}

/* Checks: rings of three. */

static const char *prepare_rings(const struct event *self)
{
	(void)self;
	const char *why = connect(&process, 2, 0);

	why = why ? why : connect(&thread, 2, 1);
	return why ? why : connect_alone();
}

static double run_thread_ring(enum way way, long count)
{
	return way == WITH ? handed(thread, count) : handed(alone, 3 * count);
}

static double run_process_ring(enum way way, long count)
{
	return handed(way == WITH ? process : thread, count);
}

static const char *prepare_barrier_ring(const struct event *self)
{
	const struct event of = { .detail = INDIRECT_BRANCH };
	const char *why = prepare_control(&of);

	return why ? why : prepare_rings(self);
}

/* Only this process has the control: the switches to it and from it have the barrier. */
static double run_barrier_ring(enum way way, long count)
{
	return set_control(way == WITH) ? -1 : handed(process, count);
}

const struct event switch_events[] = {
	{ "context-switch", "to a thread and back through pipes, against the same calls alone", 2,
	  prepare_tasks, run_switch, 0, NULL },
	{ "cr3-switch", "to a process and back through pipes, against a thread", 2, prepare_tasks,
	  run_page_tables, 0, NULL },
	{ "ibpb", "to a process and back with PR_SPEC_INDIRECT_BRANCH in one, against without", 2,
	  prepare_control, run_control, INDIRECT_BRANCH, NULL },
	{ "ssbd-switch", "to a process and back with PR_SPEC_STORE_BYPASS in one, against without", 2,
	  prepare_control, run_control, STORE_BYPASS, NULL },
	{ "l1d-flush", "to a process and back with PR_SPEC_L1D_FLUSH in one, against without", 2,
	  prepare_control, run_control, L1D_FLUSH, NULL },
	{ "check-thread-ring", "a byte through a ring of three threads, against the same calls alone", 1,
	  prepare_rings, run_thread_ring, 0, "context-switch=3" },
	{ "check-process-ring", "a byte through a ring of three processes, against three threads", 1,
	  prepare_rings, run_process_ring, 0, "cr3-switch=3" },
	{ "check-ibpb-ring", "a ring of three processes, one of them with PR_SPEC_INDIRECT_BRANCH", 1,
	  prepare_barrier_ring, run_barrier_ring, 0, "ibpb=2" },
	{ 0 },
};

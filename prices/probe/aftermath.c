/* What an event costs those who run behind it: branches that it made the processor forget. */
#define _GNU_SOURCE
#include "probe.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

void (*follow)(void);

#if defined(__x86_64__)

/* More branches than any predictor holds, of about 12 bytes each. */
#define FORGOTTEN (1 << 16)
#define MOST_FOLLOWERS (1 << 16)
/* Bytes of a branch of any kind with what lies around it. */
#define ROOM 32
#define MOST_PASSES 4

static void (*forget)(void), (*pass)(void);

static uint8_t *code_memory(size_t size)
{
	uint8_t *at = mmap(NULL, size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

static uint8_t *put(uint8_t *at, const void *code, size_t length)
{
	memcpy(at, code, length);
	at += length;
	/* Branches lie at distances that differ, as those of programs do. */
	for (uint32_t gap = random_below(8); gap; gap--)
		*at++ = 0x90;
	return at;
}

/* lea 2(%rip), %rax; jmp *%rax */
static uint8_t *put_indirect(uint8_t *at)
{
	static const uint8_t code[] = { 0x48, 0x8d, 0x05, 2, 0, 0, 0, 0xff, 0xe0 };

	return put(at, code, sizeof(code));
}

/* cmp %eax, %eax; je over one NOP: taken each time. */
static uint8_t *put_taken(uint8_t *at)
{
	static const uint8_t code[] = { 0x39, 0xc0, 0x74, 1, 0x90 };

	return put(at, code, sizeof(code));
}

/* A call of a return that lies beyond all branches. */
static uint8_t *put_call(uint8_t *at, uint8_t **returns)
{
	uint8_t code[5] = { 0xe8 };
	int32_t away = (int32_t)(*returns - (at + 5));

	memcpy(code + 1, &away, sizeof(away));
	**returns = 0xc3;
	*returns += 1 + random_below(16);
	return put(at, code, sizeof(code));
}

/* A function of so many branches, each seen by the predictor as its own; NULL: no memory. */
static void (*branches(enum follower kind, int count))(void)
{
	uint8_t *begin = code_memory((size_t)count * ROOM + ROOM), *at = begin;
	uint8_t *returns = begin + (size_t)count * (ROOM / 2) + ROOM;

	for (int i = 0; at && i < count; i++) {
		enum follower one = kind == MIXED ? (enum follower)(INDIRECT + i % 3) : kind;

		at = one == INDIRECT ? put_indirect(at) :
		     one == TAKEN    ? put_taken(at) :
				       put_call(at, &returns);
	}
	if (at)
		*at = 0xc3;
	return (void (*)(void))(void *)begin;
}

/* As many bytes that hold no branch: they fill the caches alike. */
static void (*no_branches(int count))(void)
{
	static const uint8_t nop[] = { 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0, 0x90 };
	uint8_t *begin = code_memory((size_t)count * ROOM), *at = begin;

	for (int i = 0; at && i < count; i++)
		at = put(at, nop, sizeof(nop));
	if (at)
		*at = 0xc3;
	return (void (*)(void))(void *)begin;
}

const char *emit_follower(enum follower kind, int count)
{
	if (kind == NO_FOLLOWER || count < 1 || count > MOST_FOLLOWERS)
		return "what follows an event: indirect, taken, returns or mixed, and how many";
	follow = branches(kind, count);
	return follow ? NULL : "no memory for code may be made executable";
}

static const char *prepare_forgetting(const struct event *self)
{
	(void)self;
	forget = branches(INDIRECT, FORGOTTEN);
	pass = no_branches(FORGOTTEN);
	return forget && pass ? NULL : "no memory for code may be made executable";
}

/* Only what follows is timed; a sample is short, since what is not timed is long. */
static double run_forgetting(enum way way, long count)
{
	long passes = count < MOST_PASSES ? count : MOST_PASSES;
	double took = 0;

	for (long i = 0; i < passes; i++) {
		way == WITH ? forget() : pass();
		double began = now_ns();

		if (follow)
			follow();
		took += now_ns() - began;
	}
	return took * (double)count / (double)passes;
}

const struct event aftermath_events[] = {
	{ "branch-eviction", "what follows 65,536 indirect branches, against as many bytes of NOPs", 1,
	  prepare_forgetting, run_forgetting, 0, NULL },
	{ 0 },
};

#else

const struct event aftermath_events[] = { { 0 } };

const char *emit_follower(enum follower kind, int count)
{
	(void)kind;
	(void)count;
	return "branches are written for x86 alone";
}

#endif

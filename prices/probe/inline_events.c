/* Events that are a few instructions, each beside a real system call: what waits in a loop of its
 * own for nothing costs less there than on the way out of a kernel. The code is written into memory
 * at a place of its own in each process, since where it lies moves what it costs. */
#define _GNU_SOURCE
#include "probe.h"

#include <signal.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__x86_64__)

#define ROOM (4 << 20)
#define LINE 64
/* Places of each way's code in one process, and copies of it in one pass of the loop: where the
 * system call lies moves what it costs by more than an LFENCE takes. */
#define LAYOUTS 16
#define COPIES 8

/* Bytes between two labels; the code may lie anywhere. */
#define PIECE(name, code)                                                                       \
	__asm__(".pushsection .rodata\n" #name "_begin:\n" code "\n" #name "_end:\n.popsection\n"); \
	extern const uint8_t name##_begin[], name##_end[]

/* What is short beside how a process's layout scatters stands eight times in an operation. */
#define EIGHT(code) code code code code code code code code

PIECE(nothing, "");
PIECE(get_parent, "mov $110, %eax\n syscall");
PIECE(wake_nobody, "mov $202, %eax\n mov %r13, %rdi\n mov $129, %esi\n mov $1, %edx\n syscall");
PIECE(get_time, "mov $228, %eax\n mov $1, %edi\n lea 16(%r13), %rsi\n syscall");
PIECE(lfence, "lfence");
PIECE(verw, "verw (%r13)");
PIECE(verw_8, EIGHT("verw (%r13)\n"));
PIECE(rdtsc, EIGHT("rdtsc\n"));
PIECE(cpuid, "xor %eax, %eax\n cpuid");
PIECE(call_pointer, EIGHT("call *%r14\n"));
/* Turner, "Retpoline", Google 2018: a return that is mispredicted on purpose goes to %r14. */
PIECE(retpoline, EIGHT("call 1f\n jmp 4f\n 1: call 3f\n 2: pause\n lfence\n jmp 2b\n"
		       "3: mov %r14, (%rsp)\n ret\n 4:"));
PIECE(plain_return, EIGHT("call 1f\n jmp 2f\n 1: ret\n 2:"));
/* Documentation/admin-guide/hw-vuln/srso.rst: a return behind a call of its own. */
PIECE(safe_return, EIGHT("call 1f\n jmp 3f\n 1: call 2f\n int3\n"
			 "2: lea 8(%rsp), %rsp\n ret\n 3:"));
/* Intel, "Retpoline: A Branch Target Injection Mitigation", 2018: 32 calls, none of which returns. */
PIECE(rsb_fill, "mov $16, %ecx\n 1: call 2f\n int3\n 2: call 3f\n int3\n"
		"3: add $16, %rsp\n dec %ecx\n jnz 1b\n lfence");
/* Intel, "Branch History Injection", software sequence: an outer loop of calls, an inner one of
 * jumps. 5 x 5 passes as published, 12 x 7 for processors with BHI_CTRL. */
#define CLEAR_HISTORY(outer, inner)                                                              \
	"mov $" outer ", %ecx\n call 1f\n jmp 5f\n .balign 64, 0xcc\n"                            \
	"1: call 2f\n ret\n .balign 64, 0xcc\n"                                                   \
	"2: mov $" inner ", %eax\n 3: jmp 4f\n nop\n 4: sub $1, %eax\n jnz 3b\n"                  \
	"sub $1, %ecx\n jnz 1b\n ret\n 5: lfence"
PIECE(bhb_short, CLEAR_HISTORY("5", "5"));
PIECE(bhb_long, CLEAR_HISTORY("12", "7"));
PIECE(free_adds, EIGHT("add $1, %rax\n add $1, %rcx\n add $1, %rdx\n add $1, %rsi\n"
		       "add $1, %rdi\n add $1, %r8\n add $1, %r9\n add $1, %r10\n"));
PIECE(chained_adds, EIGHT(EIGHT("add $1, %rax\n")));

PIECE(entry, "push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n"
	     "sub $8, %rsp\n mov %rdi, %r12\n mov %rsi, %r13\n mov %rdx, %r14\n mov %rcx, %r15");
PIECE(call_follower, "call *%r15");
PIECE(count_down, "dec %r12");
PIECE(leave, "add $8, %rsp\n pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret");
PIECE(only_return, "ret");

struct piece {
	const uint8_t *begin, *end;
};
#define OF(name) { name##_begin, name##_end }

/* Of each event: the code without it, with it, and what stands behind both. */
static const struct body {
	struct piece without, with, behind;
} bodies[] = {
	{ OF(nothing), OF(get_parent), OF(nothing) },
	{ OF(nothing), OF(lfence), OF(get_parent) },
	{ OF(nothing), OF(verw_8), OF(get_parent) },
	{ OF(nothing), OF(rdtsc), OF(get_parent) },
	{ OF(nothing), OF(cpuid), OF(get_parent) },
	{ OF(call_pointer), OF(retpoline), OF(get_parent) },
	{ OF(plain_return), OF(safe_return), OF(get_parent) },
	{ OF(nothing), OF(rsb_fill), OF(get_parent) },
	{ OF(nothing), OF(bhb_short), OF(get_parent) },
	{ OF(nothing), OF(bhb_long), OF(get_parent) },
	{ OF(nothing), OF(free_adds), OF(get_parent) },
	{ OF(nothing), OF(chained_adds), OF(get_parent) },
	/* Checks: the same before other calls. */
	{ OF(nothing), OF(bhb_long), OF(wake_nobody) },
	{ OF(nothing), OF(bhb_short), OF(get_time) },
	{ OF(nothing), OF(verw), OF(wake_nobody) },
	{ OF(nothing), OF(rsb_fill), OF(get_time) },
	{ OF(nothing), OF(get_parent), OF(get_time) },
};

/* What the code may read and write: VERW takes the selector. */
static struct {
	uint16_t selector __attribute__((aligned(16)));
	uint64_t time[4] __attribute__((aligned(16)));
} data;

typedef void (*loop)(long count, void *data, void *target, void *follower);

static loop loops[WAYS][LAYOUTS];
static uint8_t *memory, *place;
static void *target;
static sigjmp_buf before;
static const struct piece nothing = OF(nothing);

static int get_memory(void)
{
	if (memory)
		return 1;
	memory = mmap(NULL, ROOM, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		memory = NULL;
	place = memory;
	return memory != NULL;
}

/* The next free place, *beyond* bytes behind a line of the cache; the line itself is drawn. */
static uint8_t *free_place(uint32_t beyond)
{
	place += LINE * (1 + random_below(8));
	place += LINE - (uintptr_t)place % LINE;
	return place + beyond;
}

static void put(uint8_t **at, struct piece piece)
{
	size_t length = (size_t)(piece.end - piece.begin);

	memcpy(*at, piece.begin, length);
	*at += length;
}

/* A loop of so many pieces, with *before* ahead of it. */
static loop emit(struct piece before, const struct piece *pieces, int count)
{
	static const struct piece entry = OF(entry), count_down = OF(count_down), leave = OF(leave);
	uint8_t *begin = free_place(random_below(LINE)), *at = begin;

	put(&at, entry);
	put(&at, before);
	uint8_t *again = at;

	for (int i = 0; i < count; i++)
		put(&at, pieces[i]);
	put(&at, count_down);
	/* jnz again, with a distance of 32 bits. */
	int32_t back = (int32_t)(again - (at + 6));

	*at++ = 0x0f;
	*at++ = 0x85;
	memcpy(at, &back, sizeof(back));
	at += sizeof(back);
	put(&at, leave);
	place = at;
	return (loop)(void *)begin;
}

static void undefined(int signal)
{
	(void)signal;
	siglongjmp(before, 1);
}

/* On a stack of its own: code that faults may have spoilt the other one. */
static void come_back_from(int number)
{
	static char stack[1 << 16];
	const stack_t own = { .ss_sp = stack, .ss_size = sizeof(stack) };
	const struct sigaction action = { .sa_handler = undefined, .sa_flags = SA_ONSTACK };

	sigaltstack(&own, NULL);
	sigaction(number, &action, NULL);
}

static double run(enum way way, long count)
{
	loop chosen = loops[way][random_below(LAYOUTS)];
	long passes = count / COPIES + 1;
	double began = now_ns();

	chosen(passes, &data, target, (void *)follow);
	return (now_ns() - began) * (double)count / (double)(passes * COPIES);
}

/* A loop whose pass has so many copies of both pieces. */
static loop emit_copies(struct piece first, struct piece second)
{
	static const struct piece follower = OF(call_follower);
	struct piece pieces[3 * COPIES];

	for (int i = 0; i < COPIES; i++) {
		pieces[3 * i] = first;
		pieces[3 * i + 1] = second;
		pieces[3 * i + 2] = follow ? follower : nothing;
	}
	return emit(nothing, pieces, 3 * COPIES);
}

static const char *prepare(const struct event *self)
{
	static const struct piece only_return = OF(only_return);
	const struct body *body = &bodies[self->detail];

	if (!get_memory())
		return "no memory for code may be made executable";
	target = free_place(0);
	place = target;
	put(&place, only_return);
	for (int way = 0; way < WAYS; way++)
		for (int layout = 0; layout < LAYOUTS; layout++)
			loops[way][layout] =
				emit_copies(way == WITH ? body->with : body->without, body->behind);
	/* VERW with the null selector, which %ds is, takes a longer way. */
	__asm__("mov %%ss, %0" : "=r"(data.selector));
	come_back_from(SIGILL);
	if (sigsetjmp(before, 1))
		return "this processor has no such instruction";
	run(WITH, 1);
	return NULL;
}

#define EVENT(name, detail, times, pair) { name, pair, times, prepare, run, detail, NULL }
#define CHECK(name, detail, bill, pair) { name, pair, 1, prepare, run, detail, bill }

const struct event inline_events[] = {
	EVENT("system-call", 0, 1, "getppid in a loop, against the loop"),
	EVENT("lfence", 1, 1, "LFENCE before getppid"),
	EVENT("verw", 2, 8, "VERW of the stack's selector eight times before getppid"),
	EVENT("rdtsc", 3, 8, "RDTSC eight times before getppid"),
	EVENT("cpuid", 4, 1, "CPUID before getppid; a virtual machine exits for it"),
	EVENT("retpoline", 5, 8, "eight indirect calls by retpolines, against predicted ones"),
	EVENT("return-thunk", 6, 8, "eight returns by a safe return, against plain ones"),
	EVENT("rsb-fill", 7, 1, "32 calls and an LFENCE before getppid"),
	EVENT("bhb-short", 8, 1, "5 x 5 passes of the clearing loop before getppid"),
	EVENT("bhb-long", 9, 1, "12 x 7 passes of the clearing loop before getppid"),
	EVENT("add-free", 10, 64, "64 additions that wait for none, before getppid"),
	EVENT("add-chained", 11, 64, "64 additions, each of which waits for the last, before getppid"),
	CHECK("check-clear-wake", 12, "bhb-long=1", "12 x 7 passes before a wake-up that nobody waits for"),
	CHECK("check-clear-time", 13, "bhb-short=1", "5 x 5 passes before clock_gettime in the kernel"),
	CHECK("check-verw-wake", 14, "verw=1", "VERW before a wake-up that nobody waits for"),
	CHECK("check-fill-time", 15, "rsb-fill=1", "32 calls and an LFENCE before clock_gettime in the kernel"),
	CHECK("check-two-calls", 16, "system-call=1", "getppid before clock_gettime in the kernel"),
	{ 0 },
};

/* Two pieces of code from files. WITHOUT has none of them, WITHOUT_AGAIN the first and WITH the
 * second; each process has one layout of each. They keep the registers that a C function keeps. */

#define DRAWN 0x4000
#define HISTORY_COUNT 4000
#define HISTORY_TIMES 60
PIECE(begin_draw, "xor %ebp, %ebp");
PIECE(draw, "movzbl (%r13,%rbp), %ebx\n inc %ebp\n and $0x3fff, %ebp");
/* The history tells the bit eight times. */
PIECE(tell, EIGHT("test $1, %bl\n jz 1f\n nop\n 1:\n"));
PIECE(ask, "test $1, %bl\n jz 1f\n nop\n 1:");

static uint8_t snippets[2][1 << 16];
static struct piece snippet[WAYS] = { OF(nothing) };

int read_snippet(int number, const char *path)
{
	FILE *file = fopen(path, "rb");
	size_t length = file ? fread(snippets[number], 1, sizeof(snippets[number]), file) : 0;

	if (file)
		fclose(file);
	snippet[number + 1] = (struct piece){ snippets[number], snippets[number] + length };
	return length > 0 && length < sizeof(snippets[number]);
}

static const char *prepare_snippets(const struct event *self)
{
	static const struct piece get_parent = OF(get_parent);

	(void)self;
	if (!get_memory())
		return "no memory for code may be made executable";
	for (int way = 0; way < WAYS; way++) {
		loop made = emit_copies(snippet[way], get_parent);

		for (int layout = 0; layout < LAYOUTS; layout++)
			loops[way][layout] = made;
	}
	__asm__("mov %%ss, %0" : "=r"(data.selector));
	come_back_from(SIGILL);
	come_back_from(SIGSEGV);
	come_back_from(SIGTRAP);
	come_back_from(SIGBUS);
	if (sigsetjmp(before, 1))
		return "a snippet faults: it must keep what a C function keeps, and touch no memory";
	run(WITHOUT_AGAIN, 1);
	run(WITH, 1);
	return NULL;
}

const struct event snippet_event = {
	"snippet", "two pieces of code before getppid", 1, prepare_snippets, run, 0, NULL,
};

static double least_of(loop made, void *bits)
{
	double least = 1e18;

	for (int i = 0; i < HISTORY_TIMES; i++) {
		double began = now_ns();

		made(HISTORY_COUNT, bits, NULL, NULL);
		double took = (now_ns() - began) / HISTORY_COUNT;

		least = took < least ? took : least;
	}
	return least;
}

/* What it costs that a bit is drawn by chance instead of being the same, when branches told it
 * before the code and one asks for it behind. Where the code clears the history, the one that asks
 * is mispredicted too. */
double history_ns(enum way way)
{
	static uint8_t chance[DRAWN], same[DRAWN];
	/* A misprediction costs less where it is seen before what is ahead of it has ended. */
	const struct piece pieces[] = { OF(draw), OF(tell), snippet[way], OF(lfence), OF(ask) };
	static const struct piece begin_draw = OF(begin_draw);
	loop made = emit(begin_draw, pieces, 5);

	for (int i = 0; i < DRAWN; i++)
		chance[i] = (uint8_t)random_below(2);
	return least_of(made, chance) - least_of(made, same);
}

#else

const struct event inline_events[] = { { 0 } };
const struct event snippet_event;

int read_snippet(int number, const char *path)
{
	(void)number;
	(void)path;
	return 0;
}

double history_ns(enum way way)
{
	(void)way;
	return 0;
}

#endif

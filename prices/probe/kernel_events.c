/* Events that the kernel does for a process. */
#define _GNU_SOURCE
#include "probe.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGES 32
#define PAGE 4096

static void done(void)
{
	if (follow)
		follow();
}

/* A page that is touched for the first time, against one that is there. */

static volatile char *pages;

static const char *prepare_pages(const struct event *self)
{
	(void)self;
	pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		return refusal("mmap");
	madvise((void *)pages, PAGES * PAGE, MADV_NOHUGEPAGE);
	return NULL;
}

static double run_pages(enum way way, long count)
{
	double took = 0;

	for (long i = 0; i < count; i++) {
		if (way == WITH)
			madvise((void *)pages, PAGES * PAGE, MADV_DONTNEED);
		double began = now_ns();

		for (int page = 0; page < PAGES; page++) {
			pages[page * PAGE] = 1;
			done();
		}
		took += now_ns() - began;
	}
	return took;
}

/* Memory that is mapped, and touched or not. */

static double run_fresh(enum way way, long count)
{
	double took = 0;

	for (long i = 0; i < count; i++) {
		double began = now_ns();
		volatile char *fresh = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (fresh == MAP_FAILED)
			return -1;
		for (int page = 0; way == WITH && page < 8; page++)
			fresh[page * PAGE] = 1;
		took += now_ns() - began;
		munmap((void *)fresh, 8 * PAGE);
	}
	return took;
}

/* A signal that a handler gets, against one that is ignored. */

static void handler(int signal)
{
	(void)signal;
}

static const char *prepare_signal(const struct event *self)
{
	(void)self;
	signal(SIGUSR1, handler);
	signal(SIGUSR2, SIG_IGN);
	return NULL;
}

static double run_signal(enum way way, long count)
{
	int number = way == WITH ? SIGUSR1 : SIGUSR2;
	long process = syscall(SYS_getpid), thread = syscall(SYS_gettid);
	double began = now_ns();

	for (long i = 0; i < count; i++) {
		syscall(SYS_tgkill, process, thread, number);
		done();
	}
	return now_ns() - began;
}

/* A wake-up of a futex that nobody waits for, against getppid. */

static const char *prepare_nothing(const struct event *self)
{
	(void)self;
	return NULL;
}

static double run_futex(enum way way, long count)
{
	static uint32_t word;
	double began = now_ns();

	for (long i = 0; i < count; i++) {
		if (way == WITH)
			syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
		else
			syscall(SYS_getppid);
		done();
	}
	return now_ns() - began;
}

/* getppid under a filter of seccomp. A filter stays for ever, so each way has a process. */

struct child {
	int ask, answer;
};
static struct child children[WAYS];

static double timed_calls(long count)
{
	double began = now_ns();

	for (long i = 0; i < count; i++) {
		/* With an argument that the filter looks at: else the kernel remembers its answer. */
		syscall(SYS_getppid, i & 1);
		done();
	}
	return now_ns() - began;
}

/* So many comparisons of an argument, none of which holds, and then the call is allowed. */
static int filter(int comparisons)
{
	static struct sock_filter code[512];
	int length = 0;

	code[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						      offsetof(struct seccomp_data, args));
	while (length <= comparisons)
		code[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 1000 + length, 0, 0);
	code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { .len = (unsigned short)length, .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return 0;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

static void serve(int ask, int answer, int comparisons)
{
	long count;
	double ready = comparisons < 0 || filter(comparisons) ? 1 : -1, took;

	if (write(answer, &ready, sizeof(ready)) != sizeof(ready) || ready < 0)
		_exit(1);
	while (read(ask, &count, sizeof(count)) == sizeof(count)) {
		took = timed_calls(count);
		if (write(answer, &took, sizeof(took)) != sizeof(took))
			break;
	}
	_exit(0);
}

/* Comparisons of the filter, below zero without one: WITHOUT and WITH. */
enum filters { FILTER, COMPARISONS, FILTER_OF_100, TWENTY_MORE };
static const int comparisons_of[][2] = {
	[FILTER] = { -1, 0 }, [COMPARISONS] = { 16, 216 }, [FILTER_OF_100] = { -1, 100 },
	[TWENTY_MORE] = { 200, 220 },
};

static const char *prepare_filters(const struct event *self)
{

	for (int way = 0; way < WAYS; way++) {
		int ask[2], answer[2];
		double ready = -1;

		if (pipe2(ask, O_CLOEXEC) || pipe2(answer, O_CLOEXEC))
			return refusal("pipe");
		int child = fork_child(ask[0], answer[1]);

		if (child < 0)
			return refusal("fork");
		if (child == 0)
			serve(ask[0], answer[1], comparisons_of[self->detail][way == WITH]);
		children[way] = (struct child){ ask[1], answer[0] };
		if (read(answer[0], &ready, sizeof(ready)) != sizeof(ready) || ready < 0)
			return "a filter of seccomp is not allowed here (prctl)";
	}
	return NULL;
}

static double run_filters(enum way way, long count)
{
	double took;

	if (write(children[way].ask, &count, sizeof(count)) != sizeof(count) ||
	    read(children[way].answer, &took, sizeof(took)) != sizeof(took))
		return -1;
	return took;
}

/* Writes of model-specific registers by the kernel's device, which only root has. */

#define SPEC_CTRL 0x48
#define PRED_CMD 0x49

static int device;
static uint64_t control;
static int is_barrier;

static const char *prepare_register(const struct event *self)
{
	char path[64];

	is_barrier = self->detail;
	snprintf(path, sizeof(path), "/dev/cpu/%d/msr", pinned_cpu());
	device = open(path, O_RDWR | O_CLOEXEC);
	if (device < 0)
		return refusal(path);
	if (pread(device, &control, sizeof(control), SPEC_CTRL) != sizeof(control))
		return refusal("read of SPEC_CTRL");
	return NULL;
}

static double run_register(enum way way, long count)
{
	uint64_t value = 1, was;
	double began = now_ns();

	for (long i = 0; i < count; i++) {
		ssize_t length;

		if (is_barrier && way == WITH)
			length = pwrite(device, &value, sizeof(value), PRED_CMD);
		else if (is_barrier || way == WITH)
			length = pwrite(device, &control, sizeof(control), SPEC_CTRL);
		else
			length = pread(device, &was, sizeof(was), SPEC_CTRL);
		if (length != sizeof(value))
			return -1;
		done();
	}
	return now_ns() - began;
}

const struct event kernel_events[] = {
	{ "page-fault", "32 pages touched first, against pages that are there", PAGES, prepare_pages,
	  run_pages, 0, NULL },
	{ "signal", "a signal to a handler, against one that is ignored", 1, prepare_signal, run_signal,
	  0, NULL },
	{ "futex-wake", "a wake-up that nobody waits for, against getppid", 1, prepare_nothing,
	  run_futex, 0, NULL },
	{ "seccomp-filter", "getppid under a filter of two instructions", 1, prepare_filters, run_filters,
	  FILTER, NULL },
	{ "seccomp-compare", "200 comparisons more in a filter", 200, prepare_filters, run_filters,
	  COMPARISONS, NULL },
	{ "msr-write", "a write of SPEC_CTRL with what it holds, against a read", 1, prepare_register,
	  run_register, 0, NULL },
	{ "ibpb-msr", "a write of PRED_CMD, against one of SPEC_CTRL", 1, prepare_register, run_register,
	  1, NULL },
	{ "check-filter-100", "getppid under a filter of 100 comparisons", 1, prepare_filters, run_filters,
	  FILTER_OF_100, "seccomp-filter=1 seccomp-compare=100" },
	{ "check-filter-20", "a filter of 220 comparisons against one of 200", 1, prepare_filters,
	  run_filters, TWENTY_MORE, "seccomp-compare=20" },
	{ "check-fresh-memory", "8 pages touched in memory that was mapped just now", 1,
	  prepare_nothing, run_fresh, 0, "page-fault=8" },
	{ 0 },
};

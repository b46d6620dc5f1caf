/* Loads that make system calls, with and without a protection that needs no reboot.
 *
 *   load LOAD KNOB CPU        reads lines "OPERATIONS", answers "processor-ns elapsed-ns"
 *   load run KNOB PROGRAM …   becomes that program, under a filter where KNOB is one
 *
 * LOAD: pipe (a byte to another process and back), files (open, fstat, read, close), messages (a
 * datagram to itself). KNOB: off, filter (a seccomp filter that looks at an argument), ibpb
 * (PR_SPEC_INDIRECT_BRANCH), verw and bhb (the load itself runs what the kernel would run, at each
 * of its system calls). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef PR_SET_SPECULATION_CTRL
#define PR_SET_SPECULATION_CTRL 53
#endif
#define INDIRECT_BRANCH 1
#define DISABLE 4

static enum { OFF, FILTER, IBPB, VERW, BHB } knob;
static int to, from;
static clockid_t partner_clock;
static uint16_t selector;

static void clear_history(void)
{
	/* Intel, "Branch History Injection": 5 x 5 passes, as prices/probe has them. */
	__asm__ volatile("sub $128, %%rsp\n mov $5, %%ecx\n call 1f\n jmp 5f\n .balign 64, 0xcc\n"
			 "1: call 2f\n ret\n .balign 64, 0xcc\n"
			 "2: mov $5, %%eax\n 3: jmp 4f\n nop\n 4: sub $1, %%eax\n jnz 3b\n"
			 "sub $1, %%ecx\n jnz 1b\n ret\n 5: lfence\n add $128, %%rsp"
			 : : : "eax", "ecx", "cc", "memory");
}

static long called(long number, long one, long two, long three, long four)
{
	if (knob == VERW)
		__asm__ volatile("verw %0" : : "m"(selector) : "cc");
	else if (knob == BHB)
		clear_history();
	return syscall(number, one, two, three, four);
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void set_filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = 2, .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0))
		fail("seccomp");
}

static void set_knob(const char *name)
{
	static const char *const names[] = { "off", "filter", "ibpb", "verw", "bhb" };

	for (int i = 0; i < 5; i++)
		if (strcmp(name, names[i]) == 0)
			knob = i;
	if (knob == FILTER)
		set_filter();
	if (knob == IBPB && prctl(PR_SET_SPECULATION_CTRL, INDIRECT_BRANCH, DISABLE, 0, 0))
		fail("PR_SET_SPECULATION_CTRL");
}

static double clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double processor_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID) + (partner_clock ? clock_ns(partner_clock) : 0);
}

static void prepare_pipe(void)
{
	int there[2], back[2];
	char byte;

	if (pipe2(there, O_CLOEXEC) || pipe2(back, O_CLOEXEC))
		fail("pipe");
	pid_t child = fork();

	if (child < 0)
		fail("fork");
	if (child == 0) {
		close(there[1]);
		while (called(SYS_read, there[0], (long)&byte, 1, 0) == 1)
			called(SYS_write, back[1], (long)&byte, 1, 0);
		_exit(0);
	}
	close(there[0]);
	to = there[1];
	from = back[0];
	if (clock_getcpuclockid(child, &partner_clock))
		fail("clock_getcpuclockid");
}

static void prepare_messages(void)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends))
		fail("socketpair");
	to = ends[0];
	from = ends[1];
}

static void hand_on(void)
{
	char byte = 0;

	called(SYS_write, to, (long)&byte, 1, 0);
	called(SYS_read, from, (long)&byte, 1, 0);
}

static void read_file(void)
{
	static char text[512];
	static struct stat status;
	long file = called(SYS_openat, AT_FDCWD, (long)"/proc/self/exe", O_RDONLY, 0);

	called(SYS_fstat, file, (long)&status, 0, 0);
	called(SYS_read, file, (long)text, sizeof(text), 0);
	called(SYS_close, file, 0, 0, 0);
}

int main(int argc, char **argv)
{
	long operations;
	cpu_set_t set;

	if (argc >= 4 && strcmp(argv[1], "run") == 0) {
		set_knob(argv[2]);
		execvp(argv[3], argv + 3);
		fail(argv[3]);
	}
	if (argc != 4)
		return 2;
	/* VERW with the null selector takes a longer way. */
	__asm__("mov %%ss, %0" : "=r"(selector));
	CPU_ZERO(&set);
	CPU_SET((size_t)atoi(argv[3]), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("sched_setaffinity");
	/* Barriers happen at switches between two tasks of which one asked for them. */
	int is_pipe = strcmp(argv[1], "pipe") == 0, is_late = strcmp(argv[2], "ibpb") == 0;

	if (!is_late)
		set_knob(argv[2]);
	if (is_pipe)
		prepare_pipe();
	if (strcmp(argv[1], "messages") == 0)
		prepare_messages();
	if (is_late)
		set_knob(argv[2]);
	void (*operation)(void) = strcmp(argv[1], "files") == 0 ? read_file : hand_on;

	while (scanf("%ld", &operations) == 1) {
		double processor = processor_ns(), began = clock_ns(CLOCK_MONOTONIC);

		for (long i = 0; i < operations; i++)
			operation();
		printf("%.0f %.0f\n", processor_ns() - processor, clock_ns(CLOCK_MONOTONIC) - began);
		fflush(stdout);
	}
	return 0;
}

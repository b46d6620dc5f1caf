/* Times one event of the processor or the kernel in this process, and prints a line of JSON.
 *
 *   probe list                        the events, a line each
 *   probe EVENT SECONDS SEED CPU      one event; with `indirect|taken|returns|mixed N` behind it
 *   probe snippet A B SECONDS SEED CPU   two files of code: without, the first, the second
 *
 * A process has one layout of code, stack and memory, so whoever wants to know a price runs many. */
#define _GNU_SOURCE
#include "probe.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST_SAMPLES 40000
#define SAMPLE_NS 60e3
#define MOST_OPERATIONS (1L << 22)
/* Of the sorted samples: what other load adds lies above it. */
#define LOW_QUANTILE 0.05
#define FIXED_CYCLES 200000
/* This program has far fewer open at once. */
#define MOST_FILES 256

static double samples[WAYS][MOST_SAMPLES];
static int cpu;
static uint64_t random_state;

double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* SplitMix64, Steele, Lea and Flood, OOPSLA 2014. */
uint32_t random_below(uint32_t bound)
{
	uint64_t z = (random_state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (uint32_t)((z ^ (z >> 31)) % bound);
}

int pinned_cpu(void)
{
	return cpu;
}

const char *refusal(const char *call)
{
	static char text[160];

	snprintf(text, sizeof(text), "%s (%s)", strerror(errno), call);
	return text;
}

int fork_child(int from, int to)
{
	pid_t child = fork();

	for (int file = 3; child == 0 && file < MOST_FILES; file++)
		if (file != from && file != to)
			close(file);
	return child;
}

void read_text(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "r");
	size_t length = file ? fread(text, 1, size - 1, file) : 0;

	text[length] = 0;
	if (file)
		fclose(file);
}

/* Those of the last list have only an aftermath, no price of their own. */
static const struct event *const lists[] = { inline_events, kernel_events, switch_events, aftermath_events };
#define LISTS (sizeof(lists) / sizeof(*lists))

static const struct event *event_named(const char *name)
{
	for (size_t i = 0; i < LISTS; i++)
		for (const struct event *each = lists[i]; each->name; each++)
			if (strcmp(each->name, name) == 0)
				return each;
	return NULL;
}

static int list_events(void)
{
	for (size_t i = 0; i < LISTS - 1; i++)
		for (const struct event *each = lists[i]; each->name; each++)
			printf("{\"event\": \"%s\", \"times\": %g, \"pair\": \"%s\", \"bill\": \"%s\"}\n",
			       each->name, each->times, each->pair, each->bill ? each->bill : "");
	return 0;
}

/* Nanoseconds of one cycle, as additions tell it that wait for one another: the least of five. */
static double cycle_ns(void)
{
	double least = 1e18;

#if defined(__x86_64__)
	for (int i = 0; i < 5; i++) {
		long count = FIXED_CYCLES / 4;
		double began = now_ns();

		__asm__ volatile("1: add $1, %%rax\n add $1, %%rax\n add $1, %%rax\n add $1, %%rax\n"
				 "sub $1, %0\n jnz 1b" : "+r"(count) : : "rax", "cc");
		double took = (now_ns() - began) / FIXED_CYCLES;

		least = took < least ? took : least;
	}
#endif
	return least;
}

/* Clock ticks that the hypervisor took of this CPU. */
static long stolen(void)
{
	static char text[1 << 16];
	char name[16];
	long ticks[8] = { 0 };

	read_text("/proc/stat", text, sizeof(text));
	snprintf(name, sizeof(name), "\ncpu%d ", cpu);
	char *line = strstr(text, name);

	if (line)
		sscanf(line + strlen(name), "%ld %ld %ld %ld %ld %ld %ld %ld", ticks, ticks + 1, ticks + 2,
		       ticks + 3, ticks + 4, ticks + 5, ticks + 6, ticks + 7);
	return ticks[7];
}

static int ascending(const void *one, const void *two)
{
	double a = *(const double *)one, b = *(const double *)two;

	return (a > b) - (a < b);
}

static void print_text(const char *text)
{
	for (; *text; text++)
		if (*text == '"' || *text == '\\' || (unsigned char)*text < ' ')
			printf("\\u%04x", *text);
		else
			putchar(*text);
}

static int is_refused;

static int refuse(const struct event *event, const char *why)
{
	is_refused = 1;
	printf("{\"event\": \"%s\", \"refused\": \"", event->name);
	print_text(why);
	puts("\"}");
	return 0;
}

/* So many operations that a sample is long beside the clock, and short beside other load's turns. */
static long calibrated(const struct event *event)
{
	long count = 1;

	while (count < MOST_OPERATIONS) {
		double took = event->run(WITH, count);

		if (took < 0)
			return -1;
		if (took >= SAMPLE_NS)
			return count;
		count = took * 4 < SAMPLE_NS ? count * 4 : (long)((double)count * SAMPLE_NS / took) + 1;
	}
	return count;
}

static int sampled(const struct event *event, double seconds, long count)
{
	double end = now_ns() + seconds * 1e9;
	int number = 0;

	while (number < MOST_SAMPLES && now_ns() < end) {
		enum way order[WAYS] = { WITHOUT, WITHOUT_AGAIN, WITH };

		for (int i = WAYS - 1; i > 0; i--) {
			uint32_t other = random_below((uint32_t)i + 1);
			enum way kept = order[i];

			order[i] = order[other];
			order[other] = kept;
		}
		for (int i = 0; i < WAYS; i++) {
			double took = event->run(order[i], count);

			if (took < 0)
				return -1;
			samples[order[i]][number] = took / (double)count;
		}
		number++;
	}
	return number;
}

static int measure(const struct event *event, double seconds)
{
	static const char *const names[WAYS] = { "without", "without_again", "with" };
	const char *why = event->prepare(event);
	long stolen_before = stolen();
	double first_cycle = cycle_ns();

	if (why)
		return refuse(event, why);
	long count = calibrated(event);
	int number = count < 0 ? -1 : sampled(event, seconds, count);

	if (number < 1)
		return refuse(event, "it failed while it was timed");
	double last_cycle = cycle_ns();

	printf("{\"event\": \"%s\", \"times\": %g, \"operations\": %ld, \"samples\": %d", event->name,
	       event->times, count, number);
	for (int way = 0; way < WAYS; way++) {
		qsort(samples[way], (size_t)number, sizeof(double), ascending);
		printf(", \"%s\": {\"low\": %.6g, \"least\": %.6g, \"median\": %.6g}", names[way],
		       samples[way][(int)(LOW_QUANTILE * number)], samples[way][0],
		       samples[way][number / 2]);
	}
	printf(", \"cycle_ns\": [%.6g, %.6g], \"stolen_ticks\": %ld}\n", first_cycle, last_cycle,
	       stolen() - stolen_before);
	return 0;
}

static int pin(const char *word)
{
	cpu_set_t set;

	cpu = atoi(word);
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) == 0;
}

static int compare_snippets(char **words)
{
	if (!read_snippet(0, words[2]) || !read_snippet(1, words[3]))
		return refuse(&snippet_event, "a file of code cannot be read, is empty or too long");
	random_state = strtoull(words[5], NULL, 10);
	if (!pin(words[6]))
		return refuse(&snippet_event, refusal("sched_setaffinity"));
	measure(&snippet_event, strtod(words[4], NULL));
	if (is_refused)
		return 0;
	printf("{\"history_ns\": [%.6g, %.6g, %.6g]}\n", history_ns(WITHOUT), history_ns(WITHOUT_AGAIN),
	       history_ns(WITH));
	return 0;
}

static enum follower kind_named(const char *name)
{
	static const char *const names[] = { "", "indirect", "taken", "returns", "mixed" };

	for (int kind = MIXED; kind > NO_FOLLOWER; kind--)
		if (strcmp(name, names[kind]) == 0)
			return (enum follower)kind;
	return NO_FOLLOWER;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "list") == 0)
		return list_events();
	if (argc == 7 && strcmp(argv[1], "snippet") == 0)
		return compare_snippets(argv);
	const struct event *event = argc >= 5 ? event_named(argv[1]) : NULL;

	if (!event || (argc != 5 && argc != 7)) {
		fprintf(stderr, "usage: probe list | probe EVENT SECONDS SEED CPU "
				"[indirect|taken|returns|mixed N] | probe snippet A B SECONDS SEED CPU\n");
		return 2;
	}
	random_state = strtoull(argv[3], NULL, 10);
	if (!pin(argv[4]))
		return refuse(event, refusal("sched_setaffinity"));
	if (argc == 7) {
		const char *why = emit_follower(kind_named(argv[5]), atoi(argv[6]));

		if (why)
			return refuse(event, why);
	}
	return measure(event, strtod(argv[2], NULL));
}

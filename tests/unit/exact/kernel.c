/* As a kernel is made: what each kind of change may be hidden in. `enter` is what the case runs. */
#define noinline __attribute__((noinline, noipa))
#define section(name) __attribute__((section(name)))
typedef unsigned long word;

/* Data. */
static word limit = 7;
static const word weights[] = {3, 5, 8, 13};
static const char *const names[] = {"one", "two", "three"};
word unused = 4;
static word room[16];
section(".data..percpu") word counter = 2, others = 9;

/* Inlined, and macros. */
#define SCALE(n) ((n) * 3 + 1)
#define RARELY(n) ((n) ^ 0x55)
static inline word scaled(word n) { return n * 5 + 2; }
static inline word seldom(word n) { return n * 9 + 4; }
struct shape { word first, second, third; };

noinline word helper(word n) { return n * n + 11; }
noinline word other_helper(word n) { return n * n + 17; }
word aliased(word n) { return n + 0x1234; }
extern word by_alias(word) __attribute__((alias("aliased")));
noinline word by_call(word n) { return n + 77; }
static const struct { word (*call)(word); } calls[] = {{by_call}};
noinline word big(word n) { return n + 1000000; }
noinline word text(void) { return (word)"a text of the case"; }
noinline word of_shape(struct shape *of) { return of->third; }
noinline word of_data(word n) { return weights[n & 3] + limit + (word)names[n & 1]; }
noinline word of_inline(word n) { return scaled(n) + SCALE(n); }
noinline word of_room(word n) { return room[n & 15]++; }

noinline word pick(word n)
{
    switch (n) {
    case 0: return helper(n);
    case 1: return other_helper(n) + 1;
    case 2: return helper(n + 2) + 2;
    case 3: return other_helper(n + 3) * 3;
    case 4: return helper(n + 4) * 5;
    case 5: return other_helper(n + 5) * 7;
    }
    return n;
}

__attribute__((cold)) noinline word failed(word n) { return n - 9; }
noinline word may_fail(word n)
{
    if (__builtin_expect(n == 12345, 0))
        return failed(n) + 3;
    return n + 8;
}

/* Nothing of the case runs these. */
noinline word never(word n) { return seldom(n) + RARELY(n) + 21; }
noinline word never_either(word n) { return never(n) + 22; }
static section(".init.text") noinline word init_it(word n) { return limit = n + 31; }
word (*const initcalls[])(word) section(".init.data") = {init_it};

word per_cpu(void);
word clear(void);
word copy_in(word *from);

word enter(word n)
{
    struct shape shape = {n, n + 1, n + 2};
    return helper(n) + by_alias(n) + calls[0].call(n) + big(n) + text() + of_shape(&shape) +
           of_data(n) + of_inline(n) + of_room(n) + pick(n) + may_fail(n) + per_cpu() + clear() +
           copy_in(&n);
}

/*
 * Counts how often each translated block runs within windows that the guest marks.
 *
 * A marker is the eight-byte no-operation NOPL disp32(%rax,%rax,1) whose displacement has 0x4d as
 * its highest byte, then 1 (begin) or 2 (end), then the window's number. No compiler emits it, and
 * it changes nothing in the guest. A window is ended by the program that began it alone: from the
 * same page of its memory. Markers of the kernel, of a guest's guest, and from elsewhere in a window
 * are followed nowhere; the window says how many there were, and where the first one lies.
 *
 * Argument: out=DIRECTORY. Each window that ends is written there as a file (see write_window), whole
 * or not at all.
 *
 * For emulation by one thread of one processor: nothing here is locked.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interface.h"

/* The emulator itself holds a gibibyte of translated blocks, some two millions, and then forgets. */
#define MOST_BLOCKS (4u << 20)
#define MOST_WINDOWS 8
#define PENDING 32
#define BUCKETS (1u << 20)
#define PAGE_BITS 12

#define MARKER_BYTES 8
#define MARKER_SIGN 0x4d
enum { BEGIN = 1, END = 2 };
/* Places of markers that are known: a program has some, and who writes more has none of ours. */
#define MOST_MARKERS 1024
/* Addresses of the kernel. */
#define KERNEL ((uint64_t)1 << 63)

/* A marker at its place. */
struct marker {
    uint64_t address;
    uintptr_t page;
    uint8_t kind, number;
};

/* A block as it was translated; the same code translated again is the same block. */
struct block {
    struct block *next;
    uint64_t address;
    uint64_t end;
    uintptr_t page;
    uint16_t instructions;
    uint16_t size;
    bool enters_guest;
    /* Accesses to memory without which its last instruction has not run to its end. */
    uint8_t accesses;
    /* Of the system itself, and of a guest that it runs by VMRUN. */
    uint64_t runs[2];
    uint64_t taken[2];
    /* stopped[0][i]: runs that ended before instruction i, by a fault or for the emulator's reasons. */
    uint64_t *stopped[2];
    /* Lengths of the instructions, then their bytes. */
    uint8_t code[];
};

static struct {
    char directory[2048];
    struct block **table;
    uint32_t blocks;
    uint64_t sequence;
    /* Number of the open window, and whether there is one. */
    uint32_t number;
    bool open;
    uint64_t nested, unmatched, left_out, unresolved;
    /* Who began the open window, and markers of others since. */
    struct marker began;
    uint64_t foreign, foreign_at;
    struct marker markers[MOST_MARKERS];
    uint32_t known_markers;
    /* Blocks begun and ended: where they differ, the last one was stopped in its midst. */
    uint64_t begun;
    /* Accesses of last instructions, up to where the last block began. */
    uint64_t accessed;
    struct block *last;
    int last_in;
    /* Blocks that stopped, and where they ran: nobody knows yet how far they came. */
    struct {
        struct block *block;
        int in;
        bool left_guest;
    } pending[PENDING];
    unsigned pendings;
    int in_guest;
    uint64_t guest_returns_to;
} state;

/*
 * Raised by translated code before the last instruction of each block, and by the accesses to memory
 * of that instruction: where it is stopped by a fault, these are missing.
 */
static COUNTER ended, accessed;

static uint64_t hash_of(uint64_t address, uintptr_t page, const uint8_t *code, size_t length)
{
    uint64_t hash = 14695981039346656037u ^ address ^ ((uint64_t)page << 17);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ code[i]) * 1099511628211u;
    return hash ^ (hash >> 29);
}

static void forget_counts(void)
{
    for (uint32_t i = 0; i < BUCKETS; i++)
        for (struct block *block = state.table[i]; block; block = block->next) {
            memset(block->runs, 0, sizeof block->runs);
            memset(block->taken, 0, sizeof block->taken);
            for (int in = 0; in < 2; in++) {
                free(block->stopped[in]);
                block->stopped[in] = NULL;
            }
        }
    state.left_out = state.unresolved = 0;
    state.pendings = 0;
    state.last = NULL;
}

/* ---- windows ---- */

static int compare_pages(const void *a, const void *b)
{
    uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;
    return (x > y) - (x < y);
}

static bool has_run(const struct block *block)
{
    return block->runs[0] || block->runs[1];
}

static uint16_t stops_in(const struct block *block, int in)
{
    uint16_t stops = 0;
    for (unsigned i = 0; block->stopped[in] && i < block->instructions; i++)
        stops += block->stopped[in][i] != 0;
    return stops;
}

static void write_block(FILE *file, const struct block *block, uint32_t page)
{
    uint16_t stops[2] = {stops_in(block, 0), stops_in(block, 1)};
    fwrite(&block->address, 8, 1, file);
    fwrite(block->runs, 8, 2, file);
    fwrite(block->taken, 8, 2, file);
    fwrite(&page, 4, 1, file);
    fwrite(&block->instructions, 2, 1, file);
    fwrite(&block->size, 2, 1, file);
    fwrite(stops, 2, 2, file);
    fwrite(block->code, 1, (size_t)block->instructions + block->size, file);
    for (int in = 0; in < 2; in++)
        for (uint16_t i = 0; stops[in] && i < block->instructions; i++)
            if (block->stopped[in][i]) {
                fwrite(&i, 2, 1, file);
                fwrite(&block->stopped[in][i], 8, 1, file);
            }
}

/*
 * Pages of the guest's memory by ordinals, since what lies where in this process is nobody's
 * business; and how many blocks ran.
 */
static uintptr_t *sorted_pages(size_t *count, size_t *blocks)
{
    uintptr_t *pages = malloc(sizeof *pages * (state.blocks + 1));
    size_t found = 0, distinct = 0;
    for (uint32_t i = 0; pages && i < BUCKETS; i++)
        for (struct block *block = state.table[i]; block; block = block->next)
            if (has_run(block))
                pages[found++] = block->page;
    if (found)
        qsort(pages, found, sizeof *pages, compare_pages);
    for (size_t i = 0; i < found; i++)
        if (!i || pages[i] != pages[distinct - 1])
            pages[distinct++] = pages[i];
    *count = distinct;
    *blocks = found;
    return pages;
}

static void write_blocks(FILE *file, const uintptr_t *pages, size_t count)
{
    for (uint32_t i = 0; i < BUCKETS; i++)
        for (struct block *block = state.table[i]; block; block = block->next)
            if (has_run(block)) {
                const uintptr_t *at =
                    bsearch(&block->page, pages, count, sizeof *pages, compare_pages);
                write_block(file, block, at ? (uint32_t)(at - pages) : 0);
            }
}

/*
 * "MGXB", version, length of the header (32 bits each), the header in JSON, the blocks.
 */
static void write_window(bool is_whole)
{
    char part[2304], path[2200], header[768];
    size_t count = 0, blocks = 0;
    uintptr_t *pages = sorted_pages(&count, &blocks);
    if (!pages)
        return;
    int length = snprintf(header, sizeof header,
                          "{\"number\": %" PRIu32 ", \"sequence\": %" PRIu64 ", \"whole\": %s, "
                          "\"nested\": %" PRIu64 ", \"unmatched\": %" PRIu64
                          ", \"left_out\": %" PRIu64 ", \"unresolved\": %" PRIu64
                          ", \"foreign\": %" PRIu64 ", \"foreign_at\": %" PRIu64
                          ", \"blocks\": %zu, \"known\": %" PRIu32 "}",
                          state.number, state.sequence, is_whole ? "true" : "false", state.nested,
                          state.unmatched, state.left_out, state.unresolved, state.foreign,
                          state.foreign_at, blocks, state.blocks);
    snprintf(path, sizeof path, "%s/window-%" PRIu32, state.directory, state.number);
    snprintf(part, sizeof part, "%s.part", path);
    FILE *file = fopen(part, "wb");
    if (file) {
        uint32_t numbers[2] = {1, (uint32_t)length};
        fwrite("MGXB", 1, 4, file);
        fwrite(numbers, 4, 2, file);
        fwrite(header, 1, (size_t)length, file);
        write_blocks(file, pages, count);
        bool failed = ferror(file) != 0;
        failed = fclose(file) != 0 || failed;
        if (failed || rename(part, path) != 0)
            unlink(part);
    }
    free(pages);
}

static void begin_window(const struct marker *by)
{
    if (state.open) {
        /* The one that was open never ended, or this one is within it: neither is counted. */
        state.nested++;
        state.open = false;
        write_window(false);
    }
    forget_counts();
    state.began = *by;
    state.number = by->number;
    state.sequence++;
    state.open = true;
}

static void end_window(uint32_t number)
{
    if (!state.open || state.number != number) {
        state.unmatched++;
        return;
    }
    /* The block of the marker itself is no part of the window. */
    if (state.last && state.last->runs[state.last_in])
        state.last->runs[state.last_in]--;
    state.open = false;
    state.unresolved += state.pendings;
    write_window(true);
    state.nested = state.unmatched = state.foreign = state.foreign_at = 0;
}

static bool is_foreign(const struct marker *marker)
{
    const struct marker *began = &state.began;
    if (marker->address >= KERNEL || state.in_guest)
        return true;
    return state.open && (marker->page != began->page ||
                          marker->address >> PAGE_BITS != began->address >> PAGE_BITS);
}

static void on_marker(unsigned int processor, void *data)
{
    const struct marker *marker = data;
    (void)processor;
    if (is_foreign(marker)) {
        if (!state.foreign++)
            state.foreign_at = marker->address;
    } else if (marker->kind == BEGIN)
        begin_window(marker);
    else
        end_window(marker->number);
}

/* ---- running ---- */

static void stopped_at(struct block *block, int in, unsigned instruction)
{
    if (!block->stopped[in])
        block->stopped[in] = calloc(block->instructions, sizeof *block->stopped[in]);
    if (block->stopped[in])
        block->stopped[in][instruction]++;
}

/* A block that was stopped goes on at one of its instructions. */
static void resolve_pending(uint64_t address, uintptr_t page)
{
    for (unsigned i = state.pendings; i-- > 0;) {
        struct block *block = state.pending[i].block;
        uint64_t at = block->address;
        if (address < at || address >= block->end || page != block->page ||
            state.pending[i].in != state.in_guest)
            continue;
        for (unsigned k = 0; k < block->instructions; at += block->code[k++])
            if (at == address) {
                /* What a guest leaves by is carried out by the host, which then goes on behind it. */
                stopped_at(block, state.in_guest, k - (k && state.pending[i].left_guest));
                memmove(state.pending + i, state.pending + i + 1,
                        (--state.pendings - i) * sizeof *state.pending);
                return;
            }
    }
}

static void add_pending(struct block *block, int in, bool left_guest)
{
    if (state.pendings == PENDING) {
        memmove(state.pending, state.pending + 1, (PENDING - 1) * sizeof *state.pending);
        state.pendings--;
        state.unresolved++;
    }
    state.pending[state.pendings].block = block;
    state.pending[state.pendings].left_guest = left_guest;
    state.pending[state.pendings++].in = in;
}

/* What ended the last block: nothing, a fault in its midst, or an exit from the guest. */
static void end_last(struct block *last, bool is_whole, bool leaves_guest, uint64_t goes_on_at)
{
    if (!is_whole)
        add_pending(last, state.last_in, leaves_guest);
    else if (leaves_guest)
        /* As above, of an instruction that ends its block. */
        stopped_at(last, state.last_in, last->instructions - 1u);
    else if (goes_on_at != last->end)
        last->taken[state.last_in]++;
}

static void on_block(unsigned int processor, void *data)
{
    struct block *block = data, *last = state.last;
    (void)processor;
    bool is_whole = COUNTER_VALUE(ended) == state.begun &&
                    (!last || COUNTER_VALUE(accessed) - state.accessed >= last->accesses);
    state.begun = COUNTER_VALUE(ended) + 1;
    state.accessed = COUNTER_VALUE(accessed);
    bool leaves_guest = state.in_guest && block->address == state.guest_returns_to;
    if (leaves_guest)
        state.in_guest = 0;
    if (state.open) {
        if (last && has_run(last))
            end_last(last, is_whole, leaves_guest, block->address);
        if (state.pendings)
            resolve_pending(block->address, block->page);
        block->runs[state.in_guest]++;
    }
    state.last = block;
    state.last_in = state.in_guest;
    if (block->enters_guest) {
        state.in_guest = 1;
        state.guest_returns_to = block->end;
    }
}

static void on_left_out(unsigned int processor, void *data)
{
    (void)processor;
    if (state.open)
        state.left_out += (uintptr_t)data;
    state.last = NULL;
    state.begun = COUNTER_VALUE(ended) + 1;
}

/* ---- translating ---- */

static bool is_marker(const uint8_t *bytes, size_t size)
{
    static const uint8_t nop[] = {0x0f, 0x1f, 0x84, 0x00};
    if (size != MARKER_BYTES || memcmp(bytes, nop, sizeof nop) || bytes[7] != MARKER_SIGN)
        return false;
    return (bytes[6] == BEGIN || bytes[6] == END) && !bytes[5] && bytes[4] < MOST_WINDOWS;
}

/* The marker with its place; NULL where there are too many. */
static struct marker *known_marker(const uint8_t *bytes, uint64_t address, uintptr_t page)
{
    for (uint32_t i = 0; i < state.known_markers; i++) {
        struct marker *known = &state.markers[i];
        if (known->address == address && known->page == page && known->kind == bytes[6] &&
            known->number == bytes[4])
            return known;
    }
    if (state.known_markers == MOST_MARKERS)
        return NULL;
    struct marker *made = &state.markers[state.known_markers++];
    made->address = address;
    made->page = page;
    made->kind = bytes[6];
    made->number = bytes[4];
    return made;
}

/* Of opcodes of one byte, by their number: those with a ModRM byte whose operand they access. */
static bool has_operand(uint8_t opcode)
{
    if (opcode < 0x40)
        return (opcode & 7) < 4;
    return opcode == 0x63 || opcode == 0x69 || opcode == 0x6b ||
           (opcode >= 0x80 && opcode <= 0x8f && opcode != 0x8d) || (opcode & 0xfe) == 0xc0 ||
           (opcode & 0xfe) == 0xc6 || (opcode >= 0xd0 && opcode <= 0xd3) ||
           (opcode & 0xfe) == 0xf6 || opcode == 0xfe;
}

/* Of legacy prefixes and REX: those that may stand before an opcode. */
static bool is_prefix(uint8_t byte)
{
    return (byte && strchr("\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0\xf2\xf3", byte)) ||
           (byte & 0xf0) == 0x40;
}

/*
 * Accesses to memory without which an instruction has not run to its end, by its bytes: a call by
 * memory has two. 0 where it has none, or may have none: an instruction that is repeated no times.
 */
static uint8_t accesses_of(const uint8_t *bytes, size_t size)
{
    size_t at = 0;
    while (at < size && is_prefix(bytes[at]))
        at++;
    if (at >= size)
        return 0;
    uint8_t opcode = bytes[at], operand = at + 1 < size ? bytes[at + 1] : 0xc0;
    bool in_memory = operand < 0xc0;
    switch (opcode) {
    case 0xc2: case 0xc3: case 0xca: case 0xcb: case 0xcf: /* returns */
    case 0xe8: case 0x68: case 0x6a: case 0xc9: case 0x9c: case 0x9d: /* CALL, PUSH, LEAVE */
        return 1;
    case 0xff:
        switch (operand >> 3 & 7) {
        case 2: case 3: case 6: /* CALL and PUSH write as well */
            return in_memory + 1;
        default:
            return in_memory;
        }
    default:
        if ((opcode & 0xf0) == 0x50) /* PUSH and POP */
            return 1;
        return has_operand(opcode) && in_memory;
    }
}

static struct block *known_block(const struct block *model, size_t length)
{
    uint64_t hash = hash_of(model->address, model->page, model->code, length);
    struct block **bucket = &state.table[hash & (BUCKETS - 1)];
    for (struct block *block = *bucket; block; block = block->next)
        if (block->address == model->address && block->page == model->page &&
            block->instructions == model->instructions && block->size == model->size &&
            memcmp(block->code, model->code, length) == 0)
            return block;
    if (state.blocks >= MOST_BLOCKS)
        return NULL;
    struct block *block = malloc(sizeof *block + length);
    if (!block)
        return NULL;
    memcpy(block, model, sizeof *block + length);
    block->next = *bucket;
    *bucket = block;
    state.blocks++;
    return block;
}

/* All translations were thrown away: only what was counted in the open window is wanted still. */
static void on_flush(qemu_plugin_id_t id)
{
    (void)id;
    for (uint32_t i = 0; i < BUCKETS; i++)
        for (struct block **at = &state.table[i], *block; (block = *at);) {
            if (state.open && has_run(block)) {
                at = &block->next;
                continue;
            }
            *at = block->next;
            free(block->stopped[0]);
            free(block->stopped[1]);
            free(block);
            state.blocks--;
        }
    state.last = NULL;
    state.pendings = 0;
}

static uintptr_t page_of(const struct qemu_plugin_insn *instruction)
{
    return (uintptr_t)qemu_plugin_insn_haddr(instruction) >> PAGE_BITS;
}

static bool is_vmrun(const uint8_t *bytes, size_t size)
{
    return size >= 3 && memcmp(bytes + size - 3, "\x0f\x01\xd8", 3) == 0;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    static union {
        struct block block;
        uint8_t room[sizeof(struct block) + 1024 * 17];
    } model;
    uint8_t bytes[16];
    size_t count = qemu_plugin_tb_n_insns(tb), size = 0;
    struct block *block = &model.block;
    (void)id;
    if (!count || count > 1024)
        return;
    memset(block, 0, sizeof *block);
    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(tb, i);
        size_t length = read_instruction(instruction, bytes, sizeof bytes);
        struct marker *marker =
            is_marker(bytes, length)
                ? known_marker(bytes, qemu_plugin_tb_vaddr(tb) + size, page_of(instruction))
                : NULL;
        if (marker)
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_marker, QEMU_PLUGIN_CB_NO_REGS,
                                                   marker);
        block->code[i] = (uint8_t)length;
        memcpy(block->code + count + size, bytes, length);
        size += length;
    }
    block->address = qemu_plugin_tb_vaddr(tb);
    block->end = block->address + size;
    block->page = page_of(qemu_plugin_tb_get_insn(tb, 0));
    block->instructions = (uint16_t)count;
    block->size = (uint16_t)size;
    block->enters_guest = is_vmrun(block->code + count, size);
    size_t last = block->code[count - 1];
    block->accesses = accesses_of(block->code + count + size - last, last);
    struct block *known = known_block(block, count + size);
    if (known)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, known);
    else
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_left_out, QEMU_PLUGIN_CB_NO_REGS,
                                             (void *)(uintptr_t)count);
    count_at(qemu_plugin_tb_get_insn(tb, count - 1), &ended);
    count_accesses_at(qemu_plugin_tb_get_insn(tb, count - 1), &accessed);
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        if (strncmp(argv[i], "out=", 4) == 0)
            snprintf(state.directory, sizeof state.directory, "%s", argv[i] + 4);
    if (!state.directory[0] || !info->system_emulation || info->system.max_vcpus != 1) {
        fprintf(stderr, "exact counts: out=DIRECTORY and one processor are wanted\n");
        return 1;
    }
    state.table = calloc(BUCKETS, sizeof(struct block *));
    if (!state.table)
        return 1;
    start_counter(&ended);
    start_counter(&accessed);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_flush_cb(id, on_flush);
    return 0;
}

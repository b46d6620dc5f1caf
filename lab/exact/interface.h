/*
 * What is used of QEMU's interface for plugins: Debian ships the emulator without its header.
 *
 * PLUGIN_INTERFACE is the version that the emulator has: 1 up to QEMU 8.1 (Debian 12 has 7.2),
 * 4 from 9.2 on (Debian 13 has 10.0), which takes none older than 2.
 * https://www.qemu.org/docs/master/devel/tcg-plugins.html
 */
#ifndef INTERFACE_H
#define INTERFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef PLUGIN_INTERFACE
#error "PLUGIN_INTERFACE is to be 1 or 4"
#endif

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

typedef struct qemu_info_t {
    const char *target_name;
    struct {
        int min;
        int cur;
    } version;
    bool system_emulation;
    union {
        struct {
            int smp_vcpus;
            int max_vcpus;
        } system;
    };
} qemu_info_t;

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };
enum qemu_plugin_mem_rw {
    QEMU_PLUGIN_MEM_R = 1,
    QEMU_PLUGIN_MEM_W,
    QEMU_PLUGIN_MEM_RW,
};

struct qemu_plugin_hwaddr;
typedef uint32_t qemu_plugin_meminfo_t;

typedef void (*translated_t)(qemu_plugin_id_t, struct qemu_plugin_tb *);
typedef void (*flushed_t)(qemu_plugin_id_t);
typedef void (*run_t)(unsigned int, void *);
typedef void (*accessed_t)(unsigned int, qemu_plugin_meminfo_t, uint64_t, void *);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, translated_t);
void qemu_plugin_register_flush_cb(qemu_plugin_id_t, flushed_t);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, run_t,
                                          enum qemu_plugin_cb_flags, void *);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, run_t,
                                            enum qemu_plugin_cb_flags, void *);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, accessed_t,
                                      enum qemu_plugin_cb_flags, enum qemu_plugin_mem_rw, void *);
unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t);
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t, uint64_t);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *);

int qemu_plugin_version = PLUGIN_INTERFACE;

#if PLUGIN_INTERFACE == 1

const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *, enum qemu_plugin_op,
                                                void *, uint64_t);

void qemu_plugin_register_vcpu_mem_inline(struct qemu_plugin_insn *, enum qemu_plugin_mem_rw,
                                          enum qemu_plugin_op, void *, uint64_t);

typedef uint64_t COUNTER;
#define COUNTER_VALUE(counter) (counter)

static inline void start_counter(COUNTER *counter)
{
    *counter = 0;
}

static inline void count_at(struct qemu_plugin_insn *instruction, COUNTER *counter)
{
    qemu_plugin_register_vcpu_insn_exec_inline(instruction, QEMU_PLUGIN_INLINE_ADD_U64, counter, 1);
}

static inline void count_accesses_at(struct qemu_plugin_insn *instruction, COUNTER *counter)
{
    qemu_plugin_register_vcpu_mem_inline(instruction, QEMU_PLUGIN_MEM_RW,
                                         QEMU_PLUGIN_INLINE_ADD_U64, counter, 1);
}

static inline size_t read_instruction(struct qemu_plugin_insn *instruction, uint8_t *to, size_t room)
{
    size_t size = qemu_plugin_insn_size(instruction);
    size = size < room ? size : room;
    memcpy(to, qemu_plugin_insn_data(instruction), size);
    return size;
}

#else

struct qemu_plugin_scoreboard;
typedef struct {
    struct qemu_plugin_scoreboard *score;
    size_t offset;
} qemu_plugin_u64;

size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *, void *, size_t);
struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t);
void *qemu_plugin_scoreboard_find(struct qemu_plugin_scoreboard *, unsigned int);
void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_plugin_insn *,
                                                         enum qemu_plugin_op, qemu_plugin_u64,
                                                         uint64_t);
void qemu_plugin_register_vcpu_mem_inline_per_vcpu(struct qemu_plugin_insn *,
                                                   enum qemu_plugin_mem_rw, enum qemu_plugin_op,
                                                   qemu_plugin_u64, uint64_t);

typedef qemu_plugin_u64 COUNTER;
#define COUNTER_VALUE(counter) (*(uint64_t *)qemu_plugin_scoreboard_find((counter).score, 0))

static inline void start_counter(COUNTER *counter)
{
    counter->score = qemu_plugin_scoreboard_new(sizeof(uint64_t));
    counter->offset = 0;
}

static inline void count_at(struct qemu_plugin_insn *instruction, COUNTER *counter)
{
    qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(instruction, QEMU_PLUGIN_INLINE_ADD_U64,
                                                        *counter, 1);
}

static inline void count_accesses_at(struct qemu_plugin_insn *instruction, COUNTER *counter)
{
    qemu_plugin_register_vcpu_mem_inline_per_vcpu(instruction, QEMU_PLUGIN_MEM_RW,
                                                  QEMU_PLUGIN_INLINE_ADD_U64, *counter, 1);
}

static inline size_t read_instruction(struct qemu_plugin_insn *instruction, uint8_t *to, size_t room)
{
    return qemu_plugin_insn_data(instruction, to, room);
}

#endif
#endif

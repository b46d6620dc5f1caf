/* Assembly as a kernel has it: alternatives, handlers of faults, static keys. */
#define TYPED(name) .type name, @function; .size name, . - name

    .text
    .globl clear, copy_in, per_cpu, spare
clear:
    movl $5, %ecx
1:  nop
    nop
    nop
    decl %ecx
    jnz 1b
2:  .byte 0x0f, 0x1f, 0x44, 0x00, 0x00
    ret
    TYPED(clear)

copy_in:
3:  movq (%rdi), %rax
    ret
4:  movl $14, %eax
    ret
5:  movl $22, %eax
    ret
    TYPED(copy_in)

per_cpu:
    movq %gs:counter, %rax
    ret
    TYPED(per_cpu)

spare:
6:  movl $3, %eax
    nop
    nop
    nop
    ret
    TYPED(spare)

    .section .altinstr_replacement, "ax"
7:  lfence
8:  mfence

    .section .altinstructions, "a"
    .long 1b - ., 7b - .
    .long 0x101
    .byte 3, 3
    .long 6b + 5 - ., 8b - .
    .long 0x202
    .byte 3, 3

    .section __ex_table, "a"
    .long 3b - ., 4b - ., 1

    .data
    .balign 8
key: .quad 0
    .globl __start___jump_table, __stop___jump_table
    .section __jump_table, "a"
__start___jump_table:
    .long 2b - ., clear - .
    .quad key - .
__stop___jump_table:

    .section .initcall6.init, "a"
__initcall__kmod_kernel__101_7_init_it6:
    .long 0

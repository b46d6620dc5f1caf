/*
 * What programs begin and end with that QEMU starts in 32-bit mode, by the Multiboot rules. Their
 * code goes on at `go`, their handlers of faults have one entry each in `idt`.
 */
#define MARK(kind, number) .byte 0x0f, 0x1f, 0x84, 0x00, number, 0, kind, 0x4d
/* Exceptions of that vector are handled at that place. */
#define HANDLE(vector, place) movl $place, %eax; movw %ax, idt + vector * 8; \
    shrl $16, %eax; movw %ax, idt + vector * 8 + 6
/* isa-debug-exit: QEMU ends with status 1. */
#define END_MACHINE xorl %eax, %eax; outb %al, $0xf4; hlt

    .data
    .align 8
gdt:
    .quad 0, 0x00cf9a000000ffff, 0x00cf92000000ffff
gdt_pointer:
    .word 23
    .long gdt
    .align 8
idt:
    .rept 15
    .word 0, 8, 0x8e00, 0
    .endr
idt_pointer:
    .word 15 * 8 - 1
    .long idt
    .bss
    .align 64
    .skip 4096
stack:

    .text
    .align 4
    .long 0x1badb002, 0, -0x1badb002

    .globl _start
_start:
    movl $stack, %esp
    lgdt gdt_pointer
    lidt idt_pointer
    ljmp $8, $go
go:
    movl $16, %eax
    movl %eax, %ds
    movl %eax, %es
    movl %eax, %ss

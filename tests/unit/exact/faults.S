/*
 * Faults at the last instruction of a block, repeated instructions, and marks from elsewhere.
 * Started as program.S is.
 */
#define MARK(kind, number) .byte 0x0f, 0x1f, 0x84, 0x00, number, 0, kind, 0x4d

    .text
    .align 4
    .long 0x1badb002, 0, -0x1badb002

    .globl _start
_start:
    movl $stack, %esp
    lgdt gdt_pointer
    ljmp $8, $go
go:
    movl $16, %eax
    movl %eax, %ds
    movl %eax, %es
    movl %eax, %ss
    movl $missing, %eax
    movw %ax, idt + 14 * 8
    shrl $16, %eax
    movw %ax, idt + 14 * 8 + 6
    lidt idt_pointer
    /* One page of 4 MiB, where everything lies. */
    movl %cr4, %eax
    orl $0x10, %eax
    movl %eax, %cr4
    movl $0x83, pages
    movl $pages, %eax
    movl %eax, %cr3
    movl %cr0, %eax
    orl $0x80000000, %eax
    movl %eax, %cr0
    movl $2f, 0x500
    movl $called, 0x504

    /* Window 1: 100 times a jump and a call by memory that is not there at first. */
    movl $100, %esi
    MARK(1, 1)
    jmp 1f
1:  movl $0x40000000, %ebx
    jmp *(%ebx)
2:  movl $0x40000000, %ebx
    call *4(%ebx)
    decl %esi
    jnz 1b
    MARK(2, 1)

    /* Window 2: 4,096 bytes are written by one instruction, then none. */
    MARK(1, 2)
    jmp 3f
3:  movl $4096, %ecx
    movl $room, %edi
    rep stosb
    nop
    rep stosb
    nop
    MARK(2, 2)

    /* Window 3: code on another page ends and begins it around what it runs. */
    MARK(1, 3)
    jmp 4f
4:  call elsewhere
    jmp 5f
5:  MARK(2, 3)

    /* isa-debug-exit: QEMU ends with status 1. */
    xorl %eax, %eax
    outb %al, $0xf4
    hlt

missing:
    movl $0x500, %ebx
    addl $4, %esp
    iret

called:
    ret

    .align 4096
elsewhere:
    MARK(2, 3)
    jmp 6f
6:  incl %ecx
    incl %ecx
    incl %ecx
    MARK(1, 3)
    ret

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
    .align 4096
pages:
    .skip 4096
room:
    .skip 4096
    .skip 4096
stack:

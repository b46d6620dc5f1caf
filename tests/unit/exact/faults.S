/* Faults at the last instruction of a block, repeated instructions, and marks from elsewhere. */
#include "start.S"
    HANDLE(14, missing)
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

    /* Window 4: a page's last instruction, whose opcode is 0, and which accesses no memory. */
    MARK(1, 4)
    jmp last
7:  MARK(2, 4)

    END_MACHINE

missing:
    movl $0x500, %ebx
    addl $4, %esp
    iret

called:
    ret

    .align 4096
elsewhere:
    MARK(2, 3)
    jmp 8f
8:  incl %ecx
    incl %ecx
    incl %ecx
    MARK(1, 3)
    ret


    .align 4096
    .skip 4094
last:
    addb %al, %bl
    jmp 7b

    .bss
    .align 4096
pages:
    .skip 4096
room:
    .skip 4096

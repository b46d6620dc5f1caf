/* Windows of a loop, of others within them, of faults, changed code, and lines of data. */
#include "start.S"
    HANDLE(0, divided)

    /* Window 1: 1 + 2 * 1000 instructions. */
    MARK(1, 1)
    jmp 1f
1:  movl $1000, %ecx
2:  decl %ecx
    jnz 2b
    MARK(2, 1)

    /* Window 2 never ends: window 3 begins in it. */
    MARK(1, 2)
    nop
    MARK(1, 3)
    nop
    MARK(2, 3)

    /* An end without a beginning, and one of another number. */
    MARK(2, 4)
    MARK(1, 5)
    jmp 3f
3:  nop
    MARK(2, 4)
    jmp 4f
4:  MARK(2, 5)

    /* Window 6: 100 faults in the midst of a block, which goes on where it stopped. */
    movl $100, %esi
    MARK(1, 6)
    jmp 5f
5:  xorl %edx, %edx
    movl $7, %eax
    xorl %ecx, %ecx
    divl %ecx
    addl %eax, %ebx
    decl %esi
    jnz 5b
    MARK(2, 6)

    /* Window 7: the same place holds two instructions, one after the other. */
    movl $2, %esi
    MARK(1, 7)
    jmp 6f
6:  call changed
    movb $0x42, changed
    decl %esi
    jnz 6b
    MARK(2, 7)

    /*
     * Window 0: 100 times a word of one line is read, one of the next is read and written, and one
     * that lies in two further lines is written.
     */
    movl $100, %esi
    MARK(1, 0)
    jmp 7f
7:  movl lines, %eax
    incl lines + 64
    movl %eax, lines + 126
    movl %eax, lines + 190
    decl %esi
    jnz 7b
    movl seldom, %eax
    MARK(2, 0)

    END_MACHINE

divided:
    movl $1, %ecx
    iret

    .data
changed:
    incl %ecx
    ret
    .bss
    .align 64
lines:
    .skip 256
seldom:
    .skip 64

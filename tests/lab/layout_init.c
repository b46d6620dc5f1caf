/* The first program of a root in memory: runs what stands beside it, and ends the machine. */
#include <stdio.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	char path[32];

	/* What a kernel does behind its own start is no part of what is measured. */
	sleep(5);
	for (int number = 0;; number++) {
		snprintf(path, sizeof(path), "/build-%d", number);
		if (access(path, X_OK))
			break;
		printf("BUILD %d\n", number);
		fflush(stdout);
		if (fork() == 0) {
			execl(path, path, (char *)NULL);
			_exit(127);
		}
		wait(NULL);
	}
	reboot(RB_AUTOBOOT);
	return 0;
}

/* The only program of a machine that is asked which mitigations its kernel chose.
 *
 * It prints, a line each: every file of sysfs' vulnerabilities, the kernel's own log, and the bytes
 * of functions as they stand after the kernel patched itself, read from /proc/kcore.
 */
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <unistd.h>

#define VULNERABILITIES "/sys/devices/system/cpu/vulnerabilities"
#define MOST_FUNCTIONS 64
#define LARGEST_FUNCTION 16384

static void say_file(const char *kind, const char *name, const char *path)
{
	char line[1024] = "";
	FILE *file = fopen(path, "r");

	if (!file)
		return;
	if (fgets(line, sizeof(line), file))
		line[strcspn(line, "\n")] = 0;
	fclose(file);
	printf("SAID %s %s %s\n", kind, name, line);
}

static void say_vulnerabilities(void)
{
	DIR *folder = opendir(VULNERABILITIES);
	struct dirent *entry;
	char path[512];

	while (folder && (entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), VULNERABILITIES "/%s", entry->d_name);
		say_file("sysfs", entry->d_name, path);
	}
}

static void say_log(void)
{
	int size = klogctl(10, NULL, 0);
	char *text = calloc(1, size + 1), *line;

	if (!text || klogctl(3, text, size) < 0)
		return;
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		printf("SAID log - %s\n", line);
}

static int kcore_offset(int kcore, unsigned long address, unsigned long *offset)
{
	Elf64_Ehdr head;
	Elf64_Phdr part;
	int at;

	if (pread(kcore, &head, sizeof(head), 0) != sizeof(head))
		return 0;
	for (at = 0; at < head.e_phnum; at++) {
		if (pread(kcore, &part, sizeof(part), head.e_phoff + at * sizeof(part)) != sizeof(part))
			return 0;
		if (part.p_type == PT_LOAD && address >= part.p_vaddr
		    && address < part.p_vaddr + part.p_memsz) {
			*offset = part.p_offset + address - part.p_vaddr;
			return 1;
		}
	}
	return 0;
}

static void say_code(const char *name, unsigned long address, unsigned long size)
{
	static unsigned char code[LARGEST_FUNCTION];
	unsigned long offset, at;
	int kcore = open("/proc/kcore", O_RDONLY);

	if (size > sizeof(code))
		size = sizeof(code);
	if (kcore < 0 || !kcore_offset(kcore, address, &offset)
	    || pread(kcore, code, size, offset) != (ssize_t)size) {
		printf("SAID nocode %s unreadable\n", name);
		return;
	}
	printf("SAID code %s %lx ", name, address);
	for (at = 0; at < size; at++)
		printf("%02x", code[at]);
	printf("\n");
	close(kcore);
}

static void say_functions(void)
{
	static char wanted[MOST_FUNCTIONS][128];
	char line[512], name[256], found[256] = "";
	unsigned long address, began = 0;
	int count = 0, at;
	char kind;
	FILE *file = fopen("/functions", "r");

	while (file && count < MOST_FUNCTIONS && fscanf(file, "%127s", wanted[count]) == 1)
		count++;
	file = fopen("/proc/kallsyms", "r");
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx %c %255s", &address, &kind, name) != 3)
			continue;
		if (found[0] && address > began) {
			say_code(found, began, address - began);
			found[0] = 0;
		}
		for (at = 0; at < count; at++)
			if (!strcmp(wanted[at], name)) {
				strcpy(found, name);
				began = address;
			}
	}
}

int main(void)
{
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	say_file("release", "-", "/proc/sys/kernel/osrelease");
	say_file("cmdline", "-", "/proc/cmdline");
	say_vulnerabilities();
	say_log();
	say_functions();
	printf("SAID end - -\n");
	fflush(stdout);
	reboot(RB_AUTOBOOT);
	return 0;
}

/*
 * Runs a fuzz target over files, without libFuzzer: fuzz_x [file or folder]...
 *
 * The corpus becomes plain tests under any compiler.  Every input is also cut at CUTS places,
 * because a file that ends early is what readers meet most.  Each input stands in memory of exactly
 * its size, so that ASan sees one byte too many.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Enough to fall into every message of a small seed; all of them would make a run quadratic. */
#define CUTS 32

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void die(const char *what, const char *path)
{
	fprintf(stderr, "%s: %s\n", path, what);
	exit(2);
}

static void run(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		die("out of memory", "driver");
	memcpy(copy, bytes, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static void run_file(const char *path, size_t size)
{
	uint8_t *bytes = malloc(size + 1);
	FILE *f = fopen(path, "rb");

	if (!bytes || !f || fread(bytes, 1, size, f) != size)
		die("cannot be read", path);
	fclose(f);
	/* Said first: after a crash the last line names the culprit. */
	printf("%s\n", path);
	fflush(stdout);
	run(bytes, size);
	for (size_t i = 0; i < CUTS && i < size; i++)
		run(bytes, size * i / CUTS);
	free(bytes);
}

static void run_path(const char *path)
{
	struct stat st;
	struct dirent **names;
	int count;

	if (stat(path, &st))
		die("cannot be read", path);
	if (!S_ISDIR(st.st_mode)) {
		run_file(path, (size_t)st.st_size);
		return;
	}
	count = scandir(path, &names, NULL, alphasort);
	if (count < 0)
		die("cannot be listed", path);
	for (int i = 0; i < count; i++) {
		char inner[4096];

		if (names[i]->d_name[0] != '.') {
			snprintf(inner, sizeof(inner), "%s/%s", path, names[i]->d_name);
			run_path(inner);
		}
		free(names[i]);
	}
	free(names);
}

int main(int argc, char **argv)
{
	run((const uint8_t *)"", 0);
	for (int i = 1; i < argc; i++)
		run_path(argv[i]);
	return 0;
}

/*
 * What reading costs: sumbytes FILE [THREADS] maps a file and adds up its 64-bit words.
 *
 * The yardstick of `make bench`: no reader of the whole file can be faster.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define THREADS_MAX 64 /* more than the memory of any one machine can feed */

struct part {
	const uint64_t *words;
	size_t count;
	uint64_t sum;
	pthread_t thread;
};

static void *add_up(void *arg)
{
	struct part *p = arg;
	uint64_t sum = 0;

	for (size_t i = 0; i < p->count; i++)
		sum += p->words[i];
	p->sum = sum;
	return NULL;
}

int main(int argc, char **argv)
{
	static struct part parts[THREADS_MAX];
	size_t threads = argc > 2 ? (size_t)strtoul(argv[2], NULL, 10) : 1;
	int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1;
	struct stat st;
	const uint64_t *words;
	size_t count;
	uint64_t sum = 0;

	if (fd < 0 || fstat(fd, &st) || threads < 1 || threads > THREADS_MAX) {
		fprintf(stderr, "usage: sumbytes FILE [THREADS up to %d]\n", THREADS_MAX);
		return 2;
	}
	words = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (words == MAP_FAILED) {
		perror(argv[1]);
		return 2;
	}
	count = (size_t)st.st_size / sizeof(*words);
	for (size_t i = 0; i < threads; i++) {
		size_t from = count * i / threads;

		parts[i].words = words + from;
		parts[i].count = count * (i + 1) / threads - from;
		if (pthread_create(&parts[i].thread, NULL, add_up, &parts[i])) {
			fprintf(stderr, "sumbytes: a thread could not be started\n");
			return 2;
		}
	}
	for (size_t i = 0; i < threads; i++) {
		pthread_join(parts[i].thread, NULL);
		sum += parts[i].sum;
	}
	printf("%016llx\n", (unsigned long long)sum);
	return 0;
}

/* The one place that looks at a clock; what it shows goes to no file.  See progress.h. */
#include "cmd/progress.h"

#include <stdio.h>
#include <time.h>

static double seconds_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void put_left(double seconds)
{
	if (seconds < 100)
		fprintf(stderr, ", %.0f s left", seconds);
	else if (seconds < 6000)
		fprintf(stderr, ", %.0f min left", seconds / 60);
	else
		fprintf(stderr, ", %.1f h left", seconds / 3600);
}

void show_progress(ptrdiff_t done, ptrdiff_t count)
{
	enum { PER_SECOND = 10 }; /* as often as an eye can tell */
	static double start, shown;
	static ptrdiff_t first;
	double now = seconds_now();
	if (start <= 0) {
		start = now;
		first = done;
	}
	if (now - start < 1 || (done < count && now - shown < 1.0 / PER_SECOND))
		return;
	shown = now;
	double rate = (double)(done - first) / (now - start);
	fprintf(stderr, "\rrooflint: %td of %td profiles", done, count);
	if (rate > 0) {
		fprintf(stderr, ", %.*f/s", rate < 10 ? 1 : 0, rate);
		put_left((double)(count - done) / rate);
	}
	fprintf(stderr, "\033[K%s", done == count ? "\r\033[K" : "");
	fflush(stderr);
}

/* What it shows goes to no file.  See progress.h. */
#include "cmd/progress.h"

#include <stdio.h>

#include "base/when.h"

void show_progress(ptrdiff_t done, ptrdiff_t count)
{
	enum { PER_SECOND = 10 }; /* as often as an eye can tell */
	static double start, shown;
	static ptrdiff_t first;
	double now = now_s();
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
		double left_s = (double)(count - done) / rate;
		if (left_s < 100)
			fprintf(stderr, ", %.0f s left", left_s);
		else if (left_s < 6000)
			fprintf(stderr, ", %.0f min left", left_s / 60);
		else
			fprintf(stderr, ", %.1f h left", left_s / 3600);
	}
	fprintf(stderr, "\033[K%s", done == count ? "\r\033[K" : "");
	fflush(stderr);
}

/* When to try again. */
#include <math.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "http/exchange.h"

#define FIRST_WAIT_S   0.5
#define LONGEST_WAIT_S 20.0

enum outcome outcome_of(long status)
{
	if (status >= 200 && status < 300)
		return OUTCOME_DELIVERED;
	if (status == 410)
		return OUTCOME_GONE;
	return status == 408 || status == 425 || status == 429 || status >= 500 ? OUTCOME_LATER
										: OUTCOME_REFUSED;
}

/* From a half to one and a half: those who failed together do not come back together. */
static double jitter(void)
{
	unsigned char random[2] = { 0, 128 };
	(void)!getentropy(random, sizeof(random));
	return 0.5 + (random[0] + 256.0 * random[1]) / 65536.0;
}

double retry_wait_s(int attempts, double retry_after_s)
{
	double wait = FIRST_WAIT_S * ldexp(1, attempts - 1);
	wait = (wait < LONGEST_WAIT_S ? wait : LONGEST_WAIT_S) * jitter();
	return retry_after_s > wait ? retry_after_s : wait;
}

void sleep_s(double seconds)
{
	struct timespec t = { (time_t)seconds, (long)((seconds - floor(seconds)) * 1e9) };
	nanosleep(&t, NULL);
}

/* Records of facts: whatever comes, a run that is handed over can be written and read again. */
#include "store/facts.h"
#include "tests/fuzz/fuzz.h"

static bool accept(void *arg, const struct run_facts *f, struct diag *err)
{
	(void)arg;
	(void)f;
	(void)err;
	return true;
}

static bool write_again(void *arg, const struct run_facts *f, struct diag *err)
{
	struct diag why;
	struct out *o = out_memory(arg);
	(void)err;
	run_facts_write(f, o);
	const struct input again = input_memory(STR("again"), out_text(o));
	if (!run_facts_read(&again, accept, NULL, &why))
		abort();
	return true;
}

static void fuzz(struct str bytes, struct arena *keep)
{
	struct diag err;
	const struct input in = input_memory(STR("fuzz"), bytes);
	run_facts_read(&in, write_again, keep, &err);
}

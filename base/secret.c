/* Names of secrets, and a process that keeps them.  See secret.h. */
#include "base/secret.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

extern char **environ;

static const struct str prefix = STR_INIT("ROOFLINT_");

bool secret_name_ok(struct str name)
{
	struct str rest = name;
	return name.len <= SECRET_NAME_MAX && str_take(&rest, prefix) && rest.len &&
	       str_only(rest, "A-Z0-9_");
}

struct str secret_value(struct str name)
{
	char z[SECRET_NAME_MAX + 1] = "";
	if (!secret_name_ok(name))
		return MISSING;
	memcpy(z, name.p, (size_t)name.len);
	const char *value = getenv(z);
	return str_from(value && *value ? value : NULL);
}

void secret_forget(void)
{
	char **kept = environ;
	for (char **at = environ; *at; at++)
		if (!str_starts(str_from(*at), prefix))
			*kept++ = *at;
	*kept = NULL;
}

void secret_seal(void)
{
	static const struct rlimit none = { 0, 0 };
	(void)!setrlimit(RLIMIT_CORE, &none);
#ifdef __linux__
	(void)!prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
}

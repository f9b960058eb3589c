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

static bool is_name_char(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool secret_name_ok(struct str name)
{
	struct str rest = name;
	if (name.len > SECRET_NAME_MAX || !str_take(&rest, prefix) || !rest.len)
		return false;
	for (ptrdiff_t i = 0; i < rest.len; i++)
		if (!is_name_char(rest.p[i]))
			return false;
	return true;
}

struct str secret_value(struct str name)
{
	char z[SECRET_NAME_MAX + 1] = "";
	if (!secret_name_ok(name))
		return str_from(NULL);
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

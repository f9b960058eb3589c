/* Training or inference.  See phase.h. */
#include "measure/phase.h"

#include "measure/subject.h"

struct str phase_word(enum phase p)
{
	static const struct str words[] = {
		[PHASE_UNKNOWN] = STR_INIT("unknown"),
		[PHASE_TRAIN] = STR_INIT("train"),
		[PHASE_INFERENCE] = STR_INIT("inference"),
	};

	return words[p];
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* "jit_train_step" has the word "train", "jit_constrained" has not. */
static bool has_word(struct str text, struct str word)
{
	ptrdiff_t at = str_find(text, word);

	return at >= 0 && (at == 0 || !is_letter(text.p[at - 1])) &&
	       (at + word.len == text.len || !is_letter(text.p[at + word.len]));
}

enum phase phase_of_name(struct str name)
{
	static const struct {
		struct str word;
		enum phase phase;
	} words[] = {
		{ STR_INIT("prefill"), PHASE_INFERENCE },
		{ STR_INIT("decode"), PHASE_INFERENCE },
		{ STR_INIT("generate"), PHASE_INFERENCE },
		{ STR_INIT("inference"), PHASE_INFERENCE },
		{ STR_INIT("train"), PHASE_TRAIN },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (has_word(name, words[i].word))
			return words[i].phase;
	return PHASE_UNKNOWN;
}

bool is_evaluation(struct str name)
{
	static const struct str words[] = { STR_INIT("eval"), STR_INIT("evaluate"),
		STR_INIT("evaluation"), STR_INIT("validate"), STR_INIT("validation") };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (has_word(name, words[i]))
			return true;
	return false;
}

enum phase program_phase(const struct program *p)
{
	if (!p)
		return PHASE_UNKNOWN;
	return p->has_gradient ? PHASE_TRAIN : phase_of_name(p->module);
}

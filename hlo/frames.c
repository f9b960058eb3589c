/*
 * Python source positions: StackFrameIndexProto of XLA's hlo.proto.
 *
 * New programs carry positions here only; an instruction names the innermost frame, frames name
 * their caller.  All ids count from 1, and 0 is none.
 */
#include "hlo/internal.h"

static const struct read_rule location_table_rules[] = {
	[1] = READ_FIELD(INT, struct frame_location, file, AS("file_name_id")),
	[2] = READ_FIELD(INT, struct frame_location, function, AS("function_name_id")),
	[3] = READ_BOTH(INT, struct frame_location, line),
};
READ_TABLE(location_table, "FileLocation");

static const struct read_rule frame_table_rules[] = {
	[1] = READ_FIELD(INT, struct frame, location, AS("file_location_id")),
	[2] = READ_FIELD(INT, struct frame, parent, AS("parent_frame_id")),
};
READ_TABLE(frame_table, "StackFrame");

static const struct read_rule frames_table_rules[] = {
	[1] = READ_FIELD(STRS, struct hlo_frames, files, AS("FileNames")),
	[2] = READ_FIELD(STRS, struct hlo_frames, functions, AS("FunctionNames")),
	[3] = READ_ELEMENTS(
		location_table, struct hlo_frames, locations, location_count, AS("FileLocations")),
	[4] = READ_ELEMENTS(frame_table, struct hlo_frames, frames, frame_count, AS("StackFrames")),
};
READ_SHARED(frames_table, "StackFrameIndexProto");

struct hlo_frames *frames_parse(struct reader *r, struct str message)
{
	struct hlo_frames *frames = arena_make(r->keep, struct hlo_frames, 1);
	return read_message(r, &frames_table, message, frames) ? frames : NULL;
}

static struct str string_at(const struct read_strs *strings, int64_t id)
{
	return id >= 1 && id <= strings->count ? strings->items[id - 1] : MISSING;
}

static const struct frame *frame_at(const struct hlo_frames *f, int64_t id)
{
	return id >= 1 && id <= f->frame_count ? &f->frames[id - 1] : NULL;
}

static struct hlo_source location_source(const struct hlo_frames *f, int64_t id)
{
	if (id < 1 || id > f->location_count)
		return (struct hlo_source){ 0 };
	const struct frame_location *l = &f->locations[id - 1];
	return (struct hlo_source){ string_at(&f->files, l->file), l->line,
		string_at(&f->functions, l->function) };
}

struct hlo_source frames_source(const struct hlo_frames *f, int64_t stack_frame)
{
	const struct frame *frame = frame_at(f, stack_frame);
	return frame ? location_source(f, frame->location) : (struct hlo_source){ 0 };
}

/* Ends at `max` even where parents form a ring. */
ptrdiff_t hlo_stack(const struct hlo_module *m, const struct hlo_instruction *i,
	struct hlo_source *ret, ptrdiff_t max)
{
	ptrdiff_t n = 0;
	const struct frame *frame = frame_at(m->frames, i->stack_frame);
	for (; frame && n < max; frame = frame_at(m->frames, frame->parent))
		ret[n++] = location_source(m->frames, frame->location);
	if (!n && max > 0 && i->source.file.len)
		ret[n++] = i->source;
	return n;
}

const struct str *hlo_files(const struct hlo_module *m, ptrdiff_t *count)
{
	*count = m->frames ? m->frames->files.count : 0;
	return *count ? m->frames->files.items : NULL;
}

/*
 * How large the job is: by its main program, by the job file, by what was seen.
 */
#include <math.h>

#include "measure/swept.h"

double host_device_planes(const struct profile *host)
{
	double n = 0;

	for (ptrdiff_t i = 0; i < host->plane_count; i++)
		n += host->planes[i].class == PLANE_DEVICE;
	return n;
}

/* Devices as the compiler counts them: a program of several slices is compiled for the devices of
 * one, unless it counts all it names. */
static double partitions_of(const struct hlo_module *h)
{
	double n = (double)h->replica_count * (double)h->partition_count;

	if (h->slice_devices <= 0 || n < (double)h->slices * (double)h->slice_devices)
		n *= (double)h->slices;
	/* No machine has this many; a hostile count must not pass for one. */
	return n > 0 && n < 1e9 ? n : 0;
}

struct run_shape run_shape_of(const struct capture *in, const struct swept *run)
{
	const struct hlo_module *h = run->main ? run->main->hlo : NULL;
	const struct chip_device *c = run->first ? &run->first->chip : NULL;
	const struct job_file *j = in->options->job;
	/*
	 * Where a chip shows as one plane or two, two planes are the halves of one JAX device, and
	 * the program is partitioned over chips; elsewhere it is over planes.
	 */
	bool by_chip = c && c->chip && c->chip->planes_per_chip == 0;
	double partitions = h ? partitions_of(h) : 0;
	double chips = partitions * (c && c->chip && !by_chip ? c->share : 1);
	double seen = 0, per_host = 0;
	struct run_shape s = { .partitions = partitions,
		.planes_per_partition = by_chip && c->share > 0 ? 1 / c->share : 1,
		.devices = j && j->devices > 0 ? j->devices
			   : partitions > 0    ? partitions
					       : NAN,
		.slices = h ? h->slices : 1 };

	for (ptrdiff_t i = 0; i < run->device_count; i++)
		if (run->devices[i].sweep.events > 0)
			seen += run->devices[i].chip.chip ? run->devices[i].chip.share : 1;
	s.chips = (int64_t)(chips >= 1 ? chips : ceil(seen));
	for (ptrdiff_t i = 0; i < in->host_count; i++) {
		/* A program of one device is one plane's, whatever stands in it. */
		s.devices_mixed |= in->hosts[i].devices_mixed && partitions != 1;
		per_host = fmax(per_host, host_device_planes(&in->hosts[i]));
	}
	/* Idle devices have planes too, so planes tell how many devices a host has. */
	double hosts = ceil(partitions * s.planes_per_partition / per_host);
	s.hosts_expected = j && j->hosts > 0					  ? j->hosts
			   : s.devices_mixed || !(partitions > 0 && per_host > 0) ? (double)NAN
										  : hosts;
	return s;
}

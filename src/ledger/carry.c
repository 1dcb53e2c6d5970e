/*
 * carry.c
 *	  What a relation has lost in datasets that it belonged to before, and that a
 *	  new one must carry on.
 *
 * Ending a dataset, or taking a relation out of it, frees no budget: what its
 * people lost by the releases is not forgotten.  Rows are also in the relation's
 * kin by partitioning and inheritance, so the former datasets of those count, too, and
 * those of a relation that had it for a partition or child when it was read;
 * and a former dataset may itself have carried others.  All of these are gathered,
 * each once, and what they spent by calls of their own is summed.  A superuser may
 * have what ended datasets spent forgotten; a live one, from which the relation was
 * taken out, still spends and can't be.  It is carried as far as its log goes now;
 * what it spends from here on is carried when another of its relations comes.
 *
 * Where budgets renew, the sum is too much if both datasets have periods and the
 * rows' times are the same to both: then each former call counts in the periods that
 * it read (view dpngram.counted).  They are the same if the relation and its kin had
 * the same column of time and the datasets the same time zone.  Else the sum counts,
 * in every period of the new dataset.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "dpngram_errcodes.h"
#include "ledger/carry.h"
#include "ledger/json.h"
#include "ledger/owner.h"
#include "ledger/relation.h"
#include "utils/lsyscache.h"

/* it would be taken for code */
/* clang-format off */

/*
 * $1 the relation, $2 a dataset that it is to belong to, or 0; $3 to $6 its time zone
 * and the relation's column of time, NULL where there are no periods: name, number
 * and type.  "met" are the datasets that ever held a relation of the kin, or one that
 * had such a relation for a child when it was read; whether by the same time; whether
 * the two have been parted since; and the last release that can have read any of its
 * rows, NULL if that may have been any.  "former" are those of them that it is not in
 * any more, "counts" those whose spending nobody has had forgotten, and "uncounted"
 * those that read its rows when it was there, later than $2 has carried them forward.
 */
#define MET \
	"WITH RECURSIVE " KIN_CTE ", " \
	"named AS (SELECT c.oid AS relid, n.nspname, c.relname FROM pg_catalog.pg_class c " \
	"JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace " \
	"WHERE c.oid IN (SELECT relid FROM kin)), " \
	"met AS (SELECT r.dataset AS id, r.detached, " \
	"coalesce(b.relid NOT IN (SELECT relid FROM kin), false) AS parted, " \
	"CASE WHEN b.relid NOT IN (SELECT relid FROM kin) THEN least(r.detached_after, (SELECT " \
	"nullif(c.until, 0) FROM ROWS FROM (pg_catalog.unnest(b.children), " \
	"pg_catalog.unnest(b.children_until)) c (relid, until) WHERE c.relid = k.relid)) " \
	"ELSE r.detached_after END AS until, " \
	"coalesce(CASE WHEN b.relation IS NULL " \
	"THEN r.time_col = $4 WHEN b.relid = $1 THEN b.time_attnum = $5 AND b.time_type = $6 " \
	"ELSE a.attname = $4::name AND b.time_type = $6 END, false) AS same_time " \
	"FROM dpngram.relation r LEFT JOIN dpngram.relation_binding b ON b.relation = r.id " \
	"JOIN named k ON b.relid = k.relid OR k.relid = ANY (b.children) OR " \
	"(b.relation IS NULL AND r.schema = k.nspname AND r.name = k.relname) " \
	"LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = b.relid AND a.attnum = b.time_attnum) "

#define FORMER \
	MET ", former AS (SELECT DISTINCT d.id FROM dpngram.dataset d JOIN met ON met.id = d.id " \
	"WHERE d.id <> $2 AND (d.ended IS NOT NULL OR met.detached IS NOT NULL OR met.parted)), " \
	"counts AS (SELECT f.id FROM former f WHERE NOT EXISTS (" \
	"SELECT FROM dpngram.carried c WHERE c.source = f.id AND c.forgotten " \
	"AND (c.dataset = $2 OR c.dataset IN (SELECT id FROM former)))), " \
	"uncounted AS (SELECT DISTINCT n.id FROM counts n JOIN met ON met.id = n.id " \
	"JOIN dpngram.release r ON r.dataset = n.id AND r.epsilon IS NOT NULL " \
	"LEFT JOIN dpngram.carried c ON c.dataset = $2 AND c.source = n.id " \
	"WHERE r.number > coalesce(c.releases, 0) AND r.number <= coalesce(met.until, r.number)) "

static const char *const sources_select =
	FORMER ", carrying (id) AS (SELECT n.id FROM counts n "
	"WHERE NOT $7 OR n.id IN (SELECT u.id FROM uncounted u) UNION "
	"SELECT c.source FROM carrying JOIN dpngram.carried c "
	"ON c.dataset = carrying.id AND NOT c.forgotten), "
	"had AS (SELECT c.source AS id, c.by_period, c.releases FROM dpngram.carried c "
	"WHERE c.dataset = $2 AND NOT c.forgotten) "
	"SELECT d.id, d.ended IS NULL, d.releases, p.by_period, s.* FROM dpngram.dataset d "
	"LEFT JOIN had h ON h.id = d.id "
	"CROSS JOIN LATERAL (SELECT coalesce(d.time_zone = $3, false) "
	"AND coalesce(h.by_period, true) AND NOT EXISTS ("
	"SELECT FROM met WHERE met.id = d.id AND NOT met.same_time) AS by_period) p "
	"CROSS JOIN LATERAL (SELECT " LANE_SUMS " FROM dpngram.release r "
	"WHERE r.dataset = d.id AND r.epsilon IS NOT NULL "
	"AND (h.id IS NULL OR h.by_period OR r.number > h.releases)) s "
	"WHERE d.id IN (SELECT id FROM carrying) AND d.id <> $2 AND (h.id IS NULL "
	"OR d.releases > h.releases OR (h.by_period AND NOT p.by_period)) ORDER BY d.id";

static const char *const uncounted_select = FORMER "SELECT u.id FROM uncounted u LIMIT 1";

/* clang-format on */

static void
arg_time_column(CatalogArgs *args, const Attachment *relation, const Renewal *renewal)
{
	bool renews = renewal->every != NULL;

	arg_text(args, renews ? renewal->zone : NULL);
	arg_text(args, renews ? relation->time_col : NULL);
	arg_int4(args, relation->time_attnum);
	arg_oid(args, renews ? get_atttype(relation->relid, relation->time_attnum) : InvalidOid);
}

static CarriedSource *
row_source(const Catalog *cat, uint64 row, bool carry_forward)
{
	CarriedSource *source = MemoryContextAlloc(cat->outer, sizeof(CarriedSource));

	source->dataset = row_int4(row, 1);
	source->releases = row_int8(row, 3);
	source->how = row_bool(row, 4) ? CARRIED_BY_PERIOD : CARRIED_SUM;
	if (!carry_forward && !row_bool(row, 2))
		source->how = CARRIED_FORGOTTEN;
	return source;
}

/* carry_sources(), or only what comes from datasets that read its rows uncounted by "has". */
static Carried
gather(const Catalog *cat, const Attachment *relation, int32 has, const Renewal *renewal,
	   bool carry_forward, bool only_new)
{
	CatalogArgs args = {0};
	Carried carried = {.spent = lanes_zero()};
	uint64 rows;

	arg_oid(&args, relation->relid);
	arg_int4(&args, has);
	arg_time_column(&args, relation, renewal);
	arg_bool(&args, only_new);
	rows = catalog_query(sources_select, &args);
	for (uint64 row = 0; row < rows; row++)
	{
		CarriedSource *source = row_source(cat, row, carry_forward);
		LaneAmounts one = row_lanes(cat, row, 5);
		MemoryContext old = MemoryContextSwitchTo(cat->outer);

		carried.sources = lappend(carried.sources, source);
		MemoryContextSwitchTo(old);
		if (source->how == CARRIED_SUM)
			carried.spent = lanes_add(&carried.spent, &one);
		if (source->how != CARRIED_FORGOTTEN && lanes_any(&one))
			carried.any = true;
	}
	return carried;
}

/*
 * What a relation lost in former datasets; what "has" (a dataset, or 0) already counts
 * is left out.  The renewal is that of the dataset it comes to.  Without carry_forward
 * only live datasets count.  Where a restore took the bindings away, names decide.
 */
Carried
carry_sources(const Catalog *cat, const Attachment *relation, int32 has, const Renewal *renewal,
			  bool carry_forward)
{
	return gather(cat, relation, has, renewal, carry_forward, false);
}

/* Notes what a dataset carries, and what a superuser had forgotten. */
void
carry_record(int32 dataset, const Carried *carried)
{
	ListCell *cell;

	foreach (cell, carried->sources)
	{
		const CarriedSource *source = lfirst(cell);
		CatalogArgs args = {0};

		arg_int4(&args, dataset);
		arg_int4(&args, source->dataset);
		arg_bool(&args, source->how == CARRIED_FORGOTTEN);
		arg_bool(&args, source->how == CARRIED_BY_PERIOD);
		arg_int8(&args, source->releases);
		catalog_change("INSERT INTO dpngram.carried "
					   "(dataset, source, forgotten, by_period, releases) "
					   "VALUES ($1, $2, $3, $4, $5) ON CONFLICT (dataset, source) "
					   "DO UPDATE SET forgotten = $3, by_period = $4, releases = $5",
					   &args);
	}
}

/* The sources, for the log of the owner's acts. */
void
carry_json(StringInfo json, const Carried *carried)
{
	static const char *const keys[] = {
		[CARRIED_SUM] = "carried_from",
		[CARRIED_BY_PERIOD] = "carried_by_period",
		[CARRIED_FORGOTTEN] = "forgotten",
	};

	for (int how = 0; how < (int) lengthof(keys); how++)
	{
		List *ids = NIL;
		ListCell *cell;

		foreach (cell, carried->sources)
		{
			const CarriedSource *source = lfirst(cell);

			if ((int) source->how == how)
				ids = lappend_int(ids, source->dataset);
		}
		json_sources(json, keys[how], ids);
	}
}

/*
 * Refuses a relation that was in this very dataset by another column of time: its
 * rows would be in other periods now, and lose their budget there a second time.
 */
void
carry_refuse_other_time(const Dataset *dataset, const Attachment *relation)
{
	CatalogArgs args = {0};

	if (dataset->renewal.every == NULL)
		return;
	arg_oid(&args, relation->relid);
	arg_int4(&args, dataset->id);
	arg_time_column(&args, relation, &dataset->renewal);
	if (catalog_query(MET "SELECT $3 FROM met WHERE met.id = $2 AND NOT met.same_time LIMIT 1",
					  &args) > 0)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("the relation was in dataset \"%s\" with another column of time",
						dataset->name),
				 errhint("Use that column, or protect the relation by itself.")));
}

/*
 * Did rows of a former dataset come to a relation by inheritance or partitioning after
 * it was put under its own, so that what was spent on them is not counted?  As a
 * sentence; NULL if not.
 */
const char *
carry_newcomers(const Dataset *dataset, Oid relid)
{
	const Attachment relation = {.relid = relid};
	const Renewal renewal = {0};
	CatalogArgs args = {0};

	if (!relation_has_kin(relid))
		return NULL;
	arg_oid(&args, relid);
	arg_int4(&args, dataset->id);
	arg_time_column(&args, &relation, &renewal);
	if (catalog_query(uncounted_select, &args) == 0)
		return NULL;
	return "Rows that were protected before came to it by inheritance or partitioning.";
}

/*
 * Has a dataset count what its relations lost elsewhere and it does not know of yet:
 * what came to them since, or to the relations that it was bound to anew.
 */
Carried
carry_catch_up(const Catalog *cat, const Dataset *dataset)
{
	Carried all = {.spent = lanes_zero()};
	ListCell *cell;

	foreach (cell, dataset->relations)
	{
		const Binding *binding = &((DatasetRelation *) lfirst(cell))->binding;
		Attachment relation = {.relid = binding->relid, .time_attnum = binding->time_attnum};
		Carried one;

		if (relation.time_attnum != 0)
			relation.time_col = get_attname(relation.relid, relation.time_attnum, false);
		one = gather(cat, &relation, dataset->id, &dataset->renewal, true, true);
		if (!one.any)
			continue;
		carry_record(dataset->id, &one);
		all.sources = list_concat(all.sources, one.sources);
		all.spent = lanes_add(&all.spent, &one.spent);
		all.any = true;
	}
	return all;
}

static void
refuse(const Dataset *dataset, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_DP_BUDGET_EXHAUSTED),
			 errmsg("privacy budget of dataset \"%s\" is exhausted", dataset->name),
			 errdetail_internal("%s", detail),
			 errhint("Raise the budget by dp_set_budget, or protect the relation by itself.")));
}

/*
 * The most that calls have cost any one moment's rows, in each lane by itself: a
 * running sum over the bounds of what they read.
 */
static const char *const peak_select =
	"SELECT max(mu2), max(eps_pure), max(delta_add), max(rho), max(rho_delta), "
	"max(basic_epsilon), max(basic_delta) FROM ("
	"SELECT sum(mu2) OVER w AS mu2, sum(eps_pure) OVER w AS eps_pure, "
	"sum(delta_add) OVER w AS delta_add, sum(rho) OVER w AS rho, "
	"sum(rho_delta) OVER w AS rho_delta, sum(basic_epsilon) OVER w AS basic_epsilon, "
	"sum(basic_delta) OVER w AS basic_delta FROM ("
	"SELECT period_from AS at, mu2, eps_pure, delta_add, rho, rho_delta, basic_epsilon, "
	"basic_delta FROM dpngram.counted WHERE dataset = $1 AND period_from IS NOT NULL UNION ALL "
	"SELECT period_to, -mu2, -eps_pure, -delta_add, -rho, -rho_delta, -basic_epsilon, "
	"-basic_delta FROM dpngram.counted WHERE dataset = $1 AND period_from IS NOT NULL) bound "
	"WINDOW w AS (ORDER BY at)) moment";

/*
 * Refuses a dataset with periods if what it counts now is more than its caps in any
 * of them; to be asked when all is written.
 */
static void
refuse_overdrawn_period(const Catalog *cat, const Dataset *dataset)
{
	CatalogArgs args = {0};
	LaneAmounts zero = lanes_zero();
	LaneAmounts peak;
	int lane;

	arg_int4(&args, dataset->id);
	catalog_query(peak_select, &args);
	if (row_isnull(0, 1))
		return;
	peak = row_lanes(cat, 0, 1);
	lane = accounting_short(dataset->budget.accounting, &peak, &zero, &dataset->cap);
	if (lane >= 0)
		refuse(dataset, psprintf("With what the relation's former dataset spent, one period has "
								 "spent %s of lane %s; its cap is %s.",
								 lane_text(peak.lane[lane]), lane_names[lane],
								 lane_text(dataset->cap.lane[lane])));
}

/*
 * Refuses a dataset that what it carries overdraws; to be asked when all is written.
 * "dataset" is as it was before.
 */
void
carry_refuse_overdraft(const Catalog *cat, const Dataset *dataset, const Carried *carried)
{
	int lane;

	if (!carried->any)
		return;
	if (dataset->renewal.every != NULL)
	{
		refuse_overdrawn_period(cat, dataset);
		return;
	}
	lane = accounting_short(dataset->budget.accounting, &carried->spent, &dataset->spent,
							&dataset->cap);
	if (lane >= 0)
		refuse(dataset, psprintf("The relation's former dataset spent %s of lane %s; %s remains.",
								 lane_text(carried->spent.lane[lane]), lane_names[lane],
								 lane_text(lane_remaining(dataset->spent.lane[lane],
														  dataset->cap.lane[lane]))));
}

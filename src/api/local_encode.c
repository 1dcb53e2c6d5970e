/*
 * local_encode.c
 *	  The SQL function ldp_encode(): a client's half of a collection under local
 *	  differential privacy.
 *
 * The term goes in, a report comes out, and nothing else of the term is left: nothing
 * is written, no message names it, and an error of this function doesn't take the
 * statement into the log.  That the statement is written nowhere else (log_statement,
 * pg_stat_statements) is the part of who calls it; doc/local.md tells how.
 *
 * A client that is asked in several rounds keeps its place by its secret, from which the
 * place is derived.
 */
#include "postgres.h"

#include "common/hmac.h"
#include "common/sha2.h"
#include "fmgr.h"
#include "libpq/pqformat.h"
#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

#include "api/checks.h"
#include "api/local_plan.h"
#include "common/dp_sample.h"
#include "compat.h"
#include "dpngram_errcodes.h"
#include "ledger/json.h"
#include "ngram/noise.h"

#define FILTER_FORMAT "%016llx"

PG_FUNCTION_INFO_V1(dpngram_ldp_encode);

/* The round of the last call, which the next one mostly has, too; all in its context. */
typedef struct EncodeCache
{
	MemoryContext context;
	Jsonb *json;
	PublishedRound *round;
	ClientPlan *plan;
} EncodeCache;

/* A client, for one report. */
typedef struct Client
{
	const PublishedRound *round;
	const ClientPlan *plan;
	int64 place;
	LocalTerm term;
	const uint8 *secret; /* NULL: none */
	int secret_length;
	DpRandom *rng;
} Client;

/* ---- arguments ---- */

static EncodeCache *
cached_round(FunctionCallInfo fcinfo, Jsonb *json)
{
	EncodeCache *cache = fcinfo->flinfo->fn_extra;
	MemoryContext context;
	MemoryContext old;

	if (cache != NULL && VARSIZE(json) == VARSIZE(cache->json) &&
		memcmp(json, cache->json, VARSIZE(json)) == 0)
		return cache;
	fcinfo->flinfo->fn_extra = NULL;
	if (cache != NULL)
		MemoryContextDelete(cache->context);
	context = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt, "dpngram round",
									ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	cache = palloc0(sizeof(EncodeCache));
	cache->context = context;
	cache->json = DatumGetJsonbPCopy(JsonbPGetDatum(json));
	cache->round = round_parse(cache->json);
	cache->plan = client_plan(cache->round);
	MemoryContextSwitchTo(old);
	fcinfo->flinfo->fn_extra = cache;
	return cache;
}

/* A round's nodes may be many; most clients are not asked about them. */
static void
read_nodes(EncodeCache *cache)
{
	MemoryContext old = MemoryContextSwitchTo(cache->context);

	round_read_nodes(cache->round);
	MemoryContextSwitchTo(old);
}

/* What the client agrees to is what the round asks for; errors: NG005. */
static void
check_consent(FunctionCallInfo fcinfo, const PublishedRound *round)
{
	LocalMethod method = local_method_argument(fcinfo, 0);
	double epsilon = local_epsilon_argument(fcinfo, 2);

	if (method != round->method || epsilon != round->query.epsilon)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("the round is of another method or epsilon than the client's"),
				 errdetail("The round is of method %s with epsilon %g.",
						   local_method_name(round->method), round->query.epsilon)));
}

static void
secret_argument(FunctionCallInfo fcinfo, int n, Client *client)
{
	if (!PG_ARGISNULL(n))
	{
		bytea *secret = PG_GETARG_BYTEA_PP(n);

		client->secret = (const uint8 *) VARDATA_ANY(secret);
		client->secret_length = (int) VARSIZE_ANY_EXHDR(secret);
		if (client->secret_length < 16)
			bad_argument("secret", "at least 16 bytes long");
	}
	else if (client->round->method == LOCAL_PRIVTRIE || client->round->lifetime != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("a client that is asked repeatedly needs a secret"),
				 errhint("Give 32 random bytes of its own, always the same ones.")));
}

/* ---- what the secret decides ---- */

/* HMAC-SHA-256 of a message under the client's secret. */
static void
secret_digest(const Client *client, const StringInfo message, uint8 *digest)
{
	pg_hmac_ctx *hmac = pg_hmac_create(PG_SHA256);

	if (hmac == NULL || pg_hmac_init(hmac, client->secret, client->secret_length) < 0 ||
		pg_hmac_update(hmac, (const uint8 *) message->data, message->len) < 0 ||
		pg_hmac_final(hmac, digest, PG_SHA256_DIGEST_LENGTH) < 0)
		noise_failure();
	pg_hmac_free(hmac);
}

/* The place: by lot, or by the secret, from a fixed text, of which the first bits are taken. */
static int64
client_place(const Client *client)
{
	uint8 digest[PG_SHA256_DIGEST_LENGTH];
	StringInfoData message;
	uint64 word;

	if (client->secret == NULL)
		return (int64) dp_uniform(client->rng, LOCAL_TICKETS);
	initStringInfo(&message);
	appendStringInfoString(&message, "dpngram place");
	secret_digest(client, &message, digest);
	memcpy(&word, digest, sizeof(word));
	return (int64) (pg_ntoh64(word) % LOCAL_TICKETS);
}

/*
 * The secret of permanent bits, one for each alphabet and length.  These decide what symbols
 * a term is made of, or that it has none.  With one secret for all of them, two collections
 * would share a client's permanent bits if they see the same symbols of its term, and else
 * not: to see which would tell more about the term than both lifetimes together allow.
 */
static void
permanent_secret(const Client *client, uint8 *secret)
{
	const Alphabet *alphabet = client->round->alphabet;
	StringInfoData message;

	initStringInfo(&message);
	appendStringInfoString(&message, "dpngram permanent bits");
	pq_sendint32(&message, client->round->query.max_length);
	for (int i = 0; i < alphabet->size; i++)
		pq_sendint32(&message, alphabet->character[i]);
	secret_digest(client, &message, secret);
}

/* ---- reports ---- */

static void
encode_hashed(StringInfo json, const LocalReport *report)
{
	json_raw(json, "seed", psprintf(UINT64_FORMAT, report->seed));
	json_number(json, "value", report->value);
}

static void
encode_filters(StringInfo json, const Client *client)
{
	RapporReport report;
	uint8 secret[PG_SHA256_DIGEST_LENGTH] = {0};

	if (client->round->lifetime != 0)
		permanent_secret(client, secret);
	if (rappor_client(&client->plan->rappor, client->place, &client->term, secret,
					  sizeof(secret), client->rng, &report) != DP_OK)
		noise_failure();
	explicit_bzero(secret, sizeof(secret));
	json_raw(json, "bits",
			 psprintf("[\"" FILTER_FORMAT "\", \"" FILTER_FORMAT "\", \"" FILTER_FORMAT "\"]",
					  (unsigned long long) report.bits[0], (unsigned long long) report.bits[1],
					  (unsigned long long) report.bits[2]));
}

static void
encode_bits(StringInfo json, const Client *client)
{
	const Round *round = &client->round->asks;
	char *bits = palloc(round->n + 1);

	round_answer(round, &client->plan->oracle, &client->term, client->rng, bits);
	json_text(json, "bits", bits);
}

/* Is the client at this place one of those that the round asks? */
static bool
is_asked(const Client *client)
{
	const Round *round = &client->round->asks;

	return client->place >= round->from && client->place < round->to;
}

/* The report, JSON. */
static char *
encode(const Client *client)
{
	StringInfoData json;
	LocalReport report;

	json_begin(&json);
	json_number(&json, "round", client->round->number);
	json_number(&json, "place", client->place);
	switch (client->round->method)
	{
		case LOCAL_PRIVTRIE:
			encode_bits(&json, client);
			break;
		case LOCAL_PEM:
			report = pem_report(&client->plan->pem, client->place, &client->term, client->rng);
			encode_hashed(&json, &report);
			break;
		case LOCAL_TREEHIST:
			report = treehist_report(&client->plan->treehist, client->place, &client->term,
									 client->rng);
			encode_hashed(&json, &report);
			break;
		default:
			encode_filters(&json, client);
			break;
	}
	return json_end(&json);
}

static Datum
encode_call(FunctionCallInfo fcinfo)
{
	EncodeCache *cache = cached_round(fcinfo, DatumGetJsonbP(required(fcinfo, 3, "round")));
	uint16 symbol[TERM_MAX_LENGTH];
	DpRandom rng;
	Client client = {.round = cache->round,
					 .plan = cache->plan,
					 .term = {0, symbol},
					 .rng = &rng};
	char *report;

	check_consent(fcinfo, client.round);
	secret_argument(fcinfo, 4, &client);
	if (!PG_ARGISNULL(1))
	{
		text *term = PG_GETARG_TEXT_PP(1);

		client.term.length = alphabet_encode(cache->round->alphabet, VARDATA_ANY(term),
											 (int) VARSIZE_ANY_EXHDR(term), symbol);
	}
	dp_random_system(&rng, noise_failure);
	client.place = client_place(&client);
	if (!is_asked(&client))
		PG_RETURN_NULL();
	read_nodes(cache);
	report = encode(&client);
	dp_random_clear(&rng);
	PG_RETURN_DATUM(DirectFunctionCall1(jsonb_in, CStringGetDatum(report)));
}

/*
 * ldp_encode(method, term, epsilon, round, secret): a report of the term, which is
 * epsilon-differentially private, as JSON; NULL where the round doesn't ask this client.
 * A term that can't be reported, NULL among them, makes a report as any other.  Errors:
 * NG005.
 */
Datum
dpngram_ldp_encode(PG_FUNCTION_ARGS)
{
	return call_discreetly(encode_call, fcinfo);
}

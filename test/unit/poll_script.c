/*
 * poll_script.c
 *	  A poll in which one user gives every possible sequence of answers in turn, and the
 *	  audit that adds up how likely each is, whatever that user has.
 *
 * A method is a deterministic function of the answers it gets.  The other users' answers
 * are fixed; the one user, the target, answers by a script, and what it is asked next
 * depends on what it has answered.  So the sequences form a tree.  It is walked depth
 * first: the method runs once for each leaf, from the start; answers beyond the fixed
 * ones are 0, and then the last answer that can be raised is raised.
 *
 * For each term that the target might have, the likelihood of a sequence is the product
 * of its answers' probabilities.  Over all sequences they must add up to 1, which shows
 * that none was left out.  A method is epsilon-private for the target if and only if no
 * sequence is more than e^epsilon times as likely under one term as under another, at
 * every place and for all answers of the other users.  Of the latter there are too many;
 * patterns stand for them.  Questions that are answered alike under all the terms change
 * no quotient; their answers come from the pattern, too, which leaves small trees.
 */
#include "poll_script.h"

#include <math.h>

/* Rounding of a product of SCRIPT_ANSWERS factors, and of a sum of a million. */
#define ROUNDING 1e-9L

/* So many seeds stand for all; to each of them the bound must apply. */
#define SCRIPT_SEEDS 4

/* So many sequences at a place, and no more: a method that asks so much has failed. */
#define MAX_SEQUENCES 100000

/* Of the other users' answers, besides all yes, all no, and none. */
#define MIXTURES 5

/* ---- the script ---- */

/* The target's next answer, one of so many. */
static int
next_answer(PollScript *script, int radix)
{
	int at = script->answers;

	if (at == SCRIPT_ANSWERS)
		abort();
	if (at >= script->fixed)
		script->digit[at] = 0;
	script->radix[at] = radix;
	script->answers++;
	return script->digit[at];
}

static void
begin_sequence(PollScript *script)
{
	script->answers = 0;
	for (int i = 0; i < script->terms; i++)
		script->likelihood[i] = 1;
}

/* The next sequence; false: there is none. */
static bool
next_sequence(PollScript *script)
{
	int last = script->answers - 1;

	while (last >= 0 && script->digit[last] == script->radix[last] - 1)
		last--;
	if (last < 0)
		return false;
	script->digit[last]++;
	script->fixed = last + 1;
	return true;
}

static long double
probability(uint64 units)
{
	return (long double) units / (long double) ORACLE_ONE;
}

/* The pattern: does a user's answer support what was asked?  what: a number of it. */
static bool
other_supports(const PollScript *script, int64 place, uint64 what)
{
	if (script->others < OTHERS_MIXED)
		return script->others == OTHERS_YES;
	return dp_mix64(dp_mix64(script->others, place), what) % 2 == 0;
}

/* The target answers with a bit: of each term, is it true?  what: a number of the question. */
static bool
answer_bit(PollScript *script, const Oracle *oracle, const bool *truth, uint64 what)
{
	bool differs = false;
	bool bit;

	for (int i = 1; i < script->terms; i++)
		differs = differs || truth[i] != truth[0];
	if (!differs)
		return other_supports(script, script->target, what);
	bit = next_answer(script, 2) == 1;
	for (int i = 0; i < script->terms; i++)
	{
		long double one = probability(truth[i] ? oracle->yes : oracle->no);

		script->likelihood[i] *= bit ? one : 1 - one;
	}
	return bit;
}

/* The target answers with a value: of each term, which is true?  values: none. */
static uint32
answer_value(PollScript *script, const Oracle *oracle, const uint32 *truth)
{
	uint32 value = next_answer(script, oracle->values);
	long double keep = probability(oracle->keep);

	for (int i = 0; i < script->terms; i++)
	{
		if (truth[i] == oracle->values)
			script->likelihood[i] /= oracle->values;
		else
			script->likelihood[i] *= value == truth[i] ? keep : (1 - keep) / (oracle->values - 1);
	}
	return value;
}

/* ---- the poll ---- */

/* The number of so many symbols, padded with ends; what users hash. */
static uint64
item_of(const uint16 *symbol, int n, int depth)
{
	uint16 padded[TERM_MAX_LENGTH + 1];

	for (int i = 0; i < depth; i++)
		padded[i] = i < n ? symbol[i] : SYMBOL_END;
	return oracle_item(padded, depth);
}

static uint64
item_of_node(const Trie *trie, int32 node, int depth)
{
	uint16 symbol[TERM_MAX_LENGTH + 1];

	return item_of(symbol, trie_prefix(trie, node, symbol), depth);
}

static void
ask_by_bits(PollScript *script, const Trie *trie, const int32 *nodes, int n,
			const Oracle *oracle, const uint64 *what, int64 *supported)
{
	bool truth[SCRIPT_TERMS];

	for (int i = 0; i < n; i++)
	{
		for (int t = 0; t < script->terms; t++)
			truth[t] = trie_holds(trie, nodes[i], &script->term[t]);
		supported[i] += answer_bit(script, oracle, truth, what[i]);
	}
}

static void
ask_by_hash(PollScript *script, const Trie *trie, const int32 *nodes, int n,
			const Oracle *oracle, int64 *supported)
{
	uint64 seed = next_answer(script, SCRIPT_SEEDS);
	uint32 truth[SCRIPT_TERMS];
	uint32 value;
	int depth = 0;

	for (int i = 0; i < n; i++)
		depth = Max(depth, trie->node[nodes[i]].depth);
	for (int t = 0; t < script->terms; t++)
	{
		LocalTerm term = script->term[t];

		script->likelihood[t] /= SCRIPT_SEEDS;
		truth[t] = oracle->values;
		if (term.length > 0)
			truth[t] = oracle_hash_value(oracle, seed, item_of(term.symbol, term.length, depth));
	}
	value = answer_value(script, oracle, truth);
	for (int i = 0; i < n; i++)
		supported[i] +=
			oracle_hash_value(oracle, seed, item_of_node(trie, nodes[i], depth)) == value;
}

/* The other users' answers, and whether the target is among those asked. */
static int64
ask_others(const PollScript *script, const uint64 *what, int n, int64 from, int64 to,
		   int64 *supported, bool *target)
{
	int64 answered = 0;

	if (from < 0 || to > script->poll.users)
		abort();
	memset(supported, 0, n * sizeof(int64));
	*target = from <= script->target && script->target < to;
	for (int64 place = from; place < to; place++)
	{
		if (place == script->target || script->others == OTHERS_ABSENT)
			continue;
		answered++;
		for (int i = 0; i < n; i++)
			supported[i] += other_supports(script, place, what[i]);
	}
	return answered + *target;
}

static int64
ask(void *state, const Trie *trie, const int32 *nodes, int n, int64 from, int64 to,
	const Oracle *oracle, int64 *supported)
{
	PollScript *script = state;
	uint64 *what = palloc(Max(n, 1) * sizeof(uint64));
	bool target;
	int64 answered;

	for (int i = 0; i < n; i++)
		what[i] = item_of_node(trie, nodes[i], trie->node[nodes[i]].depth);
	answered = ask_others(script, what, n, from, to, supported, &target);
	if (target && oracle->kind == ORACLE_BITS_OF_NODES)
		ask_by_bits(script, trie, nodes, n, oracle, what, supported);
	else if (target && oracle->kind == ORACLE_HASH)
		ask_by_hash(script, trie, nodes, n, oracle, supported);
	else if (target)
		abort();
	pfree(what);
	return answered;
}

static int64
ask_lengths(void *state, int n, int64 from, int64 to, const Oracle *oracle, int64 *supported)
{
	PollScript *script = state;
	uint64 *what = palloc(n * sizeof(uint64));
	bool target;
	bool truth[SCRIPT_TERMS];
	int64 answered;

	for (int i = 0; i < n; i++)
		what[i] = i;
	answered = ask_others(script, what, n, from, to, supported, &target);
	for (int i = 0; target && i < n; i++)
	{
		for (int t = 0; t < script->terms; t++)
			truth[t] = script->term[t].length == i + 1;
		supported[i] += answer_bit(script, oracle, truth, what[i]);
	}
	pfree(what);
	return answered;
}

/* ---- the audit ---- */

static void
init_script(PollScript *script, int64 users, const char *const *words, int terms)
{
	*script = (PollScript){.poll = {users, script, ask, ask_lengths, NULL}, .terms = terms};
	if (terms > SCRIPT_TERMS)
		abort();
	for (int t = 0; t < terms; t++)
	{
		int length = strlen(words[t]);
		uint16 *symbol = palloc(Max(length, 1) * sizeof(uint16));

		for (int i = 0; i < length; i++)
			symbol[i] = words[t][i] - 'a' + 1;
		script->term[t] = (LocalTerm){length, symbol};
	}
}

/* All sequences at one place, with the others as they are. */
static void
audit_place(PollScript *script, ScriptMethod method, const void *query, ScriptAudit *audit)
{
	long double total[SCRIPT_TERMS] = {0};
	int64 last = audit->runs + MAX_SEQUENCES;

	script->fixed = 0;
	do
	{
		long double least = 1;
		long double most = 0;

		begin_sequence(script);
		if (!method(query, &script->poll) || audit->runs == last)
			audit->failed = true;
		for (int t = 0; t < script->terms; t++)
		{
			total[t] += script->likelihood[t];
			least = Min(least, script->likelihood[t]);
			most = Max(most, script->likelihood[t]);
		}
		audit->worst = Max(audit->worst, most / least);
		audit->runs++;
	} while (next_sequence(script) && !audit->failed);
	for (int t = 0; t < script->terms; t++)
		audit->incomplete = Max(audit->incomplete, fabsl(total[t] - 1));
}

/*
 * Every place, every kind of other users, every sequence of answers.  words: what the
 * target may have, of letters a, b, ...; "" is no term.
 */
ScriptAudit
script_audit(ScriptMethod method, const void *query, int64 users, const char *const *words,
			 int terms)
{
	PollScript script;
	ScriptAudit audit = {0};

	init_script(&script, users, words, terms);
	for (script.target = 0; script.target < users; script.target++)
		for (int others = 0; others < OTHERS_MIXED + MIXTURES && !audit.failed; others++)
		{
			script.others = others;
			audit_place(&script, method, query, &audit);
		}
	for (int t = 0; t < terms; t++)
		pfree((void *) script.term[t].symbol);
	return audit;
}

/* Was nothing left out, and is no sequence more than e^epsilon times likelier? */
bool
script_private(const ScriptAudit *audit, double epsilon)
{
	return !audit->failed && audit->incomplete <= ROUNDING &&
		   audit->worst <= expl((long double) epsilon) * (1 + ROUNDING);
}

/* The least epsilon for which that holds of the likelihoods. */
double
script_spent(const ScriptAudit *audit)
{
	return (double) logl(audit->worst);
}

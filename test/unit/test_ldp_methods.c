/*
 * test_ldp_methods.c
 *	  Is every method epsilon-private?  One user's answers take all values in turn, at
 *	  every place, and are weighed by how likely they are under every term.
 */
#include "poll_script.h"

#include "printed_trie.h"
#include "results.h"
#include "tap.h"

/* Epsilon is spent where what is measured is so near to it: a noise too large would show. */
#define NEAR 1e-6

/* A set of terms, of which the user has one. */
typedef struct Words
{
	int n;
	const char *const *word;
} Words;

#define WORDS(...)                                                            \
	{                                                                         \
		lengthof(((const char *const[]){__VA_ARGS__})), (const char *const[]) \
		{                                                                     \
			__VA_ARGS__                                                       \
		}                                                                     \
	}

/* One letter, up to 3 of them: nothing, all terms, and one that is longer. */
static const Words one_letter = WORDS("", "a", "aa", "aaa", "aaaa");

/* Two letters, up to 2 of them. */
static const Words two_letters[] = {
	WORDS("", "a", "b"),
	WORDS("", "a", "bb", "aab"),
	WORDS("", "aa", "ab", "ba", "bbb"),
	WORDS("a", "b", "aa", "bba"),
	WORDS("a", "ab", "aba"),
};

static ScriptAudit
audit_words(ScriptMethod method, const void *query, int64 users, const Words *words)
{
	return script_audit(method, query, users, words->word, words->n);
}

/* The sets one after the other. */
static ScriptAudit
audit_sets(ScriptMethod method, const void *query, int64 users, const Words *words, int n)
{
	ScriptAudit all = {0};

	for (int i = 0; i < n; i++)
	{
		ScriptAudit audit = audit_words(method, query, users, &words[i]);

		all.runs += audit.runs;
		all.worst = Max(all.worst, audit.worst);
		all.incomplete = Max(all.incomplete, audit.incomplete);
		all.failed = all.failed || audit.failed;
	}
	return all;
}

static void
report(const char *name, const ScriptAudit *audit, double epsilon)
{
	printf("# %s: %lld sequences, the worst quotient is e^%.9f, the bound e^%g\n", name,
		   (long long) audit->runs, script_spent(audit), epsilon);
}

/* ---- the paper's Algorithm 4 ---- */

/* As printed each node of a path costs epsilon; corrected, all of them together do. */
static void
test_printed(int length)
{
	PrintedQuery query = {1, .eta = 0.01, .alphabet = 2, .max_length = length, .batch = 2};
	int chain = length + 1;
	ScriptAudit audit = audit_sets(printed_trie_run, &query, 4, two_letters,
								   lengthof(two_letters));

	report("as printed", &audit, query.epsilon);
	ok(!script_private(&audit, query.epsilon) && script_private(&audit, chain * query.epsilon) &&
		   script_spent(&audit) > chain * query.epsilon - NEAR,
	   "Algorithm 4 as printed costs epsilon for each of %d nodes of a path", chain);
	query.remove_first = true;
	audit = audit_sets(printed_trie_run, &query, 4, two_letters, lengthof(two_letters));
	report("corrected", &audit, query.epsilon);
	ok(script_private(&audit, query.epsilon) && script_spent(&audit) > query.epsilon - NEAR,
	   "with the batch removed before the decision it costs epsilon");
}

/* ---- the methods ---- */

typedef struct Audited
{
	const char *name;
	LocalMethod method;
	int64 users;
	LocalQuery query;
	const Words *words;
	int sets;
	double spent; /* of epsilon, in the worst case */
} Audited;

static bool
run_method(const void *query, const Poll *poll)
{
	const Audited *audited = query;
	LocalResult result;

	if (local_run(audited->method, &audited->query, poll, NULL, &result) != DP_OK)
		return false;
	results_free(&result);
	return true;
}

/* A prefix passes as soon as more answers support it than nobody's would get on average. */
#define EASY(e, letters, length)                                       \
	{                                                                  \
		.epsilon = (e), .alphabet = (letters), .max_length = (length), \
		.k = 3, .eta = 0.01, .frontier = LOCAL_FRONTIER                \
	}

/* By our own rule, which few users can pass where epsilon is large; estimates consistent. */
#define OURS(e, letters, length)                                       \
	{                                                                  \
		.epsilon = (e), .alphabet = (letters), .max_length = (length), \
		.k = 3, .consistency = true, .frontier = LOCAL_FRONTIER        \
	}

#define TWO_LETTERS two_letters, lengthof(two_letters)
#define ONE_LETTER &one_letter, 1

/*
 * Users: so many that each group of a method has some.  PrivTrie asks about several depths
 * at once where the alphabet is small, so 31 letters, of which the terms use two.
 *
 * BSL's worst case is less than epsilon: of two terms of one length neither is told from
 * the other by the length (a tenth of epsilon), and of two lengths one term is not asked
 * about at the last depth.
 */
static const Audited all_audited[] = {
	{"privtrie, one letter", LOCAL_PRIVTRIE, 6, EASY(1, 1, 3), ONE_LETTER, 1},
	{"privtrie, two letters", LOCAL_PRIVTRIE, 6, EASY(1, 2, 2), TWO_LETTERS, 1},
	{"privtrie, many letters", LOCAL_PRIVTRIE, 6, EASY(1, 31, 2), TWO_LETTERS, 1},
	{"privtrie, our rule", LOCAL_PRIVTRIE, 8, OURS(4, 31, 2), TWO_LETTERS, 1},
	{"privtrie, little privacy", LOCAL_PRIVTRIE, 4, OURS(12, 31, 2), TWO_LETTERS, 1},
	{"ibsl, one letter", LOCAL_IBSL, 12, EASY(1, 1, 3), ONE_LETTER, 1},
	{"ibsl, two letters", LOCAL_IBSL, 12, EASY(0.5, 2, 2), TWO_LETTERS, 1},
	{"ibsl, our rule", LOCAL_IBSL, 20, OURS(4, 2, 2), TWO_LETTERS, 1},
	{"bsl, one letter", LOCAL_BSL, 2, EASY(1, 1, 3), ONE_LETTER, 0.65},
	{"bsl, two letters", LOCAL_BSL, 2, EASY(1, 2, 2), TWO_LETTERS, 0.9},
	{"bsl, our rule", LOCAL_BSL, 2, OURS(12, 2, 2), TWO_LETTERS, 0.9},
	{"pem, one letter", LOCAL_PEM, 12, EASY(1, 1, 3), ONE_LETTER, 1},
	{"pem, two letters", LOCAL_PEM, 12, EASY(0.5, 2, 2), TWO_LETTERS, 1},
	{"pem, longer terms", LOCAL_PEM, 11, OURS(3, 2, 3), TWO_LETTERS, 1},
};

static void
test_method(const Audited *audited)
{
	double epsilon = audited->query.epsilon;
	ScriptAudit audit = audit_sets(run_method, audited, audited->users, audited->words,
								   audited->sets);

	report(audited->name, &audit, epsilon);
	ok(script_private(&audit, epsilon), "%s: no answers tell more than epsilon", audited->name);
	ok(script_spent(&audit) > audited->spent * epsilon - NEAR,
	   "%s: some tell %g of it", audited->name, audited->spent);
}

int
main(void)
{
	test_printed(1);
	test_printed(2);
	for (int i = 0; i < (int) lengthof(all_audited); i++)
		test_method(&all_audited[i]);
	return tap_done();
}

/*
 * test_methods.c
 *	  Every method by its name, among users who answer one by one.
 */
#include "estimates.h"

static DpRandom rng;

static const PollWord words[] = {
	{"ab", 6000},
	{"c", 5000},
	{"bac", 4000},
	{"ca", 300},
	{"bacacabac", 200},
	{"", 500},
};
#define SOUGHT 3

static void
test_method(const char *name, LocalMethod method)
{
	LocalQuery query = {.epsilon = 6,
						.k = SOUGHT,
						.alphabet = 3,
						.max_length = 12,
						.frontier = LOCAL_FRONTIER};
	PollEach each;
	LocalResult result;
	bool found;

	poll_each_init(&each, words, lengthof(words), &rng);
	poll_each_shuffle(&each);
	found = local_run(method, &query, &each.poll, &rng, &result) == DP_OK && result.n == SOUGHT;
	for (int i = 0; found && i < SOUGHT; i++)
	{
		const LocalFound *term = found_word(&result, words[i].word);

		found = term != NULL && fabs(term->estimate - words[i].users) < 6 * term->stddev;
	}
	ok(found, "%s finds the most frequent terms", name);
	free_result(&result);
	poll_each_free(&each);
}

/* Those who were asked about the length are not asked about prefixes. */
static void
test_length_group(void)
{
	LocalQuery query = {.epsilon = 6,
						.k = SOUGHT,
						.alphabet = 3,
						.max_length = 12,
						.frontier = LOCAL_FRONTIER};
	PollEach each;
	LocalResult result;
	bool apart = true;
	int64 share;

	poll_each_init(&each, words, lengthof(words), &rng);
	poll_each_shuffle(&each);
	each.recording = true;
	share = each.poll.users / 10;
	if (local_run(LOCAL_PEM, &query, &each.poll, &rng, &result) != DP_OK)
		result = (LocalResult){0};
	for (int i = 0; i < each.n_asked; i++)
	{
		const PollAsked *asked = &each.asked[i];

		apart &= asked->node == POLL_LENGTHS ? asked->to <= share : asked->from >= share;
	}
	ok(apart && each.n_asked > 0 && each.asked[0].node == POLL_LENGTHS &&
		   each.asked[each.n_asked - 1].to == each.poll.users,
	   "pem asks some users about the length, and the others about prefixes");
	free_result(&result);
	poll_each_free(&each);
}

int
main(void)
{
	dp_random_seeded(&rng, 20251121, 0, 0);
	test_method("privtrie", LOCAL_PRIVTRIE);
	test_method("ibsl", LOCAL_IBSL);
	test_method("bsl", LOCAL_BSL);
	test_method("pem", LOCAL_PEM);
	test_method("treehist", LOCAL_TREEHIST);
	test_method("rappor", LOCAL_RAPPOR);
	test_length_group();
	return tap_done();
}

/*
 * team.c
 *	  A leader and its parallel workers: how they are started, and what is done
 *	  when one fails.
 *
 * A worker is a small server of its own users' texts (team_worker.c); here is the frame
 * around it.  It is made of PostgreSQL's parallel query, so that workers share the leader's
 * transaction, snapshot and settings, end with it, and count against the same limits.
 *
 * A worker can fail where the leader would not: it may be terminated, or find no memory.
 * Nobody should see that.  So the whole attempt is a subtransaction; if a worker
 * has failed it is rolled back, and as long as no noise was drawn the caller does without
 * workers.  A second draw would be another answer for the same price.  Errors of the
 * leader itself, cancel above all, go their way, after the subtransaction was rolled
 * back: the caller's exception block would else take ours for its own.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "ngram/read_query.h"
#include "ngram/team.h"

/* Called for every message of a worker that is reported here; they send errors alone. */
static void
note_failure(void *arg)
{
	((Team *) arg)->failed = true;
}

/*
 * Workers take over the role and the settings that there are when shared memory is filled.
 * They compare users by functions of the owner's data types, so they are to run as the
 * relation is read.  Messages of theirs reach nobody, but errors the leader.
 */
static void
share_state(Team *team, Oid owner)
{
	ReadGuard guard = read_guard_begin(owner);

	InitializeParallelDSM(team->context);
	read_guard_end(&guard);
}

static shm_mq *
create_queue(char *queues, int number)
{
	return shm_mq_create(queues + number * TEAM_QUEUE_SIZE, TEAM_QUEUE_SIZE);
}

/* Both queues of each worker, in the order in which workers are numbered. */
static void
share_task(Team *team, const TeamTask *task)
{
	shm_toc *toc = team->context->toc;
	int workers = team->context->nworkers;
	TeamTask *copy = shm_toc_allocate(toc, sizeof(TeamTask));
	char *queues = shm_toc_allocate(toc, mul_size(2 * TEAM_QUEUE_SIZE, workers));

	*copy = *task;
	shm_toc_insert(toc, TEAM_KEY_TASK, copy);
	for (int i = 0; i < workers; i++)
	{
		shm_mq_set_sender(create_queue(queues, 2 * i), MyProc);
		shm_mq_set_receiver(create_queue(queues, 2 * i + 1), MyProc);
	}
	shm_toc_insert(toc, TEAM_KEY_QUEUES, queues);
}

/* Streams to those that will come; whether one has died meanwhile shows when it is spoken to. */
static void
connect_streams(Team *team)
{
	char *queues = shm_toc_lookup(team->context->toc, TEAM_KEY_QUEUES, false);

	team->workers = team->context->nworkers_launched;
	team->stream = palloc(team->workers * sizeof(TeamStream));
	for (int i = 0; i < team->workers; i++)
	{
		BackgroundWorkerHandle *handle = team->context->worker[i].bgwhandle;
		shm_mq *out = (shm_mq *) (queues + 2 * i * TEAM_QUEUE_SIZE);
		shm_mq *in = (shm_mq *) (queues + (2 * i + 1) * TEAM_QUEUE_SIZE);

		team_stream_init(&team->stream[i], shm_mq_attach(in, team->context->seg, handle),
						 shm_mq_attach(out, team->context->seg, handle));
	}
}

/* False where no worker can be had. */
static bool
start(Team *team, const TeamTask *task, Oid owner, int workers)
{
	shm_toc_estimator *estimator;

	team->callback = (ErrorContextCallback){error_context_stack, note_failure, team};
	error_context_stack = &team->callback;
	team->context = CreateParallelContext("dpngram", "dpngram_team_worker", workers);
	error_context_stack = team->callback.previous;

	estimator = &team->context->estimator;
	shm_toc_estimate_chunk(estimator, sizeof(TeamTask));
	shm_toc_estimate_chunk(estimator, mul_size(2 * TEAM_QUEUE_SIZE, workers));
	shm_toc_estimate_keys(estimator, 2);
	share_state(team, owner);
	if (team->context->nworkers == 0)
		return false;
	share_task(team, task);
	LaunchParallelWorkers(team->context);
	if (team->context->nworkers_launched == 0)
		return false;
	connect_streams(team);
	team->user = team_type(task->user_type);
	team->text = team_type(task->text_type);
	return true;
}

static void
dismiss(Team *team)
{
	for (int i = 0; i < team->workers; i++)
	{
		team_ask(&team->stream[i], TEAM_DISMISS);
		team_flush(&team->stream[i]);
	}
	WaitForParallelWorkersToFinish(team->context);
}

/* Within the subtransaction; false where no worker could be had. */
static bool
attempt(Team *team, const TeamTask *task, Oid owner, int workers, TeamRun run, void *state)
{
	bool started;

	EnterParallelMode();
	started = start(team, task, owner, workers);
	if (started)
	{
		run(state, team);
		dismiss(team);
	}
	DestroyParallelContext(team->context);
	ExitParallelMode();
	return started;
}

/*
 * Is this error one that there would not be without workers?  Such are a worker's, and
 * those that only parallel mode raises: functions may do there what they never
 * said that they do.  The rest PostgreSQL raises where a worker went without a word.
 */
static bool
is_workers_fault(const Team *team, const ErrorData *error)
{
	for (int i = 0; i < team->workers; i++)
		if (team->stream[i].lost)
			return true;
	return team->failed || error->sqlerrcode == ERRCODE_INVALID_TRANSACTION_STATE ||
		   error->sqlerrcode == ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
}

/*
 * Run with parallel workers; false if it has to be done without.  What the run makes lives
 * as long as the memory context that is current.
 */
bool
team_try(const TeamTask *task, Oid owner, int workers, TeamRun run, void *state)
{
	MemoryContext outer = CurrentMemoryContext;
	ResourceOwner resources = CurrentResourceOwner;
	MemoryContext context = AllocSetContextCreate(outer, "dpngram team", ALLOCSET_DEFAULT_SIZES);
	Team *team = MemoryContextAllocZero(context, sizeof(Team));
	ErrorData *error = NULL;
	volatile bool done = false;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		done = attempt(team, task, owner, workers, run, state);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(outer);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		done = false;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(outer);
	CurrentResourceOwner = resources;
	if (error != NULL && !is_workers_fault(team, error))
		ReThrowError(error);
	if (error != NULL)
		FreeErrorData(error);
	if (!done)
		MemoryContextDelete(context);
	return done;
}

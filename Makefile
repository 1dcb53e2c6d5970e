# Makefile: builds and installs the extension the PGXS way.
#
# This file alone is all that packaging needs (make -f Makefile, make install,
# make installcheck against a running server).  The project's own targets
# (check, demo, bench, lint, ...) stand in GNUmakefile, which GNU make reads
# first and which calls this one.

EXTENSION = dpngram
MODULE_big = dpngram
PGFILEDESC = "dpngram - differentially private n-grams with a privacy ledger"

# The control file is the one place that holds the version.
EXTVERSION := $(shell sed -n "s/^default_version *= *'\(.*\)'/\1/p" dpngram.control)

# The mathematics; knows no database.
COMMON_OBJS = \
	src/common/dp_binomial.o \
	src/common/dp_calibrate.o \
	src/common/dp_clopper.o \
	src/common/dp_combination.o \
	src/common/dp_gaussian.o \
	src/common/dp_gaussian_noise.o \
	src/common/dp_keep.o \
	src/common/dp_laplace.o \
	src/common/dp_mixture.o \
	src/common/dp_norm_bound.o \
	src/common/dp_normal.o \
	src/common/dp_posterior.o \
	src/common/dp_printed.o \
	src/common/dp_random.o \
	src/common/dp_sample.o \
	src/common/dp_select.o \
	src/common/dp_shrink.o \
	src/common/dp_zcdp.o

# Extraction of n-grams; doesn't know the ledger.
NGRAM_OBJS = \
	src/ngram/bias.o \
	src/ngram/bucket_budget.o \
	src/ngram/bucket_support.o \
	src/ngram/buckets.o \
	src/ngram/candidates.o \
	src/ngram/corpus.o \
	src/ngram/corpus_builder.o \
	src/ngram/depot.o \
	src/ngram/document_sort.o \
	src/ngram/documents.o \
	src/ngram/extract.o \
	src/ngram/forecast.o \
	src/ngram/gramset.o \
	src/ngram/histogram.o \
	src/ngram/items.o \
	src/ngram/level_plain.o \
	src/ngram/level_rounds.o \
	src/ngram/levels.o \
	src/ngram/node_count.o \
	src/ngram/node_pack.o \
	src/ngram/node_spec.o \
	src/ngram/noise.o \
	src/ngram/pairs.o \
	src/ngram/plan.o \
	src/ngram/policy.o \
	src/ngram/pushdown.o \
	src/ngram/pushdown_parts.o \
	src/ngram/pushdown_query.o \
	src/ngram/read.o \
	src/ngram/read_documents.o \
	src/ngram/read_locks.o \
	src/ngram/read_query.o \
	src/ngram/round_merge.o \
	src/ngram/round_parts.o \
	src/ngram/rounds.o \
	src/ngram/row_file.o \
	src/ngram/schedule.o \
	src/ngram/set_union.o \
	src/ngram/set_union_run.o \
	src/ngram/skips.o \
	src/ngram/source_local.o \
	src/ngram/source_pushdown.o \
	src/ngram/source_team.o \
	src/ngram/spurious.o \
	src/ngram/team.o \
	src/ngram/team_rounds.o \
	src/ngram/team_stream.o \
	src/ngram/team_worker.o \
	src/ngram/tokenize.o \
	src/ngram/tokenize_parser.o \
	src/ngram/tokenize_word.o \
	src/ngram/union.o \
	src/ngram/user_grams.o \
	src/ngram/users.o \
	src/ngram/vocabulary.o \
	src/ngram/vocabulary_spell.o \
	src/ngram/walk.o \
	src/ngram/word_file.o \
	src/ngram/word_rounds.o \
	src/ngram/words.o

# Distributions over a public vocabulary, and what they are judged by; doesn't know the ledger.
DIST_OBJS = \
	src/dist/attack.o \
	src/dist/count_space.o \
	src/dist/grams.o \
	src/dist/log_space.o \
	src/dist/model.o \
	src/dist/plan.o \
	src/dist/printed.o \
	src/dist/public.o \
	src/dist/public_queue.o \
	src/dist/public_read.o \
	src/dist/query.o \
	src/dist/rows.o \
	src/dist/tuning.o \
	src/dist/world.o

# Local differential privacy; doesn't know the ledger.
LOCAL_OBJS = \
	src/local/alphabet.o \
	src/local/bloom.o \
	src/local/bsl.o \
	src/local/candidates.o \
	src/local/consistency.o \
	src/local/crowd.o \
	src/local/crowd_read.o \
	src/local/length.o \
	src/local/methods.o \
	src/local/oracle.o \
	src/local/pem.o \
	src/local/prefixes.o \
	src/local/privtrie.o \
	src/local/rappor.o \
	src/local/rappor_em.o \
	src/local/rappor_fit.o \
	src/local/rappor_grams.o \
	src/local/rappor_graph.o \
	src/local/reports.o \
	src/local/round.o \
	src/local/survey.o \
	src/local/treehist.o \
	src/local/trie.o

# The privacy ledger; knows no mechanism.
LEDGER_OBJS = \
	src/ledger/access.o \
	src/ledger/accounting.o \
	src/ledger/afford.o \
	src/ledger/attach.o \
	src/ledger/binding.o \
	src/ledger/budget.o \
	src/ledger/carry.o \
	src/ledger/call.o \
	src/ledger/catalog.o \
	src/ledger/chain.o \
	src/ledger/dataset.o \
	src/ledger/debit.o \
	src/ledger/doctor.o \
	src/ledger/doctor_data.o \
	src/ledger/doctor_ledger.o \
	src/ledger/doctor_probe.o \
	src/ledger/doctor_rows.o \
	src/ledger/doctor_server.o \
	src/ledger/export.o \
	src/ledger/grant.o \
	src/ledger/json.o \
	src/ledger/lanes.o \
	src/ledger/options.o \
	src/ledger/outlook.o \
	src/ledger/owner.o \
	src/ledger/period.o \
	src/ledger/protect.o \
	src/ledger/public.o \
	src/ledger/relation.o \
	src/ledger/release_end.o \
	src/ledger/replica.o \
	src/ledger/report.o \
	src/ledger/resume.o \
	src/ledger/running.o \
	src/ledger/slots.o \
	src/ledger/version.o \
	src/ledger/views.o \
	src/ledger/worker.o

# The SQL face; the only place that knows both.
API_OBJS = \
	src/api/aggregates.o \
	src/api/arguments.o \
	src/api/attack.o \
	src/api/checks.o \
	src/api/dist_arguments.o \
	src/api/dist_price.o \
	src/api/distribution.o \
	src/api/frequent_terms.o \
	src/api/local_arguments.o \
	src/api/local_decode.o \
	src/api/local_encode.o \
	src/api/local_plan.o \
	src/api/local_reports.o \
	src/api/local_round.o \
	src/api/module.o \
	src/api/named_call.o \
	src/api/next_words.o \
	src/api/ngrams.o \
	src/api/node.o \
	src/api/node_words.o \
	src/api/oue.o \
	src/api/plain_counts.o \
	src/api/planning.o \
	src/api/price.o \
	src/api/progress.o \
	src/api/release.o \
	src/api/release_worker.o \
	src/api/score.o \
	src/api/set_union.o \
	src/api/set_union_arguments.o \
	src/api/set_union_price.o \
	src/api/target.o \
	src/api/text_ngrams.o

OBJS = $(COMMON_OBJS) $(NGRAM_OBJS) $(DIST_OBJS) $(LOCAL_OBJS) $(LEDGER_OBJS) $(API_OBJS)

# The install script's pieces, in the order in which they are concatenated.
SQL_PIECES = \
	src/sql/00_head.sql \
	src/sql/10_ledger.sql \
	src/sql/11_chain.sql \
	src/sql/12_renewal.sql \
	src/sql/13_replication.sql \
	src/sql/14_views.sql \
	src/sql/16_owner.sql \
	src/sql/18_budget.sql \
	src/sql/20_ngrams.sql \
	src/sql/22_dist.sql \
	src/sql/24_evaluation.sql \
	src/sql/26_attack.sql \
	src/sql/27_local.sql \
	src/sql/28_local_reports.sql \
	src/sql/29_nodes.sql \
	src/sql/30_doctor.sql \
	src/sql/40_planning.sql \
	src/sql/42_looking.sql \
	src/sql/50_comments.sql

# The upgrade from the version before, likewise, with the very pieces of the install
# script that hold what is new since, and the views (doc/internals.md).
UPGRADE = dpngram--0.1.0--$(EXTVERSION).sql
UPGRADE_PIECES = \
	src/sql/upgrade/0.1.0--0.2.0/10_tables.sql \
	src/sql/11_chain.sql \
	src/sql/upgrade/0.1.0--0.2.0/20_rows.sql \
	src/sql/upgrade/0.1.0--0.2.0/30_constraints.sql \
	src/sql/12_renewal.sql \
	src/sql/13_replication.sql \
	src/sql/14_views.sql \
	src/sql/upgrade/0.1.0--0.2.0/40_dropped.sql \
	src/sql/18_budget.sql \
	src/sql/upgrade/0.1.0--0.2.0/50_ngrams.sql \
	src/sql/22_dist.sql \
	src/sql/24_evaluation.sql \
	src/sql/26_attack.sql \
	src/sql/27_local.sql \
	src/sql/28_local_reports.sql \
	src/sql/29_nodes.sql \
	src/sql/30_doctor.sql \
	src/sql/40_planning.sql \
	src/sql/42_looking.sql \
	src/sql/50_comments.sql \
	src/sql/upgrade/0.1.0--0.2.0/90_owner.sql

DATA_built = dpngram--$(EXTVERSION).sql $(UPGRADE)

# Install scripts of earlier versions, as they were: an old dump is restored into one.
DATA = src/sql/old/dpngram--0.1.0.sql

# Regression tests: sql/NAME.sql against expected/NAME.out.
REGRESS = session tokenizers ngrams rounds parallel set_union arguments bad_input relations privileges attacks attacks_ledger attacks_dist ledger_owner lifecycle doctor planning accounting promise renewal distributions distributions_input membership tuning evaluation next_words local local_input local_clients attacks_ldp looking

# Isolation tests: test/isolation/specs/NAME.spec.
ISOLATION = charge_waits_for_owner charge_deadlock charge_meanwhile_bound owner_old_snapshot
ISOLATION_OPTS = --inputdir=test/isolation --outputdir=test/isolation

EXTRA_CLEAN = $(OBJS:.o=.d) test/isolation/results test/isolation/output_iso \
	test/isolation/regression.diffs test/isolation/regression.out

# Warnings are errors; a packager with a newer compiler says WERROR=.
# The server's headers come by -isystem, so that only our own code is judged.
WERROR ?= -Werror
PG_CPPFLAGS = -I$(srcdir)/src -isystem $(shell $(PG_CONFIG) --includedir-server) \
	-DDPNGRAM_VERSION='"$(EXTVERSION)"'
PG_CFLAGS = -Wall -Wextra -Wno-unused-parameter -Wdeclaration-after-statement \
	$(if $(findstring clang,$(CC)),,-Wshadow=compatible-local) $(WERROR) -MMD -MP

SHLIB_LINK = -Wl,--version-script=$(srcdir)/src/dpngram.map $(GSL_LIBS) -lm

# No bitcode: inlining by JIT gains nothing for functions that run for seconds,
# and building would need the very clang that built the server.
override with_llvm = no

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
ifeq ($(PGXS),)
$(error no PostgreSQL to build against: run "make deps", or give PG_CONFIG=/path/to/pg_config)
endif
include $(PGXS)
ifneq ($(filter 9.% 10 11 12 13,$(MAJORVERSION)),)
$(error dpngram needs PostgreSQL 14 or newer, and $(PG_CONFIG) is of $(MAJORVERSION))
endif

dpngram--$(EXTVERSION).sql: $(SQL_PIECES) dpngram.control Makefile
	cat $(SQL_PIECES) > $@

$(UPGRADE): $(UPGRADE_PIECES) dpngram.control Makefile
	cat $(UPGRADE_PIECES) > $@

src/ledger/version.o: dpngram.control

# Each call has a background worker, which loads the library anew.  As a shared library the GNU
# Scientific Library would have the loader resolve 2,000 symbols there, in 2 ms, of which two are
# called.  So it is linked statically where there is an archive of it that fits.
GSL_STATIC = -Wl,-Bstatic -lgsl -lgslcblas -Wl,-Bdynamic
GSL_LIBS := $(shell echo 'double gsl_cdf_ugaussian_Qinv(double); double f(double p); \
	double f(double p) { return gsl_cdf_ugaussian_Qinv(p); }' | $(CC) -shared -fPIC -x c - \
	-o /dev/null $(LDFLAGS) $(GSL_STATIC) -lm 2>/dev/null && echo $(GSL_STATIC) || echo -lgsl -lgslcblas)

# with other flags all is compiled anew
$(OBJS): Makefile
$(shlib): src/dpngram.map

-include $(OBJS:.o=.d)

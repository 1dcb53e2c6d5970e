/*
 * cppcheck.h
 *	  What the static analyser must know of PostgreSQL's macros, whose headers
 *	  it doesn't read.  No compiler sees this file.
 */
#define PG_MODULE_MAGIC extern int pg_module_magic_dummy
#define PG_FUNCTION_INFO_V1(name) extern Datum name(PG_FUNCTION_ARGS)
#define PG_FUNCTION_ARGS FunctionCallInfo fcinfo
#define PGDLLEXPORT
#define CppAsString2(x) #x
#define INT64CONST(x) (x##L)
#define UINT64CONST(x) (x##UL)
#define INT64_FORMAT "%ld"
#define UINT64_FORMAT "%lu"
#define PG_INT64_MAX INT64CONST(0x7FFFFFFFFFFFFFFF)
#define pg_attribute_noreturn()
#define foreach(cell, list) for (ListCell *cell = list_head(list); cell; cell = lnext(list, cell))
#define PG_TRY() {
#define PG_CATCH() \
	}              \
	{
#define PG_FINALLY() \
	}                \
	{
#define PG_END_TRY() }
